package lspbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// json has each URI filled with that of a file, in order, and [a:b] with a range of line 0.
func (r *rig) json(text string, names ...string) string {
	for _, name := range names {
		text = strings.Replace(text, "URI", r.path(name).URI(), 1)
	}
	for i := range 20 {
		for j := range 20 {
			text = strings.ReplaceAll(text, fmt.Sprintf("[%d:%d]", i, j), fmt.Sprintf(`{"start":{"line":0,"character":%d},"end":{"line":0,"character":%d}}`, i, j))
		}
	}
	return text
}

func span0(from, to uint32) document.Range { return document.Range{Start: at(0, from), End: at(0, to)} }

func TestHoverContents(t *testing.T) {
	for raw, want := range map[string]string{
		`{"kind":"markdown","value":"**x**"}`:           "**x**",
		`"plain"`:                                       "plain",
		`{"language":"go","value":"func F()"}`:          "```go\nfunc F()\n```",
		`["one",{"language":"c","value":"int x"},"",2]`: "one\n\n```c\nint x\n```",
		`[]`:   "",
		`null`: "",
	} {
		if got := markdown(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestLocationsInEachForm(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "x = 1\n"})
	f := r.serve(`{"definitionProvider":{},"referencesProvider":true}`)
	for _, answer := range []string{
		`{"uri":"URI","range":[0:1]}`,
		`[{"uri":"URI","range":[0:1]}]`,
		`[{"targetUri":"URI","targetRange":[0:5],"targetSelectionRange":[0:1],"originSelectionRange":[2:3]}]`,
	} {
		f.answer("textDocument/definition", r.json(answer, "a.py"))
		found, by, err := r.bridge.Definition(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
		r.Must(err)
		if len(found) != 1 || found[0].Path != r.path("a.py") || found[0].Range != span0(0, 1) || by.Status != language.Running {
			t.Errorf("%s: %+v by %+v", answer, found, by)
		}
	}
	f.answer("textDocument/definition", `null`)
	if found, _, err := r.bridge.Definition(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0)); err != nil || len(found) > 0 {
		t.Errorf("nothing: %v, %v", found, err)
	}
	f.answer("textDocument/definition", `{"uri":7}`)
	if _, _, err := r.bridge.Definition(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0)); fault.CodeOf(err) != fault.ExecutionFailed {
		t.Errorf("garbled: %v", err)
	}
	if _, _, err := r.bridge.Definition(t.Context(), r.snapshot(), r.path("gone.py"), at(0, 0)); err == nil {
		t.Error("a file that is not there: no error")
	}
	f.answer("textDocument/references", r.json(`[{"uri":"URI","range":[0:1]}]`, "a.py"))
	found, _, err := r.bridge.References(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0), true)
	r.Must(err)
	if asked := f.messages("textDocument/references"); len(found) != 1 || !strings.Contains(asked[0], `"context":{"includeDeclaration":true}`) {
		t.Errorf("references: %+v, asked %s", found, asked)
	}
}

