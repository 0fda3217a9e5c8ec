package tools_test

import (
	"maps"
	"strings"
	"testing"

	"pillion/tools/patching"
)

// TestAllOfALenientReviewIsWhatApplyPatchMakes: of patches that git would not take as they
// are. What a review shows of one, and what it gives when all is taken, is what
// apply_patch makes of it.
func TestAllOfALenientReviewIsWhatApplyPatchMakes(t *testing.T) {
	t.Parallel()
	begin := func(body string) string { return "*** Begin Patch\n*** Update File: f\n" + body + "*** End Patch\n" }
	names := "--- a/f\n+++ b/f\n"
	for i, c := range []struct{ name, text, diff string }{
		{"added behind a line without an end", "p\nq\nr", begin("@@\n+s\n+t\n")},
		{"the only line has none", "p", begin("@@\n+s\n")},
		{"added behind a hunk that changes that line", "p\nq\nr", begin("@@\n-r\n+R\n@@\n+s\n")},
		{"added behind a hunk that keeps it", "p\nq\nr", begin("@@\n-q\n+Q\n r\n@@\n+s\n")},
		{"added behind a hunk further up", "p\n1\n2\n3\n4\n5\nr", begin("@@\n-p\n+P\n@@\n+s\n")},
		{"behind its context", "p\nq\nr", names + "@@ -2,2 +2,3 @@\n q\n r\n+s\n"},
		{"an end that the patch forgot", "p\nq\nr", names + "@@ -1,3 +1,3 @@\n p\n-q\n+Q\n r\n"},
		{"carriage returns", "p\r\nq\r\nr\r\n", names + "@@ -1,3 +1,4 @@\n p\n-q\n+Q\n+Q2\n r\n"},
		{"carriage returns and no end", "p\r\nq\r\nr", begin("@@\n q\n+Q\n r\n@@\n+s\n")},
		{"trailing blanks", "p  \nq\t\nr\n", names + "@@ -1,3 +1,3 @@\n p\n-q\n+Q\n r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			before := files{"f": c.text}
			before.over(t, w.path("."))
			shown := names
			said := review(t, w, c.diff, func(_ patching.ReviewFile, h patching.ReviewHunk) bool {
				shown += h.Header + "\n" + strings.Join(h.Lines, "\n") + "\n"
				return true
			})
			if got := applyPatch(t, w, i, c.diff); !got.Applied {
				t.Fatal(got.raw)
			}
			want := filesIn(t, w.path("."))
			if got := applied(t, before, said.FilteredDiff); !maps.Equal(got, want) {
				t.Errorf("taken:\n%s\ngives\n%q\nwant\n%q", said.FilteredDiff, got, want)
			}
			if got := applied(t, before, shown, "--unidiff-zero"); !maps.Equal(got, want) {
				t.Errorf("shown:\n%s\ngives\n%q\nwant\n%q", shown, got, want)
			}
		})
	}
}
