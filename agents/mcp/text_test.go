package mcp

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/agents/relay"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace/document"
)

// works are calls that come to something; tools that are not here are called without
// arguments, and fail.
var works = []struct {
	tool string
	args object
}{
	{"read_file", object{"path": "a.txt"}},
	{"read_many_files", object{"paths": []string{"a.txt"}}},
	{"list_files", object{}},
	{"glob", object{"pattern": "*"}},
	{"search_in_project", object{"query": "one"}},
	{"write_file", object{"path": "b.txt", "content": "x\n"}},
	{"edit_file", object{"path": "a.txt", "old_string": "one", "new_string": "1"}},
	{"apply_patch", object{"diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+one\n"}},
	{"create_directory", object{"path": "sub"}},
	{"move_file", object{"from": "b.txt", "to": "sub/b.txt"}},
	{"delete_file", object{"path": "sub/b.txt"}},
	{"run_command", object{"command": "echo hi; exit 3"}},
	{"run_persistent", object{"command": "read -r line; echo $line", "process_id": "p"}},
	{"write_process", object{"process_id": "p", "input": "hi\n"}},
	{"read_process", object{"process_id": "p", "wait_seconds": 5}},
	{"list_processes", object{}},
	{"kill_process", object{"process_id": "p"}},
}

// Every tool gives text alone, and its structure to whoever asked for it.
func TestTextAlone(t *testing.T) {
	ways(t, map[string]string{"a.txt": "one\n"}, func(t *testing.T, p *agenttest.Project, o Options) {
		for _, o.Structured = range []bool{false, true} {
			a := connect(t, "some-agent", o, nil)
			called := map[string]bool{}
			want := func(tool string, args object, fails bool) {
				called[tool] = true
				r := a.call(t, tool, args)
				if (r.structured != nil) != (o.Structured && r.code() != "TOOL_NOT_FOUND") || r.isError != fails || r.text == "" {
					t.Errorf("structured %t: %s gives %+v", o.Structured, tool, r)
				}
			}
			for _, c := range works {
				want(c.tool, c.args, false)
			}
			list, err := a.ListTools(t.Context(), &sdk.ListToolsParams{})
			if err != nil || len(list.Tools) < 30 {
				t.Fatalf("%+v, %v", list, err)
			}
			for _, tool := range list.Tools {
				if !called[tool.Name] {
					want(tool.Name, object{"no_such": 1}, true)
				}
			}
			want("no_such_tool", object{}, true)
		}
	})
}

