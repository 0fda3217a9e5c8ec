package diff

import (
	"strings"
	"testing"
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
