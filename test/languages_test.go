package test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/workspace/document"
)

// TestAMissingServerIsToldAtStart, in the editor's log, and what is wrong with its settings.
func TestAMissingServerIsToldAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.py"), nil, 0o600))
	off := object{"enabled": false}
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: object{"languageServers": object{"servers": object{
		"pyright": off, "basedpyright": off, "pylsp": object{"command": []string{"no-such-pylsp"}, "install": "get it"},
		"newer": object{"languages": []string{"python"}},
	}}}})
	heard := func(want string) {
		t.Helper()
		for {
			if told := testrig.Wait(t, e.Logs, want); strings.Contains(told, want) {
				return
			}
		}
	}
	heard("languageServers.servers.newer is ignored")
	heard("[LSP] python: pylsp is not installed; run: get it")
}

// TestAProjectMaySwitchAServerOff, and say nothing else about servers without trust.
func TestAProjectMaySwitchAServerOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.py":       "x = 1\n",
		"evil":       "#!/bin/sh\n: > " + filepath.Join(dir, "ran") + "\n",
		settingsFile: `{"languageServers": {"prefer": "own", "servers": {"pylsp": {"enabled": false, "command": ["` + dir + `/evil"]}, "pyright": {"command": ["` + dir + `/evil"]}}}}`,
	} {
		put(t, filepath.Join(dir, name), text)
	}
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: object{"languageServers": object{"servers": object{
		"pyright": object{"command": []string{"no-such-pyright"}}, "basedpyright": object{"enabled": false},
	}}}})
	u := testrig.Wait(t, e.Untrusted, "settings/untrusted")
	if len(u.Rules) != 2 || !strings.HasPrefix(u.Rules[0], "languageServers.servers pylsp {") || !strings.Contains(u.Rules[1], dir+"/evil") {
		t.Errorf("told %q", u.Rules)
	}
	r := e.Call("lsp_hover", object{"path": "a.py", "line": 0, "character": 0})
	r.Want(t, "LSP_UNAVAILABLE", "pyright is not installed")
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the project's program has run")
	}
}

// asking is an editor whose language servers answer so. No server of ours knows its
// file, so what the editor does not answer nobody does.
func asking(t *testing.T, answer func(ctx context.Context, method string, params json.RawMessage) (any, error)) *testrig.Editor {
	t.Helper()
	e := spawn(t, testrig.Options{Languages: answer})
	e.Write("kettle.tea", "boil water\npour water\n")
	return e
}

func definition(e *testrig.Editor) testrig.Result {
	return e.Call("lsp_definition", object{"path": "kettle.tea", "line": 1, "character": 6})
}

// placeIn is a line in the file, as LSP has it.
func placeIn(e *testrig.Editor, line int) string {
	place, _ := json.Marshal(object{"uri": testrig.URI(e.Dir + "/kettle.tea"), "range": object{
		"start": object{"line": line, "character": 5}, "end": object{"line": line, "character": 10},
	}})
	return string(place)
}

func TestTheEditorsServersAnswer(t *testing.T) {
	t.Parallel()
	var e *testrig.Editor
	var answer atomic.Value
	e = asking(t, func(_ context.Context, method string, params json.RawMessage) (any, error) {
		var p struct {
			TextDocument struct{ URI string }
			Position     document.Position
		}
		if err := json.Unmarshal(params, &p); err != nil || method != "definition" || !strings.HasSuffix(p.TextDocument.URI, "/kettle.tea") || p.Position != (document.Position{Line: 1, Character: 6}) {
			t.Errorf("asked for %s with %s", method, params)
		}
		return json.RawMessage(answer.Load().(string)), nil
	})
	link := strings.NewReplacer(`"uri"`, `"targetUri"`, `"range"`, `"targetSelectionRange"`).Replace(placeIn(e, 0))
	for shape, text := range map[string]string{
		"a bare place":        placeIn(e, 0),
		"bare places":         "[" + placeIn(e, 0) + "]",
		"bare links":          "[" + link + "]",
		"in an object":        `{"result": [` + placeIn(e, 0) + `], "version": null}`,
		"of a named server":   `{"result": ` + placeIn(e, 0) + `, "version": 1, "server": "tealeaf"}`,
		"with what we ignore": `{"result": ` + placeIn(e, 0) + `, "hot": true}`,
	} {
		answer.Store(text)
		r := definition(e)
		location, _ := r.StructuredContent["location"].(object)
		if r.Code() != "" || location["path"] != "kettle.tea" || r.StructuredContent["server_status"] != "editor" {
			t.Errorf("%s: got %v", shape, r.StructuredContent)
		}
		check.Same(t, shape+" answered by", r.StructuredContent["server"] == "tealeaf", strings.Contains(text, "tealeaf"))
	}
}

func TestAnEditorThatDoesNotKnowIsNoAnswer(t *testing.T) {
	for what, answer := range map[string]func(ctx context.Context) (any, error){
		"null":      func(context.Context) (any, error) { return json.RawMessage("null"), nil },
		"no method": func(context.Context) (any, error) { return nil, wire.Errorf(wire.CodeMethodNotFound, "no such method") },
		"an error": func(context.Context) (any, error) {
			return nil, wire.Errorf(wire.CodeRequestFailed, "the server broke")
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			e := asking(t, func(ctx context.Context, _ string, _ json.RawMessage) (any, error) { return answer(ctx) })
			definition(e).Want(t, "LSP_UNAVAILABLE")
		})
	}
}

func TestAnEditorWithoutLanguageFeaturesIsNotAsked(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{}) // which fails the test when it is asked for what it has not
	e.Write("kettle.tea", "boil water\npour water\n")
	definition(e).Want(t, "LSP_UNAVAILABLE")
}

// TestAnAnswerAboutAnotherTextIsNotUsed: the user typed on while it was asked.
func TestAnAnswerAboutAnotherTextIsNotUsed(t *testing.T) {
	t.Parallel()
	var e *testrig.Editor
	var version atomic.Int32
	e = asking(t, func(context.Context, string, json.RawMessage) (any, error) {
		return object{"result": json.RawMessage(placeIn(e, 0)), "version": version.Load()}, nil
	})
	e.Open("kettle.tea")
	e.Type("kettle.tea", document.Range{}, "cold ") // not saved
	version.Store(2)
	if r := definition(e); r.Code() != "" || r.StructuredContent["server_status"] != "editor" {
		t.Errorf("got %v, want the answer about the text as it is", r.StructuredContent)
	}
	version.Store(1)
	definition(e).Want(t, "LSP_UNAVAILABLE")
}