// The user's settings can want the structure for every agent.
func TestTheSettingGivesTheStructure(t *testing.T) {
	files, yes := map[string]string{"a.txt": "one\n"}, func() bool { return true }
	t.Run("editor", func(t *testing.T) {
		p := project(t, files)
		s, err := relay.Listen(relay.Host{Registry: p.Registry, Sessions: p.Sessions, Roots: func() []string { return []string{p.Dir} }, Structured: yes, Logf: t.Logf})
		must(t, err)
		defer s.Close() //nolint:errcheck // it is gone with the test
		if r := connect(t, "some-agent", Options{Cwd: p.Dir}, nil).call(t, "read_file", object{"path": "a.txt"}); r.structured["content"] != "one\n" {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("alone", func(t *testing.T) {
		p := project(t, files)
		open := func(_ []string, who session.Agent, _ approval.Asker, _ tools.Human) (*Door, error) {
			return &Door{Registry: p.Registry, Session: session.New(session.NewID(), who, policy.Default), Structured: yes}, nil
		}
		if r := connect(t, "some-agent", Options{Cwd: p.Dir, Alone: open}, nil).call(t, "read_file", object{"path": "a.txt"}); r.structured["content"] != "one\n" {
			t.Errorf("got %+v", r)
		}
	})
}

// What a model reads can be given back as it stands, and says what it has to know.
func TestTheTextIsEnough(t *testing.T) {
	ways(t, map[string]string{"a.txt": "one\ntwo\n"}, func(t *testing.T, p *agenttest.Project, o Options) {
		a := connect(t, "some-agent", o, nil)
		r := a.call(t, "read_file", object{"path": "a.txt"})
		var version string
		if _, err := fmt.Sscanf(r.rest[0], "(2 lines, version %32s)", &version); err != nil {
			t.Fatalf("%q: %v", r.rest, err)
		}
		r = a.call(t, "edit_file", object{"path": "a.txt", "old_string": "two", "new_string": "2", "expected_version": version})
		if r.isError || !strings.Contains(r.text, ", now version ") {
			t.Fatalf("got %+v", r)
		}
		_, rest, _ := strings.Cut(r.text, ", now version ")
		r = a.call(t, "write_file", object{"path": "a.txt", "content": "alpha beta\n", "expected_version": rest[:32]})
		if r.isError {
			t.Fatalf("the version of the edit: %+v", r)
		}
		r = a.call(t, "write_file", object{"path": "a.txt", "content": "4\n", "expected_version": version})
		if !r.isError || !strings.HasPrefix(r.rest[0], "(version now: ") {
			t.Errorf("an old version: %+v", r)
		}
		r = a.call(t, "edit_file", object{"path": "a.txt", "old_string": "alpha betas", "new_string": "4"})
		if r.code() != "EDIT_NO_MATCH" || !strings.Contains(r.text, "the nearest lines are") || strings.Contains(r.text, "\n(") {
			t.Errorf("no match: %+v", r)
		}
	})
}

// The text of an editor's buffer comes in pages as that of a file does.
func TestPagesOfUnsavedText(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "saved\n"})
	editor(t, p)
	documents := p.Registry.Documents
	path, err := documents.Workspace().Resolve("a.txt")
	must(t, err)
	text := strings.Repeat("not saved yet\r\n", 5000) + "the end"
	documents.Open(path, "file:///a.txt", 1, text)
	documents.SetState(path, document.State{Dirty: true})
	if got, pages := readAll(t, connect(t, "some-agent", Options{Cwd: p.Dir}, nil), "a.txt"); got != text || pages < 4 {
		t.Errorf("%d of %d bytes in %d pages", len(got), len(text), pages)
	}
}

// With the structure, that is a page as well and says where to go on.
func TestTheStructureIsThePage(t *testing.T) {
	ways(t, map[string]string{"a.txt": strings.Repeat("a line of the file\n", 5000)}, func(t *testing.T, _ *agenttest.Project, o Options) {
		o.Structured = true
		a := connect(t, "some-agent", o, nil)
		r := a.call(t, "read_file", object{"path": "a.txt"})
		if s := r.structured; s["content"] != r.text || s["has_more"] != true || s["next_line"] != s["end_line"].(float64)+1 || len(r.text) > pageBytes {
			t.Errorf("a read: %+v", r)
		}
		r = a.call(t, "search_in_project", object{"query": "line", "max_matches": 5000})
		if hits := r.structured["matches"].([]any); len(hits) != strings.Count(r.text, "\n") || r.structured["truncated"] != true {
			t.Errorf("a search: %d hits for %d lines", len(hits), strings.Count(r.text, "\n"))
		}
		r = a.call(t, "run_command", object{"command": "cat a.txt"})
		if out := r.structured["stdout"].(string); len(out) > pageBytes*6/5 || r.structured["truncated"] != true || !strings.Contains(r.text, out[len(out)-100:]) {
			t.Errorf("a command: %d bytes", len(out))
		}
	})
}

// An image is an image, with a word about it.
func TestImages(t *testing.T) {
	ways(t, map[string]string{"a.png": "\x89PNG\r\n"}, func(t *testing.T, _ *agenttest.Project, o Options) {
		r := connect(t, "some-agent", o, nil).call(t, "read_file", object{"path": "a.png"})
		if r.image == nil || r.image.MIMEType != "image/png" || string(r.image.Data) != "\x89PNG\r\n" || r.structured != nil ||
			len(r.rest) != 1 || !strings.HasPrefix(r.rest[0], "(image/png, 6 bytes, version ") {
			t.Errorf("got %+v", r)
		}
	})
}
