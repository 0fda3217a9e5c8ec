package command

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/layer"
)

// commandLine is what an agent says of a command, with whatever tool it runs it.
type commandLine struct {
	Line  string
	Cwd   string
	Env   map[string]string
	Stdin string
	// Network is what it needs of it, as an agent says it.
	Network []string
}

// command is a command line that was checked, with what the workspace knows of it.
type command struct {
	commandLine
	dir     workspace.Path
	unsaved []string // open files whose text it would not see
	limits  tools.Limits
	held    process.Confine
	within  []string // the workspace's folders
	reaches []string // hosts that it may reach, as far as they are a question; see policy.Command
}

// planCommand checks a command line; every tool that runs one plans by it, so that
// all ask the same question about the same line.
func planCommand(in tools.Input, l commandLine) (command, error) {
	c := command{commandLine: l, limits: in.Limits}
	if err := l.check(); err != nil {
		return c, err
	}
	dir, err := tools.OneFolder(in, "cwd", l.Cwd)
	if err != nil {
		return c, err
	}
	info, err := dir.Stat()
	if err != nil {
		return c, err
	}
	if !info.IsDir() {
		return c, fault.New(fault.NotAFile, "cwd %s is a file, not a folder; name the folder to run in", fault.Quote(dir.String()))
	}
	c.dir, c.unsaved = dir, unsavedFiles(in.Snapshot)
	for _, root := range in.Snapshot.Workspace().Roots() {
		c.within = append(c.within, process.Resolve(root.Abs()))
	}
	if c.Network, err = parseHosts(l.Network); err != nil {
		return c, err
	}
	return c.confine(in)
}

// notes are what the model could not see in a command's output.
func (c command) notes(truncated bool) []string {
	var out []string
	if len(c.unsaved) > 0 {
		out = append(out, "(the command did not see the unsaved changes in "+strings.Join(tools.QuoteAll(c.unsaved), ", ")+")")
	}
	if hidden := c.held.Blank; len(hidden) > 0 {
		const most = 10
		names := make([]string, 0, most)
		for _, path := range hidden[:min(len(hidden), most)] {
			names = append(names, fault.Quote(filepath.Base(path)))
		}
		more := ""
		if left := len(hidden) - len(names); left > 0 {
			more = fmt.Sprintf(" and %d more", left)
		}
		out = append(out, "(files that may hold secrets looked empty to it: "+strings.Join(names, ", ")+more+")")
	}
	if truncated {
		out = append(out, fmt.Sprintf("(it printed more than %s bytes; the middle was dropped)", tools.Grouped(int(c.limits.OutputBytes))))
	}
	return out
}

// judged is the command as policy looks at it.
func (c command) judged() policy.Command {
	return policy.Command{Line: c.Line, Cwd: c.dir.String(), Env: c.Env, Stdin: c.Stdin, POSIX: runtime.GOOS != "windows", Hosts: c.reaches}
}

func (l commandLine) check() error {
	switch {
	case strings.TrimSpace(l.Line) == "":
		return fault.Invalid("command is empty; give the line to run")
	case strings.ContainsRune(l.Line, 0):
		return fault.Invalid("command has a NUL byte; remove it")
	}
	for name := range l.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(l.Env[name], 0) {
			return fault.Invalid("the variable %s is invalid; give a plain name and value", fault.Quote(name))
		}
	}
	return process.Spec{Command: l.Line, Env: l.Env}.CheckSize()
}

// action is the plan of running the command: run gets it as it is by then, with what it takes to
// start it.
func (c command) action(run func(context.Context, tools.Effects, command, process.Spec) (*tools.Answer, error)) *tools.Action {
	preview := approval.Preview{
		Kind: "command", Command: c.Line, Cwd: c.dir.String(), Network: !c.held.Offline, Hosts: c.held.Hosts, Sandbox: string(c.held.Level), Unsaved: c.unsaved,
	}
	judged := c.judged()
	return &tools.Action{
		Title:   "Run " + fault.Escape(fault.Clip(tools.FirstLine(c.Line), 60)),
		Preview: preview,
		Command: &judged,
		Reasons: c.reasons(),
		Run: func(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
			now := c
			now.unsaved = unsavedFiles(effects.Snapshot()) // whoever approved may have saved first
			spec := process.Spec{
				GitWithin: c.within, Command: c.Line, Dir: c.dir.Abs(), Env: c.Env, Stdin: c.Stdin, OutputLimit: c.limits.OutputBytes, Confine: c.held, ReadsGit: effects.ReadsGit,
			}
			if effects.Box != nil { // it changes nothing
				now.held, spec.Confine = *effects.Box, *effects.Box
				if effects.Apart {
					spec.Dir = "/"
				}
				if effects.Layer == nil {
					return run(ctx, effects, now, spec)
				}
				end, err := effects.Layer(&spec.Confine)
				if err != nil {
					return nil, err
				}
				answer, err := run(ctx, effects, now, spec)
				end(ctx, answer)
				return answer, err
			}
			end := effects.Observe(ctx)
			answer, err := run(ctx, effects, now, spec)
			end(answer)
			return answer, err
		},
	}
}

func (c command) reasons() []approval.Reason {
	var out []approval.Reason
	if len(c.Env) > 0 {
		out = append(out, approval.Because(approval.ReasonEnvironment, "it sets %s", strings.Join(tools.QuoteAll(slices.Sorted(maps.Keys(c.Env))), ", ")))
	}
	if c.Stdin != "" {
		out = append(out, approval.Because(approval.ReasonInput, "it is given an input"))
	}
	return append(out, approval.UnsavedReason(c.unsaved)...)
}

func unsavedFiles(s *document.Snapshot) []string {
	var out []string
	for _, b := range s.Dirty() {
		out = append(out, b.Path.String())
	}
	slices.Sort(out)
	return out
}

// seconds is an argument in seconds, otherwise if it was left out.
func seconds(argument string, given float64, otherwise, most time.Duration) (time.Duration, error) {
	switch {
	case !(given >= 0 && given <= most.Seconds()): // before it becomes a Duration, which a large one turns negative in
		return 0, fault.Invalid("%s must be between 0 and %g", argument, most.Seconds())
	case given > 0:
		otherwise = max(time.Duration(given*float64(time.Second)), time.Nanosecond) // 0 would be no limit
	}
	if otherwise > most {
		return 0, fault.Invalid("%s must be between 0 and %g", argument, most.Seconds())
	}
	return otherwise, nil
}

// onProcess is the plan of a call that does something with one of its session's
// processes.
func onProcess(title, id string, do func(context.Context, *process.Named) (*tools.Answer, error)) *tools.Action {
	return &tools.Action{
		Title:   title,
		Preview: approval.Preview{Kind: "text", Markdown: title},
		Run: func(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
			p, err := effects.Processes.Find(id)
			if err != nil {
				return nil, err
			}
			return do(ctx, p)
		},
	}
}

// unkeptResult is what the results of commands may have beside their own fields.
type unkeptResult struct {
	NotInJournal string       `json:"not_in_journal,omitempty"`
	NotBrought   []layer.Left `json:"not_brought,omitempty"`
}
