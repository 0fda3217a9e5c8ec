// Package agenttest is a sidecar's tools without an editor, for the tests of the
// agents' ways in: a real registry on a folder of files, and a user who answers
// when the test says so.
package agenttest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pillion/internal/testrig/check"
	"pillion/tools"
	_ "pillion/tools/all"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// Patience is how long a test waits for what must happen.
const Patience = time.Minute

// Main runs a package's tests, without leaving a goroutine behind. The test
// binary can play the guardian of the commands that they run.
func Main(m *testing.M) {
	process.PlayPart()
	goleak.VerifyTestMain(m)
}

// Project is a workspace folder with tools on it.
type Project struct {
	Dir      string
	Registry *tools.Registry
	Sessions *session.Set
	Human    *Human
}

// NewProject makes a workspace of these files, by name.
func NewProject(t testing.TB, files map[string]string) *Project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check.Must(t, err)
	for name, text := range files {
		path := filepath.Join(dir, name)
		check.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check.Must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	human := NewHuman()
	return &Project{Dir: dir, Human: human, Registry: NewRegistry(t, dir, human, human), Sessions: session.NewSet(policy.Default)}
}

// NewRegistry makes the tools on a folder.
func NewRegistry(t testing.TB, dir string, asker approval.Asker, human tools.Human) *tools.Registry {
	t.Helper()
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	check.Must(t, err)
	runner, err := process.NewRunner()
	check.Must(t, err)
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	documents := document.NewStore(w)
	return &tools.Registry{
		Documents: documents,
		Committer: &change.Committer{Documents: documents},
		Approvals: approval.NewQueue(asker, 0),
		Processes: process.NewTable(runner),
		Human:     human,
		Settings:  func() tools.Settings { return tools.Settings{Limits: tools.DefaultLimits} },
	}
}

// Read gives a file's text.
func (p *Project) Read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Dir, name))
	check.Must(t, err)
	return string(text)
}

// Human is asked by dialogs that stay open until the test answers them.
type Human struct {
	dialogs chan *Dialog

	mu       sync.Mutex // guards what follows
	resolved map[string]approval.Outcome
	changed  chan struct{} // closed and renewed whenever resolved has changed
}

// NewHuman makes a user.
func NewHuman() *Human {
	return &Human{dialogs: make(chan *Dialog, 100), resolved: map[string]approval.Outcome{}, changed: make(chan struct{})}
}

// Dialog is one open question.
type Dialog struct {
	approval.Request
	answer chan approval.Answer
}

// Answer closes the dialog.
func (d *Dialog) Answer(a approval.Answer) { d.answer <- a }

// Ask opens a dialog.
func (h *Human) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	d := &Dialog{Request: r, answer: make(chan approval.Answer, 1)}
	h.dialogs <- d
	select {
	case a := <-d.answer:
		return a, nil
	case <-ctx.Done():
		return approval.Answer{}, ctx.Err()
	}
}

// Changed is of no interest here.
func (h *Human) Changed(approval.Changed) {}

// Resolved notes how a dialog ended.
func (h *Human) Resolved(id string, outcome approval.Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resolved[id] = outcome
	close(h.changed)
	h.changed = make(chan struct{})
}

// Prompt chooses the first action.
func (h *Human) Prompt(_ context.Context, _ approval.Agent, _ string, actions []string) (string, error) {
	return actions[0], nil
}

// Next waits for the next dialog to open.
func (h *Human) Next(t testing.TB) *Dialog {
	t.Helper()
	return Wait(t, h.dialogs, "a dialog")
}

// WantOutcome waits until the dialog has ended, which must be in this way.
func (h *Human) WantOutcome(t testing.TB, d *Dialog, want approval.Outcome) {
	t.Helper()
	deadline := time.After(Patience)
	for {
		h.mu.Lock()
		got, ended := h.resolved[d.ApprovalID]
		changed := h.changed
		h.mu.Unlock()
		if ended {
			if got != want {
				t.Fatalf("the dialog ended as %s, want %s", got, want)
			}
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("the dialog is still open, want it %s", want)
		}
	}
}

// Wait waits for a value or the end of a channel.
func Wait[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}
