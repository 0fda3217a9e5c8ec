package program

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
)

// Repository is a repository that this program itself asks about, with no shell and nobody's options. Nothing that a
// configuration names runs, the user's own included: what they have configured to convert or show files, as Git LFS does, is
// left out.
type Repository struct {
	gitdir.Place
	Config gitdir.Config // all of it
	Users  gitdir.Config // what the machine's and the user's files say
	Own    gitdir.Config // what the repository's say, with those that they include

	file     string
	env      []string
	settings []Setting
	ignored  []string // keys of Own that name files which are not read
	starter  Starter
}

// Starter starts commands, where that can be had so that they have no network and write nowhere but, if they write, below Scratch.
type Starter interface {
	Start(cmd *exec.Cmd, writes bool) error
	// Scratch is a folder for what is thrown away.
	Scratch() (string, error)
}

// plain starts commands as they are.
type plain struct{}

func (plain) Start(cmd *exec.Cmd, _ bool) error { return cmd.Start() }

func (plain) Scratch() (string, error) { return os.TempDir(), nil }

// inherited are the variables of git that its own commands get: where the configuration is.
var inherited = []string{"GIT_CONFIG_GLOBAL=", "GIT_CONFIG_SYSTEM=", "GIT_CONFIG_NOSYSTEM="}

// alike are for what is looked at and what is written, so that git finds the same files changed.
var alike = []Setting{
	{"core.checkStat", "default"}, // a file of which all times are the same has not changed
	{"core.ignoreStat", "false"},
	{"core.trustctime", "true"},
}

// ours are set for every command. The place is given by variables: git looks for no other, and does not
// mind whose it is.
var ours = slices.Concat(always, alike, []Setting{
	{"diff.autoRefreshIndex", "false"}, // it would write the index
	{"core.bigFileThreshold", "64m"},   // what is larger is not held, and shown as binary
	{"core.splitIndex", "false"},       // an index to be thrown away has no other file
	{"core.untrackedCache", "false"},   // what an index says of files that are not in it is not looked up again
	{"diff.suppressBlankEmpty", "false"},
	{"log.follow", "false"},
})

// Open reads the configuration of a repository, with the git program at file.
func Open(ctx context.Context, file string, place gitdir.Place, starter Starter) (*Repository, error) {
	if starter == nil {
		starter = plain{}
	}
	r := &Repository{Place: place, Config: gitdir.Config{}, Users: gitdir.Config{}, Own: gitdir.Config{}, file: file, starter: starter, settings: slices.Clone(ours)}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GIT_") || slices.ContainsFunc(inherited, func(name string) bool { return strings.HasPrefix(entry, name) }) {
			r.env = append(r.env, entry)
		}
	}
	r.env = append(r.env, "GIT_DIR="+place.GitDir, "GIT_WORK_TREE="+place.Top, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_EDITOR=false", "GIT_PAGER=cat", "LC_ALL=C")
	fields, err := list(r.command(ctx, Call{Args: []string{"config", "--list", "-z", "--show-scope"}}), func(cmd *exec.Cmd) error { return starter.Start(cmd, false) })
	switch {
	case ctx.Err() != nil:
		return nil, fault.From(ctx.Err())
	case err != nil:
		return nil, fault.New(fault.GitError, "%w", err)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, has := strings.Cut(fields[i+1], "\n")
		if !has {
			value = "true"
		}
		if fetches().MatchString(key) {
			r.settings = append(r.settings, Setting{key, "never"})
		}
		whose := r.Own
		switch fields[i] {
		case "command":
			continue
		case "system", "global":
			whose = r.Users
		}
		r.Config[key], whose[key] = append(r.Config[key], value), append(whose[key], value)
		if len(r.Own[key]) > 0 && (strings.HasPrefix(value, "%(") || strings.HasPrefix(value, ":(")) && leadsByPath().MatchString(key) {
			return nil, fault.New(fault.GitError, "the repository's own setting %s begins with %s, which git replaces", fault.Quote(key), value[:2]).
				WithHint("ask the user about it")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Config)) {
		harmless, names := harmlessValue(key)
		switch {
		case !names || namesFile().MatchString(key) && (len(r.Own[key]) == 0 || isRegular(key, r.Own.Get(key), place.Top)):
			continue
		case namesFile().MatchString(key):
			r.ignored = append(r.ignored, key)
		}
		r.settings = append(r.settings, Setting{key, harmless})
	}
	return r, nil
}