// TestOutsideOnlySourceIsShown: a library's text is shown; a server that is led to
// another file shows nothing of it.
func TestOutsideOnlySourceIsShown(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "x = 1\n", "a.json": "{}", "a.sh": "ls\n", "a.cpp": ""})
	f := r.serve(`{"definitionProvider":true,"positionEncoding":"utf-8"}`)
	program := r.settings.Servers[0]
	program.Languages = []string{"python", "c", "cpp", "shellscript"}
	data := program
	data.Name, data.Languages, data.Data = "data", []string{"json"}, true
	r.settings.Servers = []Server{program, data}
	away := filepath.Join(t.TempDir(), "site-packages")
	r.Must(os.Mkdir(away, 0o755))
	const text = "# head\n🎉 lib():\n    pass\n"
	for _, name := range []string{"lib.py", "id_rsa", ".hidden.py", "config.json", "deploy.sh", "lib.h"} {
		r.Must(os.WriteFile(filepath.Join(away, name), []byte(text), 0o600))
	}
	r.Must(os.WriteFile(filepath.Join(away, "../settings.py"), []byte(text), 0o600))
	r.Must(os.Symlink("../settings.py", filepath.Join(away, "linked.py")))
	r.Must(os.Symlink(filepath.Join(away, "id_rsa"), filepath.Join(away, "key.py")))
	for _, c := range []struct {
		asked, name string
		shown       bool
	}{
		{"a.py", "lib.py", true},
		{"a.cpp", "lib.h", true}, // another language of the same server
		{"a.py", "id_rsa", false},
		{"a.py", "key.py", false},
		{"a.py", "../settings.py", false}, // another project's
		{"a.py", "linked.py", false},
		{"a.py", ".hidden.py", false},
		{"a.py", "gone.py", false},
		{"a.py", "config.json", false},
		{"a.json", "config.json", false},
		{"a.json", "lib.py", false},
		{"a.sh", "deploy.sh", false},
	} {
		uri := "file://" + filepath.ToSlash(filepath.Join(away, c.name))
		f.answer("textDocument/definition", `{"uri":"`+uri+`","range":{"start":{"line":1,"character":5},"end":{"line":1,"character":8}}}`)
		found, _, err := r.bridge.Definition(t.Context(), r.snapshot(), r.path(c.asked), at(0, 0))
		r.Must(err)
		want := language.Location{URI: uri, Range: document.Range{Start: at(1, 5), End: at(1, 8)}} // as the server counts
		if c.shown {
			want = language.Location{URI: uri, Range: document.Range{Start: at(1, 3), End: at(1, 6)}, Excerpt: "🎉 lib():\n    pass"}
		}
		if len(found) != 1 || found[0] != want {
			t.Errorf("%s asked from %s: %+v, want %+v", c.name, c.asked, found, want)
		}
	}
}

func TestWhereLibrariesAre(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"sdk/go/src", ".cargo/registry/src", "elsewhere/go"} {
		machine.Must(t, os.MkdirAll(filepath.Join(home, dir), 0o755))
	}
	getenv := func(name string) string {
		return map[string]string{"HOME": home, "GOROOT": filepath.Join(home, "elsewhere/go")}[name]
	}
	for name, want := range map[string]bool{
		"/usr/include/stdio.h":                          true,
		"/srv/venv/lib/python3.12/site-packages/x/y.py": true,
		"/srv/python/lib/python3.12/json.py":            true,
		"/srv/app/node_modules/x/index.d.ts":            true,
		home + "/go/pkg/mod/example.com/m@v1.0.0/m.go":  true,
		home + "/sdk/go/src/fmt/print.go":               true,
		home + "/elsewhere/go/src/fmt/print.go":         true,
		home + "/.cargo/registry/src/index/x/lib.rs":    true,
		home + "/other/settings.py":                     false,
		home + "/other/pkg/mod/settings.py":             false,
		home + "/sdk.py":                                false,
		"/srv/site-packages.py":                         false,
		"/srv/other/settings.py":                        false,
		"/tmp/settings.py":                              false,
	} {
		if got := inLibrary(name, getenv); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSymbolsInEachForm(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "class A: pass\n", "sub/b.py": "class B: pass\n", "c.txt": ""})
	f := r.serve(`{"documentSymbolProvider":true,"workspaceSymbolProvider":true}`)
	a, b := r.path("a.py"), r.path("sub/b.py")
	f.answer("textDocument/documentSymbol", r.json(`[{"name":"A","detail":"d","kind":5,"range":[0:13],"selectionRange":[6:7],"children":[{"name":"m","kind":6,"range":[9:13],"selectionRange":[9:13]}]}]`))
	found, _, err := r.bridge.Symbols(t.Context(), r.snapshot(), a)
	r.Must(err)
	if len(found) != 1 || found[0].Kind != "class" || found[0].Detail != "d" || found[0].Location.Path != a || found[0].Location.Range != span0(6, 7) ||
		len(found[0].Children) != 1 || found[0].Children[0].Kind != "method" || found[0].Children[0].Location.Path != a {
		t.Errorf("DocumentSymbols: %+v", found)
	}
	f.answer("textDocument/documentSymbol", r.json(`[{"name":"m","kind":99,"containerName":"A","location":{"uri":"URI","range":[9:13]}}]`, "a.py"))
	found, _, err = r.bridge.Symbols(t.Context(), r.snapshot(), a)
	r.Must(err)
	if len(found) != 1 || found[0].Container != "A" || found[0].Kind != "" || found[0].Location.Range != span0(9, 13) {
		t.Errorf("SymbolInformation: %+v", found)
	}
	f.answer("workspace/symbol", r.json(`[{"name":"A","kind":5,"location":{"uri":"URI","range":[6:7]}},{"name":"B","kind":5,"location":{"uri":"URI","range":[6:7]}},{"name":"away","kind":5,"location":{"uri":"file:///away.py","range":[6:7]}}]`, "a.py", "sub/b.py"))
	for in, want := range map[string]int{".": 2, "sub": 1, "a.py": 1} {
		found, by, err := r.bridge.FindSymbols(t.Context(), r.snapshot(), r.path(in), "x")
		if err != nil || len(found) != want || by.Name != "fake" || in == "sub" && found[0].Location.Path != b {
			t.Errorf("in %s: %+v by %+v, %v", in, found, by, err)
		}
	}
	if _, _, err := r.bridge.FindSymbols(t.Context(), r.snapshot(), r.path("c.txt"), "x"); fault.CodeOf(err) != fault.LSPUnavailable {
		t.Errorf("in a file that no server knows: %v", err)
	}
}

