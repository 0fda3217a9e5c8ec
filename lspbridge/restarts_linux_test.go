package lspbridge

import (
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/language"
)

// TestAServerThatNeverStarts is started again so often, and no more: until its settings
// change, or some time is over.
func TestAServerThatNeverStarts(t *testing.T) {
	t.Parallel()
	for script, why := range map[string]string{
		"crashes on start":    "it ended with exit code 3; it printed: no module named so",
		"sends garbage first": "reading a frame",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			r := newBadly(t, script)
			r.bridge.patience.ending = time.Minute // its exit code is asked for
			for lives := int64(mostCrashes + 1); lives <= 2*(mostCrashes+1); lives += mostCrashes + 1 {
				r.fails(fault.LSPUnavailable, why)
				r.fails(fault.LSPUnavailable, "is not started again before")
				if got := r.server().status().Status; got != language.Failed || r.spawned.Load() != lives {
					t.Errorf("it is %v after %d lives, want %d", got, r.spawned.Load(), lives)
				}
				r.server().longAgo()
			}
			if got := r.reports(); len(got) != 1 || !strings.Contains(got[0], "[LSP] bad has ended too often") || !strings.Contains(got[0], why) {
				t.Errorf("reported: %q", got)
			}
			other := r.settings.Servers[0]
			other.Command = []string{other.Command[0], "bad", "good", r.count}
			r.mu.Lock()
			r.settings.Servers = []Server{other, r.settings.Servers[1]}
			r.mu.Unlock()
			r.says(0, "well in life 13 with a.py")
		})
	}
}

// longAgo has all crashes be as if they were.
func (s *server) longAgo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.crashes {
		s.crashes[i] = s.crashes[i].Add(-s.bridge.patience.crashes)
	}
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

func TestTheLogIsBounded(t *testing.T) {
	var q quota
	now, written, left := time.Now(), 0, 0
	for i := range 10_000 {
		if missing, ok := q.spend(now.Add(time.Duration(i) * 10 * time.Millisecond)); ok {
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
