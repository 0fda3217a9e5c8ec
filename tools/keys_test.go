package tools_test

import (
	"strconv"
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

// TestKeysAreNoticedInBytes: in another encoding, an agent gets them as other text, and as media without any.
func TestKeysAreNoticedInBytes(t *testing.T) {
	for _, c := range []struct{ tool, arguments string }{
		{"read_file", `{"path": "notes.txt", "encoding": "utf-16le"}`},
		{"read_file", `{"path": "notes.txt", "encoding": "utf-16be", "start_line": 1, "end_line": 1}`},
		{"edit_file", `{"path": "notes.txt", "old_string": "x", "new_string": "y", "encoding": "utf-16le"}`},
		{"write_file", `{"path": "notes.txt", "content": "x", "encoding": "utf-16le"}`},
		{"read_file", `{"path": "notes.png"}`},
		{"read_file", `{"path": "notes.gif"}`},
		{"read_many_files", `{"paths": ["notes.gif"]}`},
	} {
		w, body := keyWorld(t)
		w.do("session main auto_edit")
		text := read(t, w.path("notes.txt"))
		if len(text)%2 == 1 {
			text += "\n"
		}
		w.write("notes.txt", text)
		w.write("notes.png", text)
		w.write("notes.gif", "GIF89a"+text)
		w.human.take(&call{answers: []answer{w.readAnswer("reject")}})
		r, asked := w.ask(t.Context(), c.tool, c.arguments), strings.Join(w.human.asked, "\n")
		if !r.IsError || strings.Contains(string(r.Structured), body) || len(r.Content) > 1 || !strings.Contains(asked, "seems to hold a private key") {
			t.Errorf("%s %s: %s, asked %q", c.tool, c.arguments, r.Structured, asked)
		}
	}
}

// TestAYesIsForTheFile that was there, not for another that is moved to its name.
func TestAYesIsForTheFile(t *testing.T) {
	token := "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	for what, moves := range map[string][]string{
		"nothing":  nil,
		"a file":   {`{"from": "b/key.txt", "to": "a/key.txt", "overwrite": true}`},
		"a folder": {`{"from": "a", "to": "c"}`, `{"from": "b", "to": "a"}`},
	} {
		w := newWorld(t)
		w.write("a/key.txt", token+"\n")
		w.write("b/key.txt", strings.Replace(token, "a", "b", 1)+"\n")
		w.start()
		w.do("session main auto_edit")
		w.human.take(&call{answers: []answer{w.readAnswer("approve")}})
		w.ask(t.Context(), "read_file", `{"path": "a/key.txt"}`)
		for _, move := range moves {
			if r := w.ask(t.Context(), "move_file", move); r.IsError {
				t.Fatalf("%s: %s", move, r.Structured)
			}
		}
		w.human.asked = nil
		w.human.take(&call{answers: []answer{w.readAnswer("reject")}})
		w.ask(t.Context(), "read_file", `{"path": "a/key.txt"}`)
		if asks := len(w.human.asked) > 0; asks != (moves != nil) {
			t.Errorf("%s moved: asked %q", what, w.human.asked)
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

// TestKeysThatAreGone are shown by a difference as well, in which each line has a sign before it.
func TestKeysThatAreGone(t *testing.T) {
	w, body := keyWorld(t)
	w.git("init -q")
	w.git("add .")
	w.git("-c user.name=u -c user.email=u@example.com commit -qm one")
	w.write("notes.txt", "hello\nbye\n")
	w.asksForKey(body, "git_diff", `{}`)
	w.git("-c user.name=u -c user.email=u@example.com commit -qam two")
	w.asksForKey(body, "git_show", `{"ref": "HEAD"}`)
}

// TestPartsOfKeysThatAreGone: whether lines are of a key, the versions say that they are from.
func TestPartsOfKeysThatAreGone(t *testing.T) {
	w, body := keyWorld(t)
	commit := "-c user.name=u -c user.email=u@example.com commit -qam "
	changed := strings.Replace(read(t, w.path("notes.txt")), body+"\n", strings.ToLower(body)+"\n", 1)
	w.write("sums.txt", "h1:"+strings.Repeat("abcdef01", 5)+"\n")
	w.git("init -q")
	w.git("add .")
	w.git(commit + "one")
	w.write("notes.txt", changed)
	w.write("sums.txt", "h1:"+strings.Repeat("10fedcba", 5)+"\n")
	w.git("add .")
	w.git("tag -f one")
	w.do("remove notes.txt")
	for _, arguments := range []string{`{"staged": true}`, `{"staged": true, "context_lines": 0}`, `{"base": "one", "staged": true, "context_lines": 0}`} {
		w.asksForKey(body, "git_diff", arguments)
	}
	w.write("notes.txt", changed)
	w.git(commit + "two")
	w.write("notes.txt", "in the vault\n")
	w.git(commit + "three")
	w.asksForKey(body, "git_show", `{"ref": "HEAD~1"}`)
	w.write("sums.txt", "h1:"+strings.Repeat("abcdef01", 5)+"\n")
	w.human.asked = nil
	if r := w.ask(t.Context(), "git_diff", `{}`); r.IsError || len(w.human.asked) > 0 {
		t.Errorf("%s, asked %q", r.Structured, w.human.asked)
	}
}

// TestEditsShowNoKeys to an agent that may edit without asking: what they return of a file is a look at it.
func TestEditsShowNoKeys(t *testing.T) {
	for tool, arguments := range map[string][]string{
		"write_file":  {`{"path": "notes.txt", "content": ""}`, `{"path": "notes.txt", "content": "x", "chunk": {"id": "c", "index": 0, "last": true}}`},
		"edit_file":   {`{"path": "notes.txt", "old_string": "hello", "new_string": "x"}`},
		"apply_patch": {`{"diff": "*** Begin Patch\n*** Delete File: notes.txt\n*** End Patch\n"}`, `{"diff": "*** Begin Patch\n*** Delete File: notes.txt\n*** End Patch\n", "dry_run": true}`, `{"diff": "diff --git a/notes.txt b/foo.txt\nsimilarity index 100%\ncopy from notes.txt\ncopy to foo.txt\n"}`},
	} {
		for _, arguments := range arguments {
			w, body := keyWorld(t)
			w.do("session main auto_edit")
			w.asksForKey(body, tool, arguments)
		}
	}
	w, _ := keyWorld(t)
	w.do("session main auto_edit")
	for _, c := range []struct{ tool, arguments string }{
		{"edit_file", `{"path": "notes.txt", "old_string": "bye", "new_string": "x"}`}, // far below
		{"write_file", `{"path": "own.txt", "content": ` + strconv.Quote(read(t, w.path("notes.txt"))) + `}`},
		{"delete_file", `{"path": "notes.txt"}`},
	} {
		if r := w.ask(t.Context(), c.tool, c.arguments); r.IsError || len(w.human.asked) > 0 {
			t.Errorf("%s: %s, %q", c.tool, r.Structured, w.human.asked)
		}
	}
}

// TestLanguageServersShowNoKeys: the lines of other files are judged by these.
func TestLanguageServersShowNoKeys(t *testing.T) {
	for _, tool := range []string{"definition", "references"} {
		w, body := keyWorld(t)
		w.write("a.py", "foo = 1\n")
		w.lsp(tool, `a.py:0:0 {"locations": [{"path": "notes.txt", "range": "2:0-2:9"}]}`)
		w.asksForKey(body, "lsp_"+tool, `{"path": "a.py", "line": 0, "character": 0}`)
	}
}

// keyWorld has a private key in notes.txt.
func keyWorld(t *testing.T) (w *world, body string) {
	w, body = newWorld(t), "MIIEpAIBAAKCAQEA1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL"
	w.write("notes.txt", "hello\n-----BEGIN RSA "+"PRIVATE KEY-----\n"+body+"\n"+body+"\n"+body+"\n-----END RSA "+"PRIVATE KEY-----\n1\n2\n3\nbye\n")
	w.start()
	return w, body
}

func (w *world) asksForKey(body, tool, arguments string) {
	w.t.Helper()
	w.human.take(&call{answers: []answer{w.readAnswer("reject")}})
	r, asked := w.ask(w.t.Context(), tool, arguments), strings.Join(w.human.asked, "\n")
	if !r.IsError || strings.Contains(string(r.Structured), body) || !strings.Contains(asked, "notes.txt seems to hold a private key") {
		w.t.Errorf("%s %s: %s, asked %q", tool, arguments, r.Structured, asked)
	}
}
