package lspbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/language"
)

// TestACancelledQuestionIsTakenBack: it ends at once, and the server is told.
func TestACancelledQuestionIsTakenBack(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "abc\n"})
	f := r.serve(hovers)
	f.holds = "textDocument/hover"
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, _, err := r.bridge.Hover(ctx, r.snapshot(), r.path("a.py"), at(0, 0))
		ended <- err
	}()
	r.until("it is asked", func() bool { return f.messages("textDocument/hover") != nil })
	cancel()
	if err := <-ended; fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
	r.until("the server is told", func() bool { return f.messages("cancelled") != nil })
}

// TestAServerThatEnds: what it was asked fails at once; it comes back with the same
// documents, also with those that nobody asks about.
func TestAServerThatEnds(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "abc\n", "b.py": "def\n"})
	f := r.serve(hovers)
	r.hovered(f, "b.py")
	f.mu.Lock()
	f.holds = "textDocument/hover"
	f.got = nil
	f.mu.Unlock()
	ended := make(chan error)
	go func() {
		_, _, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
		ended <- err
	}()
	r.until("it is asked", func() bool { return f.messages("textDocument/hover") != nil })
	f.forget()
	f.mu.Lock()
	f.kill()
	f.mu.Unlock()
	if err := <-ended; fault.CodeOf(err) != fault.LSPUnavailable || !strings.Contains(err.Error(), "ended while it was asked") {
		t.Errorf("its server ended: %v", err)
	}
	r.until("it is there again with its documents", func() bool {
		sv, err := r.bridge.serverOf(r.path("a.py"))
		r.must(err)
		return sv.status().Status == language.Running && len(f.messages("textDocument/didOpen")) == 2
	})
}

// TestAServerThatKeepsEnding is started again so often, and no more.
func TestAServerThatKeepsEnding(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "abc\n"})
	f := r.serve(hovers)
	f.answers["initialize"] = func(json.RawMessage) (any, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		go f.kill()
		return nil, context.Canceled
	}
	sv, err := r.bridge.serverOf(r.path("a.py"))
	r.must(err)
	sv.crashes = []time.Time{time.Now().Add(-r.bridge.patience.crashes), time.Now(), time.Now(), time.Now(), time.Now()} // the first is long ago
	_, by, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
	if fault.CodeOf(err) != fault.LSPUnavailable || by.Status != language.Failed || !strings.Contains(err.Error(), "is not started again") {
		t.Errorf("%v by %+v", err, by)
	}
	if f.runs != 2 {
		t.Errorf("it was started %d times", f.runs)
	}
	r.until("the user is told", func() bool { return len(r.reports()) > 0 })
	if got := r.reports(); len(got) != 1 {
		t.Errorf("reported %q", got)
	}
}

// TestServersAreBounded: each folder with a marker has a server, but only so many.
func TestServersAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range mostServers + 2 {
		files[fmt.Sprintf("p%02d/setup.py", i)] = ""
	}
	r := newRig(t, files)
	f := r.serve(hovers)
	r.settings.Servers[0].RootMarkers = []string{"setup.py"}
	for i := range mostServers + 2 {
		r.hovered(f, fmt.Sprintf("p%02d/setup.py", i))
	}
	r.until("the two that nobody used for longest are stopped", func() bool { return f.running() == mostServers })
	if got := len(r.bridge.warm()); got != mostServers {
		t.Errorf("%d run", got)
	}
	r.must(r.store.Workspace().SetFolders(workspace.Folder{Dir: filepath.Join(r.dir, "p00")}))
	r.bridge.FoldersChanged()
	r.until("those of a folder that was closed are stopped", func() bool { return f.running() == 0 })
}

// TestAnIdleServerIsStopped, and started again when it is needed.
func TestAnIdleServerIsStopped(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "abc\n"})
	f := r.serve(hovers)
	r.bridge.patience.look = time.Millisecond
	r.settings.Idle = 100 * time.Millisecond
	r.started()
	r.until("it is stopped, as servers like to be", func() bool { return f.running() == 0 && f.messages("exit") != nil })
	r.started()
	r.until("and again", func() bool { return f.running() == 0 && f.runs == 2 })
	if got := r.reports(); got != nil {
		t.Errorf("reported: %q", got)
	}
}
