// Package terminal asks a person in a terminal, and shows there what came of it.
//
// Asker is the terminal's implementation of approval.Asker and tools.Human. What
// a call does, and whether it must be asked, is decided in package tools.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// Options are what an Asker is made of.
type Options struct {
	In    io.Reader
	Out   io.Writer
	Style Style // of Out
	// Own: the calls are the person's own, one a session. They are not told who
	// asks, nor offered to have a rule remembered.
	Own bool
	// Bell rings when a question comes up.
	Bell bool
	// Stop, when closed, says that the person has stopped the program.
	Stop <-chan struct{}
}

// settleTime is as in editors and on the page.
const settleTime = 500 * time.Millisecond

// style is Style, as large as the terminal is by now.
func (o Options) style() Style {
	if tty, ok := o.Out.(*os.File); ok && o.Style.Width > 0 {
		now := StyleOf(tty)
		o.Style.Width, o.Style.Height = now.Width, now.Height
	}
	return o.Style
}

// Asker asks on a terminal, one question at a time.
type Asker struct {
	o       Options
	out     output // o.Out
	style   Style  // of the question on show
	in      *input
	settled func() <-chan time.Time // when what came on show has been there for a moment
	echo    bool                    // answers come from a pipe, so no terminal shows them
	editor  []string                // the person's editor, as a command
	console console                 // where programs run that take the terminal over
	turn    chan struct{}
	queued  atomic.Int32  // questions that wait for their turn
	wake    chan struct{} // signalled when one more does, and when the one on show has changed

	mu    sync.Mutex // guards all below
	asked bool
	open  *question // nil when none is on show
	held  []string  // lines that come after it
}

// question is the one on show.
type question struct {
	id      string
	changed *approval.Changed // and not shown yet
	outcome approval.Outcome  // how it ended, if not by an answer
}

// NewAsker asks on o.Out and reads answers from o.In, line by line.
func NewAsker(o Options) *Asker {
	a := &Asker{o: o, out: output{o.Out, o.style}, style: o.style(), echo: true, editor: findEditor(), turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), console: console{out: o.Out}}
	var discard func()
	if tty, ok := o.In.(*os.File); ok && term.IsTerminal(int(tty.Fd())) {
		a.echo = false
		a.console.in = tty
		discard = func() { flush(tty) }
	}
	a.in = newInput(o.In, discard)
	a.settled = func() <-chan time.Time { return time.After(settleTime) }
	return a
}

// currentStyle is the style of this moment, for others than whoever has the turn.
func (a *Asker) currentStyle() Style { return a.o.style() }

// Asked reports whether there has been a question.
func (a *Asker) Asked() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

// Ask shows the request and reads the person's choice. There is no default: an
// empty line is no answer.
func (a *Asker) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	if err := a.takeTurn(ctx); err != nil {
		return approval.Answer{}, err
	}
	defer a.leaveTurn()
	q := a.opened(r.ApprovalID)
	defer a.closed()
	choices := a.show(ctx, r)
	prompt := ""
	for {
		if now := a.prompt(choices); now != prompt {
			fmt.Fprint(a.out, now)
			prompt = now
		}
		line, err := a.read(ctx, "", a.wake)
		if errors.Is(err, errWoken) {
			if now, changed := a.update(ctx, q, &r); changed {
				choices, prompt = now, ""
			} else if a.prompt(choices) != prompt {
				fmt.Fprintln(a.out)
			}
			continue
		}
		if err != nil {
			return approval.Answer{}, a.ended(ctx, q, err)
		}
		prompt = ""
		answer, err := choices.answer(ctx, line)
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return approval.Answer{}, a.ended(ctx, q, ctx.Err())
		}
		fmt.Fprintln(a.out, a.style.Yellow(fault.Line(err.Error())))
	}
}

// prompt says what can be typed, and how many other questions wait.
func (a *Asker) prompt(c choices) string {
	more := ""
	switch n := a.queued.Load(); {
	case n == 1:
		more = "; 1 more request waits"
	case n > 1:
		more = fmt.Sprintf("; %d more requests wait", n)
	}
	return a.style.Bold("Your answer ("+c.letters()+more+"):") + " "
}

