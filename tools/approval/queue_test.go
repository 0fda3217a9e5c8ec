package approval_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pillion/tools/approval"
)

func TestAnAnswerEndsTheDialog(t *testing.T) {
	for decision, outcome := range map[approval.Decision]approval.Outcome{
		approval.Approve: approval.Approved,
		approval.Edit:    approval.Edited,
		approval.Reject:  approval.Rejected,
		approval.Cancel:  approval.Cancelled,
		"":               approval.Rejected, // no usable answer is no yes
		"yes":            approval.Rejected,
	} {
		t.Run(string(decision), func(t *testing.T) {
			inWorld(t, 0, func(w *world) {
				d := w.dialog(1)
				if d.request.ApprovalID == "" || d.request.ExpiresAt != nil || d.request.Digest != "v1" {
					t.Errorf("the request: %+v", d.request)
				}
				d.reply(approval.Answer{Decision: decision, Feedback: "because", Digest: "v1"})
				answer, err := w.end()
				if err != nil || answer.Decision != decision || answer.Feedback != "because" {
					t.Errorf("%+v, %v", answer, err)
				}
				w.wantOutcomes(outcome)
			})
		})
	}
}

func TestAnAnswerWithoutDigestIsForItsOwnRequest(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		w.dialog(1).reply(approval.Answer{Decision: approval.Approve})
		if answer, err := w.end(); err != nil || answer.Digest != "v1" {
			t.Errorf("%+v, %v", answer, err)
		}
	})
	inWorld(t, 0, func(w *world) {
		w.plan.move("v2", approval.Different)
		w.dialog(1).reply(approval.Answer{Decision: approval.Approve})
		w.dialog(2)
		w.waits()
		w.wantOutcomes(approval.Superseded)
	})
}

// TestOneAnswerCounts: what comes after it, late or again, does nothing.
func TestOneAnswerCounts(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		d := w.dialog(1)
		d.reply(approval.Answer{Decision: approval.Reject})
		d.approve("v1")
		w.wantAnswer(approval.Reject)
		d.approve("v1")
		synctest.Wait()
		w.wantOutcomes(approval.Rejected)
	})
}

// TestADigestThatWasNeverShownIsNoYes.
func TestADigestThatWasNeverShownIsNoYes(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		w.dialog(1).approve("made up")
		w.dialog(2).approve("v1")
		w.wantAnswer(approval.Approve)
		w.wantOutcomes(approval.Superseded, approval.Approved)
		if w.human.open[0].request.ApprovalID == w.human.open[1].request.ApprovalID {
			t.Error("two dialogs have one id")
		}
	})
}

func TestAYesSurvivesEditsThatShift(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		d := w.dialog(1)
		w.plan.move("v2", approval.Shifted)
		w.waits()
		if c := w.human.changed; len(c) != 1 || !c[0].Moved || c[0].Digest != "v2" || c[0].ApprovalID != d.request.ApprovalID || c[0].Preview.Markdown != "v2" {
			t.Errorf("told of the change: %+v", c)
		}
		d.approve("v1")
		w.wantAnswer(approval.Approve)
		w.wantOutcomes(approval.Approved)
	})
}

func TestAnythingElseNeedsANewYes(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		d := w.dialog(1)
		w.plan.move("v2", approval.Different)
		w.waits()
		if c := w.human.changed; len(c) != 1 || c[0].Moved || c[0].Digest != "v2" {
			t.Errorf("told of the change: %+v", c)
		}
		if waiting := w.queue.Waiting(); len(waiting) != 1 || waiting[0].Digest != "v2" || waiting[0].Preview.Markdown != "v2" || waiting[0].ApprovalID != d.request.ApprovalID {
			t.Errorf("waiting: %+v", waiting)
		}
		d.approve("v1")
		second := w.dialog(2)
		w.waits()
		if second.request.Digest != "v2" {
			t.Errorf("asked again about %q", second.request.Digest)
		}
		second.approve("v2")
		w.wantAnswer(approval.Approve)
		w.wantOutcomes(approval.Superseded, approval.Approved)
	})
}

