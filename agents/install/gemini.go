package install

import (
	"path/filepath"
	"strings"
)

// The tools of Gemini CLI that change files or run commands. tools.core, a list of what
// may stay, is not used for it: what it names is also allowed without a question, and what
// it does not name is denied, the tools of the user's other servers too.
var geminiOff = []string{"run_shell_command", "replace", "write_file"}

func planGemini(o Options) (Plan, error) {
	path := geminiSettings(o)
	present, err := has(path, "mcpServers", server)
	if err != nil {
		return Plan{}, err
	}
	files, err := planJSON(o, "gemini", path, geminiEdits(o), present)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Files: files, Notes: geminiNotes(o)}, nil
}

func geminiSettings(o Options) string {
	if o.Scope == Project {
		return filepath.Join(o.Project, ".gemini", "settings.json")
	}
	return filepath.Join(o.folder("GEMINI_CLI_HOME", ""), ".gemini", "settings.json")
}

func geminiEdits(o Options) []edit {
	why := "adds the command " + o.Binary + " mcp as an MCP server: allowed in advance (the editor asks), 24 days for a call"
	key := func(value any, name ...string) edit {
		return edit{path: append([]string{"mcpServers", server}, name...), value: value, why: why, ours: true}
	}
	edits := []edit{
		key(o.Binary, "command"),
		key([]string{"mcp", "--answer-within", "0"}, "args"), // as timeout has it
		key(longestDelay, "timeout"),
		key(true, "trust"),
		key("$SSH_AUTH_SOCK", "env", "SSH_AUTH_SOCK"), // which it strips for its name; git push needs it
	}
	for _, tool := range geminiOff {
		edits = append(edits, edit{path: []string{"tools", "exclude"}, item: tool, why: "turns off Gemini CLI's own tools that change files or run commands: " + strings.Join(geminiOff, ", ")})
	}
	return append(edits, promptHook(o, "gemini", "BeforeAgent", 5000)...)
}

func geminiNotes(o Options) []string {
	if o.Uninstall {
		return []string{"Gemini CLI has its own tools again at its next start."}
	}
	notes := []string{
		"Start it with: gemini, in a folder that is open in your editor and that Gemini CLI trusts: in others it starts no MCP server. Running sessions keep their old settings.",
		"What it can still do unseen: hooks, extensions and other MCP servers that you configured, and commands that you type yourself (!). --yolo does not bring back its own tools.",
		"Its read_file, grep_search and glob read the disk, without your unsaved changes; Pillion's read_file reads both.",
		withoutEditor("Gemini CLI", false),
	}
	if o.Scope == Project {
		notes = append(notes, "The file names a path of this machine: keep "+filepath.Join(".gemini", "settings.json")+" out of git.")
	}
	return notes
}

func viewGemini(o Options) (v view, err error) {
	file := geminiSettings(o)
	if v.server, err = serverIn(file, "mcpServers", server); err == nil {
		v.switches, err = denied(file, geminiOff, []string{"tools", "exclude"}, []string{"excludeTools"})
	}
	return v, err
}
