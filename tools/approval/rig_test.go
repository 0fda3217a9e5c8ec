package approval_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pillion/tools/approval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plan is an approval.Plan whose world the test moves. Its digest is its text.
type plan struct {
	text       string // what is proposed, as the world is now
	made       string // what was proposed when it was last made
	continuity approval.Continuity
	err        error // the plan cannot be made
	moved      chan struct{}
	remakes    int
	adopted    []approval.Answer
	adoptErr   error
	facts      []approval.Fact // of what was adopted
}

func newPlan(text string) *plan {
	return &plan{text: text, made: text, continuity: approval.Different, moved: make(chan struct{}, 1)}
}

func (p *plan) Request() approval.Request {
	return approval.Request{
		CallID: "call", Tool: "edit_file", Title: "Edit " + p.made, Digest: p.made,
		Preview: approval.Preview{Kind: "text", Markdown: p.made, Facts: p.facts[:min(len(p.adopted), len(p.facts))]},
	}
}

func (p *plan) Moved() <-chan struct{} { return p.moved }

func (p *plan) Again(context.Context) (approval.Continuity, error) {
	p.remakes++
	if p.err != nil {
		return approval.Different, p.err
	}
	if p.made == p.text {
		return approval.Same, nil
	}
	p.made = p.text
	return p.continuity, nil
}

func (p *plan) Adopt(_ context.Context, a approval.Answer) error {
	p.adopted = append(p.adopted, a)
	if p.adoptErr == nil {
		p.text = "the user's"
		p.made = p.text
	}
	return p.adoptErr
}

// move changes the world and says so.
func (p *plan) move(text string, c approval.Continuity) {
	p.text, p.continuity, p.err = text, c, nil
	p.signal()
}

// breaks makes the plan impossible and says so.
func (p *plan) breaks(err error) {
	p.err = err
	p.signal()
}

func (p *plan) signal() {
	select {
	case p.moved <- struct{}{}:
	default:
	}
}

// dialogs is an approval.Asker whose user is the test.
type dialogs struct {
	open     []*dialog // in the order in which they were asked
	changed  []approval.Changed
	resolved []resolution
}

type resolution struct {
	id      string
	outcome approval.Outcome
}

type dialog struct {
	request approval.Request
	replies chan reply
	ended   bool // the queue took it down
}

type reply struct {
	answer approval.Answer
	err    error
}

func (d *dialogs) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	one := &dialog{request: r, replies: make(chan reply, 8)}
	d.open = append(d.open, one)
	select {
	case r := <-one.replies:
		return r.answer, r.err
	case <-ctx.Done():
		one.ended = true
		return approval.Answer{}, ctx.Err()
	}
}

func (d *dialogs) Changed(c approval.Changed) { d.changed = append(d.changed, c) }

func (d *dialogs) Resolved(id string, outcome approval.Outcome) {
	d.resolved = append(d.resolved, resolution{id, outcome})
}

// outcomes are how the dialogs ended, in order.
func (d *dialogs) outcomes() []approval.Outcome {
	var out []approval.Outcome
	for _, r := range d.resolved {
		out = append(out, r.outcome)
	}
	return out
}

func (o *dialog) reply(a approval.Answer) { o.replies <- reply{answer: a} }

func (o *dialog) approve(digest string) {
	o.reply(approval.Answer{Decision: approval.Approve, Digest: digest})
}

// world is a queue, its user, and one plan. Everything happens in a synctest
// bubble, so that the test and the queue take turns and time is made up.
type world struct {
	t     *testing.T
	human *dialogs
	queue *approval.Queue
	plan  *plan
	ended chan reply
	stop  context.CancelFunc
}

// inWorld asks about a plan and lets the test go on when the dialog is open.
func inWorld(t *testing.T, expiry time.Duration, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		w := &world{t: t, human: &dialogs{}, plan: newPlan("v1"), ended: make(chan reply, 1), stop: stop}
		defer stop()
		w.queue = approval.NewQueue(w.human, expiry)
		go func() {
			answer, err := w.queue.Ask(ctx, w.plan)
			w.ended <- reply{answer, err}
		}()
		synctest.Wait()
		test(w)
	})
}

// dialog is the nth that was opened, from 1.
func (w *world) dialog(n int) *dialog {
	w.t.Helper()
	synctest.Wait()
	if len(w.human.open) != n {
		w.t.Fatalf("%d dialogs were opened, want %d", len(w.human.open), n)
	}
	return w.human.open[n-1]
}

// end is what Ask returned.
func (w *world) end() (approval.Answer, error) {
	w.t.Helper()
	synctest.Wait()
	select {
	case r := <-w.ended:
		if left := w.queue.Waiting(); len(left) > 0 {
			w.t.Errorf("%d requests still wait after the answer", len(left))
		}
		return r.answer, r.err
	default:
		w.t.Fatal("the call still waits")
		return approval.Answer{}, nil
	}
}

// wantAnswer is that Ask returned this.
func (w *world) wantAnswer(want approval.Decision) {
	w.t.Helper()
	if answer, err := w.end(); err != nil || answer.Decision != want {
		w.t.Errorf("%+v, %v, want %s", answer, err, want)
	}
}

func (w *world) wantError(want error) {
	w.t.Helper()
	if _, err := w.end(); !errors.Is(err, want) {
		w.t.Errorf("%v, want %v", err, want)
	}
}

func (w *world) waits() {
	w.t.Helper()
	synctest.Wait()
	select {
	case r := <-w.ended:
		w.t.Fatalf("the call ended: %+v, %v", r.answer, r.err)
	default:
	}
}

func (w *world) wantOutcomes(want ...approval.Outcome) {
	w.t.Helper()
	got := w.human.outcomes()
	if len(got) != len(want) {
		w.t.Fatalf("the dialogs ended %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] || w.human.resolved[i].id != w.human.open[i].request.ApprovalID {
			w.t.Fatalf("the dialogs ended %v, want %v, each by its own id", w.human.resolved, want)
		}
	}
}

var errImpossible = errors.New("old_string is not in the file any more")
