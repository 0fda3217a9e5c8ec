package change

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

func TestPreview(t *testing.T) {
	b := newBench(t)
	b.Write("src/app.py", "one\ntwo\n")
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
	b.Write("a.txt", "one\n")
	b.Write("same.txt", "same\n")
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
	machine.Rapid(t, 25, 200)
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		b := newBenchIn(t, dir)
		before, after := versions.Draw(rt, "before"), versions.Draw(rt, "after")
		b.Write("a b.txt", before)
		f := b.plan("a b.txt", after)
		diff := f.Diff(f.Hunks())
		if diff == "" {
			return
		}
		if _, err := machine.Git(t, dir, diff, "apply", "--whitespace=nowarn", "-"); err != nil {
			rt.Fatalf("%v\n%s", err, diff)
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
		b.Write("a.txt", before)
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
	b.Write("a.txt", "one")
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

// TestChoose: of a set with everything that there is, some parts are made, by the ids of
// its preview, and the rest stays as it is.
func TestChoose(t *testing.T) {
	between := strings.Repeat("-\n", 9)
	short := strings.NewReplacer("\n", "", "-", "")
	before, after := "one\n"+between+"two\n"+between+"three", "ONE\n"+between+"TWO\n"+between+"THREE\n"
	for _, c := range []struct{ ids, want string }{
		{"1 2 3 4 5 6 7 8", "a.txt=ONETWOTHREE made/ moved.txt=old new.txt=new none.txt="},
		{"1", "a.txt=ONEtwothree goes.txt=goes old.txt=old"},
		{"3 2", "a.txt=oneTWOTHREE goes.txt=goes old.txt=old"},
		{"4 6", "a.txt=onetwothree new.txt=new old.txt=old"},
		{"5 7 8", "a.txt=onetwothree goes.txt=goes made/ moved.txt=old none.txt="},
	} {
		b := newTrees(t)
		b.Write("a.txt", before)
		b.Write("goes.txt", "goes\n")
		b.Write("old.txt", "old\n")
		set := Set{
			Files: []File{b.plan("a.txt", after), b.plan("new.txt", "new\n"), b.plan("none.txt", "")},
			Tree:  []TreeChange{b.remove("goes.txt"), b.mkdir("made"), b.move("old.txt", "moved.txt")},
		}
		var offered []string
		for _, f := range set.Preview() {
			for _, h := range f.Hunks {
				offered = append(offered, h.ID+" "+h.Header)
			}
		}
		if got := strings.Join(offered, "; "); got != "1 @@ -1,4 +1,4 @@; 2 @@ -8,7 +8,7 @@ one; 3 @@ -18,4 +18,4 @@ two; 4 @@ -0,0 +1 @@; 5 new file, empty; 6 deleted; 7 new folder; 8 moved to moved.txt" {
			t.Fatalf("on offer: %s", got)
		}
		chosen, taken, of, err := set.Choose(strings.Fields(c.ids))
		if err != nil || taken != len(strings.Fields(c.ids)) || of != 8 {
			t.Fatalf("%s: %d of %d, %v", c.ids, taken, of, err)
		}
		if err := b.commitSet(chosen); err != nil {
			t.Fatalf("%s: %v", c.ids, err)
		}
		if got := short.Replace(b.all()); got != c.want {
			t.Errorf("%s: %s, want %s", c.ids, got, c.want)
		}
		if set.Files[0].After.Text != after || set.Tree[0].LeftOut {
			t.Errorf("%s: the set that was chosen from is another now", c.ids)
		}
	}
}

func TestChooseKnowsItsIDs(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "one\n")
	set := Only(b.plan("a.txt", "two\n"), "")
	for _, ids := range [][]string{{"2"}, {"0"}, {"1", "x"}, {"01"}, {" 1"}, {"-1"}} {
		if _, _, _, err := set.Choose(ids); fault.CodeOf(err) != fault.InvalidArguments {
			t.Errorf("%q: %v", ids, err)
		}
	}
	if chosen, taken, of, err := set.Choose([]string{"1", "1"}); err != nil || taken != 1 || of != 1 || !chosen.Changes() {
		t.Errorf("twice the same: %d of %d, %v", taken, of, err)
	}
	if chosen, _, _, err := set.Choose(nil); err != nil || chosen.Changes() || len(chosen.Preview()) != 0 {
		t.Errorf("none: %v, %+v", err, chosen.Preview())
	}
}

// TestPictures are shown by what the bytes say, with both states or not at all, and no more
// of them than there is room for.
func TestPictures(t *testing.T) {
	b := newTrees(t)
	png := func(size int) string { return "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", size-8) }
	shown := func(kind, content string) string {
		return "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(content))
	}
	jpeg, gif, webp := "\xff\xd8\xff\xe0\x00", "GIF89a\x00", "RIFF\x00\x00\x00\x00WEBPVP8 \x00"
	b.Write("a.png", png(9))
	b.Write("blob.png", "\x00\x01")
	b.Write("text.png", "hello\n")
	for _, c := range []struct {
		name, after string
		want        *Pictures
	}{
		{"a.png", png(10), &Pictures{Before: shown("png", png(9)), After: shown("png", png(10))}},
		{"a.png", jpeg, &Pictures{Before: shown("png", png(9)), After: shown("jpeg", jpeg)}},
		{"new.gif", gif, &Pictures{After: shown("gif", gif)}},
		{"any.name", webp, &Pictures{After: shown("webp", webp)}},
		{"a.png", "\x00", nil},
		{"blob.png", png(9), nil},
		{"text.png", "other\n", nil},
		{"new.png", png(mostPicture), &Pictures{After: shown("png", png(mostPicture))}},
		{"new.png", png(mostPicture + 1), nil},
	} {
		got := Set{Files: []File{b.planBytes(c.name, c.after)}}.Preview()[0].Pictures
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %.60q is shown as %.200v", c.name, c.after, got)
		}
	}
	many, count := Set{}, 0
	for _, name := range strings.Fields("1 2 3 4 5 6") {
		many.Files = append(many.Files, b.planBytes(name, png(mostPicture)))
	}
	for _, p := range many.Preview() {
		if p.Pictures != nil {
			count++
		}
	}
	if want := mostPictures / mostPicture; count != want {
		t.Errorf("%d of them are shown, want %d", count, want)
	}
}

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
