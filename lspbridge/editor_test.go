package lspbridge

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnEditorThatIsLateIsAskedAgainWhenItAnswers, and no sooner: it may have had to read
// a project first.
func TestAnEditorThatIsLateIsAskedAgainWhenItAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration // to answer
		rests time.Duration // until it is asked again
	}{
		{"at once", 0, 0},
		{"in time", editorTime - time.Millisecond, 0},
		{"late", 10 * time.Second, 10*time.Second - editorTime},
		{"never", time.Hour, editorQuiet - editorTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := New(Options{Ask: func(ctx context.Context, _ string, _ any, result *json.RawMessage) error {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(c.takes):
						*result = json.RawMessage(`"hot"`)
						return nil
					}
				}})
				defer b.Close() //nolint:errcheck // cannot fail
				began := time.Now()
				raw, err := b.put(t.Context(), "hover", nil, editorTime)
				if want := min(c.takes, editorTime); time.Since(began) != want {
					t.Errorf("it took %v, want %v", time.Since(began), want)
				}
				if late := c.takes > editorTime; late != errors.Is(err, context.DeadlineExceeded) || late == (string(raw) == `"hot"`) {
					t.Errorf("got %s, %v", raw, err)
				}
				left := time.Now()
				for b.late.Load() > 0 {
					time.Sleep(time.Millisecond)
				}
				if got := time.Since(left); got < c.rests || got > c.rests+time.Millisecond {
					t.Errorf("it rests for %v, want %v", got, c.rests)
				}
			})
		})
	}
}

// TestAnAgentThatGivesUpTellsTheEditor, and the editor owes nothing after that.
func TestAnAgentThatGivesUpTellsTheEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan struct{})
		b := New(Options{Ask: func(ctx context.Context, _ string, _ any, _ *json.RawMessage) error {
			<-ctx.Done()
			close(told)
			return ctx.Err()
		}})
		defer b.Close() //nolint:errcheck // cannot fail
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := b.put(ctx, "hover", nil, editorTime); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		<-told
		synctest.Wait()
		if b.late.Load() > 0 {
			t.Error("it is not asked any more")
		}
	})
}
