package tools

import (
	"fmt"
	"strings"
	"testing"

	"pillion/workspace/change"
	"pillion/workspace/document"
)

// A question that stays open while the user types in a large file keeps what was shown
// last, and not all that ever was.
func TestProposalsAreBounded(t *testing.T) {
	var kept proposals
	text := strings.Repeat("x", mostProposed/20)
	show := func(n int) string {
		f := change.File{Before: &document.File{}}
		f.Before.Text, f.After.Text = text, text
		digest := fmt.Sprint(n)
		kept.keep(digest, change.Set{Files: []change.File{f}})
		return digest
	}
	for n := range 100 {
		last := show(n)
		show(n) // the same again is no other
		if _, known := kept.sets[last]; !known {
			t.Fatalf("the set %s is forgotten at once", last)
		}
		if kept.weight > mostProposed || len(kept.sets) != min(n+1, 10) || len(kept.shown) != len(kept.sets) {
			t.Fatalf("after %d: %d sets, %d bytes", n, len(kept.sets), kept.weight)
		}
	}
	if _, known := kept.sets["90"]; !known {
		t.Error("a younger one went before an older one")
	}
	text = strings.Repeat("x", mostProposed)
	if last := show(100); len(kept.sets) != 1 || kept.sets[last].Files == nil {
		t.Errorf("of one that is larger than the bound: %d sets", len(kept.sets))
	}
}
