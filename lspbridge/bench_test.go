package lspbridge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkHover is a question through the bridge; BenchmarkDirect the same to the same
// server, which answers at once.
func BenchmarkHover(b *testing.B) {
	r := benchmarked(b)
	for b.Loop() {
		_, _, err := r.bridge.Hover(b.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
		r.must(err)
	}
}

func BenchmarkDirect(b *testing.B) {
	r := benchmarked(b)
	sv, err := r.bridge.serverOf(r.path("a.py"))
	r.must(err)
	params := paramsAt(at(0, 0))(r.path("a.py").URI(), counting{})
	for b.Loop() {
		var result json.RawMessage
		r.must(sv.warm().conn.Call(b.Context(), "textDocument/hover", params, &result))
	}
}

// benchmarked is a rig whose server has 32 documents open.
func benchmarked(b *testing.B) *rig {
	files := map[string]string{"a.py": strings.Repeat("x = 1 # of a file of some size\n", 2000)}
	for i := range 31 {
		files[fmt.Sprintf("f%d.py", i)] = "y = 2\n"
	}
	r := newRig(b, files)
	f := r.serve(hovers)
	f.answer("textDocument/hover", `{"contents":{"kind":"markdown","value":"x: int"}}`)
	for name := range files {
		r.old(name)
		_, _, err := r.bridge.Hover(b.Context(), r.snapshot(), r.path(name), at(0, 0))
		r.must(err)
	}
	return r
}