// TestAYesForWhatIsOnShowNow: the dialog was updated in place, and the user saw it.
func TestAYesForWhatIsOnShowNow(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		d := w.dialog(1)
		w.plan.move("v2", approval.Different)
		w.waits()
		w.plan.move("v3", approval.Shifted)
		w.waits()
		d.approve("v2")
		if answer, err := w.end(); err != nil || answer.Digest != "v2" {
			t.Errorf("%+v, %v", answer, err)
		}
		w.wantOutcomes(approval.Approved)
	})
}

// TestTheLastLook: nobody said that the world moved, and yet it had.
func TestTheLastLook(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		w.plan.text = "v2"
		w.dialog(1).approve("v1")
		w.dialog(2).reply(approval.Answer{Decision: approval.Reject})
		w.wantAnswer(approval.Reject)
		w.wantOutcomes(approval.Superseded, approval.Rejected)
	})
}

func TestANoNeedsNoLook(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		w.plan.err = errImpossible
		w.dialog(1).reply(approval.Answer{Decision: approval.Reject, Feedback: "no"})
		if answer, err := w.end(); err != nil || answer.Feedback != "no" || w.plan.remakes != 0 {
			t.Errorf("%+v, %v after %d looks", answer, err, w.plan.remakes)
		}
	})
}

func TestASignalForNothingShowsNothing(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		w.plan.signal()
		w.waits()
		if len(w.human.changed) != 0 || w.plan.remakes != 1 {
			t.Errorf("%d changes shown after %d looks, want none after one", len(w.human.changed), w.plan.remakes)
		}
		w.dialog(1)
	})
}

func TestAPlanMayBeImpossibleForAMoment(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		w.plan.breaks(errImpossible)
		w.waits()
		time.Sleep(900 * time.Millisecond)
		w.plan.move("v1", approval.Same)
		w.waits()
		// A second moment has a grace of its own.
		w.plan.breaks(errImpossible)
		w.waits()
		time.Sleep(900 * time.Millisecond)
		w.plan.move("v1", approval.Same)
		time.Sleep(time.Hour)
		w.waits()
		w.dialog(1).approve("v1")
		w.wantAnswer(approval.Approve)
		w.wantOutcomes(approval.Approved)
	})
}

func TestAPlanThatStaysImpossibleEndsTheDialog(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		d := w.dialog(1)
		started := time.Now()
		w.plan.breaks(errImpossible)
		w.waits()
		time.Sleep(time.Second)
		w.wantError(errImpossible)
		if took := time.Since(started); took != time.Second {
			t.Errorf("given up after %s, want a second", took)
		}
		w.wantOutcomes(approval.Stale)
		if !d.ended {
			t.Error("the dialog still stands")
		}
	})
}

// TestAYesInAnImpossibleMoment: the user approves while a program is half way
// through writing the file.
func TestAYesInAnImpossibleMoment(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		w.plan.breaks(errImpossible)
		w.waits()
		w.dialog(1).approve("v1")
		w.waits()
		w.plan.signal()
		w.waits()
		w.plan.move("v1", approval.Same)
		w.wantAnswer(approval.Approve)
		w.wantOutcomes(approval.Approved)
	})
	inWorld(t, 0, func(w *world) {
		w.plan.err = errImpossible
		w.dialog(1).approve("v1")
		w.waits()
		time.Sleep(time.Second)
		w.wantError(errImpossible)
		w.wantOutcomes(approval.Stale)
	})
	inWorld(t, 0, func(w *world) {
		w.plan.err = errImpossible
		w.dialog(1).approve("v1")
		w.waits()
		w.stop()
		w.wantError(context.Canceled)
		w.wantOutcomes(approval.Withdrawn)
	})
}

