package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pillion/audit"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// askingWorld has a file, and notes what languages are asked and the user.
func askingWorld(t *testing.T) (w *world, events *[]string) {
	w = newWorld(t)
	w.write("a.py", "import os\n")
	w.write("image.png", "\x89PNG")
	w.lsp("caused", `a.py {"diagnostics": ["0:0-0:1 error E1 - broken"]}`)
	events = &[]string{}
	w.languages.heard = func(question string) { *events = append(*events, question) }
	return w, events
}

// TestServersAreWarm: they hear of a file when it is read, and of a change before the
// user is asked about it; what it caused is asked for when it is made.
func TestServersAreWarm(t *testing.T) {
	w, events := askingWorld(t)
	w.human.take(&call{answers: []answer{w.readAnswer("reject"), w.readAnswer("approve")}})
	w.human.do = func(line string) { *events = append(*events, line) }
	for i := range w.human.next {
		w.human.next[i].meanwhile = []string{"asked"}
	}
	for _, c := range [][]string{
		{"read_file", `{"path": "a.py"}`},
		{"read_file", `{"path": "a.py", "start_line": 7}`},
		{"read_file", `{"path": "image.png"}`},
		{"read_file", `{"path": "gone.py"}`},
		{"edit_file", `{"path": "a.py", "old_string": "os", "new_string": "sys"}`},
		{"edit_file", `{"path": "a.py", "old_string": "os", "new_string": "sys"}`},
		{"write_file", `{"path": "a.py", "content": "import sys\n"}`},
	} {
		*events = append(*events, c[0])
		w.ask(t.Context(), c[0], c[1])
	}
	want := []string{
		"read_file", "prepare [a.py]", "read_file", "prepare [a.py]", "read_file", "read_file",
		"edit_file", "prepare [a.py]", "asked",
		"edit_file", "prepare [a.py]", "asked", "late a.py", "caused a.py",
		"write_file", "prepare [a.py]", // it was so already, which is as good as read
	}
	if !slices.Equal(*events, want) {
		t.Errorf("got  %q\nwant %q", *events, want)
	}
}

// TestNobodyWaitsForDiagnostics: while one call waits for what it caused, the same
// session changes the same file; neither the locks nor what the session knows is held.
func TestNobodyWaitsForDiagnostics(t *testing.T) {
	w, _ := askingWorld(t)
	w.must(w.session("main").SetMode(policy.AutoEdit))
	var second tools.Result
	w.languages.heard = func(question string) {
		if question != "caused a.py" {
			return
		}
		w.languages.heard = nil
		second = w.ask(t.Context(), "edit_file", `{"path": "a.py", "old_string": "sys", "new_string": "re"}`)
	}
	w.ask(t.Context(), "read_file", `{"path": "a.py"}`)
	first := w.ask(t.Context(), "edit_file", `{"path": "a.py", "old_string": "os", "new_string": "sys"}`)
	for _, r := range []tools.Result{first, second} {
		var got struct {
			OK, Merged  bool
			Diagnostics *struct{ New []language.Diagnostic }
			Outside     []string `json:"changed_outside"`
		}
		w.must(json.Unmarshal(r.Structured, &got))
		if !got.OK || got.Merged || got.Diagnostics == nil || len(got.Diagnostics.New) != 1 || got.Outside != nil {
			t.Errorf("%s", r.Structured)
		}
	}
	if text := read(t, w.path("a.py")); text != "import re\n" {
		t.Errorf("the file is %q", text)
	}
}

// TestAChangeOutlivesItsCaller: a call that is given up while it waits for what its
// change caused has made the change, and says so.
func TestAChangeOutlivesItsCaller(t *testing.T) {
	w, _ := askingWorld(t)
	w.must(w.session("main").SetMode(policy.AutoEdit))
	ctx, stop := context.WithCancel(t.Context())
	w.languages.heard = func(question string) {
		if question == "caused a.py" {
			stop()
		}
	}
	if r := w.ask(ctx, "edit_file", `{"path": "a.py", "old_string": "os", "new_string": "sys"}`); r.IsError {
		t.Errorf("%s", r.Structured)
	}
}

