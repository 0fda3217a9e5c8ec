package tools_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/tools"
	"pillion/tools/patching"
)

// review has a patch reviewed by a user who takes the hunks that they want, and gives
// what the agent gets.
func review(t *testing.T, w *world, patch string, takes func(patching.ReviewFile, patching.ReviewHunk) bool) (said reviewSaid) {
	t.Helper()
	w.human.review = func(review tools.PatchReview) tools.ReviewAnswer {
		answer := tools.ReviewAnswer{Action: tools.ReviewApply}
		for _, f := range review.Files {
			for _, h := range f.Hunks {
				if takes(f, h) {
					answer.Selected = append(answer.Selected, h.ID)
				}
			}
		}
		return answer
	}
	result := w.ask(t.Context(), "apply_patch_review", map[string]string{"diff": patch})
	if result.Err != nil {
		t.Fatalf("%v\n%s", result.Err, patch)
	}
	w.must(json.Unmarshal(result.Structured, &said))
	return said
}

type reviewSaid struct {
	FilteredDiff   string `json:"filtered_diff"`
	ChunksSelected []int  `json:"chunks_selected"`
	ChunksTotal    int    `json:"chunks_total"`
}

// TestPartsOfOneFileAreOneReview: of a patch that changes files, and then the same files
// once more, any choice gives what docs/protocol.md says of it, as a patch that git apply
// takes; all of it gives what git makes of the two.
func TestPartsOfOneFileAreOneReview(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(41, 42))
	hunks, merged := 0, 0
	for round := range machine.Cases(8, 40) {
		w := readyWorld(t)
		files := newTree(r)
		files.over(t, w.path("."))
		first := files.edited(r)
		patch := gitDiff(t, files, first, fmt.Sprint("-U", 1+round%2)) + gitDiff(t, first, first.edited(r), fmt.Sprint("-U", 1+round%3))
		total := len(cut(patch))
		hunks += total
		want, all := maps.Clone(files), round%4 == 0
		took := map[string][]bool{}
		said := review(t, w, patch, func(f patching.ReviewFile, h patching.ReviewHunk) bool {
			take := all || r.IntN(2) == 0
			if took[f.Path] = append(took[f.Path], take); len(took[f.Path]) == len(f.Hunks) {
				merged -= len(f.Hunks)
				want[f.Path] = chosenText(t, f, took[f.Path])
			}
			return take
		})
		merged += total
		if said.ChunksTotal != total || all && len(said.ChunksSelected) != total || !slices.IsSorted(said.ChunksSelected) {
			t.Errorf("of %d hunks %v of %d were taken", total, said.ChunksSelected, said.ChunksTotal)
		}
		got := applied(t, files, said.FilteredDiff)
		if !maps.Equal(got, want) {
			t.Errorf("hunks %v of\n%s\ngive\n%s\nwhich makes\n%q\nwant\n%q", said.ChunksSelected, patch, said.FilteredDiff, got, want)
		}
		if all && !maps.Equal(got, applied(t, files, patch)) {
			t.Errorf("all of\n%s\ngives\n%s\nwhich makes\n%q", patch, said.FilteredDiff, got)
		}
	}
	if hunks < 50 || merged < 5 || merged > hunks/2 {
		t.Errorf("only %d hunks were tried, of which %d are one with others", hunks, merged)
	}
}

// edited is the tree with some lines changed.
func (f files) edited(r *rand.Rand) files {
	out := maps.Clone(f)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		lines := strings.SplitAfter(f[name], "\n")
		if name == "bytes" || len(lines) < 4 {
			continue
		}
		for range 1 + r.IntN(4) {
			i := r.IntN(len(lines) - 1)
			switch r.IntN(4) {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines = append(lines, fmt.Sprintf("last %d", r.IntN(1<<30)))
				if before := &lines[len(lines)-2]; *before != "" && !strings.HasSuffix(*before, "\n") {
					*before += "\n"
				}
			case 2:
				lines = slices.Insert(lines, i, fmt.Sprintf("new %d\n", r.IntN(1<<30)))
			default:
				lines[i] = fmt.Sprintf("other %d\n", r.IntN(1<<30))
			}
		}
		out[name] = strings.Join(lines, "")
	}
	return out
}

// chosenText is what docs/protocol.md has a client make of a choice.
func chosenText(t *testing.T, f patching.ReviewFile, took []bool) string {
	t.Helper()
	before, after, at := strings.SplitAfter(f.Before, "\n"), strings.SplitAfter(f.After, "\n"), 0
	var out strings.Builder
	for i, h := range f.Hunks {
		var a, b, c, d int
		read := strings.NewReplacer("@@ -", "", "+", "", " @@", "").Replace(h.Header)
		old, now, _ := strings.Cut(read, " ")
		a, b = span(t, old)
		c, d = span(t, strings.SplitN(now, " ", 2)[0])
		if a < at || a+b > len(before) || c+d > len(after) {
			t.Fatalf("%s overlaps, or is beyond the end", h.Header)
		}
		out.WriteString(strings.Join(before[at:a], ""))
		if at = a + b; took[i] {
			out.WriteString(strings.Join(after[c:c+d], ""))
		} else {
			out.WriteString(strings.Join(before[a:a+b], ""))
		}
	}
	return out.String() + strings.Join(before[at:], "")
}

