package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// A file comes in chunks, all of them and in their order, before the result that has
// the other fields.
func TestAFileStreamsAsProgress(t *testing.T) {
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
		if err := json.Unmarshal(testrig.Wait(t, e.Progress, "a chunk"), &p); err != nil {
			t.Fatal(err)
		}
		if first := fmt.Sprintf("line %d\n", p.Value.Start-1); p.Token != "chunks" || p.Value.Kind != "report" || !strings.HasPrefix(p.Value.Content, first) {
			t.Fatalf("lines %d to %d of %q: %.80q", p.Value.Start, p.Value.End, p.Token, p.Value.Content)
		}
		content.WriteString(p.Value.Content)
	}
	<-done
	if content.String() != text.String() {
		t.Error("the chunks are not the file")
	}
	if s := r.StructuredContent; s["ok"] != true || s["content"] != "" || s["total_lines"] != 200_000.0 || s["eol"] != "lf" {
		t.Errorf("result: %v", s)
	}
}