// whenWriting are the settings with which the user's own git writes, whoever has set them otherwise.
var whenWriting = slices.Concat(nowhere, alike, []Setting{
	{"gc.auto", "0"}, // nothing goes on after the write, and nothing runs that was not shown
	{"maintenance.auto", "false"},
	{"push.negotiate", "false"},
	{"i18n.commitEncoding", "UTF-8"},
	{"safe.bareRepository", "explicit"}, // a folder of the work tree that is laid out as a repository is none
	{"core.protectHFS", "true"},         // names that are .git on a disk of another kind
	{"core.protectNTFS", "true"},
	{"core.commitGraph", "false"},
	{"diff.ignoreSubmodules", "dirty"}, // where there is nothing to commit, git looks at the status
	{"rerere.enabled", "false"},        // it writes over files of the work tree
})

var cookies = keys(`http\.(.*\.)?(cookiefile|savecookies)`)

// Writing are the settings with which the user's own git writes. What the repository itself says of programs that git comes to
// run counts only where shown says of a key that it is in what the user approves, and is else as when it was looked at. It
// saves no cookies.
func (r *Repository) Writing(shown func(key string) bool) []Setting {
	out := slices.Clone(whenWriting)
	for _, key := range slices.Sorted(maps.Keys(r.Own)) {
		if cookies().MatchString(key) || slices.Contains(r.ignored, key) {
			out = append(out, Setting{key, ""})
			continue
		}
		i := slices.IndexFunc(programs, func(p program) bool { return p.keys().MatchString(key) })
		switch {
		case i < 0 || programs[i].others || namesFile().MatchString(key) || shown(key):
		case len(r.Users[key]) > 0:
			out = append(out, Setting{key, r.Users.Get(key)})
		default:
			out = append(out, Setting{key, programs[i].value})
		}
	}
	return out
}

// Environment has a git get settings beyond those of its files, for what it writes.
func Environment(settings []Setting) map[string]string {
	out := map[string]string{}
	for _, entry := range configured(unreplaced, settings) {
		name, value, _ := strings.Cut(entry, "=")
		out[name] = value
	}
	return out
}

// unreplaced are variables by which git looks at objects as they are stored (not at what git replace has for them), and at no
// other parents of commits.
var unreplaced = []string{"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + os.DevNull + "/none"} // of an empty file, git gives a hint

// IgnoreReplacements has the repository looked at as what is written is: without what stands in for objects.
func (r *Repository) IgnoreReplacements() {
	r.env = append(r.env, unreplaced...)
	r.settings = append(r.settings, Setting{"core.commitGraph", "false"})
}

// leadsByPath are the keys of paths that this program follows itself.
var leadsByPath = keys(`core\.(hookspath|attributesfile|excludesfile|worktree)`)

// isRegular: the repository's own setting names an ordinary file, of which git prints nothing but in warnings, which nobody
// gets to see; of a mailmap it prints names. Those of /proc say that they are empty, and may have no end.
func isRegular(key, value, top string) bool {
	if !namesFile().MatchString(key) || key == "mailmap.file" {
		return false
	}
	info, err := os.Stat(gitdir.ExpandPath(value, top))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size() < mostListed
}

// Call is a command that only reads, run at the top of the work tree.
type Call struct {
	Args   []string
	Env    []string // added to the environment
	Stdin  string
	Writes bool // below Scratch
	Stored bool // objects are looked at as they are stored
	Finds  bool // git finds the repository itself, as it does when it writes
}

// Scratch makes a folder for what is thrown away, by who asked for it.
func (r *Repository) Scratch() (string, error) {
	dir, err := r.starter.Scratch()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, "draft-")
}

// Output is what a command printed.
func (r *Repository) Output(ctx context.Context, c Call) (string, error) {
	var out []byte
	err := r.Stream(ctx, c, func(in io.Reader) (err error) {
		out, err = io.ReadAll(io.LimitReader(in, mostOutput+1))
		if len(out) > mostOutput {
			err = fault.New(fault.FileTooLarge, "git says more of this repository than is read; give a path for a part of it")
		}
		return err
	})
	return string(out), err
}