func (a *Asker) takeTurn(ctx context.Context) error {
	a.queued.Add(1)
	defer a.queued.Add(-1)
	a.rouse()
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *Asker) leaveTurn() { <-a.turn }

// rouse has whoever has the turn look at what is new.
func (a *Asker) rouse() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *Asker) opened(id string) *question {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = true
	a.open = &question{id: id}
	a.style = a.o.style()
	if a.o.Bell {
		a.out.ring()
	}
	return a.open
}

func (a *Asker) closed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = nil
	for _, line := range a.held {
		fmt.Fprintln(a.out, line)
	}
	a.held = nil
}

// say prints a line; while a question is on show, after it.
func (a *Asker) say(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		fmt.Fprintln(a.out, line)
		return
	}
	if len(a.held) == mostLines {
		a.held = append([]string{a.style.Dim("  … (`pillion log` has all calls)")}, a.held[2:]...)
	}
	a.held = append(a.held, line)
}

// show puts the request on the screen, with what can be answered.
func (a *Asker) show(ctx context.Context, r approval.Request) choices {
	if a.style.Colour {
		a.out.clean()
	}
	head := a.head(r)
	fmt.Fprintf(a.out, "\n%s\n\n", head)
	lines := a.style.previewLines(r.Preview)
	hidden := len(lines) - a.mostLines()
	for _, line := range lines[:min(len(lines), a.mostLines())] {
		fmt.Fprintln(a.out, line)
	}
	if hidden > 0 {
		what := fmt.Sprintf("%d more lines are", hidden)
		if hidden == 1 {
			what = "1 more line is"
		}
		fmt.Fprintln(a.out, a.style.Yellow(fmt.Sprintf("  ! %s not shown; type v to see all %d.", what, len(lines))))
	}
	choices := a.choices(r, hidden > 0)
	labels := ""
	for _, c := range choices {
		labels += "\n" + a.style.Wrap("  "+a.style.Bold(c.letter)+"  ", "     ", c.label)
	}
	// What has moved out of sight is said again, in the room that the answers, blank lines and the prompt leave.
	if room := max(a.style.Height-strings.Count(labels, "\n")-4, 2); a.style.Height > 0 && strings.Count(head, "\n")+1+len(lines) > room {
		for _, f := range r.Preview.Files {
			head += "\n" + a.style.fileHead(f)
		}
		again := strings.Split(head, "\n")
		if len(again) > room {
			again = append(again[:room-1], "  …")
		}
		fmt.Fprintln(a.out, "\n"+strings.Join(again, "\n"))
	}
	fmt.Fprintln(a.out, labels)
	a.settle(ctx)
	return choices
}

// settle drops what was typed before the question had been there for a moment: it was meant for something else. What comes
// from a pipe was written for it.
func (a *Asker) settle(ctx context.Context) {
	if a.in.discard == nil {
		return
	}
	select {
	case <-a.settled():
	case <-ctx.Done():
	}
	a.in.forget()
}

// head is who asks for what, and why.
func (a *Asker) head(r approval.Request) string {
	who := ""
	if !a.o.Own {
		who = fault.Quote(r.Agent.Name) + " asks: "
	}
	out := a.style.Wrap(a.style.Yellow("?")+" ", "    ", a.style.Bold(who+fault.Line(r.Title)))
	for _, reason := range approval.Particular(r.Reasons) {
		out += "\n" + a.style.Wrap("  "+a.style.Yellow("•")+" ", "    ", reason.Text)
	}
	return out
}

// mostLines is how long a preview may be. There is no screen to be swamped where
// answers come from a pipe, and nobody to type v.
func (a *Asker) mostLines() int {
	if a.echo {
		return int(^uint(0) >> 1)
	}
	return mostLines
}

// update shows what has become of the request while it was on show, if anything has.
func (a *Asker) update(ctx context.Context, q *question, r *approval.Request) (_ choices, changed bool) {
	a.mu.Lock()
	c := q.changed
	q.changed = nil
	a.mu.Unlock()
	if c == nil {
		return nil, false
	}
	r.Reasons, r.Preview, r.Digest = c.Reasons, c.Preview, c.Digest
	fmt.Fprintln(a.out, "\n\n"+a.style.Yellow("! What this rests on has changed while you looked. Now it is:"))
	return a.show(ctx, *r), true
}

