package terminal

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// Yes approves everything, for scripts. It shows what it approves on Out.
type Yes struct {
	Out   io.Writer
	Style Style
	Own   bool // the calls are the person's own, so it need not be said who asks

	asked atomic.Bool
}

// Asked reports whether there has been a question.
func (y *Yes) Asked() bool { return y.asked.Load() }

// Ask shows the request and approves it.
func (y *Yes) Ask(_ context.Context, r approval.Request) (approval.Answer, error) {
	y.asked.Store(true)
	who := ""
	if !y.Own {
		who = fault.Quote(r.Agent.Name) + " asks: "
	}
	out := output{y.Out}
	fmt.Fprintf(out, "\n%s %s\n", y.Style.Bold(who+fault.Escape(r.Title)), y.Style.Yellow("(approved by --yes)"))
	y.Style.Preview(out, r.Preview)
	return approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID, Digest: r.Digest}, nil
}

// Changed does nothing: the plan is checked again before anything is done.
func (*Yes) Changed(approval.Changed) {}

// Resolved does nothing.
func (*Yes) Resolved(string, approval.Outcome) {}

// Prompt cannot be answered by a script.
func (*Yes) Prompt(context.Context, approval.Agent, string, []string) (string, error) {
	return "", fault.New(fault.ApprovalUnavailable, "--yes answers no questions; run it in a terminal")
}

// Nobody is the user of a program without a terminal.
type Nobody struct{ approval.Nobody }

// Prompt refuses.
func (n Nobody) Prompt(context.Context, approval.Agent, string, []string) (string, error) {
	return "", fault.New(fault.ApprovalUnavailable, "the user cannot be asked: %s", n.Why)
}
