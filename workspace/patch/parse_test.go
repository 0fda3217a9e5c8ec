package patch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
)

// brief is a file of a patch in one line.
func brief(f File) string {
	out := fmt.Sprintf("%s %s", f.Operation, f.New)
	if f.Old != f.New {
		out = fmt.Sprintf("%s %s → %s", f.Operation, f.Old, f.New)
	}
	if f.Bare != "" {
		out += " or " + f.Bare
	}
	if f.OldMode|f.NewMode != 0 {
		out += fmt.Sprintf(" %o %o", f.OldMode, f.NewMode)
	}
	if f.Binary != nil {
		out += " binary"
	}
	out += fmt.Sprintf(" %d", len(f.Hunks))
	if f.MayCreate() {
		out += " or create"
	}
	return out
}

const oneHunk = "@@ -1 +1 @@\n-a\n+b\n"

func TestNames(t *testing.T) {
	for _, c := range []struct{ patch, want string }{
		{"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n" + oneHunk, "change x 100644 0 1"},
		{"diff --git x y/x y/x\n--- x y/x\n+++ x y/x\n" + oneHunk, "change x y/x 1"},
		{"diff --git src/x src/x\n--- src/x\n+++ src/x\n" + oneHunk, "change src/x 1"},
		{"diff --git i/x w/x\n--- i/x\n+++ w/x\n" + oneHunk, "change x 1"},
		{"diff --git a/a b c/x b/a b c/x\nold mode 100644\nnew mode 100755\n", "change a b c/x 100644 100755 0"},
		{"diff --git a/b c b/b c\nnew file mode 100644\nindex 0000000..e69de29\n", "create b c 0 100644 0"},
		{`diff --git "a/\303\251\t\"x" "b/\303\251\t\"x"` + "\ndeleted file mode 100644\nindex 1..0\n", "delete é\t\"x 100644 0 0"},
		{"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n" + oneHunk, "rename x → y 1"},
		{"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to \"y z\"\n", "copy x → y z 0"},
		{"diff --git a/x b/x\nBinary files a/x and b/x differ\n", "change x binary 0"},
		{"--- a/x\n+++ b/x\n" + oneHunk, "change x 1"},
		{"--- x\t2024-01-01 10:00:00.000000000 +0100\n+++ x\t2024-01-02 10:00:00 +0100\n" + oneHunk, "change x 1"},
		{"--- src/x 2024-01-01 10:00:00\n+++ src/x 2024-01-02 10:00:00\n" + oneHunk, "change src/x or x 1"},
		{"--- old/d/x\n+++ new/d/x\n" + oneHunk, "change d/x 1"},
		{"--- x.orig\n+++ x\n" + oneHunk, "change x 1"},
		{"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "create x 1"},
		{"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "change x 1 or create"},
		{"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n@@ -1,0 +3 @@\n+a\n", "change x 2"},
		{"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "change x 1"},
		{"--- x\t1970-01-01 01:00:00.000000000 +0100\n+++ x\t2024-01-02 10:00:00 +0100\n@@ -0,0 +1 @@\n+a\n", "create x 1"},
		{"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "delete x 1"},
		{"diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "create x 1"},
		{"Subject: about it\n\n---\n x | 2 +-\n\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- not a file\n-+++ nor this\n+b\n-- \n2.39\n", "change x 1"},
		{"```diff\n--- a/x\n+++ b/x\n" + oneHunk + "```\n", "change x 1"},
		{"--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", "change x 1"},
		{"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", "change x 1"}, // the last line has no end
	} {
		files, err := Parse(c.patch)
		if err != nil || len(files) != 1 {
			t.Errorf("%q: %d files, %v", c.patch, len(files), err)
			continue
		}
		if got := brief(files[0]); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.patch, got, c.want)
		}
	}
}

// TestBroken: what cannot be read says in which line.
func TestBroken(t *testing.T) {
	head := "--- a/x\n+++ b/x\n"
	for _, c := range []struct {
		patch string
		line  int
		want  string
	}{
		{"hello", 1, "no change"},
		{oneHunk, 1, "belongs to no file"},
		{head + "@@ -1,3 +1,3 @@\n a\n-b\n+c\n", 3, "2 lines before the change and 2 lines after"},
		{head + "@@ -1 +1 @@\n-a\n+b\n@@ -9,9 +9 @@\n-a\n+b\n--- a/y\n+++ b/y\n" + oneHunk, 6, "1 line before the change and 1 line after"},
		{head + "@@ -1,99999999999999999999 +1 @@\n-a\n+b\n", 3, "not a range of lines"},
		{head + "@@ -1,1099511627776 +1 @@\n-a\n+b\n", 3, "not a range of lines"},
		{head + "@@ --1 +1 @@\n-a\n+b\n", 3, "not a range of lines"},
		{head + "@@ whatever @@\n-a\n+b\n", 3, "must be like"},
		{head + "@@ -1 +1 @@\n a\n", 3, "changes nothing"},
		{"--- /dev/null\n+++ /dev/null\n" + oneHunk, 1, "names no file"},
		{"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 5, "new file depends on old contents"},
		{"diff --git a/x b/y\nrename from x\n", 1, "which file is renamed"},
		{"diff --git a/x b/x\nold mode rwx\nnew mode 100755\n", 2, "invalid mode"},
		{"diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\nKcm\n\n", 5, "corrupt"},
		{"*** Begin Patch\n*** Update File: x\n@@\n a\n*** End Patch\n", 3, "changes nothing"},
		{"*** Begin Patch\n*** Update File: x\n*** End Patch\n", 2, "nothing is changed"},
		{"*** Begin Patch\nhello\n*** End Patch\n", 2, "out of place"},
		{"*** End Patch\n*** Delete File: x\n", 1, "out of place"},
		{"*** Begin Patch\n*** Add File: x\nhello\n*** End Patch\n", 3, "must begin with \"+\""},
		{"*** Begin Patch\n*** Update File: x\n@@\n-a\nb\n*** End Patch\n", 5, "must begin with"},
		{"*** Begin Patch\n*** Add File: x\n+a\n\n+b\n*** End Patch\n", 4, "an empty one too"},
		{"*** Begin Patch\n*** Update File: x\n*** Move to: \n*** End Patch\n", 3, "new path"},
		{"*** Begin Patch\n*** Delete File: x\n*** End Patch\n*** Delete File: y\n", 4, "text after"},
		{"*** Begin Patch\n*** Delete File: x\n*** End Patch\n" + head + oneHunk, 6, "text after"},
		{"*** Begin Patch\n*** Delete File: x\n*** End Patch\ndiff --git a/x b/x\nnew file mode 100644\n", 4, "text after"},
		{head + oneHunk + "*** Begin Patch\n*** Delete File: y\n*** End Patch\n", 6, "the other form"},
	} {
		_, err := Parse(c.patch)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.PatchApplyFailed || f.Hint == "" || !strings.Contains(f.Message, c.want) || f.Details["line"] != c.line {
			t.Errorf("%q: %v (%v)", c.patch, err, f)
		}
	}
}

const python = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"

// TestBeginPatch: hunks without numbers, as Codex's models write them.
func TestBeginPatch(t *testing.T) {
	for _, c := range []struct{ name, hunks, text, want, refused string }{
		{"by its lines", "@@\n     def g(self):\n-        return 1\n+        return 2\n", python, strings.Replace(python, "g(self):\n        return 1", "g(self):\n        return 2", 1), ""},
		{"without @@", "     def g(self):\n-        return 1\n+        return 2\n", python, strings.Replace(python, "g(self):\n        return 1", "g(self):\n        return 2", 1), ""},
		{"below anchors", "@@ class B:\n@@ def f(self):\n-        return 1\n+        return 3\n", python, python[:len(python)-2] + "3\n", ""},
		{"an anchor that is the first line as well", "@@ class B:\n class B:\n+    x = 1\n     def f(self):\n", python, strings.Replace(python, "class B:\n", "class B:\n    x = 1\n", 1), ""},
		{"twice and no anchor", "@@\n-        return 1\n+        return 3\n", python, "", reasonAmbiguous},
		{"an anchor that is not there", "@@ class C:\n-        return 1\n+        return 3\n", python, "", reasonAnchor},
		{"not there", "@@\n-        return 7\n+        return 3\n", python, "", reasonAbsent},
		{"two in order", "@@\n-class A:\n+class X:\n@@\n-class B:\n+class Y:\n", python, strings.NewReplacer("class A", "class X", "class B", "class Y").Replace(python), ""},
		{"two not in order", "@@\n-class B:\n+class Y:\n@@\n-class A:\n+class X:\n", python, "", reasonAbove},
		{"among those of the one before", "@@\n-class A:\n+class X:\n     def f(self):\n@@\n     def f(self):\n-        return 1\n+        return 2\n", python, "", reasonAbove},
		{"the same again, further down", "@@ class A:\n     def f(self):\n-        return 1\n+        return 2\n@@\n     def f(self):\n-        return 1\n+        return 2\n", python, strings.ReplaceAll(python, "f(self):\n        return 1", "f(self):\n        return 2"), ""},
		{"above its anchor", "@@ class B:\n-    def g(self):\n+    def h(self):\n", python, "", reasonNotBelow},
		{"not the last", "@@\n-class B:\n+class Y:\n*** End of File\n", python, "", reasonNotLast},
		{"an anchor that is there twice", "@@ def f(self):\n-        return 1\n+        return 3\n", python, "", reasonAmbiguous},
		{"twice above the one place", "@@ def f(self):\n-class B:\n+class Y:\n", python, strings.Replace(python, "class B", "class Y", 1), ""},
		{"twice, and the second leads nowhere", "@@ def f(self):\n-    def g(self):\n+    def h(self):\n", python, strings.Replace(python, "def g", "def h", 1), ""},
		{"once below the hunk before", "@@\n-class B:\n+class Y:\n@@ def f(self):\n-        return 1\n+        return 3\n", python, strings.Replace(python[:len(python)-2], "class B", "class Y", 1) + "3\n", ""},
		{"at the end", "@@\n-        return 1\n+        return 4\n*** End of File\n", python, python[:len(python)-2] + "4\n", ""},
		{"added at the end", "@@\n+x = 1\n", "a", "a\nx = 1", ""},
		{"numbers mean nothing", "@@ -400,2 +400,2 @@ class B:\n     def f(self):\n-        return 1\n+        return 3\n", python, python[:len(python)-2] + "3\n", ""},
		{"line ends", "@@\n-b\n+B\n", "a\r\nb\r\n", "a\r\nB\r\n", ""},
		{"an empty line for an empty line", "@@\n         return 1\n\n-    def g(self):\n+    def h(self):\n", python, strings.Replace(python, "def g", "def h", 1), ""},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			files, err := Parse(strings.ReplaceAll("*** Begin Patch\n*** Update File: x\n"+c.hunks+"*** End Patch\n", "\n", end))
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			got, _, err := Apply(context.Background(), c.text, files[0].Hunks)
			var m *Mismatch
			switch {
			case c.refused == "" && (err != nil || got != c.want):
				t.Errorf("%s: %v, %q", c.name, err, got)
			case c.refused != "" && (!errors.As(err, &m) || m.Reason != c.refused):
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func TestBeginPatchFiles(t *testing.T) {
	files, err := Parse("Here it is:\n*** Begin Patch\n*** Add File: new.txt\n+one\n+\n*** Delete File: gone.txt\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-x\n+y\n\n*** Update File: c.txt\n*** Move to: d.txt\n*** Add File: empty.txt\n*** End Patch\nthat is all\n")
	machine.Must(t, err)
	var got []string
	for _, f := range files {
		got = append(got, brief(f))
	}
	want := "create new.txt 1, delete gone.txt 0, rename a.txt → b.txt 1, rename c.txt → d.txt 0, create empty.txt 0"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestSeveralBeginPatches: none is passed over.
func TestSeveralBeginPatches(t *testing.T) {
	one, two := "*** Begin Patch\n*** Delete File: x\n*** End Patch\n", "*** Begin Patch\n*** Delete File: y\n*** End Patch\n"
	for _, text := range []string{
		one + two, one + "and\n\n" + two, strings.ReplaceAll(one, "\n", "\r\n") + two, "\ufeff" + one + two,
		"*** Delete File: x\n*** End Patch\n" + two, "```\n" + one + "EOF\n```\n" + two + "```\n",
	} {
		files, err := Parse(text)
		if err != nil || len(files) != 2 || brief(files[0]) != "delete x 0" || brief(files[1]) != "delete y 0" {
			t.Errorf("%q: %v %v", text, files, err)
		}
	}
}

// TestBlanksAroundMarkers: Codex takes them, and its models write them.
func TestBlanksAroundMarkers(t *testing.T) {
	files, err := Parse("\n  *** Begin Patch \n\t*** Add File:  new.txt \n+one\n  *** Delete File: old.txt\t\n *** Update File: a.txt  \n   *** Move to:  b.txt \n@@\n-x\n+y\n *** End Patch\n  ")
	machine.Must(t, err)
	got := ""
	for _, f := range files {
		got += fmt.Sprintf("%s %s %s %d; ", f.Operation, f.Old, f.New, len(f.Hunks))
	}
	if want := fmt.Sprintf("%s new.txt new.txt 1; %s old.txt old.txt 0; %s a.txt b.txt 1; ", Create, Delete, Rename); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Within a hunk a blank says that the line stays.
	files, err = Parse("*** Begin Patch\n*** Update File: a.txt\n@@\n *** End Patch\n-x\n+y\n*** End Patch\n")
	if err != nil || len(files[0].Hunks[0].Lines) != 3 {
		t.Errorf("%+v, %v", files, err)
	}
}
