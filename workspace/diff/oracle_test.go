package diff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace/diff"
)

// The tests of this file hold the package against the real git, which must be
// installed.

// gitDiff is git's own diff of two texts from the first hunk on.
func gitDiff(t *testing.T, dir, before, after string, context int) string {
	t.Helper()
	files := machine.Folder{TB: t, Dir: dir}
	files.Write("before", before)
	files.Write("after", after)
	out, _ := machine.Git(t, dir, "", "diff", "--no-index", "--no-color", fmt.Sprint("-U", context), "before", "after")
	if at := strings.Index(out, "@@ "); at >= 0 {
		return out[at:]
	}
	return ""
}

// unique is a text in which no line occurs twice, so that only one shortest
// diff exists, with headings in it.
func unique(r *rand.Rand, lines int) []string {
	out := make([]string, lines)
	for i := range out {
		indent := []string{"", "\t", "    ", "_", "$", "é", "\t\t"}[r.IntN(7)]
		out[i] = fmt.Sprintf("%sline %d%s\n", indent, i, strings.Repeat(" and more é", r.IntN(2)*r.IntN(12)))
	}
	return out
}

// edited replaces, drops and adds unique lines.
func edited(r *rand.Rand, lines []string) []string {
	var out []string
	for i, line := range lines {
		switch r.IntN(12) {
		case 0:
		case 1:
			out = append(out, fmt.Sprint("changed ", i, "\n"))
		case 2:
			out = append(out, line, fmt.Sprint("added ", i, "\r\n"))
		default:
			out = append(out, line)
		}
	}
	return out
}

func joined(r *rand.Rand, lines []string) string {
	text := strings.Join(lines, "")
	if r.IntN(3) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

// Where only one shortest diff exists, ours is git's to the byte: headers,
// headings, order, missing final newlines.
func TestSameAsGit(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(7, 8))
	for range machine.Cases(20, 150) {
		lines := unique(r, r.IntN(60))
		before, after := joined(r, lines), joined(r, edited(r, lines))
		for _, context := range []int{0, 1, 3, 8} {
			got, want := diff.Unified(diff.Hunks(before, after, context)), gitDiff(t, dir, before, after, context)
			if got != want {
				t.Fatalf("context %d, before\n%s\nafter\n%s\ngot\n%s\ngit\n%s", context, before, after, got, want)
			}
		}
	}
}

// Every diff applies with git, forwards and backwards.
func TestApplies(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(9, 10))
	path := filepath.Join(dir, "f")
	for i := range machine.Cases(24, 120) {
		before := randomText(r, 1+r.IntN(60), 1+r.IntN(12))
		after := mutated(r, before, 1+r.IntN(12))
		context := []int{0, 1, 3, 200}[i%4]
		if before == after || after == "" || before == "" {
			continue // a patch for an empty text needs header lines of its own
		}
		patch := "--- a/f\n+++ b/f\n" + diff.Unified(diff.Hunks(before, after, context))
		for _, run := range []struct{ from, to, flag string }{{before, after, "--verbose"}, {after, before, "--reverse"}} {
			machine.Must(t, os.WriteFile(path, []byte(run.from), 0o600))
			if _, err := machine.Git(t, dir, patch, "apply", "--unidiff-zero", "--whitespace=nowarn", run.flag); err != nil {
				t.Fatalf("%s: %v\n%s\nfrom %q", run.flag, err, patch, run.from)
			}
			if got, _ := os.ReadFile(path); string(got) != run.to {
				t.Fatalf("git apply %s gave %q, want %q\n%s", run.flag, got, run.to, patch)
			}
		}
	}
}

// On texts full of repetition the two may choose differently, but ours is
// hardly ever longer, and reads the same in nearly all cases.
func TestCloseToGit(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(11, 12))
	ours, theirs, same, rounds := 0, 0, 0, machine.Cases(60, 300)
	for range rounds {
		before := randomText(r, 20+r.IntN(60), 4+r.IntN(20))
		after := mutated(r, before, 1+r.IntN(6))
		got, want := diff.Hunks(before, after, 3), gitDiff(t, dir, before, after, 3)
		added, deleted := diff.Count(got)
		ours += added + deleted
		theirs += changedLines(want)
		if diff.Unified(got) == want {
			same++
		}
	}
	t.Logf("ours %d changed lines, git's %d, byte for byte the same in %d of %d", ours, theirs, same, rounds)
	if ours > theirs || same < rounds*8/10 {
		t.Errorf("ours has %d changed lines, git's %d; the same in %d of %d", ours, theirs, same, rounds)
	}
}

// Of texts full of repetition, ours is about as long as git's, in no more pieces.
func TestAsReadableAsGit(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(13, 14))
	body := []string{"\tif err != nil {\n\t\treturn err\n\t}\n", "\n", "\t}\n", "\treturn nil\n}\n\n"}
	source := func(kinds int) string {
		var out strings.Builder
		for range 3000 {
			if r.IntN(3) > 0 {
				out.WriteString(body[r.IntN(len(body))])
			} else {
				fmt.Fprintf(&out, "\tcall(%d)\n", r.IntN(kinds))
			}
		}
		return out.String()
	}
	for _, kinds := range []int{3, 100, 1000, 100_000} {
		before := source(kinds)
		for name, after := range map[string]string{"edited": mutated(r, before, 300), "much edited": mutated(r, before, 2000)} {
			ours, theirs := diff.Hunks(before, after, 3), gitDiff(t, dir, before, after, 3)
			added, deleted := diff.Count(ours)
			lines, hunks := changedLines(theirs), strings.Count("\n"+theirs, "\n@@ ")
			t.Logf("%s, %d kinds: %d changed lines in %d hunks, git's %d in %d", name, kinds, added+deleted, len(ours), lines, hunks)
			if (added+deleted)*100 > lines*110 || len(ours)*100 > hunks*110+1000 {
				t.Errorf("%s, %d kinds: %d changed lines in %d hunks, git's %d in %d", name, kinds, added+deleted, len(ours), lines, hunks)
			}
		}
	}
}

func changedLines(unified string) int {
	return len(slices.DeleteFunc(diff.SplitLines(unified), func(line string) bool {
		return line[0] != '+' && line[0] != '-'
	}))
}
