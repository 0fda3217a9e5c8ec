package program

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// Shown is what a command would print the content of.
type Shown struct {
	// Files are names of files in the repository, also those of before they were renamed.
	Files []string
	// Unnamed are revisions that are content themselves, without the name of a file, or of
	// which git would not name all files that it prints.
	Unnamed []string
}

// ErrElsewhere: the work tree is not the folder of the .git that was found, or does not hold the folder
// where git runs. So what a command names is not what it would be there, and may be anybody's.
var ErrElsewhere = errors.New("the repository's work tree is elsewhere (core.worktree)")

// mostShown bounds what a message has room for.
const mostShown = 10

// Shows asks git which files the command that Reading made would print the content of: those
// for whose paths of holds, with the folder of the repository in front. Of files that the command
// line names by their paths, as for blame, it says nothing. No value of an option, and no name of a
// file, may begin with a dash.
//
// It fails where the repository is not one of this work tree or of the open folders, see
// gitdir.CheckOwn.
func Shows(ctx context.Context, cmd *exec.Cmd, open []string, of func(path string) bool) (Shown, error) {
	s := shows{Context: ctx, reading: cmd, of: of}
	if err := s.locate(open); err != nil {
		return s.Shown, err
	}
	command, args := cmd.Args[2], cmd.Args[3:]
	options := args
	if at := slices.Index(args, "--"); at >= 0 {
		options = args[:at]
	}
	has := func(known []string) bool {
		return slices.ContainsFunc(options, func(arg string) bool { return slices.Contains(known, optionName(arg)) })
	}
	switch {
	case command == "status" && has(verbose):
		return s.Shown, errors.Join(s.names("diff", []string{"--ignore-submodules=dirty", "--cached"}, nil), s.names("diff", []string{"--ignore-submodules=dirty"}, nil))
	case command == "cat-file" && !has(facts):
		s.unnamed(command, options)
	case command == "show":
		s.unnamed(command, options) // whatever the options say of diffs
		if !has(patches) && has(summaries) {
			break
		}
		return s.Shown, s.names(command, options, args[len(options):])
	case command == "diff" && (has(patches) || !has(summaries)):
		if s.unnamed(command, options); len(s.Unnamed) > 0 {
			break // the names would not tell
		}
		return s.Shown, s.names(command, options, args[len(options):])
	case command == "log" && has(patches):
		return s.Shown, s.names(command, options, args[len(options):])
	}
	return s.Shown, nil
}

func optionName(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	if strings.HasPrefix(arg, "-U") {
		return "-U"
	}
	return name
}

var (
	verbose = strings.Fields("-v -vv --verbose")
	facts   = strings.Fields("-t -s -e")
	// patches have a diff printed, summaries something else.
	patches   = strings.Fields("-p -u -U --patch --unified -W --function-context --word-diff --color-words --binary --check -c -m --cc")
	summaries = strings.Fields("--name-only --name-status -s --no-patch --quiet --raw --numstat --shortstat --stat --summary --compact-summary --dirstat")
	// merges say how the diff of a merge is printed: of which it then names fewer files.
	merges = strings.Fields("-c -m --cc")
	// noNames are options that --name-status does not go with, or that change how it prints.
	noNames = strings.Fields("--check --exit-code --quiet --graph -s --no-patch --name-only --oneline --pretty --format --relative -c -m --cc")
)

type shows struct {
	context.Context
	reading *exec.Cmd
	of      func(string) bool
	// top is the folder of the work tree, "" where there is none, and prefix where git runs below it.
	top, prefix string
	Shown
}

// locate finds the work tree.
func (s *shows) locate(open []string) error {
	here, err := filepath.Abs(cmp.Or(s.reading.Dir, "."))
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return err
	}
	gitDir, err := s.git("rev-parse", "--absolute-git-dir").Output()
	if err != nil {
		return nil // there is none, as git itself will say
	}
	top, _ := s.git("rev-parse", "--show-toplevel").Output() //nolint:errcheck // there is no work tree, and names are of here
	s.top = strings.TrimSuffix(string(top), "\n")
	own := strings.TrimSuffix(string(gitDir), "\n")
	if err := gitdir.CheckOwn(open, cmp.Or(s.top, here), own); err != nil || s.top == "" {
		return err
	}
	if of, err := gitdir.GitDirOf(s.top); err != nil || !gitfile.IsSame(of, own) {
		return ErrElsewhere
	}
	s.prefix, err = filepath.Rel(s.top, here)
	if err != nil || s.prefix == ".." || strings.HasPrefix(s.prefix, "../") {
		return ErrElsewhere
	}
	return nil
}

