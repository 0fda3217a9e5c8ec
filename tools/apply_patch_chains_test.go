package tools_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// moving is the part of a git patch that renames a file, or copies it.
func moving(verb, from, to string) string {
	return "diff --git a/" + from + " b/" + to + "\nsimilarity index 100%\n" + verb + " from " + from + "\n" + verb + " to " + to + "\n"
}

func making(name, line string) string {
	return "diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+" + line + "\n"
}

func deleting(name, line string) string {
	return "diff --git a/" + name + " b/" + name + "\ndeleted file mode 100644\n--- a/" + name + "\n+++ /dev/null\n@@ -1 +0,0 @@\n-" + line + "\n"
}

// TestFilesThatTakeEachOthersPlace: git's result, or a refusal that changes nothing, with
// this code.
func TestFilesThatTakeEachOthersPlace(t *testing.T) {
	w := newWorld(t)
	w.start()
	base := files{"bytes": "PK\x00\x01", "latin": "caf\xe9\n", "text": "text\n", "other": "other\n"}
	for i, c := range []struct{ name, diff, code string }{
		{"texts swap", moving("rename", "text", "other") + moving("rename", "other", "text"), ""},
		{"texts rotate to a new name", moving("rename", "text", "other") + moving("rename", "other", "new"), ""},
		{"bytes to a new name", moving("rename", "bytes", "new"), ""},
		{"bytes to a name that is given up", moving("rename", "bytes", "text") + moving("rename", "text", "new"), "BINARY_FILE"},
		{"the same the other way round", moving("rename", "text", "new") + moving("rename", "bytes", "text"), "BINARY_FILE"},
		{"bytes in the place of what is deleted", deleting("text", "text") + moving("rename", "bytes", "text"), "BINARY_FILE"},
		{"bytes and text swap", moving("rename", "bytes", "text") + moving("rename", "text", "bytes"), "BINARY_FILE"},
		{"text in the place of bytes", moving("rename", "bytes", "new") + making("bytes", "x"), "BINARY_FILE"},
		{"the same, text first", making("bytes", "x") + moving("rename", "bytes", "new"), "BINARY_FILE"},
		{"bytes to two names", moving("rename", "bytes", "new") + moving("rename", "bytes", "newer"), "BINARY_FILE"},
		{"another encoding", deleting("text", "text") + moving("rename", "latin", "text"), "ENCODING_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			theirs := w.path("../theirs")
			base.write(t, theirs)
			if _, err := gitIn(t, theirs, c.diff, "apply", "-"); err != nil {
				t.Fatalf("git refuses: %v", err)
			}
			if c.code == "" {
				w.makes(t, i, base, c.diff, filesIn(t, theirs), "")
			} else {
				w.makes(t, i, base, c.diff, nil, `"code":"`+c.code)
			}
		})
	}
}

// makes has a patch applied to files: it makes others of them, which are given, or is refused. What
// the agent gets says so.
func (w *world) makes(t *testing.T, turn int, of files, diff string, want files, says string) {
	t.Helper()
	mine, refused := w.path("."), want == nil
	emptied(t, mine)
	of.over(t, mine)
	if refused {
		want = of
	}
	if got := applyPatch(t, w, turn, diff); got.Applied == refused || !strings.Contains(got.raw, says) || !maps.Equal(filesIn(t, mine), want) {
		t.Errorf("%s\n%q", got.raw, filesIn(t, mine))
	}
}

// emptied removes the files below a folder.
func emptied(t testing.TB, dir string) {
	for name := range filesIn(t, dir) {
		must(t, os.Remove(filepath.Join(dir, plain(name))))
	}
}