// TestWhoCannotFindSymbols: the server that was asked is named, not one that is missing.
func TestWhoCannotFindSymbols(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "", "b.sh": "", "c.go": ""})
	r.serve(`{}`)
	missing := func(name, language string) Server {
		return Server{Name: name, Command: []string{"not-there-at-all"}, Languages: []string{language}}
	}
	r.settings.Servers = append(r.settings.Servers, missing("bash", "shellscript"), missing("gopls", "go"))
	_, by, err := r.bridge.FindSymbols(t.Context(), r.snapshot(), r.path("."), "x")
	if fault.CodeOf(err) != fault.LSPUnavailable || by != (language.Server{Name: "fake", Status: language.Running}) || !strings.Contains(err.Error(), "fake does not offer symbols") {
		t.Errorf("%+v: %v", by, err)
	}
}

func TestRenameInEachForm(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "abc abc\n", "b.py": "🎉 abc\n"})
	f := r.serve(`{"renameProvider":{"prepareProvider":true},"positionEncoding":"utf-32"}`)
	rename := func(answer string) (map[string]string, error) {
		t.Helper()
		f.answer("textDocument/rename", r.json(answer, "a.py", "b.py"))
		s := r.snapshot()
		files, _, err := r.bridge.Rename(t.Context(), s, r.path("a.py"), at(0, 1), "x")
		out := map[string]string{}
		for _, file := range files {
			text, err := s.ReadText(file.Path)
			r.Must(err)
			out[file.Path.String()] = apply(text, file.Edits)
		}
		return out, err
	}
	f.answer("textDocument/prepareRename", `null`)
	if _, err := rename(`null`); fault.CodeOf(err) != fault.InvalidArguments {
		t.Errorf("nothing to rename: %v", err)
	}
	f.answer("textDocument/prepareRename", r.json("[0:3]"))
	for _, answer := range []string{
		`{"changes":{"URI":[{"range":[0:3],"newText":"x"},{"range":[4:7],"newText":"x"}],"URI":[{"range":[2:5],"newText":"x"}]}}`,
		`{"documentChanges":[{"textDocument":{"uri":"URI","version":1},"edits":[{"range":[0:3],"newText":"x"},{"range":[4:7],"newText":"x"}]},{"textDocument":{"uri":"URI","version":null},"edits":[{"range":[2:5],"newText":"x"}]}]}`,
	} {
		got, err := rename(answer)
		if err != nil || got["a.py"] != "x x\n" || got["b.py"] != "🎉 x\n" {
			t.Errorf("%s: %q, %v", answer, got, err)
		}
	}
	a := r.path("a.py").URI()
	got, err := rename(`{"documentChanges":[{"textDocument":{"uri":"URI"},"edits":[{"range":[0:3],"newText":"x"}]},{"textDocument":{"uri":"` + a + `"},"edits":[{"range":[2:5],"newText":"x"}]}]}`)
	if err != nil || got["a.py"] != "x x\n" {
		t.Errorf("two lists, of which the second counts in the text after the first: %q, %v", got, err)
	}
	for answer, want := range map[string]fault.Code{
		`{"documentChanges":[{"kind":"rename","oldUri":"URI","newUri":"URI"}]}`:         fault.ExecutionFailed,
		`{"changes":{"file:///usr/lib/python3/os.py":[{"range":[0:3],"newText":"x"}]}}`: fault.PathOutsideWorkspace,
		`{"changes":7}`: fault.ExecutionFailed,
	} {
		if got, err := rename(answer); fault.CodeOf(err) != want || len(got) > 0 {
			t.Errorf("%s: %v, %v", answer, got, err)
		}
	}
}

