package diff_test

import (
	"strings"
	"testing"

	"pillion/workspace/diff"
)

func TestHeader(t *testing.T) {
	for want, h := range map[string]diff.Hunk{
		"@@ -1,3 +1,4 @@":             {OldStart: 1, OldLines: 3, NewStart: 1, NewLines: 4},
		"@@ -1 +1 @@":                 {OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 1},
		"@@ -0,0 +1,2 @@":             {NewStart: 1, NewLines: 2},
		"@@ -7,0 +8 @@ func main() {": {OldStart: 7, NewStart: 8, NewLines: 1, Section: "func main() {"},
	} {
		if got := h.Header(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestUnified(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		context             int
		want                string
	}{
		{"nothing", "a\n", "a\n", 3, ""},
		{"new file", "", "a\nb\n", 3, "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied file", "a\n", "", 3, "@@ -1 +0,0 @@\n-a\n"},
		{"newline lost", "a\nb\n", "a\nb", 3, "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"},
		{"no newline on both sides", "a\nb", "c\nb", 3, "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"},
		{"no context", "a\nb\nc\n", "a\nx\nc\n", 0, "@@ -2 +2 @@ a\n-b\n+x\n"},
		{"negative context is none", "a\nb\nc\n", "a\nc\n", -5, "@@ -2 +1,0 @@ a\n-b\n"},
		{"boundless context", "a\nb\nc\n", "a\nc\n", int(^uint(0) >> 1), "@@ -1,3 +1,2 @@\n a\n-b\n c\n"},
		{"carriage returns are text", "a\r\nb\r\n", "a\r\nb\n", 0, "@@ -2 +2 @@ a\n-b\r\n+b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := diff.Unified(diff.Hunks(c.before, c.after, c.context)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestHunksJoinWhereContextTouches(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	after := strings.NewReplacer("2", "two", "9", "nine").Replace(before)
	for context, want := range map[int]int{0: 2, 1: 2, 2: 2, 3: 1} {
		if got := len(diff.Hunks(before, after, context)); got != want {
			t.Errorf("context %d: %d hunks, want %d", context, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	added, deleted := diff.Count(diff.Hunks("a\nb\nc\n", "a\nx\ny\nc\nd\n", 3))
	if added != 3 || deleted != 1 {
		t.Errorf("+%d -%d, want +3 -1", added, deleted)
	}
}
