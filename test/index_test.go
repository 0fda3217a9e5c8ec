package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/rpc"
	"pillion/workspace/document"
)

// searched are the paths of the hits, and how many files were looked into.
func searched(t *testing.T, e *testrig.Editor, query string) (paths string, files int) {
	t.Helper()
	var r struct {
		StructuredContent struct {
			Matches       []struct{ Path string }
			FilesSearched int `json:"files_searched"`
		}
	}
	e.Must("tools/call", object{"name": "search_in_project", "arguments": object{"query": query}}, &r)
	found := r.StructuredContent
	var all []string
	for _, m := range found.Matches {
		all = append(all, m.Path)
	}
	return strings.Join(all, " "), found.FilesSearched
}

// TestALargeProjectIsIndexed: the first search has an index made, and says how far it is.
// What is on disk and in the editor counts then as before.
func TestALargeProjectIsIndexed(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	const files = 24
	for i := range files {
		e.Write(fmt.Sprintf("d%d/f%d.txt", i%4, i), strings.Repeat(fmt.Sprintf("line of file number%d,\n", i), 45_000))
	}
	testrig.Wait(t, e.Tracking, "workspace/tracking")
	if paths, n := searched(t, e, "nothing like it"); paths != "" || n != files {
		t.Errorf("before the index: %q in %d files", paths, n)
	}
	var last rpc.Index
	for began := false; last.Building || !began; began = true {
		raw := testrig.Wait(t, e.Index, "workspace/index")
		before := last.Percent
		if last = (rpc.Index{}); json.Unmarshal(raw, &last) != nil || last.Percent < before || !began && !last.Building {
			t.Fatalf("after %d percent %s", before, raw)
		}
	}
	if last.Files != files || last.Bytes == 0 || last.Bytes > 3<<20 {
		t.Errorf("at last %+v", last)
	}
	for round := range 20 {
		mark := fmt.Sprintf("mark%d of this round", round)
		e.Write("d1/new.txt", mark+" on disk")
		must(t, os.Rename(e.Dir+"/d1/new.txt", e.Dir+"/d2/moved.txt"))
		if paths, n := searched(t, e, mark); paths != "d2/moved.txt" || n != files+1 {
			t.Fatalf("round %d: %q in %d files", round, paths, n)
		}
	}
	e.Open("d3/f3.txt")
	e.Type("d3/f3.txt", document.Range{}, "typed, not saved ")
	if paths, n := searched(t, e, "typed, not saved"); paths != "d3/f3.txt" || n != files+1 {
		t.Errorf("%q in %d files", paths, n)
	}
}
