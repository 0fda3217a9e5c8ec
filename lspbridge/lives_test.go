package lspbridge

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/language"
)

// TestACancelledQuestionIsTakenBack: it ends at once, and the server is told.
func TestACancelledQuestionIsTakenBack(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "abc\n"}, func(t *testing.T, r *rig) {
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
	})
}

// TestAServerThatNeverAnswersInitialize is given up likewise, although each crash is long
// ago when the next one comes.
func TestAServerThatNeverAnswersInitialize(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "abc\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		f.holds = "initialize"
		sv, err := r.bridge.serverOf(r.path("a.py"))
		r.Must(err)
		for runs := mostCrashes + 1; runs <= 2*(mostCrashes+1); runs += mostCrashes + 1 {
			if _, by, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0)); by.Status != language.Starting || !strings.Contains(err.Error(), "is not ready yet") {
				t.Errorf("%+v: %v", by, err)
			}
			for sv.status().Status != language.Failed {
				time.Sleep(time.Minute)
			}
			_, by, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
			if by.Status != language.Failed || !strings.Contains(err.Error(), "it did not answer initialize within 1m0s: run ") || f.runs != runs {
				t.Errorf("after %d starts, %+v: %v", f.runs, by, err)
			}
			time.Sleep(r.bridge.patience.crashes)
		}
		if got := r.reports(); len(got) != 1 {
			t.Errorf("reported %q", got)
		}
	})
}

// TestAServerThatSaysNothing is ended when it owes an answer, and comes back.
func TestAServerThatSaysNothing(t *testing.T) {
	for _, method := range []string{"textDocument/hover", "textDocument/didOpen"} { // at which it hangs
		inBubble(t, map[string]string{"a.py": "abc\n"}, func(t *testing.T, r *rig) {
			f := r.serve(hovers)
			f.stuck = method
			_, _, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
			if fault.CodeOf(err) != fault.Timeout || !strings.Contains(err.Error(), "did not answer") {
				t.Errorf("%s: %v", method, err)
			}
			time.Sleep(time.Second)
			_, by, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
			if by.Status != language.Running || !strings.Contains(err.Error(), "has not said anything for 11s") {
				t.Errorf("%s: %+v: %v", method, by, err)
			}
			f.set(func() { f.stuck = "" })
			r.until("it is ended", func() bool { return f.running() == 0 })
			r.started()
			if f.runs != 2 {
				t.Errorf("%s: life %d", method, f.runs)
			}
		})
	}
}

// TestAServerThatNeverReads does not have us keep all that it was to be told.
func TestAServerThatNeverReads(t *testing.T) {
	inBubble(t, map[string]string{"a.py": ""}, func(t *testing.T, r *rig) {
		r.serve(hovers).stuck = "textDocument/didOpen"
		r.bridge.patience.question = time.Hour // else it is said to hang, and told nothing more
		p := r.path("a.py")
		var err error
		before, version := heap(), int32(0)
		for err = context.DeadlineExceeded; version < 40 && !strings.Contains(err.Error(), "does not read what it is sent"); {
			version++
			text := strings.Repeat(string('a'+version%26), 900<<10)
			if version == 1 {
				r.store.Open(p, p.URI(), version, text)
			} else {
				r.store.Change(p, version, text)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, _, err = r.bridge.Hover(ctx, r.snapshot(), p, at(0, 0))
			cancel()
		}
		if version == 40 {
			t.Errorf("it was told everything: %v", err)
		}
		if grown := heap() - before; grown > mostUnread+8<<20 {
			t.Errorf("%d bytes more are kept", grown)
		}
	})
}

// TestEditsDoNotWaitForAServerThatHangs: not each of them.
func TestEditsDoNotWaitForAServerThatHangs(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "abc\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		r.settings.EditWait = 2 * time.Second
		p := r.path("a.py")
		edit := func(text string, within time.Duration) {
			t.Helper()
			before := r.snapshot()
			r.Write("a.py", text)
			begin := time.Now()
			caused := r.bridge.Caused(t.Context(), before, []workspace.Path{p}, nil)[p]
			if took := time.Since(begin).Round(time.Second); caused.Freshness != language.TimedOut || took != within {
				t.Errorf("%q: %v after %v, want %v", text, caused.Freshness, took, within)
			}
		}
		r.started()
		edit("it is well, and publishes nothing", r.settings.EditWait)
		f.set(func() { f.stuck = "textDocument/hover" })
		time.Sleep(time.Second) // it answers what it was asked for a sign of life
		_, _, err := r.bridge.Hover(t.Context(), r.snapshot(), p, at(0, 0))
		if fault.CodeOf(err) != fault.Timeout {
			t.Errorf("it hangs: %v", err)
		}
		edit("it is known to hang", 0)
	})
}

// TestServersAreBounded: each folder with a marker has a server, but only so many.
func TestServersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		r.Must(r.store.Workspace().SetFolders(workspace.Folder{Dir: r.Abs("p00")}))
		r.bridge.FoldersChanged()
		r.until("those of a folder that was closed are stopped", func() bool { return f.running() == 0 })
	})
}

// TestAnIdleServerIsStopped, and started again when it is needed.
func TestAnIdleServerIsStopped(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "abc\n"}, func(t *testing.T, r *rig) {
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
	})
}
