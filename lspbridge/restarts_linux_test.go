package lspbridge

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/language"
)

// TestAServerThatNeverStarts is started again so often, and no more: until its settings
// change, or some time is over.
func TestAServerThatNeverStarts(t *testing.T) {
	t.Parallel()
	for script, why := range map[string]string{
		"crashes on start":     "it ended with exit code 3; it printed: no module named so",
		"hangs in initialize":  "it did not answer initialize within 500ms: run ",
		"sends garbage first":  "reading a frame",
		"ignores its messages": "it did not answer initialize within 500ms: run ",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			r := newBadly(t, script)
			if strings.Contains(why, "did not answer") {
				r.bridge.patience.start = impatient / 3
				r.bridge.patience.crashes = impatient / 6 // each crash is long ago when the next one comes
			}
			r.fails(patient, fault.LSPUnavailable, why)
			sv := r.server()
			if got := sv.status().Status; got != language.Failed || r.spawned.Load() != mostCrashes+1 {
				t.Errorf("it is %v after %d lives", got, r.spawned.Load())
			}
			if r.bridge.patience.crashes == usual.crashes {
				r.fails(impatient, fault.LSPUnavailable, "is not started again before")
				r.fails(impatient, fault.LSPUnavailable, why)
				if r.spawned.Load() != mostCrashes+1 {
					t.Errorf("it was started again, for life %d", r.spawned.Load())
				}
			}

			sv.mu.Lock()
			for i := range sv.crashes { // as if it were long ago
				sv.crashes[i] = sv.crashes[i].Add(-r.bridge.patience.crashes)
			}
			sv.mu.Unlock()
			r.fails(patient, fault.LSPUnavailable, why)
			if r.spawned.Load() != 2*(mostCrashes+1) {
				t.Errorf("there were %d lives", r.spawned.Load())
			}
			got := r.reports()
			if len(got) != 1 || !strings.Contains(got[0], "[LSP] bad has ended too often") || !strings.Contains(got[0], why) {
				t.Errorf("reported: %q", got)
			}
		})
	}
}

// TestSettingsThatChange give a server that failed another chance.
func TestSettingsThatChange(t *testing.T) {
	t.Parallel()
	r := newBadly(t, "crashes on start")
	r.fails(patient, fault.LSPUnavailable, "exit code 3")
	other := r.settings.Servers[0]
	other.Command = []string{other.Command[0], "bad", "good", r.count}
	r.mu.Lock()
	r.settings.Servers = []Server{other, r.settings.Servers[1]}
	r.mu.Unlock()
	r.says(0, "well in life 7 with a.py")
}

// TestADocumentThatEndsTheServer does not do so for the others for ever.
func TestADocumentThatEndsTheServer(t *testing.T) {
	t.Parallel()
	r := newBadly(t, "crashes at a document")
	r.says(0, "well in life 1 with a.py")
	if _, _, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("poison.py"), at(0, 0)); fault.CodeOf(err) != fault.LSPUnavailable {
		t.Errorf("the poison: %v", err)
	}
	r.until("it is back without it", func() bool { _, err := r.hover(0, patient); return err == nil })
	if r.spawned.Load() > 3 {
		t.Errorf("life %d", r.spawned.Load())
	}
}

// TestAServerThatSaysNothing is ended when it owes an answer, and comes back.
func TestAServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"is stopped", "never reads", "sends half a frame and hangs"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			r := newBadly(t, script)
			r.bridge.patience.silence = 3 * impatient
			r.fails(impatient, fault.Timeout, "did not answer")
			r.until("it answers again", func() bool { got, _ := r.hover(0, impatient); return strings.HasPrefix(got, "well in life 2") })
		})
	}
}

// TestAServerThatNeverReads does not have us keep all that it was to be told.
func TestAServerThatNeverReads(t *testing.T) {
	r := newBadly(t, "never reads")
	p := r.path("a.py")
	full := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), "does not read what it is sent")
	}
	var err error
	before := heap()
	for version := int32(1); !full(err) && version < 100; version++ {
		text := strings.Repeat(string('a'+version%26), 900<<10)
		if version == 1 {
			r.store.Open(p, p.URI(), version, text)
		} else {
			r.store.Change(p, version, text)
		}
		_, err = r.hover(0, impatient/10)
	}
	if !full(err) {
		t.Errorf("it was told everything: %v", err)
	}
	if grown := heap() - before; grown > mostUnread+8<<20 {
		t.Errorf("%d bytes more are kept", grown)
	}
}

// TestEditsDoNotWaitForAServerThatHangs: not each of them.
func TestEditsDoNotWaitForAServerThatHangs(t *testing.T) {
	t.Parallel()
	r := newBadly(t, "is stopped")
	r.settings.EditWait = impatient
	r.says(0, "well in life 1 with a.py")
	p := r.path("a.py")
	edit := func(text string) (caused language.Caused, took time.Duration) {
		before := r.snapshot()
		r.write("a.py", text+"\nline\n")
		begin := time.Now()
		return r.bridge.Caused(t.Context(), before, []workspace.Path{p})[p], time.Since(begin)
	}
	edit("a") // it is well, and publishes nothing
	_, _ = r.hover(1, impatient)
	r.until("it is known to hang", func() bool {
		edit("b" + time.Now().String())
		silent, _ := r.server().warm().pulse.silent()
		return silent > impatient
	})
	if caused, took := edit("c"); caused.Freshness != language.TimedOut || took > impatient*9/10 {
		t.Errorf("%v after %v", caused.Freshness, took)
	}
}

func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		check := func(silent time.Duration, asked bool) {
			t.Helper()
			if s, a := p.silent(); s != silent || a != asked {
				t.Errorf("%v, %v, want %v, %v", s, a, silent, asked)
			}
		}
		time.Sleep(time.Hour)
		check(0, false)
		p.owe(false)
		time.Sleep(time.Second)
		check(time.Second, false)
		p.owe(true)
		time.Sleep(time.Second)
		check(2*time.Second, true)
		p.beat()
		time.Sleep(time.Second)
		check(0, false)
	})
}

func TestTheLogIsBounded(t *testing.T) {
	var q quota
	now, written, left := time.Now(), 0, 0
	for i := range 10_000 {
		if missing, ok := q.take(now.Add(time.Duration(i) * 10 * time.Millisecond)); ok {
			written++
			left += missing
		}
	}
	// 100 s have ten of its spans.
	if written != 10*mostLines || left+q.left != 10_000-written {
		t.Errorf("%d were written, %d said to be left out", written, left)
	}
}

func TestOfAFloodOfReportsTheLastAreKept(t *testing.T) {
	var came []published
	for i := range 1000 {
		came = bounded(append(came, published{items: strings.Repeat("x", i)}))
	}
	if len(came) != mostCame || len(came[mostCame-1].items) != 999 {
		t.Errorf("%d are kept", len(came))
	}
	for range 10 {
		came = bounded(append(came, published{items: strings.Repeat("x", mostItems)}))
	}
	if len(came) != 2 {
		t.Errorf("%d large ones are kept", len(came))
	}
	if came = bounded([]published{{items: strings.Repeat("x", 3*mostItems)}}); len(came) > 1 {
		t.Errorf("%d are kept", len(came))
	}
}