// mostOutput bounds what is held of a command.
const mostOutput = 64 << 20

// Stream has read take what a command prints as it comes.
func (r *Repository) Stream(ctx context.Context, c Call, read func(io.Reader) error) error {
	within, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	var said strings.Builder
	cmd := r.command(within, c)
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = r.starter.Start(cmd, c.Writes)
	}
	switch {
	case ctx.Err() != nil:
		return fault.From(ctx.Err())
	case err != nil:
		return fault.New(fault.GitError, "git cannot be started: %w", err)
	}
	readErr := read(out)
	if readErr != nil {
		_ = cmd.Process.Kill() // nobody reads on
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return fault.From(ctx.Err())
	case within.Err() != nil:
		return fault.New(fault.Timeout, "git %s did not end within %s, and was ended; give a path for a part of the repository", c.Args[0], Within)
	case readErr != nil:
		return readErr
	}
	return failed(cmd, err, said.String())
}

func (r *Repository) command(ctx context.Context, c Call) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.file, append([]string{"--no-pager"}, c.Args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.Top, append(configured(r.env, r.settings), c.Env...), time.Second
	if c.Stored {
		cmd.Env = append(cmd.Env, unreplaced...)
	}
	if c.Finds {
		cmd.Env = slices.DeleteFunc(cmd.Env, func(entry string) bool {
			return strings.HasPrefix(entry, "GIT_DIR=") || strings.HasPrefix(entry, "GIT_WORK_TREE=")
		})
		cmd.Env = append(cmd.Env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(r.Top))
	}
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	return cmd
}

// Resolve is the object that a revision names, "" for none.
func (r *Repository) Resolve(ctx context.Context, revision string) (string, error) {
	return r.quiet(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
}

// Symbolic is the reference that another, such as HEAD, stands for, "" for none.
func (r *Repository) Symbolic(ctx context.Context, name string) (string, error) {
	return r.quiet(ctx, "symbolic-ref", "--quiet", name)
}

// quiet is the one line that a command prints, which says that there is none by its exit code.
func (r *Repository) quiet(ctx context.Context, args ...string) (string, error) {
	out, err := r.Output(ctx, Call{Args: args})
	if SaysNo(err) {
		return "", nil
	}
	return strings.TrimSuffix(out, "\n"), err
}

// SaysNo: a command has ended as git's do that found none of what was asked for.
func SaysNo(err error) bool {
	exit := (*exec.ExitError)(nil)
	return errors.As(err, &exit) && exit.ExitCode() == 1
}

// Aborts: a command has found git's own files to be as git never makes them.
func Aborts(err error) bool {
	exit := (*exec.ExitError)(nil)
	return errors.As(err, &exit) && exit.ExitCode() < 0
}

// failed says in git's own words why a command did. Warnings, which may have the lines of files, are left out.
func failed(cmd *exec.Cmd, err error, said string) error {
	if err == nil {
		return nil
	}
	var reasons []string
	for line := range strings.Lines(said) {
		for _, prefix := range []string{"fatal: ", "error: "} {
			if reason, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
				reasons = append(reasons, reason)
			}
		}
	}
	const most, reasonsSaid, usage = 500, 3, 129
	switch {
	case cmd.ProcessState.ExitCode() == usage: // it takes the folder for none
		reasons = []string{"this git does not know the format of the repository; a newer one may"}
	case len(reasons) == 0:
		reasons = []string{err.Error()}
	}
	reason := fault.Clip(strings.Join(reasons[:min(len(reasons), reasonsSaid)], "; "), most)
	return fault.New(fault.GitError, "git %s: %s%w", cmd.Args[2], reason, unsaid{err})
}

// unsaid is a cause for the program alone.
type unsaid struct{ error }

func (unsaid) Error() string { return "" }

func (u unsaid) Unwrap() error { return u.error }

// Look finds the git program in PATH, "" if there is none.
func Look() string {
	file, err := exec.LookPath("git")
	if err != nil {
		return ""
	}
	return file
}
