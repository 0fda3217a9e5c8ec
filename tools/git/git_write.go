package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/git"
)

// gitProgram is how the user's own git is run for a write: with their hooks, keys and
// credential helpers, without a terminal, and by no shell.
type gitProgram struct {
	file    string // absolute; "" where there is no git
	reader  *git.Reader
	top     string // of the work tree, where it runs
	held    process.Confine
	env     map[string]string
	inherit []string // variables that it gets beyond the clean environment
	limits  tools.Limits
	timeout time.Duration
}

// keyVariables lead to the user's keys. What runs gets them when it has to sign or to
// reach a remote, and not otherwise.
var keyVariables = []string{"SSH_AUTH_SOCK", "GNUPGHOME"}

func newGitProgram(in tools.Input, about git.Repository) gitProgram {
	g := gitProgram{reader: in.Git, top: about.Top, inherit: slices.Clone(git.IdentityVariables), limits: in.Limits, timeout: in.Limits.CommandTime, env: about.Environment()}
	if in.Timeout > 0 {
		g.timeout = min(in.Timeout, in.Limits.CommandMax)
	}
	if in.LookPath != nil {
		g.file, _ = in.LookPath("git") //nolint:errcheck // there is none
	}
	return g
}

// run runs git with arguments that are its own: whatever comes from an agent stands
// behind --end-of-options or in one word with an option, or in stdin.
//
// Another git that holds the index for a moment, such as the status of an editor, is
// waited for: git itself gives up at once, and has done nothing by then.
func (g gitProgram) run(ctx context.Context, effects tools.Effects, stdin string, args ...string) (process.Result, error) {
	for pause := firstPause; ; pause *= 2 {
		got, err := g.once(ctx, effects, stdin, args...)
		if err != nil || got.ExitCode != gitDied || !strings.Contains(got.Stderr, "index.lock") || pause > lastPause {
			return got, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
}

// The pauses of somebody who waits for a lock double; all together are 1.3 s.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 640 * time.Millisecond
	gitDied    = 128
)

func (g gitProgram) once(ctx context.Context, effects tools.Effects, stdin string, args ...string) (process.Result, error) {
	return effects.Processes.Run(ctx, process.Spec{
		Args: append([]string{g.file, "--no-pager"}, args...), Dir: g.top, Env: g.env, Inherit: g.inherit, Stdin: stdin,
		Timeout: g.timeout, Gently: true, OutputLimit: g.limits.OutputBytes, Confine: g.held,
	}, effects.Stream)
}

// programs shows all else that git runs on its way, whom it speaks to, which git it is, and how it is held.
func (g gitProgram) programs(s *approval.Sheet, filters []string, about git.Repository) {
	s.Fact("filters", "Filters", tools.QuoteAll(filters)...)
	s.Fact("sources", "Fetches missing objects from", tools.QuoteAll(about.Sources)...)
	s.Fact("fetch", "Fetches missing objects by", tools.QuoteAll(about.Fetched)...)
	s.Warn("network", "Set by the repository", tools.QuoteAll(about.Network)...)
	if g.file == "" {
		s.Warn("program", "Program", "Pillion itself, because git was not found; no hook runs")
		return
	}
	if g.held.Level != process.None && g.held.Level != "" {
		s.Fact("sandbox", "Sandbox", fault.Quote(string(g.held.Level))+", also for what git runs")
	}
	s.Fact("program", "Program", fault.Quote(g.file))
}

// hooks shows which hooks run, or that they do not.
func (g gitProgram) hooks(s *approval.Sheet, about git.Repository) {
	lines := hookLines(g.top, about.Hooks)
	switch {
	case about.HooksChange:
		s.Warn("hooks", "Hooks", "none runs, because this changes them")
	case g.file == "":
		s.Fact("hooks", "Hooks that do not run", lines...)
	default:
		s.Fact("hooks", "Hooks", lines...)
	}
}

// literal are paths as pathspecs that mean nothing else, from the top, for
// --pathspec-from-file with --pathspec-file-nul.
func literal(paths []string) string {
	return strings.Join(pathspecs(paths), "\x00") + "\x00"
}

func pathspecs(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = append(out, ":(top,literal)"+p)
	}
	return out
}

