package tools_test

import (
	"strings"
	"testing"
)

// TestKeysAreNoticedByContent: whatever shows a key asks once for its file, and names its
// kind alone.
func TestKeysAreNoticedByContent(t *testing.T) {
	token := "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	for _, c := range []struct{ tool, arguments string }{
		{"read_file", `{"path": "conf/a.py"}`},
		{"read_file", `{"path": "conf/a.py", "start_line": 2, "end_line": 2}`},
		{"read_many_files", `{"include": ["**/*.py"]}`},
		{"search_in_project", `{"query": "TOKEN"}`},
		{"git_diff", `{}`},
	} {
		w := newWorld(t)
		w.write("conf/a.py", "x = 1\nTOKEN = ''\nz = 3\n")
		w.write("b.py", "y = 1\n")
		w.git("init -q")
		w.git("add .")
		w.git("-c user.name=u -c user.email=u@example.com commit -qm one")
		w.write("conf/a.py", "x = 1\nTOKEN = '"+token+"'\nz = 3\n")
		w.write("b.py", "y = 2\n")
		w.start()
		w.human.take(&call{answers: []answer{w.readAnswer("reject")}})
		if r := w.ask(t.Context(), c.tool, c.arguments); !r.IsError || strings.Contains(string(r.Structured), token) {
			t.Errorf("%s: %s", c.tool, r.Structured)
		}
		said := strings.Join(w.human.asked, "\n")
		if strings.Count(said, "because") != 1 || !strings.Contains(said, "because conf/a.py seems to hold a GitHub token") || strings.Contains(said, token) {
			t.Errorf("%s %s: %s", c.tool, c.arguments, said)
		}
		w.human.take(&call{answers: []answer{w.readAnswer("approve")}})
		for range 2 {
			if r := w.ask(t.Context(), c.tool, c.arguments); r.IsError || !strings.Contains(string(r.Structured), token) {
				t.Errorf("%s, approved: %s", c.tool, r.Structured)
			}
		}
		if r := w.ask(t.Context(), "read_file", `{"path": "b.py"}`); r.IsError {
			t.Errorf("b.py: %s", r.Structured)
		}
	}
}

// An error shows what a file holds now, and asks nobody.
func TestErrorsShowNoKeys(t *testing.T) {
	token := "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	w := newWorld(t)
	w.write("a.py", "x = 1\nTOKEN = '"+token+"'\n")
	w.start()
	for _, c := range []struct{ tool, arguments string }{
		{"write_file", `{"path": "a.py", "content": "", "expected_version": "x"}`},
		{"edit_file", `{"path": "a.py", "old_string": "x = 1", "new_string": "", "expected_version": "x"}`},
		{"edit_file", `{"path": "a.py", "old_string": "x = 1\nTOKEN = 'gh'\n", "new_string": ""}`},
	} {
		for _, first := range []string{"", `{"path": "a.py", "start_line": 1, "end_line": 1}`} {
			if first != "" {
				w.ask(t.Context(), "read_file", first)
			}
			if r := w.ask(t.Context(), c.tool, c.arguments); !r.IsError || strings.Contains(string(r.Structured), token) {
				t.Errorf("%s %s: %s", c.tool, c.arguments, r.Structured)
			}
		}
	}
	w.human.take(&call{answers: []answer{w.readAnswer("approve")}})
	w.ask(t.Context(), "read_file", `{"path": "a.py"}`)
	if r := w.ask(t.Context(), "write_file", `{"path": "a.py", "content": "", "expected_version": "x"}`); !strings.Contains(string(r.Structured), token) {
		t.Errorf("approved: %s", r.Structured)
	}
}
