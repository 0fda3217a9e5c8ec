package mcp

import (
	"strings"
	"testing"

	"pillion/internal/testrig/check"
)

// TestADialectOverMCP: an agent lists and calls the tools of its own set, whether an
// editor is open or not.
func TestADialectOverMCP(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	lists := func(where string) {
		t.Helper()
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p), Dialect: "coder"}, nil)
		list, err := a.ListTools(t.Context(), nil)
		must(t, err)
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		check.Same(t, where, strings.Join(names, " "), "read write list glob grep patch bash lsp_diagnostics lsp_definition lsp_hover todoread todowrite skill task "+waitTool)
		if r := a.call(t, "read", object{"path": "a.txt"}); r.isError || r.text != `{"ok":true,"path":"a.txt","content":"hello\n","start_line":1,"end_line":1,"has_more":false}` {
			t.Errorf("%s: got %+v", where, r)
		}
		if r := a.call(t, "read_file", object{"path": "a.txt"}); !r.isError || !strings.Contains(r.text, "unknown tool: read_file") {
			t.Errorf("%s: read_file gave %+v", where, r)
		}
	}
	lists("without an editor")
	editor(t, p)
	lists("with an editor")
}