func TestAnAgentThatGivesUp(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		d := w.dialog(1)
		w.stop()
		w.wantError(context.Canceled)
		w.wantOutcomes(approval.Withdrawn)
		if !d.ended {
			t.Error("the dialog still stands")
		}
		d.approve("v1")
		synctest.Wait()
		w.wantOutcomes(approval.Withdrawn)
	})
}

func TestExpiry(t *testing.T) {
	inWorld(t, time.Minute, func(w *world) {
		started := time.Now()
		d := w.dialog(1)
		if d.request.ExpiresAt == nil || !d.request.ExpiresAt.Equal(started.Add(time.Minute)) {
			t.Errorf("expires at %v, want in a minute", d.request.ExpiresAt)
		}
		time.Sleep(59 * time.Second)
		w.waits()
		time.Sleep(time.Second)
		w.wantError(approval.ErrExpired)
		w.wantOutcomes(approval.Expired)
		if !d.ended {
			t.Error("the dialog still stands")
		}
	})
}

// TestExpiryCountsFromTheFirstDialog, and each one says so.
func TestExpiryCountsFromTheFirstDialog(t *testing.T) {
	inWorld(t, time.Minute, func(w *world) {
		started := time.Now()
		time.Sleep(40 * time.Second)
		w.plan.text = "v2"
		w.dialog(1).approve("v1")
		if at := w.dialog(2).request.ExpiresAt; at == nil || !at.Equal(started.Add(time.Minute)) {
			t.Errorf("the second dialog expires %v after the first was opened, want a minute", at.Sub(started))
		}
		time.Sleep(20 * time.Second)
		w.wantError(approval.ErrExpired)
		w.wantOutcomes(approval.Superseded, approval.Expired)
	})
}

func TestAnAskerThatCannotAsk(t *testing.T) {
	broken := errors.New("the window is gone")
	for _, want := range []error{broken, approval.ErrUnavailable, fmt.Errorf("no terminal (%w)", approval.ErrUnavailable)} {
		inWorld(t, 0, func(w *world) {
			w.dialog(1).replies <- reply{answer: approval.Answer{Decision: approval.Approve, Digest: "v1"}, err: want}
			answer, err := w.end()
			if !errors.Is(err, want) || answer.Decision != "" {
				t.Errorf("%+v, %v, want no answer and %v", answer, err, want)
			}
			w.wantOutcomes(approval.Withdrawn)
		})
	}
}

// TestAnEditForAnOlderTextIsKept: it is merged into the plan and shown again.
func TestAnEditForAnOlderTextIsKept(t *testing.T) {
	edit := approval.Answer{Decision: approval.Edit, Digest: "v1", After: map[string]string{"app.py": "mine"}}
	inWorld(t, 0, func(w *world) {
		w.plan.move("v2", approval.Different)
		w.waits()
		w.dialog(1).reply(edit)
		second := w.dialog(2)
		w.waits()
		if len(w.plan.adopted) != 1 || w.plan.adopted[0].After["app.py"] != "mine" || second.request.Digest != "the user's" {
			t.Errorf("adopted %+v, shown again as %q", w.plan.adopted, second.request.Digest)
		}
		second.approve("the user's")
		w.wantAnswer(approval.Approve)
		w.wantOutcomes(approval.Superseded, approval.Approved)
	})
	inWorld(t, 0, func(w *world) {
		w.plan.adoptErr = errors.New("the two do not fit together")
		w.plan.move("v2", approval.Different)
		w.waits()
		w.dialog(1).reply(edit)
		w.wantError(w.plan.adoptErr)
		w.wantOutcomes(approval.Superseded)
	})
	inWorld(t, 0, func(w *world) {
		w.plan.move("v2", approval.Different)
		w.waits()
		w.dialog(1).reply(approval.Answer{Decision: approval.Edit, Digest: "v1", ModifiedArguments: []byte(`{}`)})
		if second := w.dialog(2); len(w.plan.adopted) != 1 || second.request.Digest != "the user's" {
			t.Errorf("adopted %+v, shown again as %q", w.plan.adopted, second.request.Digest)
		}
	})
}

