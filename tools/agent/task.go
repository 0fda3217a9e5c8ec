package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
)

var _ = tools.Define(tools.NewExec(tools.Spec{
	Name:        "task",
	Title:       "Start sub-agent",
	Description: "Gives an objective to a sub-agent that the user configured, and returns its last message. It knows nothing of your conversation.",
	Results:     []any{taskResult{}},
}, planTask))

type taskArgs struct {
	Agent     string `json:"agent"`
	Objective string `json:"objective" jsonschema:"all that it needs to know"`
}

type taskResult struct {
	Agent    string `json:"agent"`
	Summary  string `json:"summary"`
	ExitCode *int   `json:"exit_code,omitempty"` // of a command that failed
}

// How long an objective, which a person has to read, and a summary may be.
const (
	maxObjective = 30_000 // characters
	maxSummary   = 256 << 10
)

func planTask(_ context.Context, in tools.Input, args taskArgs) (*tools.Action, error) {
	switch {
	case strings.TrimSpace(args.Objective) == "":
		return nil, fault.Invalid("objective is empty; say what the agent is to do")
	case utf8.RuneCountInString(args.Objective) > maxObjective:
		return nil, fault.Invalid("objective has more than %s characters; put the details in a file", tools.Grouped(maxObjective))
	case strings.ContainsRune(args.Objective, 0):
		return nil, fault.Invalid("objective has a NUL character; remove it")
	}
	runner, err := findRunner(in, args.Agent)
	if err != nil {
		return nil, err
	}
	roots := in.Snapshot.Workspace().Roots()
	if len(roots) == 0 {
		return nil, fault.New(fault.ExecutionFailed, "no folder is open for the sub-agent to work in").WithHint("ask the user to open one")
	}
	spec, err := runnerSpec(runner, in, args.Agent, args.Objective, roots[0])
	if err != nil {
		return nil, err
	}
	t := subTask{args: args, runner: runner, spec: spec, mode: in.Session.Mode()}
	if runner.Mode != "" {
		t.mode = t.mode.Tighter(runner.Mode)
	}
	a := &tools.Action{
		Title:   "Give " + fault.Quote(args.Agent) + " a task: " + fault.Escape(fault.Clip(tools.FirstLine(args.Objective), 60)),
		Subject: args.Agent,
		Run:     t.run(in),
	}
	a.Preview = t.sheet()
	return a, nil
}

// subTask is a task that was looked at.
type subTask struct {
	args   taskArgs
	runner tools.Runner
	spec   process.Spec
	mode   policy.Mode
}

func (t subTask) sheet() approval.Preview {
	var s approval.Sheet
	s.Deed, s.Question = "give the sub-agent "+fault.Quote(t.args.Agent)+" a task", "Start this sub-agent?"
	s.Fact("objective", "Objective", strings.Split(strings.TrimRight(t.args.Objective, "\n"), "\n")...)
	s.Fact("command", "Program", commandOf(t.runner.Args, t.spec.Args[0]))
	s.List("environment", "Sets", 20, tools.QuoteAll(slices.Sorted(maps.Keys(t.runner.Env)))...)
	if t.runner.ACP {
		s.Fact("mode", "Mode", string(t.mode)+": what it asks Pillion to do is asked as your agent's own calls are")
	} else {
		s.Fact("mode", "Mode", "none: the program does what it likes, as a command does")
	}
	if t.spec.Confine.Level == process.None {
		s.Warn("sandbox", "Sandbox", "none")
	} else {
		s.Fact("sandbox", "Sandbox", string(t.spec.Confine.Level))
	}
	if !t.spec.Confine.Offline {
		s.Fact("network", "Network", "allowed")
	}
	s.Fact("time", "Time", fmt.Sprintf("at most %g min", t.runner.Timeout.Minutes()))
	return s.Shown()
}

func (t subTask) run(in tools.Input) func(context.Context, tools.Effects) (*tools.Answer, error) {
	if t.runner.ACP {
		return func(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
			if effects.Agents == nil {
				return nil, fault.New(fault.ExecutionFailed, "sub-agents cannot be run here").WithHint("do the work yourself")
			}
			summary, err := effects.Agents.Run(ctx, tools.SubAgent{
				Name: t.args.Agent, Objective: t.args.Objective, Parent: in.Session, Mode: t.runner.Mode,
				Process: t.spec, WritesItself: t.runner.WritesItself, Timeout: t.runner.Timeout, Output: effects.Output,
			})
			return t.answer(summary, nil, err)
		}
	}
	return func(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
		spec := t.spec
		spec.Timeout = t.runner.Timeout
		got, err := effects.Processes.Run(ctx, spec, effects.Stream)
		var code *int
		switch {
		case err != nil:
		case got.TimedOut:
			err = fault.New(fault.Timeout, "the sub-agent %s and all it started were ended after %s", fault.Quote(t.args.Agent), spec.Timeout).
				WithHint("give it less to do")
		case got.ExitCode != 0:
			code = &got.ExitCode
			err = fault.New(fault.ExecutionFailed, "the sub-agent %s failed with exit code %d", fault.Quote(t.args.Agent), got.ExitCode).
				With("stderr", tools.HeadAndTail(got.Stderr, 4<<10)).WithHint("%s", cmp.Or(fault.Escape(tools.LastLines(strings.TrimSpace(got.Stderr), 500, tools.PageLines)), "it printed no reason"))
		}
		return t.answer(got.Stdout, code, err)
	}
}

// answer is what became of the task; with an error, what the agent said until then.
func (t subTask) answer(summary string, code *int, err error) (*tools.Answer, error) {
	summary = tools.HeadAndTail(strings.TrimSpace(strings.ToValidUTF8(summary, "\uFFFD")), maxSummary)
	if err != nil && summary == "" && code == nil {
		return nil, err
	}
	a := &tools.Answer{
		Result:  taskResult{t.args.Agent, summary, code},
		Text:    summary,
		Summary: fault.Quote(t.args.Agent) + ": " + fault.Line(fault.Clip(tools.FirstLine(summary), 100)),
		Display: &tools.Display{Kind: "markdown", Text: summary},
		Rest:    "ask it for a shorter summary",
	}
	if err != nil {
		a.Err = fault.From(err)
	}
	if summary != "" {
		a.Notes = []string{"(it is what the sub-agent " + fault.Quote(t.args.Agent) + " says: check what matters)"}
	} else if err == nil {
		a.Text = "the sub-agent " + fault.Quote(t.args.Agent) + " ended without a message"
	}
	return a, nil
}

// commandOf is a command line for people: its program by the name that was configured,
// and the file that this is.
func commandOf(args []string, file string) string {
	text := strings.Join(tools.QuoteAll(args), " ")
	if args[0] != file {
		text += " (" + fault.Quote(file) + ")"
	}
	return text
}
