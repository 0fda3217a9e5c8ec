package session

import (
	"fmt"
	"strings"
	"testing"

	"pillion/tools/policy"
)

func TestSessionsShareTheTextsThatTheySaw(t *testing.T) {
	set := NewSet(policy.Default)
	one, two := opened(t, set, "one"), opened(t, set, "two")
	one.Remember("v1", "utf-8", "text")
	if text, ok := two.Recall("v1", "utf-8"); ok {
		t.Errorf("the other session, which never saw it, recalls %q", text)
	}
	two.Remember("v1", "utf-8", "text")
	for _, s := range []*Session{one, two} {
		if text, ok := s.Recall("v1", "utf-8"); !ok || text != "text" {
			t.Errorf("%s recalls %q, %v", s.ID(), text, ok)
		}
	}
	if n := set.texts.recent.Len(); n != 1 {
		t.Errorf("it is kept %d times", n)
	}
	for _, other := range [][2]string{{"v2", "utf-8"}, {"v1", "utf-16le"}} {
		if text, ok := one.Recall(other[0], other[1]); ok {
			t.Errorf("%v recalls %q", other, text)
		}
	}
}

func TestWhatWasUsedLongestAgoIsForgotten(t *testing.T) {
	texts := NewTexts(3 * (textCost + 100))
	text := strings.Repeat("x", 100)
	for _, name := range []string{"a", "b", "c"} {
		texts.keep(textKey{version: name}, text)
	}
	texts.find(textKey{version: "a"})
	texts.keep(textKey{version: "c"}, text)
	texts.keep(textKey{version: "d"}, text)
	for name, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, ok := texts.find(textKey{version: name}); ok != want {
			t.Errorf("%s is remembered: %v", name, ok)
		}
	}
	texts.keep(textKey{version: "large"}, strings.Repeat("x", 2000))
	if _, ok := texts.find(textKey{version: "d"}); !ok {
		t.Error("a text that has no room drove the others out")
	}
	if texts.size != 3*(textCost+100) || texts.recent.Len() != 3 || len(texts.byKey) != 3 {
		t.Errorf("%d bytes, %d, %d texts", texts.size, texts.recent.Len(), len(texts.byKey))
	}
}

func TestAMergeLeavesTheAgentsOwnTextInItsMind(t *testing.T) {
	s := New("one", Agent{}, policy.Default)
	s.Saw("a", "v1")
	s.SawMerge("a", "mine", "both")
	if version, _ := s.Seen("a"); version != "mine" {
		t.Errorf("seen: %s", version)
	}
	for named, want := range map[string]string{"both": "mine", "mine": "mine", "v1": "v1", "": ""} {
		if got := s.Believes("a", named); got != want {
			t.Errorf("%q stands for %q, want %q", named, got, want)
		}
	}
	if s.Check("a", "both", s.Known()[0].Checked) {
		t.Error("its own merge is told as news")
	}
	s.Saw("a", "both")
	if got := s.Believes("a", "both"); got != "both" {
		t.Errorf("after reading it stands for %q", got)
	}
}

func TestWhoReadsOnePartAfterTheOtherKnowsTheWhole(t *testing.T) {
	s := New("one", Agent{}, policy.Default)
	for i, step := range []struct {
		version            string
		first, last, total int
		whole              string
	}{
		{"v1", 3, 4, 6, ""},
		{"v1", 1, 3, 6, ""},
		{"v1", 5, 6, 6, ""}, // line 4 was read before its time, and is asked for again
		{"v1", 4, 6, 6, "v1"},
		{"v2", 4, 6, 6, "v1"},
		{"v2", 1, 3, 6, "v1"},
		{"v3", 4, 6, 6, "v1"},
		{"v2", 1, 6, 6, "v2"},
		{"v3", 1, 0, 0, "v3"},
	} {
		s.SawLines("a", step.version, step.first, step.last, step.total)
		if got := s.SeenWhole("a"); got != step.whole {
			t.Errorf("step %d: the whole is %q, want %q", i, got, step.whole)
		}
		if got, _ := s.Seen("a"); got != step.version {
			t.Errorf("step %d: seen %q", i, got)
		}
	}
	if got := s.SeenWhole("b"); got != "" {
		t.Errorf("a file that was never read: %q", got)
	}
}

func TestASessionForgetsWhichTextsItHad(t *testing.T) {
	s := New("one", Agent{}, policy.Default)
	s.texts = NewTexts(10 * textCost)
	for i := range 3 * maxTexted {
		s.Remember(fmt.Sprint(i), "utf-8", "")
	}
	if len(s.texted) > maxTexted {
		t.Errorf("it knows of %d", len(s.texted))
	}
	if _, ok := s.Recall(fmt.Sprint(3*maxTexted-1), "utf-8"); !ok {
		t.Error("the last one is forgotten")
	}
}

// TestBytes: only where the text is the bytes of the version that the session knows now.
func TestBytes(t *testing.T) {
	s := New("one", Agent{}, policy.Default)
	want := func(when, bytes, version string) {
		t.Helper()
		if b, v := s.Bytes("file", "utf-8"); b != bytes || v != version {
			t.Errorf("%s: %q of %q", when, b, v)
		}
	}
	s.Saw("file", "v1")
	want("not remembered", "", "")
	s.Remember("v1", "utf-8", "text")
	want("decoded, or shown with other line ends", "", "")
	s.RememberBytes("v1", "utf-8", "text")
	want("as it is on disk", "text", "v1")
	s.Saw("file", "v2")
	want("another version", "", "")
}
