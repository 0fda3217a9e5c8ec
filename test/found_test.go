package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// mcpServer is a server of an MCP client's settings. Its tool "grow" gives it another.
func mcpServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, do func() string) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: object{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: do()}}}, nil
		})
	}
	add("pids", func() string {
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			return err.Error()
		}
		return fmt.Sprint(os.Getpid(), child.Process.Pid)
	})
	add("where", func() string {
		dir, _ := os.Getwd() //nolint:errcheck // the test sees it
		return dir + " " + os.Getenv("GIVEN") + os.Getenv("PILLION_TEST_MAIN") + os.Getenv("MY_SECRET")
	})
	add("grow", func() string {
		add("grown", func() string { return "here" })
		return "it grows"
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

// serverOf is the settings of that server.
func serverOf(t *testing.T) object {
	t.Helper()
	return object{"command": self(t), "args": []string{"mcp-server"}, "env": object{"GIVEN": "${LANG:-}given"}}
}

// withMCPServer has it in the user's own settings, and asks about nothing.
func withMCPServer(t *testing.T) testrig.Options {
	t.Helper()
	return testrig.Options{Settings: object{"mcpServers": object{"test": serverOf(t)}, "permissions": object{"allow": []string{"test__pids", "test__where", "test__grow", "test__grown"}}}}
}

type listedTools struct {
	Tools []struct {
		Name, Access string
		Source       *struct{ Kind, Server string }
	}
	Notes []struct{ Source, Text string }
}

func (l listedTools) found() (names []string) {
	for _, one := range l.Tools {
		if one.Source != nil {
			names = append(names, one.Name)
		}
	}
	return names
}

func TestToolsOfAServer(t *testing.T) {
	t.Parallel()
	e := spawn(t, withMCPServer(t))
	var list listedTools
	e.Must("tools/list", object{}, &list)
	if got := list.found(); !slices.Equal(got, []string{"test__grow", "test__pids", "test__where"}) || len(list.Notes) > 0 {
		t.Fatalf("listed: %v, %v", got, list.Notes)
	}
	dir, err := filepath.EvalSymlinks(e.Dir)
	must(t, err)
	r := e.Call("test__where", object{})
	if text := strings.TrimSpace(r.Text()); r.StructuredContent["source"] != "test" || !strings.HasPrefix(text, dir+" ") || !strings.HasSuffix(text, "given") {
		t.Errorf("it runs in %q: %v", text, r.StructuredContent)
	}
	page := ask[struct{ Text string }](e, "tools/list", object{"format": "page", "refresh": true})
	if !strings.HasPrefix(page.Text, "MCP server test, from your settings: /") || !strings.Contains(page.Text, " mcp-server\n  test__grow ") || !strings.Contains(page.Text, "\n\nPillion's own\n") {
		t.Errorf("the page: %s", page.Text)
	}
}

// TestAServerOfAProject runs when the very text is trusted that names it.
func TestAServerOfAProject(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	server := serverOf(t)
	text := fmt.Sprintf(`{"mcpServers": {"test": {"command": %q, "args": ["mcp-server"], "access": {"*": "read"}}}}`, server["command"])
	e.Write(settingsFile, text)
	u := testrig.Wait(t, e.Untrusted, "the question")
	if len(u.Rules) != 1 || !strings.HasPrefix(u.Rules[0], `mcpServers test {"command":`) || strings.Contains(u.Rules[0], "access") {
		t.Errorf("it would loosen %q", u.Rules)
	}
	var list listedTools
	e.Must("tools/list", object{}, &list)
	if got := list.found(); len(got) > 0 {
		t.Fatalf("untrusted it offers %v", got)
	}
	e.Call("test__where", object{}).Want(t, "TOOL_NOT_FOUND")
	e.Must("settings/trust", object{"path": u.Path, "hash": u.Hash}, nil)
	e.Must("tools/list", object{}, &list)
	if got := list.found(); len(got) != 3 {
		t.Errorf("trusted it offers %v, %v", got, list.Notes)
	}
	done := e.Start("test__where", object{}) // whatever class it gives itself
	a := testrig.Wait(t, e.Approvals, "the dialog")
	check.Has(t, "the dialog", fmt.Sprint(a.Params["preview"]), settingsFile, "mcp-server")
	answered(t, a, done, yes).Want(t, "")
	e.Write(settingsFile, text+" ")
	e.Call("test__where", object{}).Want(t, "TOOL_NOT_FOUND") // with another text
}

// TestServersEndWithTheSidecar, and so does what they started.
func TestServersEndWithTheSidecar(t *testing.T) {
	t.Parallel()
	for name, end := range endings {
		e := spawn(t, withMCPServer(t))
		var pids []int
		for _, text := range strings.Fields(e.Call("test__pids", object{}).Text()) {
			pid, err := strconv.Atoi(text)
			must(t, err)
			pids = append(pids, pid)
		}
		if len(pids) != 2 || allGone(pids)() {
			t.Fatalf("%s: it runs as %v", name, pids)
		}
		end(e)
		eventually(t, "the end of every process", allGone(pids))
	}
}

// TestAgentsHearOfOtherTools: over the real `pillion mcp`, of an editor's sidecar.
func TestAgentsHearOfOtherTools(t *testing.T) {
	t.Parallel()
	e := spawn(t, withMCPServer(t))
	heard := make(chan struct{}, 10)
	agent := agentWith(t, e, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { heard <- struct{}{} }})
	has := func(name string) bool {
		list, err := agent.ListTools(t.Context(), nil)
		must(t, err)
		return slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == name })
	}
	if !has("test__grow") || has("test__grown") {
		t.Fatal("the list is not as it begins")
	}
	if r, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "test__grow"}); err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	testrig.Wait(t, heard, "notifications/tools/list_changed")
	eventually(t, "the new tool", func() bool { return has("test__grown") })
	if r, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "test__grown"}); err != nil || r.IsError {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFoundToolsInATerminal: listed with where they come from, called, and asked again of the
// sidecar that an editor runs.
func TestFoundToolsInATerminal(t *testing.T) {
	t.Parallel()
	e := spawn(t, withMCPServer(t))
	list := `echo '[{"name": "greet", "description": "Greets."}, {"name": "glob"}]'; echo asked >>asked.txt`
	text := fmt.Sprintf(`{"mcpServers": {"test": {"command": %q, "args": ["mcp-server"]}}, "tools": {"toolDiscoveryCommand": %q, "toolCallCommand": "echo hello from"}}`, self(t), list)
	put(t, filepath.Join(e.Home, ".config/pillion/settings.json"), text)
	pillion := func(args ...string) string {
		command := commandOf(e, args...)
		command.Env = append(command.Env, "MY_SECRET=swordfish")
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	listed := pillion("tools")
	check.Has(t, "it", listed, "test__where", "[test]", "greet", "[tools.toolDiscoveryCommand]", "its name can be taken for that of Pillion's own tool glob")
	check.Same(t, "greet printed", pillion("call", "--yes", "greet", `{}`), "hello from greet\n")
	if got := pillion("call", "--yes", "test__where"); strings.Contains(got, "swordfish") || !strings.Contains(got, filepath.Base(e.Dir)) {
		t.Errorf("where printed %q", got)
	}
	e.Notify("workspace/didChangeConfiguration", object{"settings": object{"pillion": object{"tools": object{"toolDiscoveryCommand": "echo x >>editor.txt; echo '[]'"}}}})
	e.Must("tools/list", object{}, nil)
	e.Must("tools/list", object{}, nil)
	pillion("tools", "--refresh")
	eventually(t, "the editor's sidecar has asked twice", func() bool { return e.Read("editor.txt") == "x\nx\n" })
}

// TestAFoundToolIsTheScriptThatItRuns: an approval, of one call or for the session, is for the script as it was.
func TestAFoundToolIsTheScriptThatItRuns(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: map[string]any{"tools": map[string]any{"toolDiscoveryCommand": `echo '[{"name": "greet", "description": "Greets."}]'`, "toolCallCommand": "sh call.sh"}}})
	e.Write("call.sh", "echo one\n")
	first, done := e.Ask("greet", object{})
	e.Write("call.sh", "echo two\n")
	first.Answer <- object{"digest": first.Text("digest"), "decision": "approve", "decisionId": "session"}
	check.Has(t, "after the second dialog", asked(t, e, done, object{"decision": "approve", "decisionId": "session"}).Text(), "two")
	wantDecision(t, e, "greet", object{}, "run")
	e.Write("call.sh", "echo three\n")
	wantDecision(t, e, "greet", object{}, "ask")
}