// ended says why a question is over that nobody answered.
func (a *Asker) ended(ctx context.Context, q *question, err error) error {
	if ctx.Err() == nil {
		fmt.Fprintln(a.out)
		_, err := approval.Nobody{Why: "there is no more input to read an answer from"}.Ask(ctx, approval.Request{})
		return err
	}
	a.mu.Lock()
	outcome := q.outcome
	a.mu.Unlock()
	said := "The agent no longer waits for an answer; nothing was done."
	switch {
	case a.stopped() || a.o.Own && outcome == "":
		said = ""
	case outcome == approval.Stale:
		said = "This cannot be done any more; nothing was done."
	case errors.Is(context.Cause(ctx), approval.ErrExpired):
		said = "Nobody answered in time; nothing was done."
	}
	fmt.Fprintln(a.out)
	if said != "" {
		fmt.Fprintln(a.out, a.style.Yellow(said))
	}
	return err
}

func (a *Asker) stopped() bool {
	select {
	case <-a.o.Stop:
		return true
	default:
		return false
	}
}

// read waits for a line after a prompt.
func (a *Asker) read(ctx context.Context, prompt string, wake <-chan struct{}) (string, error) {
	fmt.Fprint(a.out, prompt)
	line, err := a.in.read(ctx, wake)
	if a.echo && err == nil {
		fmt.Fprintln(a.out, fault.Escape(line))
	}
	return line, err
}

// Changed brings the question on show up to date. A yes to lines that have only
// moved stands, so nothing is said of those.
func (a *Asker) Changed(c approval.Changed) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil || a.open.id != c.ApprovalID || c.Moved {
		return
	}
	a.open.changed = &c
	a.rouse()
}

// Resolved remembers how a question ended that is still on show.
func (a *Asker) Resolved(id string, outcome approval.Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open != nil && a.open.id == id {
		a.open.outcome = outcome
	}
}

