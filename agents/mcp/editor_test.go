package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/tools"
	"pillion/tools/approval"
)

func TestToolsAreListed(t *testing.T) {
	p := project(t, nil)
	lists := func(where string, a *agent) {
		t.Helper()
		list, err := a.ListTools(t.Context(), nil)
		must(t, err)
		want := (&tools.Registry{}).Definitions()
		if len(list.Tools) != len(want)+1 || list.Tools[len(want)].Name != waitTool {
			t.Fatalf("%s lists %d tools, want %d and %s", where, len(list.Tools), len(want), waitTool)
		}
		for i, tool := range list.Tools[:len(want)] {
			if tool.Name != strings.ReplaceAll(want[i].Name, ".", "_") || tool.Title != want[i].Title || tool.Description == "" {
				t.Errorf("%s lists %+v for %s", where, tool, want[i].Name)
			}
			if schema, ok := tool.InputSchema.(map[string]any); !ok || schema["type"] != "object" {
				t.Errorf("%s: the schema of %s is %v", where, tool.Name, tool.InputSchema)
			}
		}
	}
	lists("without an editor", connect(t, "tester", Options{Cwd: p.Dir}, nil))
	editor(t, p)
	lists("with an editor", connect(t, "tester", Options{Cwd: p.Dir}, nil))
}

func TestACallGoesToTheEditor(t *testing.T) {
	home(t)
	big := strings.Repeat("line\n", 100_000)
	p := agenttest.NewProject(t, map[string]string{"a.txt": "hello\n", "big.txt": big})
	editor(t, p)
	a := connect(t, "some-agent", Options{Cwd: p.Dir}, nil)
	if open := p.Sessions.List(); len(open) != 0 {
		t.Errorf("connected before the first call: %+v", open)
	}
	if r := a.call(t, "read_file", object{"path": "a.txt"}); r.isError || r.text != "hello\n" || r.structured != nil {
		t.Errorf("got %+v", r)
	}
	if r := a.call(t, "read_file", object{"path": "big.txt", "start_line": 1, "end_line": 100_000}); r.text != big {
		t.Errorf("of %d bytes %d came back", len(big), len(r.text))
	}
	open := p.Sessions.List()
	if len(open) != 1 || open[0].Agent.Name != "some-agent" || open[0].Agent.Version != "0.1" || open[0].Agent.Via != "mcp" {
		t.Errorf("the sessions are %+v", open)
	}
}

func TestDottedNames(t *testing.T) {
	_, a := edited(t, nil)
	for _, name := range []string{"git_diff", "git.diff"} {
		a.call(t, name, object{}).want(t, "GIT_NOT_INITIALIZED")
	}
	for _, name := range []string{"git_dif", "nonsense"} {
		if r := a.call(t, name, object{}); !r.isError || r.code() != "TOOL_NOT_FOUND" || !strings.Contains(r.text, "unknown tool") {
			t.Errorf("%s gave %+v", name, r)
		}
	}
	a.call(t, "read_file", object{"pth": "a.txt"}).want(t, "INVALID_ARGUMENTS") // an unknown argument
}

func TestProgress(t *testing.T) {
	p, a := edited(t, nil)
	params := &sdk.CallToolParams{Name: "run_command", Arguments: object{"command": "echo out; echo err >&2"}}
	params.SetProgressToken("mine")
	pending := a.start(t.Context(), t, params)
	d := p.Human.Next(t)
	last := 0.0
	var heard strings.Builder
	hear := func(want string) {
		t.Helper()
		for !strings.Contains(heard.String(), want) {
			n := agenttest.Wait(t, a.progress, "progress that says "+want)
			if n.ProgressToken != "mine" || n.Progress <= last {
				t.Errorf("after %v came %+v", last, n)
			}
			last = n.Progress
			heard.WriteString(n.Message)
		}
	}
	hear("waiting for your approval in VS Code")
	d.Answer(approval.Answer{Decision: approval.Approve})
	hear("out\n")
	hear("err\n")
	agenttest.Wait(t, pending, "the result").want(t, "")
}

func TestTwoAgents(t *testing.T) {
	p := project(t, nil)
	editor(t, p)
	write := func(a *agent, name string) (<-chan result, *agenttest.Dialog) {
		pending := a.start(t.Context(), t, &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": name, "content": "n"}})
		return pending, p.Human.Next(t)
	}
	one, first := write(connect(t, "one", Options{Cwd: p.Dir}, nil), "one.txt")
	two, second := write(connect(t, "two", Options{Cwd: p.Dir}, nil), "two.txt")
	if first.Agent.Name != "one" || second.Agent.Name != "two" || first.SessionID == second.SessionID {
		t.Errorf("asked for %+v and %+v", first.Agent, second.Agent)
	}
	second.Answer(approval.Answer{Decision: approval.Approve})
	if r := agenttest.Wait(t, two, "the second result"); r.isError || !exists(p, "two.txt") {
		t.Errorf("the second agent got %+v", r)
	}
	first.Answer(approval.Answer{Decision: approval.Reject})
	if r := agenttest.Wait(t, one, "the first result"); r.code() != "USER_REJECTED" || exists(p, "one.txt") {
		t.Errorf("the first agent got %+v", r)
	}
}

// The user's cancel stops the agent, whose protocol cannot be told otherwise.
func TestTheHumanCancels(t *testing.T) {
	p, a := edited(t, nil)
	pending := a.start(t.Context(), t, write("n.txt"))
	p.Human.Next(t).Answer(approval.Answer{Decision: approval.Cancel})
	agenttest.Wait(t, pending, "the result").want(t, "CANCELLED", "the user cancelled")
	a.call(t, "list_files", object{}).want(t, "CANCELLED", "paused") // the next call
}
