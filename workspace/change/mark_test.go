package change

import (
	"testing"

	"pillion/workspace/diff"
	"pillion/workspace/document"
)

func TestMarksInHunks(t *testing.T) {
	with := document.Content{Encoding: document.UTF8, BOM: true}
	without := document.Content{Encoding: document.UTF8}
	wide := document.Content{Encoding: "utf-16le", BOM: true}
	for _, c := range []struct {
		old, now      string
		before, after document.Content
		want          string
	}{
		{"a\nb\n", "A\nb\n", with, with, "@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffA\n b\n"},
		{"a\nb\n", "a\nB\n", with, with, "@@ -1,2 +1,2 @@\n \ufeffa\n-b\n+B\n"},
		{"a\nb\n", "a\nB\n", with, without, "@@ -1,2 +1,2 @@\n-\ufeffa\n+a\n-b\n+B\n"},
		{"a\n", "b\na\n", without, with, "@@ -1 +1,2 @@\n+\ufeffb\n a\n"},
		{"", "a\nb\n", document.Content{}, with, "@@ -0,0 +1,2 @@\n+\ufeffa\n+b\n"},
		{"a\nb\n", "", with, document.Content{}, "@@ -1,2 +0,0 @@\n-\ufeffa\n-b\n"},
		{"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\n7\n", with, with, "@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+7\n"},
		{"a\n", "b\n", wide, wide, "@@ -1 +1 @@\n-a\n+b\n"},
	} {
		hunks := diff.Hunks(c.old, c.now, 3)
		if got := diff.Unified(withMarks(hunks, c.before, c.after)); got != c.want {
			t.Errorf("%q → %q:\n%q\nwant\n%q", c.old, c.now, got, c.want)
		}
	}
}

func TestGitNameOfBytes(t *testing.T) {
	if got := GitName("a/t\xe9\u00e9"); got != `"a/t\351\303\251"` {
		t.Error(got)
	}
}
