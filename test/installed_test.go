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

// extension lays out a folder as VS Code has one for each version of an extension.
func extension(t *testing.T, version string) (dir, program string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "pillion.pillion-"+version)
	program = filepath.Join(dir, "bin", filepath.Base(self(t)))
	put(t, filepath.Join(dir, "package.json"), `{"engines": {"vscode": "^1.106.0"}}`)
	must(t, os.MkdirAll(filepath.Dir(program), 0o755))
	if os.Link(self(t), program) != nil {
		data, err := os.ReadFile(self(t))
		must(t, err)
		put(t, program, string(data))
	}
	return dir, program
}

// startedBy is the program that Claude Code is set up to start.
func startedBy(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, ".claude.json"))
	must(t, err)
	var settings struct {
		MCPServers map[string]struct{ Command string } `json:"mcpServers"`
	}
	must(t, json.Unmarshal(text, &settings))
	return settings.MCPServers["pillion"].Command
}

// An agent that was connected works on when the editor has put the next version of the
// extension in the place of this one.
func TestAnUpdateOfTheExtensionStrandsNoAgent(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_DATA_HOME=", "CLAUDE_CONFIG_DIR=", "PILLION_TEST_MAIN=1")
	dir, program := extension(t, "0.1.0")
	install := exec.Command(program, "mcp", "install", "claude", "--yes")
	install.Env = env
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	must(t, os.RemoveAll(dir))
	_, program = extension(t, "0.1.1")
	e := testrig.Spawn(t, []string{program, "serve"}, testrig.Options{Home: home})
	e.Write("a.txt", "still here\n")
	command := exec.Command(startedBy(t, home), "mcp")
	command.Env, command.Dir = env, e.Dir
	client, err := sdk.NewClient(&sdk.Implementation{Name: "claude-code"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: command}, nil)
	must(t, err)
	defer client.Close()
	got, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": "a.txt"}})
	must(t, err)
	if text, _ := json.Marshal(got.Content); !strings.Contains(string(text), "still here") {
		t.Errorf("%s", text)
	}
}

// One that was set up before there was a launcher is told of, and repaired when the user says so.
func TestAStrandedAgentIsRepaired(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	gone := filepath.Join(home, "extensions", "pillion-0.0.9", "bin", "pillion")
	must(t, os.WriteFile(filepath.Join(home, ".claude.json"), []byte(`{"mcpServers": {"pillion": {"command": "`+filepath.ToSlash(gone)+`", "args": ["mcp"]}}}`), 0o600))
	_, program := extension(t, "0.1.1")
	e := testrig.Spawn(t, []string{program, "serve"}, testrig.Options{Home: home})
	p := testrig.Wait(t, e.Prompts, "the question")
	check.Has(t, "the question", p.Message, "Claude Code cannot work through Pillion", "pillion-0.0.9")
	p.Answer <- "Repair"
	eventually(t, "the repair", func() bool { return startedBy(t, home) != gone })
	check.Same(t, "it starts", startedBy(t, home), filepath.Join(home, ".local/share/pillion/bin/pillion"))
}

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