// Prompt asks a question with numbered answers.
func (a *Asker) Prompt(ctx context.Context, by approval.Agent, message string, actions []string) (string, error) {
	if err := a.takeTurn(ctx); err != nil {
		return "", err
	}
	defer a.leaveTurn()
	a.opened("")
	defer a.closed()
	if by == (approval.Agent{}) { // it is our own question
		fmt.Fprintf(a.out, "\n%s %s\n", a.style.Yellow("?"), a.style.Bold(a.style.Behind(2, fault.Escape(message))))
	} else {
		mark := "  " + a.style.Cyan("|") + " "
		fmt.Fprintf(a.out, "\n%s %s\n", a.style.Yellow("?"), a.style.Bold(fault.Quote(by.Name)+" asks, in its own words:"))
		fmt.Fprintln(a.out, a.style.Wrap(mark, mark, fault.Escape(message)))
	}
	for i, action := range actions {
		fmt.Fprintln(a.out, a.style.Wrap(fmt.Sprintf("  %s  ", a.style.Bold(strconv.Itoa(i+1))), "     ", fault.Escape(action)))
	}
	a.settle(ctx)
	for {
		line, err := a.read(ctx, a.style.Bold(fmt.Sprintf("Your answer (1-%d, or Enter for none of them):", len(actions)))+" ", nil)
		if err != nil {
			fmt.Fprintln(a.out)
			if ctx.Err() == nil {
				err = fault.New(fault.ApprovalUnavailable, "the user cannot be asked: there is no more input to read an answer from")
			}
			return "", err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			return "cancel", nil
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(actions) {
			return actions[n-1], nil
		}
		fmt.Fprintln(a.out, a.style.Yellow("Please type one of the numbers."))
	}
}

// choice is one letter that answers.
type choice struct {
	letter, word string
	label        string
	// answer gives the answer, or an error that the person is told before they
	// are asked again. What stands after the letter is rest.
	answer func(ctx context.Context, rest string) (approval.Answer, error)
	rest   bool // text may stand after the letter
}

type choices []choice

// askAgain is why a line was no answer: a sentence for the person, who is asked again.
type askAgain string

func (t askAgain) Error() string { return string(t) }

// mostRows are those of an answer that keeps a rule: nobody reads a longer one, and the request would move out of sight.
const mostRows = 4

// choices are what can be answered to a request, of which a part may be hidden.
func (a *Asker) choices(r approval.Request, hidden bool) choices {
	decided := func(d approval.Decision, id string) func(context.Context, string) (approval.Answer, error) {
		return func(context.Context, string) (approval.Answer, error) {
			return approval.Answer{Decision: d, DecisionID: id, Digest: r.Digest}, nil
		}
	}
	out := choices{{letter: "a", word: "approve", label: "approve", answer: decided(approval.Approve, approval.ApproveID)}}
	if !a.o.Own {
		for _, c := range remembering(r, decided) {
			if strings.Count(a.style.Wrap("", "     ", c.label), "\n") < mostRows {
				out = append(out, c)
			}
		}
	}
	if len(a.editor) > 0 && canEdit(r.Preview) {
		out = append(out, choice{
			letter: "e", word: "edit", label: "edit it first, in " + fault.Quote(filepath.Base(a.editor[0])),
			answer: func(ctx context.Context, _ string) (approval.Answer, error) { return a.editProposal(ctx, r) },
		})
	}
	if hidden {
		out = append(out, choice{letter: "v", word: "view", label: "view all of it", answer: func(context.Context, string) (approval.Answer, error) {
			return approval.Answer{}, a.view(r)
		}})
	}
	stop := "stop the agent: reject this, and pause it"
	if a.o.Own {
		stop = "cancel"
	}
	return append(out,
		choice{letter: "r", word: "reject", label: "reject; say why after it, if you like", answer: a.reject, rest: true},
		choice{letter: "c", word: "cancel", label: stop, answer: decided(approval.Cancel, "")})
}

// remembering are the choices that keep a rule: t for the turn, s, s2, … for the session, w, w2, …
// for the workspace.
func remembering(r approval.Request, decided func(approval.Decision, string) func(context.Context, string) (approval.Answer, error)) choices {
	var out choices
	for _, kind := range []struct {
		scope                 approval.Scope
		letter, word, lasting string
	}{
		{approval.Turn, "t", "turn", "for the rest of this turn"},
		{approval.Session, "s", "session", "for this session"},
		{approval.Workspace, "w", "workspace", "in this folder from now on"},
	} {
		n, found := "", 0
		for _, c := range r.Decisions {
			if c.Scope != kind.scope {
				continue
			}
			if found++; found > 1 {
				n = strconv.Itoa(found)
			}
			out = append(out, choice{
				letter: kind.letter + n, word: kind.word + n, label: lasting(c, kind.lasting),
				answer: decided(approval.Approve, c.ID),
			})
		}
	}
	return out
}

// lasting is what a choice keeps, and for how long. A rule without a specifier is a name that
// says too little by itself.
func lasting(c approval.Choice, howLong string) string {
	rule := fault.Escape(c.Rule)
	if strings.Contains(rule, "(") || c.Title == "" {
		return "approve, and " + howLong + " allow " + rule
	}
	return strings.ToLower(c.Title[:1]) + fault.Escape(c.Title[1:]) + ": " + rule
}

func (l choices) letters() string {
	var out []string
	for _, c := range l {
		out = append(out, c.letter)
	}
	return strings.Join(out, " ")
}

// answer finds the choice that a line makes. Nothing but a letter or its word,
// alone on the line, is a yes.
func (l choices) answer(ctx context.Context, line string) (approval.Answer, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	word = strings.ToLower(word)
	for _, c := range l {
		if (word == c.letter || word == c.word) && (rest == "" || c.rest) {
			return c.answer(ctx, strings.TrimSpace(rest))
		}
	}
	return approval.Answer{}, askAgain("Please type one of the letters and press Enter: " + l.letters())
}

func (a *Asker) reject(ctx context.Context, reason string) (approval.Answer, error) {
	if reason == "" {
		// An end of the input here is still a no.
		question := "Why? The agent reads it (Enter for no reason): "
		if a.o.Own {
			question = "Why? (Enter for no reason): "
		}
		reason, _ = a.read(ctx, question, nil)
	}
	return approval.Answer{Decision: approval.Reject, Feedback: strings.TrimSpace(reason)}, ctx.Err()
}

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
	out := output{out: y.Out}
	fmt.Fprintf(out, "\n%s %s\n", y.Style.Bold(who+fault.Line(r.Title)), y.Style.Yellow("(approved by --yes)"))
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
