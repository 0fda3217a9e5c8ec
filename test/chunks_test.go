package test

import (
	"strings"
	"testing"

	"pillion/internal/testrig"
)

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
