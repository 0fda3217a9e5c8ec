package command

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/process"
)

var _ = tools.Define(tools.NewExec(tools.Spec{
	Name:        "run_persistent",
	Title:       "Start process",
	Description: "Starts a server, watcher or shell that runs on until it ends or your session does. read_process, write_process and kill_process take its process_id.",
	Results:     []any{runPersistentResult{}, unkeptResult{}},
}, planRunPersistent))

type runPersistentArgs struct {
	Command        string   `json:"command"`
	ProcessID      string   `json:"process_id" jsonschema:"a name you choose"`
	Cwd            string   `json:"cwd,omitempty"`
	Network        []string `json:"network,omitempty" jsonschema:"hosts it needs; * to serve a browser"`
	Why            string   `json:"why,omitempty" jsonschema:"one line for the user"`
	ReadyPattern   string   `json:"ready_pattern,omitempty" jsonschema:"RE2: wait for output that matches"`
	TimeoutSeconds float64  `json:"timeout_seconds,omitempty" jsonschema:"for ready_pattern" minimum:"0" maximum:"600" default:"30"`
}

type runPersistentResult struct {
	ProcessID string   `json:"process_id"`
	PID       int      `json:"pid"`
	Ready     bool     `json:"ready"`
	Output    string   `json:"output"`
	Next      int64    `json:"next"`
	Truncated bool     `json:"truncated"`
	Running   bool     `json:"running"`
	ExitCode  *int     `json:"exit_code,omitempty"`
	Sandbox   string   `json:"sandbox"`
	Unsaved   []string `json:"unsaved,omitempty"`
}

const (
	// readyTime is how long a call waits for its ready_pattern.
	readyTime = 30 * time.Second
	// settleTime is how long a call without one waits, to see a process that ends
	// as soon as it has started.
	settleTime = 200 * time.Millisecond
)

func planRunPersistent(_ context.Context, in tools.Input, args runPersistentArgs) (*tools.Action, error) {
	wait, err := args.wait(in)
	if err != nil {
		return nil, err
	}
	ready, err := readyWhen(args.ReadyPattern)
	if err != nil {
		return nil, err
	}
	if err := process.CheckName(args.ProcessID); err != nil {
		return nil, err
	}
	if err := in.Taken(args.ProcessID); err != nil {
		return nil, err
	}
	c, err := planCommand(in, commandLine{Line: args.Command, Cwd: args.Cwd, Network: args.Network})
	if err != nil {
		return nil, err
	}
	action := c.action(func(ctx context.Context, effects tools.Effects, c command, spec process.Spec) (*tools.Answer, error) {
		spec.KeepStdin, spec.Keep = true, process.KeepJoined
		about := process.About{ID: args.ProcessID, Cwd: c.dir.String(), Unasked: in.Session.Mode() == policy.FullAccess}
		p, err := effects.Processes.Start(ctx, about, spec, ready.output(effects))
		if err != nil {
			return nil, err
		}
		if err := ready.await(ctx, p, wait); err != nil {
			p.End()
			return nil, err
		}
		p.Detach()
		return persistentAnswer(c, in.Page, p, ready)
	})
	action.Title = "Start " + fault.Escape(fault.Clip(tools.FirstLine(args.Command), 60))
	action.Description = fmt.Sprintf("Starts this command line with /bin/sh and lets it run on as %s, until it ends by itself, you or the agent end it, or the agent's session closes. What the agent types into it is not asked about again.",
		fault.Quote(args.ProcessID))
	return action, nil
}

func (a runPersistentArgs) wait(in tools.Input) (time.Duration, error) {
	limit, err := seconds("timeout_seconds", a.TimeoutSeconds, readyTime, in.Limits.CommandMax)
	if a.ReadyPattern == "" {
		limit = settleTime
	}
	return limit, err
}

