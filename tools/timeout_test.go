package tools

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWithin(t *testing.T) {
	for name, c := range map[string]struct {
		parent time.Duration // 0: it has no deadline
		watch  bool          // somebody waits from the start
		after  time.Duration
		want   error
	}{
		"in time":                  {after: time.Second},
		"in time, watched":         {after: time.Second, watch: true},
		"too late":                 {after: 2 * time.Minute, want: context.DeadlineExceeded},
		"too late, watched":        {after: 2 * time.Minute, watch: true, want: context.DeadlineExceeded},
		"the parent's end":         {parent: time.Second, after: 2 * time.Second, want: context.DeadlineExceeded},
		"the parent's end,watched": {parent: time.Second, after: 2 * time.Second, watch: true, want: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, limit := t.Context(), time.Minute
				if c.parent > 0 {
					var cancel context.CancelFunc
					parent, cancel = context.WithTimeout(parent, c.parent)
					defer cancel()
					limit = c.parent
				}
				began := time.Now()
				ctx, cancel := within(parent, time.Minute)
				defer cancel()
				if d, ok := ctx.Deadline(); !ok || d != began.Add(limit) {
					t.Errorf("the deadline is %v", d)
				}
				if c.watch {
					ctx.Done()
				}
				time.Sleep(c.after)
				if err := ctx.Err(); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
				select {
				case <-ctx.Done():
					if c.want == nil {
						t.Error("it ended early")
					}
				case <-time.After(time.Millisecond):
					if c.want != nil {
						t.Error("it did not end")
					}
				}
			})
		})
	}
}

func TestWithinCancelled(t *testing.T) {
	ctx, cancel := within(t.Context(), time.Hour)
	child, stop := context.WithCancel(ctx)
	defer stop()
	cancel()
	<-child.Done()
	if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(child.Err(), context.Canceled) {
		t.Error(ctx.Err(), child.Err())
	}
}