func TestActionsAndTheirEdits(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "abc\n"}, func(t *testing.T, r *rig) {
		f := r.serve(`{"codeActionProvider":{"resolveProvider":true}}`)
		f.answer("textDocument/codeAction", r.json(`[
			{"title":"now","kind":"quickfix","isPreferred":true,"edit":{"changes":{"URI":[{"range":[0:3],"newText":"x"}]}}},
			{"title":"later","kind":"refactor","data":{"id":7}},
			{"title":"command","command":"do.it","arguments":[]},
			{"title":"its command","command":{"title":"t","command":"do.it"}},
			{"title":"not now","disabled":{"reason":"because"}}]`, "a.py"))
		f.answer("codeAction/resolve", r.json(`{"title":"later","edit":{"changes":{"URI":[{"range":[0:1],"newText":"y"}]}}}`, "a.py"))
		a := r.path("a.py")
		_, _, err := r.bridge.Actions(t.Context(), r.snapshot(), a, span0(0, 3), nil)
		r.Must(err)
		conn := f.connection()
		r.Must(conn.Notify("textDocument/publishDiagnostics", json.RawMessage(r.json(`{"uri":"URI","diagnostics":[{"range":[0:2],"message":"here","data":1},{"range":[9:9],"message":"there"}]}`, "a.py"))))
		_, err = f.ask(t, "workspace/workspaceFolders", "{}") // what came before is read now
		r.Must(err)
		found, _, err := r.bridge.Actions(t.Context(), r.snapshot(), a, span0(0, 3), []string{"quickfix"})
		r.Must(err)
		asked := f.messages("textDocument/codeAction")
		if !strings.Contains(asked[len(asked)-1], `"context":{"diagnostics":[{"data":1,"message":"here","range":{"end":{"character":2,"line":0},"start":{"character":0,"line":0}}}],"only":["quickfix"],"triggerKind":1}`) {
			t.Errorf("asked %s", asked)
		}
		if len(found) != 5 || len(found[0].Edits) != 1 || !found[0].Preferred || !found[1].Resolvable || found[2].Disabled == "" || found[3].Disabled == "" || found[4].Disabled != "because" || found[4].Index != 4 {
			t.Fatalf("actions: %+v", found)
		}
		done, err := r.bridge.Resolve(t.Context(), r.snapshot(), a, found[1])
		if err != nil || done.Resolvable || len(done.Edits) != 1 || done.Edits[0].Edits[0].NewText != "y" || done.Index != 1 {
			t.Errorf("resolved: %+v, %v", done, err)
		}
		if asked := f.messages("codeAction/resolve"); !strings.Contains(asked[0], `"data":{"id":7}`) {
			t.Errorf("asked %s", asked)
		}
	})
}