// readiness waits for a pattern in what a process prints. It sees every byte: the
// process is as slow as its reader until then.
type readiness struct {
	pattern *regexp.Regexp // nil: nothing is waited for
	found   chan struct{}
	once    sync.Once
	carry   []byte // the end of what was searched; used by output alone
}

// carried is how far a match may reach back into what was searched already.
const carried = 8 << 10

func readyWhen(pattern string) (*readiness, error) {
	r := &readiness{found: make(chan struct{})}
	if pattern == "" {
		return r, nil
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, fault.Invalid("ready_pattern is not a valid regular expression (RE2): %v", err)
	}
	compiled, err := regexp.Compile("(?m)" + pattern)
	r.pattern = compiled
	return r, err
}

func (r *readiness) output(effects tools.Effects) func(process.Stream, []byte) {
	return func(s process.Stream, text []byte) {
		effects.Stream(s, text)
		if r.pattern != nil && !r.is() {
			r.search(text)
		}
	}
}

// search looks at what is new, with a little of what came before it; that begins at
// a line, so that ^ does not match within one.
func (r *readiness) search(text []byte) {
	r.carry = append(r.carry, text...)
	if r.pattern.Match(r.carry) {
		r.once.Do(func() { close(r.found) })
		return
	}
	if over := len(r.carry) - carried; over > 0 {
		rest := r.carry[over:]
		for i, b := range rest {
			if b == '\n' {
				rest = rest[i+1:]
				break
			}
		}
		r.carry = append(r.carry[:0], rest...)
	}
}

func (r *readiness) is() bool {
	select {
	case <-r.found:
		return true
	default:
		return false
	}
}

// await waits for the pattern, the end of the process or of the time.
func (r *readiness) await(ctx context.Context, p *process.Named, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.found:
	case <-p.Done():
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func persistentAnswer(c command, page int, p *process.Named, ready *readiness) (*tools.Answer, error) {
	state := stateOf(p)
	if p.PID() == 0 { // the shell itself could not be started
		return nil, state.err
	}
	out := runPersistentResult{
		ProcessID: p.ID, PID: p.PID(), Ready: ready.is() || ready.pattern == nil && state.Running,
		Running: state.Running, ExitCode: state.ExitCode, Sandbox: string(p.Sandbox()), Unsaved: c.unsaved,
	}
	var more string
	out.Output, out.Next, out.Truncated, more = printed(p, 0, page)
	text := state.text(p)
	switch {
	case out.Ready && ready.pattern != nil:
		text += ", and ready"
	case ready.pattern != nil:
		text += "; its output did not match ready_pattern"
	}
	return &tools.Answer{
		Result: out, Summary: text, Text: text + outputText(out.Output, out.Next),
		Paged:   true,
		GoesOn:  state.Running,
		Notes:   append(gaps(more, out.Truncated), c.notes(false)...),
		Display: &tools.Display{Kind: "command", Command: c.Line, ExitCode: out.ExitCode, Stdout: out.Output},
	}, nil
}

// processState is whether a process runs, and how it ended.
type processState struct {
	Running  bool
	ExitCode *int // nil while it runs
	err      error
}

func stateOf(p *process.Named) processState {
	if p.Running() {
		return processState{Running: true}
	}
	result, err := p.Wait(context.Background())
	return processState{ExitCode: &result.ExitCode, err: err}
}

func (s processState) text(p *process.Named) string {
	name := fault.Quote(p.ID)
	switch {
	case s.Running:
		return name + " is running"
	case s.err != nil:
		return name + " has ended: " + s.err.Error()
	}
	text := fmt.Sprintf("%s has ended with exit code %d", name, *s.ExitCode)
	if p.ByHuman() {
		text += ": the user ended it; ask before you start it again"
	}
	return text
}

// outputText is a process's output for the model, and how it reads on.
func outputText(output string, next int64) string {
	if output == "" {
		return fmt.Sprintf("\nno output; read on with since %d\n", next)
	}
	return fmt.Sprintf("\noutput (read on with since %d):\n%s", next, output)
}
