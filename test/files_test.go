package test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// A file comes in chunks, all of them and in their order, before the result that has
// the other fields.
func TestAFileStreamsAsProgress(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	var text strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	e.Write("big.txt", text.String())
	var r testrig.Result
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Must("tools/call", object{"name": "read_file", "arguments": object{"path": "big.txt", "stream": true}, "workDoneToken": "chunks"}, &r)
	}()
	var content strings.Builder
	for content.Len() < text.Len() {
		var p struct {
			Token string
			Value struct {
				Kind, Content string
				Start         int `json:"start_line"`
				End           int `json:"end_line"`
			}
		}
		must(t, json.Unmarshal(testrig.Wait(t, e.Progress, "a chunk"), &p))
		if first := fmt.Sprintf("line %d\n", p.Value.Start-1); p.Token != "chunks" || p.Value.Kind != "report" || !strings.HasPrefix(p.Value.Content, first) {
			t.Fatalf("lines %d to %d of %q: %.80q", p.Value.Start, p.Value.End, p.Token, p.Value.Content)
		}
		content.WriteString(p.Value.Content)
	}
	<-done
	check.Same(t, "the chunks are not the file", content.String(), text.String())
	if s := r.StructuredContent; s["ok"] != true || s["content"] != "" || s["total_lines"] != 200_000.0 || s["eol"] != "lf" {
		t.Errorf("result: %v", s)
	}
}

// The list of files is kept, and each answer is as the folder is at that moment.
func TestListsFollowEachChange(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	for i := range 1100 {
		e.Write(fmt.Sprintf("dir%d/file%d.txt", i%10, i), "x")
	}
	list := func(arguments object) (sizes map[string]float64) {
		t.Helper()
		sizes = map[string]float64{}
		r := e.Call("list_files", arguments)
		files, ok := r.StructuredContent["files"].([]any)
		if !ok || r.StructuredContent["count"] != float64(len(files)) {
			t.Fatalf("%v", r.StructuredContent)
		}
		for _, f := range files {
			entry := f.(map[string]any)
			sizes[entry["path"].(string)] = entry["size"].(float64)
		}
		return sizes
	}
	all, many, some := object{"recursive": true}, object{"recursive": true, "limit": 100_000}, object{"recursive": true, "pattern": "*7.txt"}
	for round := range 12 {
		name, other := fmt.Sprintf("dir%d/new%d7.txt", round%10, round), fmt.Sprintf("dir%d/file%d.txt", round%10, round)
		e.Write(name, "new")
		must(t, os.Remove(filepath.Join(e.Dir, filepath.FromSlash(other))))
		for what, sizes := range map[string]map[string]float64{"all": list(all), "many": list(many), "some": list(some), "again": list(all)} {
			_, gone := sizes[other]
			if sizes[name] != 3 || gone || what != "some" && len(sizes) != 1110 {
				t.Errorf("round %d, %s: %s has %g bytes of 3, %s is there: %t, %d entries", round, what, name, sizes[name], other, gone, len(sizes))
			}
		}
		e.Write(name, "longer")
		if size := list(all)[name]; size != 6 {
			t.Errorf("round %d: %s has %g bytes, not 6", round, name, size)
		}
		if found := e.Call("glob", object{"pattern": "new*"}).StructuredContent["count"]; found != float64(round+1) {
			t.Errorf("round %d: glob finds %v", round, found)
		}
	}
	e.Write(".gitignore", "dir0/\n")
	for name := range list(many) {
		if strings.HasPrefix(name, "dir0") {
			t.Errorf("%s is listed though it is ignored", name)
		}
	}
}

// TestAFileInChunksFitsThroughTheWire: a file over the limit of one call is shown in
// one dialog, and its result comes back.
func TestAFileInChunksFitsThroughTheWire(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	line := "\tif text := \"a line of a large file\"; text != \"\" { // 72 characters or so\n"
	chunk := strings.Repeat(line, (2<<20)/len(line))
	write := func(content string, index int, last bool) object {
		return object{"path": "large.go", "content": content, "chunk": object{"id": "large", "index": index, "last": last}}
	}
	for i := range 2 {
		if r := e.Call("write_file", write(chunk, i, false)); r.StructuredContent["ok"] != true {
			t.Fatalf("chunk %d: %s", i, r.Text())
		}
	}
	a, done := e.Ask("write_file", write(chunk, 2, true))
	if after, _ := a.File("after").(string); after != chunk+chunk+chunk {
		t.Errorf("the dialog shows %d bytes", len(after))
	}
	r := answered(t, a, done, object{"decision": "approve", "decisionId": "approve"})
	if r.StructuredContent["ok"] != true || r.StructuredContent["size"] != float64(3*len(chunk)) || r.StructuredContent["diff"] != "" {
		t.Errorf("the result: %.300s", r.Text())
	}
	wantText(t, e, "large.go", chunk+chunk+chunk)
}

// TestWhatNoDialogCanShowIsRefused: the editor would never get the question.
func TestWhatNoDialogCanShowIsRefused(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	signs := strings.Repeat("<", 3<<20) // six characters each in a message
	e.Write("signs.html", "x"+signs)
	e.Write("lines.html", "x\n"+signs)
	for tool, args := range map[string]object{
		"write_file": {"path": "new.html", "content": signs},
		"edit_file":  {"path": "signs.html", "old_string": "x", "new_string": "y"},

		"apply_patch": {"diff": "*** Begin Patch\n*** Delete File: signs.html\n*** End Patch\n"},

		"apply_patch_review": {"diff": "*** Begin Patch\n*** Update File: lines.html\n@@\n-x\n+y\n*** End Patch\n"},
	} {
		if r := e.Call(tool, args); r.Code() != "FILE_TOO_LARGE" || !strings.Contains(r.Text(), "too large to show") {
			t.Errorf("%s: %.300s", tool, r.Text())
		}
	}
}
