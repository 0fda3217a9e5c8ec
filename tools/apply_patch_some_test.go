package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pillion/tools"
	"pillion/tools/approval"
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

// TestSomeOfAPatchIsToldAsItIs: of patches whose files take each other's place, whatever
// part of one the user takes. What the agent is told was changed is what was changed, and
// the difference leads there from what was.
func TestSomeOfAPatchIsToldAsItIs(t *testing.T) {
	t.Parallel()
	base := files{"a": "A1\nA2\nA3\n", "b": "B1\nB2\nB3\n", "c": "C\n"}
	for _, c := range []struct{ name, diff string }{
		{"swap", moving("rename", "a", "b") + moving("rename", "b", "a")},
		{"rotate", moving("rename", "a", "b") + moving("rename", "b", "c") + moving("rename", "c", "a")},
		{"a new one in its place", moving("rename", "a", "n") + making("a", "fresh")},
		{"to two names", moving("rename", "a", "n") + moving("rename", "a", "m")},
		{"moved and changed", moving("rename", "a", "n") + "--- a/a\n+++ b/n\n@@ -1,3 +1,3 @@\n-A1\n+one\n A2\n A3\n" + deleting("c", "C")},
		{"copied and changed", moving("copy", "a", "n") + "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n-A1\n+one\n A2\n A3\n"},
		{"changed to what it is", "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n-A1\n+A1\n A2\n A3\n" + making("n", "fresh") + deleting("c", "C")},
		{"changed, then moved, in the other form", "*** Begin Patch\n*** Update File: a\n@@\n-A1\n+one\n*** Update File: a\n*** Move to: n\n@@\n-A3\n+three\n*** Delete File: c\n*** End Patch\n"},
		{"and a new one in its place", "*** Begin Patch\n*** Update File: a\n@@\n-A1\n+one\n*** Update File: a\n*** Move to: n\n*** Add File: a\n+fresh\n*** End Patch\n"},
		{"made and deleted", making("n", "fresh") + deleting("n", "fresh") + moving("rename", "b", "m") + moving("copy", "b", "d/l")},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := readyWorld(t)
			for taken, of := 1, 1; taken < 1<<of; taken++ {
				emptied(t, w.path("."))
				base.over(t, w.path("."))
				w.human.approve = func(r approval.Request) approval.Answer {
					a := approval.Answer{Decision: approval.Approve, Selected: []string{}}
					of = 0
					for _, f := range r.Preview.Files {
						for _, h := range f.Hunks {
							if taken>>of&1 == 1 {
								a.Selected = append(a.Selected, h.ID)
							}
							of++
						}
					}
					return a
				}
				checkTold(t, w, fmt.Sprintf("s%b", taken), base, c.diff)
			}
		})
	}
}

func checkTold(t *testing.T, w *world, name string, base files, diff string) {
	t.Helper()
	w.do("session " + name + " default")
	result := w.registry.Execute(context.Background(), tools.Call{Name: "apply_patch", Arguments: w.json(map[string]string{"diff": diff}), CallID: name, Session: w.session(name)})
	var said struct {
		FilesModified []string `json:"files_modified"`
		Diff          string
		Results       []struct{ Path, From, Operation string }
	}
	w.must(json.Unmarshal(result.Structured, &said))
	now := filesIn(t, w.path("."))
	var changed []string
	for one := range maps.Keys(now) {
		if was, there := base[one]; !there || was != now[one] {
			changed = append(changed, one)
		}
	}
	for one := range maps.Keys(base) {
		if _, there := now[one]; !there {
			changed = append(changed, one)
		}
	}
	slices.Sort(changed)
	slices.Sort(said.FilesModified)
	if result.Err != nil || !slices.Equal(said.FilesModified, changed) {
		t.Errorf("%s: %v are other than before, and the agent hears of %v: %s", name, changed, said.FilesModified, result.Structured)
	}
	for _, row := range said.Results {
		if row.Operation == "move" && !(slices.Contains(changed, row.From) && slices.Contains(changed, row.Path)) {
			t.Errorf("%s: it says that %s was moved to %s, and %v were changed", name, row.From, row.Path, changed)
		}
	}
	theirs := w.path("../theirs")
	base.write(t, theirs)
	if said.Diff != "" {
		if _, err := gitIn(t, theirs, said.Diff, "apply", "-"); err != nil {
			t.Errorf("%s: %v\n%s", name, err, said.Diff)
		}
	}
	if !maps.Equal(filesIn(t, theirs), now) {
		t.Errorf("%s: the difference leads to %q, not to %q:\n%s", name, filesIn(t, theirs), now, said.Diff)
	}
}

// TestDifferencesOfFilesWithAMark: a byte order mark stands in the differences as git has
// it, and a patch that takes it away is refused rather than made but for that.
func TestDifferencesOfFilesWithAMark(t *testing.T) {
	base := files{"a": mark + "one\ntwo\nthree\n", "b": "B\n"}
	names := "--- a/a\n+++ b/a\n"
	for i, c := range []struct{ name, diff, refused string }{
		{"the first line", names + "@@ -1,3 +1,3 @@\n-" + mark + "one\n+" + mark + "ONE\n two\n three\n", ""},
		{"the same, of one who does not see it", names + "@@ -1,3 +1,3 @@\n-one\n+ONE\n two\n three\n", ""},
		{"below the first line", names + "@@ -1,3 +1,3 @@\n " + mark + "one\n-two\n+TWO\n three\n", ""},
		{"moved", moving("rename", "a", "n") + "--- a/a\n+++ b/n\n@@ -1,3 +1,3 @@\n-" + mark + "one\n+" + mark + "ONE\n two\n three\n", ""},
		{"copied", moving("copy", "a", "n"), ""},
		{"made", making("n", mark+"x"), ""},
		{"deleted", "*** Begin Patch\n*** Delete File: a\n*** End Patch\n", ""},
		{"taken away", names + "@@ -1,3 +1,3 @@\n-" + mark + "one\n+one\n two\n three\n", "byte order mark"},
		{"taken away with its line", names + "@@ -1,3 +1,2 @@\n-" + mark + "one\n two\n three\n", "byte order mark"},
		{"taken away in the other form", "*** Begin Patch\n*** Update File: a\n@@\n-" + mark + "one\n+one\n*** End Patch\n", "byte order mark"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := readyWorld(t)
			base.over(t, w.path("."))
			if c.refused != "" {
				if got := applyPatch(t, w, i, c.diff); got.Applied || !strings.Contains(got.raw, c.refused) || !maps.Equal(filesIn(t, w.path(".")), base) {
					t.Errorf("%s", got.raw)
				}
				return
			}
			w.human.approve = func(approval.Request) approval.Answer { return approval.Answer{Decision: approval.Approve} }
			checkTold(t, w, fmt.Sprintf("s%d", i), base, c.diff)
		})
	}
}

const mark = "\ufeff"
