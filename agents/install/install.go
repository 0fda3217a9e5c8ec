package install

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"pillion/internal/state"
)

// Scopes of an installation: every project of this user, or one project.
const (
	User    = "user"
	Project = "project"
)

// The name under which agents know our server; it is part of the names that
// their models see (mcp__pillion__edit_file).
const server = "pillion"

// The longest delay of Node's timers, in milliseconds: 24 days. A longer one
// fires at once.
const longestDelay = 1<<31 - 1

// Options say for whom to install what.
type Options struct {
	Binary    string              // absolute path of pillion
	Project   string              // absolute path of the project; needed for scope project
	Home      string              // the user's home
	Getenv    func(string) string // the agents' own variables (CODEX_HOME, CLAUDE_CONFIG_DIR, QWEN_HOME) and XDG_STATE_HOME; nil for none
	Scope     string              // User or Project; empty is User
	Uninstall bool
}

// FileChange is one file before and after.
type FileChange struct {
	Path    string // as the agent names it; a symbolic link is written through
	Before  string
	After   string
	Existed bool
	Delete  bool     // nothing is left in it: the file goes
	Why     []string // one sentence per change
}

// to is the change that leaves text, or nothing of the file.
func (f FileChange) to(text string, gone bool) FileChange {
	f.After, f.Delete = text, gone
	if gone {
		f.After = ""
	}
	return f
}

// Plan is what an installation would do. No Files means that nothing is to be
// done.
type Plan struct {
	Agent string
	Files []FileChange
	Notes []string // what to do next, and what can still act unseen
}

// Name is what people call an agent that Agents lists.
func Name(agent string) string { return known[agent].name }

// Package is its npm package.
func Package(agent string) string { return known[agent].npm }

// Choice is names as a sentence offers them: "a, b or c".
func Choice(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Agents lists the names that For takes.
func Agents() []string { return slices.Sorted(maps.Keys(known)) }

// For computes what installing into (or uninstalling from) agent would change.
// It reads the agent's files and writes nothing.
func For(agent string, o Options) (Plan, error) {
	a, ok := known[agent]
	if !ok {
		return Plan{}, unknown(agent)
	}
	if err := o.check(); err != nil {
		return Plan{}, err
	}
	var files []FileChange
	var err error
	if a.files == nil {
		files, err = planCodex(o)
	} else {
		files, err = planJSON(o, agent, a.files(o))
	}
	if err != nil {
		return Plan{}, err
	}
	return Plan{Agent: agent, Files: files, Notes: a.notes(o)}, nil
}

func unknown(agent string) error {
	return fmt.Errorf("unknown agent %q: use %s", agent, Choice(Agents()))
}

func (o *Options) check() error {
	if o.Scope == "" {
		o.Scope = User
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	switch {
	case o.Scope != User && o.Scope != Project:
		return fmt.Errorf("unknown scope %q: choose %s or %s", o.Scope, User, Project)
	case !filepath.IsAbs(o.Home):
		return errors.New("the home folder must be an absolute path; set HOME")
	case o.Scope == Project && !filepath.IsAbs(o.Project):
		return errors.New("scope project needs the absolute path of the project")
	case !o.Uninstall && !filepath.IsAbs(o.Binary):
		return fmt.Errorf("the path of the pillion program must be absolute, not %q: agents start it from any folder", o.Binary)
	}
	return nil
}

// stateFolder is where Pillion keeps what it must remember between runs.
func (o Options) stateFolder() string { return state.In(runtime.GOOS, o.Home, o.Getenv) }

// mostRead is more than any configuration has, in bytes.
const mostRead = 64 << 20

// read returns a file's text; a missing one is empty and did not exist.
func read(path string) (text string, existed bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("cannot read %s: %w", path, err)
	case !info.Mode().IsRegular():
		return "", false, fmt.Errorf("%s is not a file; move it away and run this again", path)
	case info.Size() > mostRead:
		return "", false, fmt.Errorf("%s is too large to be a configuration; move it away and run this again", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", false, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return string(b), true, nil
}

// newlineOf is how the lines of a text end.
func newlineOf(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
