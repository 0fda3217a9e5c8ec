package change

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
	"pillion/workspace/document"
)

func TestPreview(t *testing.T) {
	b := newBench(t)
	b.write("src/app.py", "one\ntwo\n")
	b.show("src/app.py").set("one\nmine\n")
	p := Set{Files: []File{b.plan("src/app.py", "one\nagent\n"), b.plan("new.unknown", "x")}}.Preview()
	a := p[0]
	if a.Path != "src/app.py" || a.URI != b.path("src/app.py").URI() || a.Operation != Overwrite || a.Language != "python" || a.Size != 10 ||
		a.Before != "one\nmine\n" || a.After != "one\nagent\n" || a.Additions != 1 || a.Deletions != 1 || !a.OpenInEditor || !a.Dirty {
		t.Errorf("%+v", a)
	}
	if len(a.Hunks) != 1 || !reflect.DeepEqual(a.Hunks[0], HunkPreview{
		ID: "1", Header: "@@ -1,2 +1,2 @@", Title: "2: agent", Additions: 1, Deletions: 1, Before: &HunkLines{1, 2}, After: &HunkLines{1, 2}, Head: 1,
	}) {
		t.Errorf("hunks: %+v", a.Hunks)
	}
	if n := p[1]; n.Operation != Create || n.Language != "" || n.OpenInEditor || n.Dirty || n.Before != "" || n.Additions != 1 {
		t.Errorf("%+v", n)
	}
}

func TestDiff(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("same.txt", "same\n")
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "two\n", "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"},
		{"same.txt", "same\n", ""},
		{"new.txt", "x", "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"},
		{"empty.txt", "", "diff --git a/empty.txt b/empty.txt\nnew file mode 100644\n"},
		{`q"\.txt`, "x\n", "diff --git \"a/q\\\"\\\\.txt\" \"b/q\\\"\\\\.txt\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/q\\\"\\\\.txt\"\n@@ -0,0 +1 @@\n+x\n"},
	} {
		f := b.plan(c.name, c.text)
		if got := f.Diff(f.Hunks()); got != c.want {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}

// TestDiffsApplyWithGit: the diff that agents and people are shown is one.
func TestDiffsApplyWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed here")
	}
	machine.Rapid(t, 25, 200)
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		b := newBenchIn(t, dir)
		before, after := versions.Draw(rt, "before"), versions.Draw(rt, "after")
		b.write("a b.txt", before)
		f := b.plan("a b.txt", after)
		diff := f.Diff(f.Hunks())
		if diff == "" {
			return
		}
		apply := exec.Command(git, "apply", "--whitespace=nowarn", "-")
		apply.Dir, apply.Stdin = dir, strings.NewReader(diff)
		apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := apply.CombinedOutput(); err != nil {
			rt.Fatalf("%v: %s\n%s", err, out, diff)
		}
		if got := b.onDisk("a b.txt"); got != after {
			rt.Fatalf("%q became %q, want %q\n%s", before, got, after, diff)
		}
	})
}

func TestOnlyMoved(t *testing.T) {
	const around = "1\n2\n3\nold\n5\n6\n7\n"
	changed := strings.Replace(around, "old", "new", 1)
	b := newBench(t)
	plan := func(before, after string) Set {
		b.write("a.txt", before)
		return Only(b.plan("a.txt", after), "")
	}
	first := plan(around, changed)
	for _, c := range []struct {
		name  string
		set   Set
		moved bool
	}{
		{"itself", first, true},
		{"further down", plan("x\n0\n"+around, "x\n0\n"+changed), true},
		{"another context", plan("0\n"+strings.Replace(around, "2", "two", 1), "0\n"+strings.Replace(changed, "2", "two", 1)), false},
		{"another text", plan(around, strings.Replace(around, "old", "other", 1)), false},
		{"other line ends", plan(strings.ReplaceAll(around, "\n", "\r\n"), strings.ReplaceAll(changed, "\n", "\r\n")), false},
		{"one more change", plan(around+"8\n9\n10\n11\nx\n", changed+"8\n9\n10\n11\ny\n"), false},
		{"none", Set{}, false},
	} {
		if got := OnlyMoved(first, c.set); got != c.moved {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for name, alter := range map[string]func(*File){
		"another file":     func(f *File) { f.Target = b.path("b.txt") },
		"another encoding": func(f *File) { f.After.Encoding = "utf-16le" },
		"a mark":           func(f *File) { f.After.BOM = true },
		"unsaved text beneath": func(f *File) {
			before := *f.Before
			before.Dirty = true
			f.Before = &before
		},
		"a file that is gone": func(f *File) {
			before := *f.Before
			before.Exists = false
			f.Before = &before
		},
	} {
		f := first.Files[0]
		alter(&f)
		if OnlyMoved(first, Only(f, "")) {
			t.Errorf("%s passes for the same change", name)
		}
	}
}

func TestUnchanged(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one")
	doc := b.show("a.txt")
	doc.set("mine")
	s := Only(b.plan("a.txt", "mine"), "")
	if s.Changes() {
		t.Error("the set changes nothing")
	}
	o := s.Unchanged()[0]
	if o.Operation != Unchanged || o.Saved || o.Version != document.Version([]byte("mine")) || o.Bytes != 4 {
		t.Errorf("%+v", o)
	}
	if made := b.mustCommit(s.Files[0])[0]; made.Operation != Unchanged || doc.version != 2 {
		t.Errorf("%+v", made)
	}
	if again := Only(b.plan("a.txt", "other"), ""); !again.Changes() {
		t.Error("the set changes something")
	}
}