// TestWhatIsSaidOfOddPatches: of what is refused, what to do instead; of what is taken
// otherwise than git would, that it is.
func TestWhatIsSaidOfOddPatches(t *testing.T) {
	w := newWorld(t)
	w.start()
	base := files{"file": "file\n", "dir/one": "one\n", "latin": "caf\xe9\n"}
	returns := func(diff string) string { return strings.ReplaceAll(diff, "\n", "\r\n") }
	for i, c := range []struct {
		name, diff string
		made       files
		says       string
	}{
		{"a folder in the place of a file", deleting("file", "file") + making("file/x", "x"), nil, "cannot replace a file in one patch; delete or move file first"},
		{"the same in the other order", making("file/x", "x") + deleting("file", "file"), nil, "delete or move file first"},
		{"the same in the other form", "*** Begin Patch\n*** Delete File: file\n*** Add File: file/in/x\n+x\n*** End Patch\n", nil, "delete or move file first"},
		{"a file in its own folder", moving("rename", "file", "file/x"), nil, "delete or move file first"},
		{"another in the folder that takes its place", deleting("file", "file") + moving("rename", "dir/one", "file/x"), nil, "delete or move file first"},
		{"a file in the place of a folder", deleting("dir/one", "one") + making("dir", "x"), nil, "cannot replace a folder in one patch; delete or move the folder dir first"},
		{"the same in the other order", making("dir", "x") + deleting("dir/one", "one"), nil, "the folder dir first"},
		{"the same in the other form", "*** Begin Patch\n*** Delete File: dir/one\n*** Add File: dir\n+x\n*** End Patch\n", nil, "the folder dir first"},
		{"a file in the place of its own folder", moving("rename", "dir/one", "dir"), nil, "the folder dir first"},
		{"another encoding", "--- a/latin\n+++ b/latin\n@@ -1 +1 @@\n-caf\n+x\n", nil, "write_file, which has an encoding"},
		{"its own name", moving("rename", "file", "file"), nil, "leave the rename out"},
		{"deleted twice", deleting("file", "file") + deleting("file", "file"), nil, "one diff per file"},
		{"a control character", making("a\x01", "x"), nil, "another name"},
		{"a new file, all of whose lines end in carriage returns", returns(making("new", "x")), files{"new": "x\n"}, "the carriage returns at the line ends"},
		{"the same in the other form", returns("*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\n"), files{"new": "x\n"}, "the carriage returns at the line ends"},
		{"a file changed so", returns("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-file\n+x\n"), files{"file": "x\n"}, "the carriage returns at the line ends"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want files
			if c.made != nil {
				want = maps.Clone(base)
				maps.Copy(want, c.made)
			}
			w.makes(t, i, base, c.diff, want, c.says)
		})
	}
}

// updatePart is a part of a patch that changes a line of a file, or moves it, or both.
func updatePart(name, to, was, now string) string {
	if to != "" {
		to = "*** Move to: " + to + "\n"
	}
	if was != "" {
		was = "@@\n-" + was + "\n+" + now + "\n"
	}
	return "*** Update File: " + name + "\n" + to + was
}

// TestPartsOfOneFileInOrder: in the form that begins with "*** Begin Patch" each part is
// made in what those before it left, as the program does that the form comes from. What
// would cost a text there is refused.
func TestPartsOfOneFileInOrder(t *testing.T) {
	w := newWorld(t)
	w.start()
	base := files{"a": "one\ntwo\nthree\n", "b": "b\n"}
	update := updatePart
	add, remove := func(name string) string { return "*** Add File: " + name + "\n+new\n" }, func(name string) string { return "*** Delete File: " + name + "\n" }
	for i, c := range []struct {
		name, parts string
		want        files // nil: refused
		says        string
	}{
		{"changed twice", update("a", "", "one", "1") + update("a", "", "1", "I"), files{"a": "I\ntwo\nthree\n", "b": "b\n"}, ""},
		{"changed, then changed and moved", update("a", "", "three", "3") + update("a", "c", "one", "1"), files{"c": "1\ntwo\n3\n", "b": "b\n"}, `"hunks_applied":2`},
		{"changed twice, then moved", update("a", "", "one", "1") + update("a", "", "two", "2") + update("a", "c", "", ""), files{"c": "1\n2\nthree\n", "b": "b\n"}, `"files_modified":["a","c"]`},
		{"changed in what was changed, and moved", update("a", "", "one", "1") + update("a", "c", "1", "I"), files{"c": "I\ntwo\nthree\n", "b": "b\n"}, ""},
		{"moved, then changed there", update("a", "c", "one", "1") + update("c", "", "two", "2"), files{"c": "1\n2\nthree\n", "b": "b\n"}, ""},
		{"moved, and another made in its place", update("a", "", "one", "1") + update("a", "c", "two", "2") + add("a"), files{"a": "new\n", "c": "1\n2\nthree\n", "b": "b\n"}, ""},
		{"deleted, made, moved", remove("a") + add("a") + update("a", "c", "new", "newer"), files{"c": "newer\n", "b": "b\n"}, ""},
		{"out of the way, then moved there", update("b", "c", "", "") + update("a", "b", "one", "1"), files{"b": "1\ntwo\nthree\n", "c": "b\n"}, ""},
		{"moved to what has not gone yet", update("a", "b", "one", "1") + update("b", "c", "b", "B"), nil, "put the part that removes b first"},
		{"swapped", update("a", "b", "one", "1") + update("b", "a", "b", "B"), nil, "b already exists"},
		{"moved twice", update("a", "c", "one", "1") + update("c", "d", "two", "2"), nil, "c is created earlier in the patch"},
		{"moved, then changed where it was", update("a", "c", "one", "1") + update("a", "", "two", "2"), nil, "renamed earlier in the patch"},
		{"deleted, then moved", remove("a") + update("a", "c", "one", "1"), nil, "renamed earlier in the patch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.makes(t, i, base, "*** Begin Patch\n"+c.parts+"*** End Patch\n", c.want, c.says)
		})
	}
}