// TestTheHumanSeesWhatAnEditBroke: the list of activity says so, where it is known.
func TestTheHumanSeesWhatAnEditBroke(t *testing.T) {
	for caused, want := range map[string]string{
		`{"diagnostics": ["0:0-0:1 error E1 - a", "0:0-0:1 warning - - b"], "fixed": ["0:2-0:3 error - - c"]}`: "caused 1 error, 1 warning; fixed 1 error: a.py +1 −1",
		`{"remaining": 3}`: "a.py +1 −1",
		`{"diagnostics": ["0:0-0:1 error E1 - a"], "guessed": true}`:      "a.py +1 −1",
		`{"diagnostics": ["0:0-0:1 error E1 - a"], "freshness": "stale"}`: "a.py +1 −1",
	} {
		w, _ := askingWorld(t)
		w.must(w.session("main").SetMode(policy.AutoEdit))
		w.lsp("caused", "a.py "+caused)
		var shown string
		w.registry.Activity = func(a tools.Activity) { shown = a.Summary }
		w.ask(t.Context(), "edit_file", `{"path": "a.py", "old_string": "os", "new_string": "sys"}`)
		if shown != want {
			t.Errorf("%s: shown as %q, want %q", caused, shown, want)
		}
	}
}

// flood says more than anybody should have to read.
type flood struct {
	*languages
	n    int
	text string
}

func (f flood) found(p document.Position) language.Diagnostic {
	return language.Diagnostic{Range: document.Range{Start: p, End: p}, Message: f.text, Code: f.text, Source: f.text, Severity: language.Hint}
}

func (f flood) Diagnostics(ctx context.Context, s *document.Snapshot, p workspace.Path) (language.Report, error) {
	r := language.Report{Freshness: language.Fresh, Server: language.Server{Name: f.text, Status: language.Running}, Hint: f.text}
	for i := range f.n {
		r.Diagnostics = append(r.Diagnostics, f.found(document.Position{Line: uint32(f.n - i)}))
	}
	r.Diagnostics[f.n/2].Severity = language.Error
	return r, nil
}

func (f flood) places(p workspace.Path) (out []language.Location) {
	for i := range f.n {
		r := f.found(document.Position{Line: uint32(i)}).Range
		out = append(out, language.Location{URI: "file:///" + f.text, Range: r, Excerpt: f.text}, language.Location{Path: p, Range: r})
	}
	return out
}

func (f flood) Definition(_ context.Context, _ *document.Snapshot, p workspace.Path, _ document.Position) ([]language.Location, language.Server, error) {
	return f.places(p), language.Server{Name: f.text}, nil
}

func (f flood) References(_ context.Context, _ *document.Snapshot, p workspace.Path, _ document.Position, _ bool) ([]language.Location, language.Server, error) {
	return f.places(p), language.Server{Name: f.text}, nil
}

func (f flood) Hover(context.Context, *document.Snapshot, workspace.Path, document.Position) (string, language.Server, error) {
	return strings.Repeat(f.text, 100), language.Server{Name: f.text}, nil
}

func (f flood) Symbols(_ context.Context, _ *document.Snapshot, p workspace.Path) ([]language.Symbol, language.Server, error) {
	deep := language.Symbol{Name: f.text, Detail: f.text, Kind: f.text, Container: f.text, Location: language.Location{Path: p}}
	for range f.n {
		deep = language.Symbol{Name: "s", Kind: "class", Children: []language.Symbol{deep}}
	}
	return append(slices.Repeat([]language.Symbol{{Name: f.text, Detail: f.text, Kind: f.text, Container: f.text, Location: language.Location{URI: f.text}}}, f.n), deep), language.Server{Name: f.text}, nil
}