// TestOwnArgumentsAreApprovedAsTheyAreShown: what is said of them, and was not said of the
// agent's, is shown before they can be approved.
func TestOwnArgumentsAreApprovedAsTheyAreShown(t *testing.T) {
	edit := approval.Answer{Decision: approval.Edit, Digest: "v1", ModifiedArguments: []byte(`{}`)}
	inWorld(t, 0, func(w *world) {
		w.plan.facts = []approval.Fact{approval.NewFact("writes", "Writes", "log")}
		w.dialog(1).reply(edit)
		second := w.dialog(2)
		w.waits()
		if facts := second.request.Preview.Facts; second.request.Digest != "the user's" || len(facts) != 1 {
			t.Errorf("shown again as %q with %+v", second.request.Digest, facts)
		}
		second.approve("the user's")
		w.wantAnswer(approval.Approve)
		w.wantOutcomes(approval.Superseded, approval.Approved)
	})
	inWorld(t, 0, func(w *world) { // that it is theirs they know
		w.plan.facts = []approval.Fact{approval.NewFact(approval.FactEdited, "Edited", "by you")}
		w.dialog(1).reply(edit)
		w.wantAnswer(approval.Edit)
		w.wantOutcomes(approval.Edited)
	})
	inWorld(t, 0, func(w *world) {
		w.plan.adoptErr = errors.New("no such argument")
		w.dialog(1).reply(edit)
		w.wantError(w.plan.adoptErr)
	})
}

// TestCallsWaitSideBySide: each is answered by itself, in any order.
func TestCallsWaitSideBySide(t *testing.T) {
	const calls = 20
	synctest.Test(t, func(t *testing.T) {
		human := &crowd{dialogs: map[string]chan reply{}}
		queue := approval.NewQueue(human, 0)
		results := make([]reply, calls)
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				answer, err := queue.Ask(t.Context(), newPlan(fmt.Sprint(i)))
				results[i] = reply{answer, err}
			})
		}
		synctest.Wait()
		if n := len(queue.Waiting()); n != calls {
			t.Errorf("%d requests wait, want %d", n, calls)
		}
		for i := calls - 1; i >= 0; i-- {
			digest := fmt.Sprint(i)
			decision := approval.Approve
			if i%2 == 0 {
				decision = approval.Reject
			}
			human.dialogs[digest] <- reply{answer: approval.Answer{Decision: decision, Digest: digest}}
			synctest.Wait()
			if n := len(queue.Waiting()); n != i {
				t.Fatalf("%d requests wait, want %d", n, i)
			}
		}
		all.Wait()
		for i, r := range results {
			if want := i%2 != 0; r.err != nil || (r.answer.Decision == approval.Approve) != want || r.answer.Digest != fmt.Sprint(i) {
				t.Errorf("call %d ended with %+v, %v", i, r.answer, r.err)
			}
		}
	})
}

// crowd is an asker that many calls ask at once.
type crowd struct {
	mu      sync.Mutex // guards dialogs
	dialogs map[string]chan reply
}

func (c *crowd) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	replies := make(chan reply, 1)
	c.mu.Lock()
	c.dialogs[r.Digest] = replies
	c.mu.Unlock()
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-ctx.Done():
		return approval.Answer{}, ctx.Err()
	}
}

func (c *crowd) Changed(approval.Changed)          {}
func (c *crowd) Resolved(string, approval.Outcome) {}

func TestNobodyDenies(t *testing.T) {
	queue := approval.NewQueue(approval.Nobody{Why: "open an editor"}, 0)
	_, err := queue.Ask(t.Context(), newPlan("v1"))
	if !errors.Is(err, approval.ErrUnavailable) || err.Error() != "open an editor" {
		t.Errorf("%v", err)
	}
}
