package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestBlocks(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n"
	after := "a\nB\nc\nd\ne\nF\nF2\ng\nh\ni\nj\nk\n"
	hunks := Hunks(before, after, 3)
	if len(hunks) != 1 {
		t.Fatalf("%d hunks, want the changes in one", len(hunks))
	}
	blocks := Blocks(hunks)
	var got []string
	for _, b := range blocks {
		got = append(got, b.Header())
	}
	if want := "@@ -2 +2 @@|@@ -6 +6,2 @@|@@ -12 +12,0 @@"; strings.Join(got, "|") != want {
		t.Errorf("blocks %q, want %q", got, want)
	}
	for i, want := range [][2]int{{1, 3}, {3, 5}, {5, 0}} {
		if b := blocks[i]; b.Head != want[0] || b.Tail != want[1] {
			t.Errorf("block %d has %d lines above and %d below, want %v", i, b.Head, b.Tail, want)
		}
	}
}

// Any of the blocks can be made without the others, and all make the text after.
func TestBlocksAreSelected(t *testing.T) {
	before := "a\nb\nc\nd\ne"
	after := "x\na\nc\nD\ne\nf\n"
	blocks := Blocks(Hunks(before, after, 3))
	if got := Select(before, after, asHunks(blocks), func(int) bool { return true }); got != after {
		t.Errorf("all blocks make %q, want %q", got, after)
	}
	if got, want := Select(before, after, asHunks(blocks), func(i int) bool { return i == 1 }), "a\nc\nd\ne"; got != want {
		t.Errorf("one block makes %q, want %q", got, want)
	}
}

func asHunks(blocks []Block) []Hunk {
	out := make([]Hunk, len(blocks))
	for i, b := range blocks {
		out[i] = b.Hunk
	}
	return out
}

// TestMarksAreBounded: of many pairs the first ones are compared.
func TestMarksAreBounded(t *testing.T) {
	marked := 0
	for _, row := range Rows("@@ -1 +1 @@\n" + strings.Repeat("-value 1\n+value 2\n \n", 1000)) {
		if row.Marks != nil {
			marked++
		}
	}
	if marked != 2*mostPairs {
		t.Errorf("%d lines are marked, want %d", marked, 2*mostPairs)
	}
}

func TestHunkRowsNameNoFile(t *testing.T) {
	rows := HunkRows("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
	if len(rows) != 3 || rows[0].Kind != HunkHead {
		t.Errorf("%+v", rows)
	}
	if rows := HunkRows("diff --git a/x b/x\nold mode 100644\n"); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
}

// hardInputs are those that make naive algorithms quadratic; up to 1 MB each.
var hardInputs = sync.OnceValue(func() map[string][2]string {
	r := rand.New(rand.NewPCG(5, 6))
	text := func(lines int, line func(i int) string) string {
		var out strings.Builder
		for i := range lines {
			out.WriteString(line(i))
		}
		return out.String()
	}
	oneOf := func(lines ...string) func(int) string {
		return func(int) string { return lines[r.IntN(len(lines))] }
	}
	number := func(kinds int) func(int) string {
		return func(int) string { return fmt.Sprint("line ", r.IntN(kinds), "\n") }
	}
	named := func(prefix string) func(int) string {
		return func(i int) string { return fmt.Sprintf("%s line %d of some text\n", prefix, i) }
	}
	letters := strings.SplitAfter("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\ns\nt\nu\nv\nw\nx\ny\nz\n", "\n")[:26]
	braces := oneOf("}\n", "}\n", "}\n", "\n", "\t}\n", "\treturn nil\n", "\tcall(1)\n", "\tcall(2)\n")
	lines := SplitLines(text(40_000, named("a")))
	shuffled, reversed := slices.Clone(lines), slices.Clone(lines)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.Reverse(reversed)
	periodic := text(100_000, func(i int) string { return letters[i%3] })
	before := strings.Join(lines, "")
	return map[string][2]string{
		"two letters":         {text(100_000, oneOf("a\n", "b\n")), text(100_000, oneOf("a\n", "b\n"))},
		"many letters":        {text(100_000, oneOf(letters...)), text(100_000, oneOf(letters...))},
		"one letter":          {strings.Repeat("a\n", 500_000), strings.Repeat("a\n", 250_000)},
		"blank to text":       {strings.Repeat("\n", 1_000_000), strings.Repeat("a\n", 500_000)},
		"all different":       {text(40_000, named("a")), text(40_000, named("b"))},
		"shuffled":            {before, strings.Join(shuffled, "")},
		"reversed":            {before, strings.Join(reversed, "")},
		"few numbers":         {text(50_000, number(300)), text(50_000, number(300))},
		"many numbers":        {text(50_000, number(20_000)), text(50_000, number(20_000))},
		"short, few numbers":  {text(3000, number(300)), text(3000, number(300))},
		"every third":         {before, text(40_000, func(i int) string { return named([]string{"a", "a", "b"}[i%3])(i) })},
		"braces":              {text(50_000, braces), text(50_000, braces)},
		"periodic, disturbed": {periodic, text(100_000, func(i int) string { return letters[(i+r.IntN(50)/49)%3] })},
		"periodic, halved":    {periodic, text(100_000, func(i int) string { return letters[i%6/2] })},
		"one long line":       {strings.Repeat("a", 1_000_000), strings.Repeat("a", 999_999) + "b"},
	}
})

// TestHardInputs: each takes seconds at most, or this test does not end within its time, and what comes of it is right.
func TestHardInputs(t *testing.T) {
	for name, texts := range hardInputs() {
		t.Run(name, func(t *testing.T) {
			before := texts[0]
			start := time.Now()
			hunks := Hunks(before, texts[1], 3)
			t.Log(time.Since(start))
			if got := Select(before, texts[1], hunks, func(int) bool { return true }); got != texts[1] {
				t.Error("the hunks do not lead from one text to the other")
			}
		})
	}
}