func (f flood) Actions(context.Context, *document.Snapshot, workspace.Path, document.Range, []string) ([]language.Action, language.Server, error) {
	return slices.Repeat([]language.Action{{Title: f.text, Kind: f.text, Disabled: f.text}}, f.n), language.Server{Name: f.text}, nil
}

func (f flood) Caused(_ context.Context, _ *document.Snapshot, paths []workspace.Path, _ func(map[workspace.Path]language.Caused)) map[workspace.Path]language.Caused {
	r, _ := f.Diagnostics(context.Background(), nil, paths[0])
	return map[workspace.Path]language.Caused{paths[0]: {Server: r.Server, Freshness: language.Fresh, New: r.Diagnostics, Fixed: r.Diagnostics, Compared: true}}
}

// TestServersAreCutShort: what a server says is untrusted, and its length is bounded
// whatever it says; so is what of it cannot be seen.
func TestServersAreCutShort(t *testing.T) {
	t.Parallel()
	w, _ := askingWorld(t)
	w.must(w.session("main").SetMode(policy.AutoEdit))
	w.registry.Languages = flood{w.languages, 3000, strings.Repeat("x\u202e\x1b[31m\n", 2000)}
	for tool, arguments := range map[string]string{
		"lsp_diagnostics": `{"path": "a.py"}`, "lsp_definition": `{"path": "a.py", "line": 0, "character": 0}`, "lsp_references": `{"path": "a.py", "line": 0, "character": 0}`,
		"lsp_hover": `{"path": "a.py", "line": 0, "character": 0}`, "lsp_symbols": `{"path": "a.py"}`, "lsp_code_actions": `{"path": "a.py", "line": 0}`,
		"edit_file": `{"path": "a.py", "old_string": "os", "new_string": "sys"}`,
	} {
		r := w.ask(t.Context(), tool, arguments)
		if r.IsError {
			t.Errorf("%s: %s", tool, r.Structured)
		}
		text := fmt.Sprint(r.Content)
		if len(r.Structured) > 2<<20 || len(text) > 600<<10 {
			t.Errorf("%s: %d and %d bytes", tool, len(r.Structured), len(text))
		}
		if strings.ContainsAny(text, "\u202e\x1b") {
			t.Errorf("%s: its text has characters that cannot be seen", tool)
		}
		var s struct{ Diagnostics json.RawMessage }
		if w.must(json.Unmarshal(r.Structured, &s)); strings.Contains(string(s.Diagnostics), `"severity":4`) && !strings.Contains(string(s.Diagnostics), `"severity":1`) {
			t.Errorf("%s: the one error is left out", tool)
		}
	}
}

// TestTheAuditKnowsWhatWasAsked: each question has the path of its file, also one that
// nobody answered.
func TestTheAuditKnowsWhatWasAsked(t *testing.T) {
	w, _ := askingWorld(t)
	w.lsp("hover", `a.py:0:0 {"contents": "os"}`)
	w.must(w.session("main").SetMode(policy.Plan))
	var records []audit.Record
	w.registry.Audit = func(r audit.Record) { records = append(records, r) }
	for tool, arguments := range map[string]string{
		"lsp_hover": `{"path": "a.py", "line": 0, "character": 0}`, "lsp_definition": `{"path": "a.py", "line": 0, "character": 0}`,
		"lsp_rename": `{"path": "a.py", "line": 0, "character": 0, "new_name": "x"}`, "lsp_code_actions": `{"path": "a.py", "line": 0}`,
		"lsp_symbols": `{"path": "a.py"}`,
	} {
		w.ask(t.Context(), tool, arguments)
		if last := records[len(records)-1]; last.Tool != tool || !slices.Equal(last.Paths, []string{"a.py"}) || last.Folder != w.path(".") {
			t.Errorf("%s: %+v", tool, last)
		}
	}
}