// span is one side of a header, from 0.
func span(t *testing.T, side string) (from, lines int) {
	t.Helper()
	start, count, counted := strings.Cut(side, ",")
	from, err := strconv.Atoi(start)
	if lines = 1; counted && err == nil {
		lines, err = strconv.Atoi(count)
	}
	must(t, err)
	if lines > 0 {
		from--
	}
	return from, lines
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

// TestWhatApplyPatchMakesInOrderCanBeReviewed: several parts of one file, and what moves
// between them.
func TestWhatApplyPatchMakesInOrderCanBeReviewed(t *testing.T) {
	t.Parallel()
	update := updatePart
	add := "*** Add File: new\n+new\n"
	for i, c := range []struct {
		name, parts string
		files       string // as they are shown: path, operation, and what chunks each hunk is of
	}{
		{"changed twice", update("a", "", "one", "1") + update("a", "", "seven", "7"), "a overwrite [1] [2]"},
		{"from below", update("a", "", "seven", "7") + update("a", "", "one", "1"), "a overwrite [2] [1]"},
		{"in what was changed", update("a", "", "one", "1") + update("a", "", "seven", "7") + update("a", "", "1", "I"), "a overwrite [1 3] [2]"},
		{"another file between", update("a", "", "one", "1") + update("b", "", "b", "B") + update("a", "", "seven", "7"), "a overwrite [1] [3]; b overwrite [2]"},
		{"changed, then changed and moved", update("a", "", "seven", "7") + update("a", "c", "one", "1"), "c move [2] [1]"},
		{"changed, then only moved", update("a", "", "one", "1") + update("a", "c", "", ""), "c move [1 2]"},
		{"moved, then changed there", update("a", "c", "", "") + update("c", "", "two", "2") + update("c", "", "seven", "7"), "c move [1 2] [1 3]"},
		{"moved, and another made in its place", update("a", "", "one", "1") + update("a", "c", "two", "2") + "*** Add File: a\n+new\n", "c move [1] [2]; a create [3]"},
		{"made, then changed", add + update("new", "", "new", "newer"), "new create [1 2]"},
		{"changed, then deleted", update("a", "", "one", "1") + "*** Delete File: a\n", "a delete [1 2]"},
		{"moved, then deleted", update("a", "c", "one", "1") + "*** Delete File: c\n", "a delete [1 2]"},
		{"changed and back, and elsewhere", update("a", "", "one", "1") + update("a", "", "1", "one") + update("a", "", "seven", "7"), "a overwrite [1 2 3]"},
		{"changed elsewhere, and back", update("a", "", "one", "1") + update("a", "", "seven", "7") + update("a", "", "1", "one"), "a overwrite [1 2 3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := readyWorld(t)
			base := files{"a": "one\ntwo\nthree\nfour\nfive\nsix\nseven\n", "b": "b\n"}
			base.over(t, w.path("."))
			patch := "*** Begin Patch\n" + c.parts + "*** End Patch\n"
			var shown []string
			said := review(t, w, patch, func(f patching.ReviewFile, h patching.ReviewHunk) bool {
				if h.ID == f.Hunks[0].ID {
					shown = append(shown, f.Path+" "+string(f.Operation))
				}
				return true
			})
			for n := range said.ChunksTotal {
				if !slices.Contains(said.ChunksSelected, n+1) {
					t.Errorf("of %d chunks %v were taken", said.ChunksTotal, said.ChunksSelected)
				}
			}
			var want []string
			for _, one := range strings.Split(c.files, "; ") {
				want = append(want, strings.Join(strings.Fields(one)[:2], " "))
			}
			if !slices.Equal(shown, want) {
				t.Errorf("shown are %v, not %v", shown, want)
			}
			checkEachAlone(t, w, patch, c.files)
			theirs := w.path("../theirs")
			base.write(t, theirs)
			if _, err := gitIn(t, theirs, said.FilteredDiff, "apply", "-"); err != nil {
				t.Fatalf("%v\n%s", err, said.FilteredDiff)
			}
			if got := applyPatch(t, w, i, patch); !got.Applied || !maps.Equal(filesIn(t, theirs), filesIn(t, w.path("."))) {
				t.Errorf("all of it gives %q by git, and by apply_patch %q: %s", filesIn(t, theirs), filesIn(t, w.path(".")), got.raw)
			}
		})
	}
}

// checkEachAlone takes each hunk by itself: the agent is told of its chunks, and of what
// comes along with it.
func checkEachAlone(t *testing.T, w *world, patch, want string) {
	t.Helper()
	var ids, told []string
	review(t, w, patch, func(_ patching.ReviewFile, h patching.ReviewHunk) bool {
		ids = append(ids, h.ID)
		return true
	})
	for _, id := range ids {
		said := review(t, w, patch, func(_ patching.ReviewFile, h patching.ReviewHunk) bool { return h.ID == id })
		told = append(told, fmt.Sprint(said.ChunksSelected))
	}
	if got := strings.Join(told, " "); got != strings.Join(bracketed(want), " ") {
		t.Errorf("each hunk alone is %s, want %s", got, want)
	}
}

// bracketed are the parts of a text in brackets, with these.
func bracketed(text string) (out []string) {
	for {
		from, to := strings.Index(text, "["), strings.Index(text, "]")
		if from < 0 {
			return out
		}
		out, text = append(out, text[from:to+1]), text[to+1:]
	}
}

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
			w := readyWorld(t)
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
