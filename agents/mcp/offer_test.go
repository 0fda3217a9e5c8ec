package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/relay"
	"pillion/tools"
)

// mostDefined is what all definitions may take of each conversation, in bytes.
const mostDefined = 21_700

// What the server sends is counted, not what it is made of.
func TestDefinitionsAreShort(t *testing.T) {
	p := project(t, nil)
	for what, most := range map[string]int{"all": mostDefined, "all, for who gives up": mostDefined, "core": mostDefined * 2 / 5, "read_file,git_diff": 1500, "all, structured": mostDefined * 5 / 2} {
		what, structured := strings.CutSuffix(what, ", structured")
		what, givesUp := strings.CutSuffix(what, ", for who gives up") // who is offered one tool more
		chosen, err := Choose(what, false)
		must(t, err)
		o := Options{Cwd: p.Dir, Tools: chosen, Structured: structured, AnswerWithin: within(0), Alone: aloneIn(t, p)}
		if givesUp {
			o.AnswerWithin = nil
		}
		peer := newWirePeer(t, o)
		peer.hello()
		peer.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		answer := peer.next()
		if size := len(answer.Result); size > most {
			t.Errorf("%s: %d bytes, at most %d", what, size, most)
		}
		var listed struct{ Tools []sdk.Tool }
		must(t, json.Unmarshal(answer.Result, &listed))
		if givesUp {
			if last := listed.Tools[len(listed.Tools)-1].Name; last != waitTool {
				t.Errorf("the last tool is %s", last)
			}
			continue
		}
		counted := 0
		definitions := (&tools.Registry{}).Definitions()
		if structured {
			definitions = tools.WithResults(definitions)
		}
		for _, c := range Costs(definitions) {
			if what == "all" || what == "core" && c.Core {
				counted += c.Bytes
			}
		}
		if size := len(answer.Result) - len(`{"tools":[]}`) - len(listed.Tools) + 1; counted > 0 && size != counted {
			t.Errorf("%s: --cost says %d bytes, %d were sent", what, counted, size)
		}
		want := chosen
		if want == nil {
			for _, tool := range tools.Catalogue() {
				want = append(want, tool.Name)
			}
		}
		if len(listed.Tools) != len(want) {
			t.Errorf("%s: %d tools, want %d", what, len(listed.Tools), len(want))
		}
	}
}

// What is left out is what a client assumes.
func TestHintsMeanWhatTheToolsSay(t *testing.T) {
	orTrue := func(b *bool) bool { return b == nil || *b }
	for _, d := range (&tools.Registry{}).Definitions() {
		text, err := json.Marshal(listedTool(d, &names{}))
		must(t, err)
		var got sdk.Tool
		must(t, json.Unmarshal(text, &got))
		a, want := sdk.ToolAnnotations{}, d.Annotations
		if got.Annotations != nil {
			a = *got.Annotations
		}
		switch {
		case a.ReadOnlyHint != want.ReadOnly, orTrue(a.OpenWorldHint) != want.OpenWorld:
			t.Errorf("%s: %s", d.Name, text)
		case !want.ReadOnly && (orTrue(a.DestructiveHint) != want.Destructive || a.IdempotentHint != want.Idempotent):
			t.Errorf("%s: %s", d.Name, text)
		}
	}
}

func TestToolsThatAreNotOffered(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	core, err := Choose("core", false)
	must(t, err)
	hold := func(a *agent) {
		t.Helper()
		a.call(t, "read_file", object{"path": "a.txt"}).want(t, "") // a tool of the core
		for _, name := range []string{"git_push", "git.push"} {
			a.call(t, name, object{}).want(t, "TOOL_NOT_FOUND", "unknown tool", "--tools")
		}
		if list, err := a.ListTools(t.Context(), nil); err != nil || len(list.Tools) != len(core)+1 { // and wait_for_answer
			t.Errorf("%+v, %v", list, err)
		}
	}
	hold(connect(t, "some-agent", Options{Cwd: p.Dir, Tools: core, Alone: aloneIn(t, p)}, nil))
	editor(t, p)
	hold(connect(t, "some-agent", Options{Cwd: p.Dir, Tools: core}, nil))
	if _, err := Choose("read_file,no_such", false); err == nil || !strings.Contains(err.Error(), `"no_such"`) {
		t.Errorf("an unknown tool: %v", err)
	}
}

// The schema of a result is listed where its structure is sent, of all of ours.
func TestSchemasOfResults(t *testing.T) {
	p := project(t, nil)
	listed := func(o Options) (out map[string]any) {
		t.Helper()
		o.Cwd = p.Dir
		list, err := connect(t, "some-agent", o, nil).ListTools(t.Context(), nil)
		must(t, err)
		out = map[string]any{}
		for _, tool := range list.Tools {
			if tool.OutputSchema != nil {
				out[tool.Name] = tool.OutputSchema
			}
		}
		return out
	}
	alone := aloneIn(t, p)
	if got := listed(Options{Alone: alone}); len(got) > 0 {
		t.Errorf("of text alone: %v", got)
	}
	got := listed(Options{Alone: alone, Structured: true})
	const want = `{"properties":{"arguments":{"type":"object"},"changed_outside":{"items":{"type":"string"},"type":"array"},"count":{"type":"integer"},"edited_by_human":{"type":"boolean"},` +
		`"error":{"properties":{"code":{"type":"string"},"details":{"type":"object"},"hint":{"type":"string"},"message":{"type":"string"}},"type":"object"},` +
		`"matches":{"items":{"type":"string"},"type":"array"},"ok":{"type":"boolean"},"success":{"type":"boolean"},"truncated":{"type":"boolean"}},"required":["ok"],"type":"object"}`
	if glob, err := json.Marshal(got["glob"]); err != nil || len(got) != len(tools.Catalogue()) || string(glob) != want {
		t.Errorf("%d schemas; of glob %s", len(got), glob)
	}
	structured := false
	host(t, p, p.Dir, relay.Host{Editor: "VS Code", Structured: func() bool { return structured }})
	if got := listed(Options{}); len(got) > 0 {
		t.Errorf("of an editor's text alone: %v", got)
	}
	if got := listed(Options{Structured: true}); len(got) != len(tools.Catalogue()) {
		t.Errorf("of an editor: %v", got)
	}
	structured = true
	if got := listed(Options{}); len(got) != len(tools.Catalogue()) {
		t.Errorf("by the setting: %v", got)
	}
}
