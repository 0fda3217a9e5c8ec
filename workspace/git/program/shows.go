package program

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// Shown is what a command would print the content of.
type Shown struct {
	// Files are names of files in the repository, also those of before they were renamed.
	Files []string
	// Unnamed are the numbers of content that the command line names without its file.
	Unnamed []string
}

// mostShown bounds what a message has room for.
const mostShown = 10

// Shows asks git which files the command that Reading made would print the content of: those
// for which of holds. Of what the command line itself names, as HEAD:FILE or for blame, it says
// nothing.
func Shows(ctx context.Context, cmd *exec.Cmd, of func(name string) bool) (Shown, error) {
	s := shows{ctx, cmd, of, Shown{}}
	command, args := cmd.Args[2], cmd.Args[3:]
	var err error
	switch {
	case command == "status" && slices.ContainsFunc(args, isVerbose):
		err = errors.Join(s.names("diff", "--ignore-submodules=dirty", "--cached"), s.names("diff", "--ignore-submodules=dirty"))
	case command == "cat-file" && !slices.ContainsFunc(args, isFact):
		s.unnamed(args)
	case command == "diff" || command == "show":
		if prints(args) || !slices.ContainsFunc(args, isSummary) {
			s.unnamed(args)
			err = s.names(command, args...)
		}
	case command == "log" && prints(args) && !slices.ContainsFunc(args, isRange):
		err = s.names(command, args...)
	}
	return s.Shown, err
}

func isVerbose(arg string) bool { return arg == "-v" || arg == "-vv" || arg == "--verbose" }

func isFact(arg string) bool { return arg == "-t" || arg == "-s" || arg == "-e" }

// isRange: of lines in a file that it names, and nothing else is printed.
func isRange(arg string) bool { return strings.HasPrefix(arg, "-L") }

// prints says whether args have a diff printed.
func prints(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return strings.HasPrefix(arg, "-U") || slices.Contains(patches, name)
	})
}

var patches = strings.Fields("-p -u --patch --unified -W --function-context --word-diff --color-words --binary --check -c -m --cc")

// isSummary is of an option that has something else than a diff printed.
func isSummary(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains(summaries, name)
}

var summaries = strings.Fields("--name-only --name-status -s --no-patch --quiet --raw --numstat --shortstat --stat --summary --compact-summary --dirstat")

// noNames are options that --name-status does not go with, or that change how it prints.
var noNames = strings.Fields("--check --exit-code --quiet --graph -s --no-patch --name-only --oneline --pretty --format")

type shows struct {
	context.Context
	reading *exec.Cmd
	of      func(string) bool
	Shown
}

func (s *shows) git(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s, s.reading.Path, append([]string{"--no-pager"}, args...)...)
	cmd.Dir, cmd.Env = s.reading.Dir, s.reading.Env
	return cmd
}

// names has the same command print names instead. They end with a NUL, and so does what they
// are mixed with, which no name of interest is like.
func (s *shows) names(command string, args ...string) error {
	options, paths := args, []string(nil)
	if at := slices.Index(args, "--"); at >= 0 {
		options, paths = args[:at], args[at:]
	}
	options = slices.DeleteFunc(slices.Clone(options), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(noNames, name)
	})
	ours := []string{command, "--name-status", "-z"} // in front: behind a file's name there is no option
	if command != "diff" {
		ours = append(ours, "--format=")
	}
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
	for in := bufio.NewReader(out); err == nil; {
		var name string
		name, err = in.ReadString(0)
		name = strings.Trim(name, "\x00\n")
		if len(s.Files) < mostShown && s.of(name) && !slices.Contains(s.Files, name) {
			s.Files = append(s.Files, name)
		}
	}
	if err = cmd.Wait(); err != nil && said.Len() > 0 {
		return errors.New(fault.Clip(strings.TrimSpace(said.String()), 500))
	}
	return err
}

// unnamed looks for revisions that are content. One that has a : names a file, or is none. What
// is no revision at all git itself will say.
func (s *shows) unnamed(args []string) {
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") || strings.Contains(arg, ":") {
			continue
		}
		out, err := s.git("rev-parse", "--revs-only", arg).Output()
		if err != nil {
			continue
		}
		for _, revision := range strings.Fields(strings.ReplaceAll(string(out), "^", "")) {
			kind, err := s.git("cat-file", "-t", revision+"^{}").Output()
			if err == nil && string(kind) == "blob\n" && len(s.Unnamed) < mostShown {
				s.Unnamed = append(s.Unnamed, revision)
			}
		}
	}
}