// add notes the file of a name below the work tree, if it is one of those that are asked for.
func (s *shows) add(name string) {
	if len(s.Files) < mostShown && s.of(filepath.Join(s.top, name)) && !slices.Contains(s.Files, name) {
		s.Files = append(s.Files, name)
	}
}

func (s *shows) git(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s, s.reading.Path, append([]string{"--no-pager"}, args...)...)
	cmd.Dir, cmd.Env = s.reading.Dir, s.reading.Env
	return cmd
}

// names has the same command print statuses and names instead, each ended by a NUL. Of merges all files are named that differ from
// any parent, also by the names that they had there.
func (s *shows) names(command string, options, paths []string) error {
	ours := []string{command, "--name-status", "-z", "--no-relative"} // in front: behind a file's name there is no option
	if command != "diff" {
		ours = append(ours, "--format=")
		if command == "show" || slices.ContainsFunc(options, func(arg string) bool { return slices.Contains(merges, arg) }) {
			ours = append(ours, "-m")
		}
	}
	options = slices.DeleteFunc(slices.Clone(options), func(arg string) bool { return slices.Contains(noNames, optionName(arg)) })
	cmd := s.git(slices.Concat(ours, options, paths)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	names := 0 // that follow a status
	for in := bufio.NewReader(out); err == nil; {
		var field string
		field, err = in.ReadString(0)
		switch field = strings.Trim(field, "\x00\n"); {
		case field == "": // between commits
		case names > 0:
			names--
			s.add(field)
		case field[0] == 'R' || field[0] == 'C': // the name before, and the one now
			names = 2
		default:
			names = 1
		}
	}
	err = cmd.Wait()
	switch exit := (*exec.ExitError)(nil); {
	case errors.As(err, &exit) && exit.ExitCode() == 1 && command == "diff": // of two folders that are in no repository
		return nil
	case err != nil && said.Len() > 0:
		return errors.New(fault.Clip(strings.TrimSpace(said.String()), 500))
	}
	return err
}

// unnamed looks for revisions that are content, or a folder in which names are not whole, and for
// the files that COMMIT:FILE names. A diff of more than two is combined, and says little of the names that
// files had. What is no revision at all git itself will say.
func (s *shows) unnamed(command string, args []string) {
	compared := 0
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") || len(s.Unnamed) == mostShown {
			continue
		}
		if _, _, names := strings.Cut(arg, ":"); names {
			s.named(command, arg)
			continue
		}
		out, err := s.git("rev-parse", "--revs-only", arg).Output()
		if err != nil {
			continue
		}
		revisions := strings.Fields(strings.ReplaceAll(string(out), "^", ""))
		if compared += len(revisions); strings.Contains(arg, "...") {
			compared-- // where they part
		}
		if command == "diff" && compared > 2 {
			s.Unnamed = append(s.Unnamed, arg)
		}
		for _, revision := range revisions {
			kind, err := s.git("cat-file", "-t", revision+"^{}").Output()
			if text := strings.TrimSpace(string(kind)); err == nil && (text == "blob" || text == "tree" && command == "diff") {
				s.Unnamed = append(s.Unnamed, arg)
			}
		}
	}
}

// named takes COMMIT:FILE, or :FILE of the index. A file's name is one of the work tree, unless it
// begins with a dot.
func (s *shows) named(command, arg string) {
	tree, file, _ := strings.Cut(arg, ":")
	kind, _ := s.git("cat-file", "-t", arg).Output() //nolint:errcheck // git itself will say
	isTree := strings.TrimSpace(string(kind)) == "tree"
	if isTree && command == "diff" || tree != "" && s.git("rev-parse", "--verify", "--quiet", tree+"^{commit}").Run() != nil {
		s.Unnamed = append(s.Unnamed, arg)
		return
	}
	if stage, rest, is := strings.Cut(file, ":"); is && tree == "" && len(stage) == 1 {
		file = rest
	}
	if isTree {
		return // it is listed
	}
	if strings.HasPrefix(file, "./") || strings.HasPrefix(file, "../") {
		file = filepath.Join(s.prefix, file)
	}
	s.add(filepath.Clean(file))
}
