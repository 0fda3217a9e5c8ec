package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
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

// Plan is what an installation would do. No Files means that nothing is to be
// done.
type Plan struct {
	Agent string
	Files []FileChange
	Notes []string // what to do next, and what can still act unseen
}

// known are the agents: what people call each, its npm package, how it is set up, and how
// its configuration is read.
var known = map[string]struct {
	name string
	npm  string
	plan func(Options) (Plan, error)
	look func(Options) (view, error)
}{
	"claude":   {"Claude Code", "@anthropic-ai/claude-code", planClaude, viewClaude},
	"codex":    {"Codex", "@openai/codex", planCodex, viewCodex},
	"gemini":   {"Gemini CLI", "@google/gemini-cli", planGemini, viewGemini},
	"opencode": {"opencode", "opencode-ai", planOpencode, viewOpencode},
	"qwen":     {"Qwen Code", "@qwen-code/qwen-code", planQwen, viewQwen},
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

// withoutEditor says how an agent asks where no editor is open, in forms of its program or not at all.
func withoutEditor(agent string, forms bool) string {
	if forms {
		return "When no editor is open, " + agent + " asks in small forms, a longer change in several. What does not fit in those you approve in pillion watch, which you run in another terminal."
	}
	return "When no editor is open, run pillion watch in another terminal: " + agent + " has no forms to ask in, and what needs approval fails."
}

// Agents lists the names that For takes.
func Agents() []string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// For computes what installing into (or uninstalling from) agent would change.
// It reads the agent's files and writes nothing.
func For(agent string, o Options) (Plan, error) {
	setUp, ok := known[agent]
	if !ok {
		return Plan{}, fmt.Errorf("unknown agent %q: use %s", agent, Choice(Agents()))
	}
	if err := o.check(); err != nil {
		return Plan{}, err
	}
	p, err := setUp.plan(o)
	if err != nil {
		return Plan{}, err
	}
	p.Agent = agent
	return p, nil
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

// folder is the agent's own folder: what the variable says, else name in the
// home folder.
func (o Options) folder(variable, name string) string {
	dir := o.Getenv(variable)
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(o.Home, rest)
	}
	if dir == "" {
		return filepath.Join(o.Home, name)
	}
	return dir
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