// confine says how git is held. It is the user's own program and needs no sandbox, but
// its hooks and filters may run what agents wrote: so where there are such programs, git
// is held as a command of that kind is. What needs keys cannot be held: it asks, and is
// said.
func (g *gitProgram) confine(in tools.Input, a *tools.Action, programs int, keys, network bool) error {
	if err := canBeShown(programs); err != nil {
		return err
	}
	g.held = process.Confine{Level: process.None}
	s := in.Sandbox
	if keys {
		g.inherit = append(g.inherit, keyVariables...)
	}
	switch {
	case g.file == "" || programs == 0 || s.Mode == "" || s.Mode == tools.SandboxOff:
		return nil
	case keys && s.Mode != tools.SandboxRequire:
		a.AlwaysAsk = true
		a.Because("no_sandbox", "hooks and filters run outside the sandbox, because git needs your keys")
		return nil
	}
	held, err := s.Hold(in, s.Network != tools.NetworkOn && s.Network != "" && !network)
	if err != nil || held.Level == process.None {
		return err
	}
	tools.LetGitWork(&held, g.top)
	held.ReadOnly = tools.Shallowest(held.ReadOnly)
	g.held = held
	return nil
}

// canBeShown refuses what runs more programs than a person reads before they approve.
func canBeShown(programs int) error {
	const most = 50
	if programs <= most {
		return nil
	}
	return fault.New(fault.PolicyDenied, "git would run %d programs by what is configured here, more than a dialog can show", programs).WithHint("ask the user to do it")
}

// gitFailed is why git did not do it, in its own words.
func (g gitProgram) gitFailed(what string, got process.Result, err error) *tools.Answer {
	output := gitOutput(got)
	e := fault.New(fault.GitError, "git did not %s (exit code %d)", what, got.ExitCode)
	switch {
	case err != nil:
		e = fault.From(err)
	case got.TimedOut:
		e = fault.New(fault.Timeout, "git and all it started were ended after %s; git.status says what there is now", g.timeout)
	}
	if e.Hint == "" && output != "" {
		e = e.WithHint("what it printed says why")
	}
	return &tools.Answer{Err: e.With("exit_code", got.ExitCode).With("output", output), Text: output}
}

// gitOutput is what git and its hooks printed. Of addresses only what is no secret.
func gitOutput(got process.Result) string {
	said := ""
	if len(got.Dropped) > 0 {
		said = "\n" + tools.SandboxHint(process.Confine{}, got)
	}
	return strings.TrimSpace(withoutCredentials(strings.TrimSpace(got.Stdout)+"\n"+strings.TrimSpace(got.Stderr)) + said)
}

// hookLines says which hooks run, for the dialog.
func hookLines(top string, hooks []git.Hook) []string {
	var out []string
	for _, h := range hooks {
		where := h.Command
		if h.Path != "" {
			where = h.Path
			if rel, err := filepath.Rel(top, h.Path); err == nil && filepath.IsLocal(rel) {
				where = filepath.ToSlash(rel)
			}
		}
		out = append(out, h.Name+" ("+fault.Quote(where)+")")
	}
	return out
}

func short(hash string) string {
	const letters = 7
	return hash[:min(letters, len(hash))]
}

// inWorkspace are those paths of a repository that lie in the workspace.
func inWorkspace(in tools.Input, top string, names []string) []workspace.Path {
	var out []workspace.Path
	for _, name := range names {
		if p, ok := in.Snapshot.Workspace().Place(filepath.Join(top, filepath.FromSlash(name))); ok {
			out = append(out, p)
		}
	}
	return out
}
