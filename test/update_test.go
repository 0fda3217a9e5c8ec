package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