func TestWhatAServerDoesNotOffer(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "abc\n", "b.txt": ""}, func(t *testing.T, r *rig) {
		f := r.serve(`{"renameProvider":false}`)
		s, a := r.snapshot(), r.path("a.py")
		_, _, hover := r.bridge.Hover(t.Context(), s, a, at(0, 0))
		_, by, rename := r.bridge.Rename(t.Context(), s, a, at(0, 0), "x")
		_, none, other := r.bridge.Hover(t.Context(), s, r.path("b.txt"), at(0, 0))
		for what, err := range map[string]error{"hover": hover, "rename": rename, "another language": other} {
			if fault.CodeOf(err) != fault.LSPUnavailable || fault.From(err).Hint == "" {
				t.Errorf("%s: %v", what, err)
			}
		}
		if by.Status != language.Running || none.Status != language.NotInstalled || f.messages("textDocument/rename") != nil {
			t.Errorf("%+v, %+v", by, none)
		}
		_, err := f.ask(t, "client/registerCapability", `{"registrations":[{"id":"h","method":"textDocument/hover"}]}`)
		r.Must(err)
		if _, _, err := r.bridge.Hover(t.Context(), s, a, at(0, 0)); err != nil {
			t.Errorf("registered later: %v", err)
		}
		r.settings.Servers = []Server{{Name: "fake", Command: []string{"not-there-at-all"}, Languages: []string{"python"}}}
		_, by, err = r.bridge.Hover(t.Context(), s, a, at(0, 0))
		if fault.CodeOf(err) != fault.LSPUnavailable || by != (language.Server{Name: "fake", Status: language.NotInstalled}) {
			t.Errorf("not installed: %v by %+v", err, by)
		}
	})
}

// TestTheEditorIsAskedFirst, and our own server where it has nothing to say.
func TestTheEditorIsAskedFirst(t *testing.T) {
	ours := language.Server{Name: "fake", Status: language.Running}
	editors := language.Server{Name: "the editor's", Status: language.Editor}
	for _, c := range []struct {
		name, answer string
		err          error
		own, missing bool
		text         string
		by           language.Server
	}{
		{name: "bare", answer: `{"contents":"editor"}`, text: "editor", by: editors},
		{name: "named", answer: `{"result":{"contents":"editor"},"version":3,"server":"Pylance"}`, text: "editor", by: language.Server{Name: "Pylance", Status: language.Editor}},
		{name: "of another version", answer: `{"result":{"contents":"editor"},"version":2}`, text: "own", by: ours},
		{name: "with its version beside it", answer: `{"contents":"editor","version":3}`, text: "editor", by: editors},
		{name: "with another version beside it", answer: `{"contents":"editor","version":2}`, text: "own", by: ours},
		{name: "no hover", answer: `{"version":3}`, text: "own", by: ours},
		{name: "what cannot be read", answer: `["editor"]`, text: "own", by: ours},
		{name: "nothing", answer: `{"result":null,"version":3}`, text: "own", by: ours},
		{name: "null", answer: `null`, text: "own", by: ours},
		{name: "an error", err: errors.New("no such method"), text: "own", by: ours},
		{name: "set otherwise", answer: `{"contents":"editor"}`, own: true, text: "own", by: ours},
		{name: "set otherwise, but not there", answer: `{"contents":"editor"}`, own: true, missing: true, text: "editor", by: editors},
		{name: "nothing, and nobody else", answer: `{"result":null,"version":3}`, missing: true, text: "", by: editors},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, map[string]string{"a.py": "abc\n"}, func(t *testing.T, r *rig) {
				f := r.serve(hovers)
				f.answer("textDocument/hover", `{"contents":"own"}`)
				r.settings.PreferOwn = c.own
				if c.missing {
					r.settings.Servers[0].Command[0] = "not-there-at-all"
				}
				r.bridge.o.Ask = func(_ context.Context, method string, params any, result *json.RawMessage) error {
					*result = json.RawMessage(c.answer)
					asked, err := json.Marshal(params)
					if want := r.json(`{"textDocument":{"uri":"URI","version":3},"position":{"line":0,"character":1}}`, "a.py"); method != "hover" || string(asked) != want || err != nil {
						t.Errorf("asked %s %s, %v", method, asked, err)
					}
					return c.err
				}
				a := r.path("a.py")
				r.store.Open(a, a.URI(), 3, "abc\n")
				text, by, err := r.bridge.Hover(t.Context(), r.snapshot(), a, at(0, 1))
				if err != nil || text != c.text || by != c.by {
					t.Errorf("%q by %+v, %v", text, by, err)
				}
			})
		})
	}
}

