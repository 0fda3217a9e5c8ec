package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// promptCommand is what Claude Code is set up to run at each prompt.
func promptCommand(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json"))
	must(t, err)
	var settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	must(t, json.Unmarshal(text, &settings))
	return settings.Hooks["UserPromptSubmit"][0].Hooks[0].Command
}

// TestAPromptNamesTheTurn: by the hook that was installed, for the session of the agent that
// runs it, under the name of its conversation or, after that has changed, by its process.
func TestAPromptNamesTheTurn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no hook is installed there")
	}
	home := t.TempDir()
	e := freely(t, testrig.Options{Home: home})
	dir, err := filepath.EvalSymlinks(e.Dir)
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	env := append(os.Environ(), "HOME="+home, "CLAUDE_CONFIG_DIR=", "PILLION_TEST_MAIN=1", "PILLION_SESSION=", "CLAUDE_CODE_SESSION_ID=one", "CLAUDE_PID=")
	install := exec.Command(self, "mcp", "install", "claude", "--yes")
	install.Env = env
	out, err := install.CombinedOutput()
	must(t, err)
	check.Has(t, "the plan", string(out), "the first words of your prompt")
	hook := promptCommand(t, home)
	server := exec.Command(self, "mcp")
	server.Env, server.Dir = env, dir
	client, err := sdk.NewClient(&sdk.Implementation{Name: "claude-code"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: server}, nil)
	must(t, err)
	defer client.Close()
	says := func(event object, env ...string) {
		t.Helper()
		text, err := json.Marshal(event)
		must(t, err)
		command := exec.Command("/bin/sh", "-c", hook)
		command.Env, command.Dir, command.Stdin = append(server.Env, env...), dir, strings.NewReader(string(text))
		if out, err := command.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %v, %q", event, err, out)
		}
	}
	writes := func(content string) {
		t.Helper()
		_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": "a.txt", "content": content}})
		must(t, err)
	}
	_, err = client.ListTools(t.Context(), nil) // as it does at its start
	must(t, err)
	says(object{"session_id": "one", "cwd": dir, "prompt": "Put the\nkettle on"})
	writes("1")
	says(object{"session_id": "one", "cwd": dir, "prompt": "Now the tea", "source": "user"})
	writes("2")
	says(object{"session_id": "one", "cwd": dir, "prompt": "the agent goes on", "source": "system"})
	says(object{"session_id": "another", "cwd": dir, "prompt": "somebody else's"}, "CLAUDE_CODE_SESSION_ID=another", "CLAUDE_PID=1")
	says(object{"prompt": 7})
	writes("3")
	says(object{"session_id": "cleared", "cwd": dir, "prompt": "After /clear"}, "CLAUDE_CODE_SESSION_ID=cleared", "CLAUDE_PID="+strconv.Itoa(os.Getpid()))
	writes("4")
	var list struct {
		Entries []struct {
			Turn   int
			Prompt string
		}
	}
	e.Must("journal/list", object{}, &list)
	got, _ := json.Marshal(list.Entries)
	check.Same(t, "listed", string(got), `[{"Turn":3,"Prompt":"After /clear"},{"Turn":2,"Prompt":"Now the tea"},{"Turn":2,"Prompt":"Now the tea"},{"Turn":1,"Prompt":"Put the kettle on"}]`)
}