// TestLocationsByTheEditor come however LSP writes them; what is no place is none, and our
// own server is asked.
func TestLocationsByTheEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		place := `{"uri":"URI","range":{"start":{"line":0,"character":4},"end":{"line":0,"character":5}}}`
		for answer, want := range map[string]uint32{
			place:                                  4,
			`[` + place + `]`:                      4,
			`{"result":` + place + `,"version":3}`: 4,
			`{"locations":[` + place + `],"version":3}`:     4,
			`{"location":` + place + `,"version":3}`:        4,
			`{"locations":[` + place + `],"version":2}`:     9,
			`{"found":[` + place + `],"version":3}`:         9,
			`[{"range":{}}]`:                                9,
			`"here"`:                                        9,
			`{"result":{"locations":5},"version":3}`:        9,
			strings.Replace(place, `{`, `{"version":2,`, 1): 9,
		} {
			r := newRig(t, map[string]string{"a.py": "abc defghij\n"})
			r.serve(`{"definitionProvider":true}`).answer("textDocument/definition", r.json(strings.Replace(place, `:4`, `:9`, 1), "a.py"))
			r.bridge.o.Ask = func(_ context.Context, _ string, _ any, result *json.RawMessage) error {
				*result = json.RawMessage(r.json(answer, "a.py"))
				return nil
			}
			a := r.path("a.py")
			r.store.Open(a, a.URI(), 3, "abc defghij\n")
			found, _, err := r.bridge.Definition(t.Context(), r.snapshot(), a, at(0, 1))
			if err != nil || len(found) != 1 || uint32(found[0].Range.Start.Character) != want {
				t.Errorf("%s: %+v, %v, want character %d", answer, found, err, want)
			}
		}
	})
}

// TestAnEditorThatDoesNotAnswer is left alone for a while: not each question waits for it.
func TestAnEditorThatDoesNotAnswer(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "abc\n"}, func(t *testing.T, r *rig) {
		r.serve(hovers).answer("textDocument/hover", `{"contents":"own"}`)
		r.bridge.patience.editor = time.Millisecond
		var asked atomic.Int32
		r.bridge.o.Ask = func(ctx context.Context, _ string, _ any, _ *json.RawMessage) error {
			asked.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}
		for range 3 {
			text, _, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 1))
			if err != nil || text != "own" {
				t.Errorf("%q, %v", text, err)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the editor was asked %d times", n)
		}
	})
}

// TestAnEditorThatIsLateIsAskedAgainWhenItAnswers, and no sooner: it may have had to read
// a project first.
func TestAnEditorThatIsLateIsAskedAgainWhenItAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration // to answer
		rests time.Duration // until it is asked again
	}{
		{"at once", 0, 0},
		{"in time", editorTime - time.Millisecond, 0},
		{"late", 10 * time.Second, 10*time.Second - editorTime},
		{"never", time.Hour, editorQuiet - editorTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := New(Options{Ask: func(ctx context.Context, _ string, _ any, result *json.RawMessage) error {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(c.takes):
						*result = json.RawMessage(`"hot"`)
						return nil
					}
				}})
				defer b.Close() //nolint:errcheck // cannot fail
				began := time.Now()
				raw, err := b.put(t.Context(), "hover", nil, editorTime)
				if want := min(c.takes, editorTime); time.Since(began) != want {
					t.Errorf("it took %v, want %v", time.Since(began), want)
				}
				if late := c.takes > editorTime; late != errors.Is(err, context.DeadlineExceeded) || late == (string(raw) == `"hot"`) {
					t.Errorf("got %s, %v", raw, err)
				}
				left := time.Now()
				for b.late.Load() > 0 {
					time.Sleep(time.Millisecond)
				}
				if got := time.Since(left); got < c.rests || got > c.rests+time.Millisecond {
					t.Errorf("it rests for %v, want %v", got, c.rests)
				}
			})
		})
	}
}

// TestAnAgentThatGivesUpTellsTheEditor, and the editor owes nothing after that.
func TestAnAgentThatGivesUpTellsTheEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan struct{})
		b := New(Options{Ask: func(ctx context.Context, _ string, _ any, _ *json.RawMessage) error {
			<-ctx.Done()
			close(told)
			return ctx.Err()
		}})
		defer b.Close() //nolint:errcheck // cannot fail
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := b.put(ctx, "hover", nil, editorTime); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		<-told
		synctest.Wait()
		if b.late.Load() > 0 {
			t.Error("it is not asked any more")
		}
	})
}
