package install

import (
	"path/filepath"
	"strings"
)

// The tools of Qwen Code that change files or run commands.
var qwenOff = []string{"run_shell_command", "edit", "write_file", "notebook_edit", "monitor", "enter_worktree"}

func planQwen(o Options) (Plan, error) {
	path := qwenSettings(o)
	present, err := has(path, "mcpServers", server)
	if err != nil {
		return Plan{}, err
	}
	files, err := planJSON(o, "qwen", path, qwenEdits(o), present)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Files: files, Notes: qwenNotes(o)}, nil
}

func qwenSettings(o Options) string {
	if o.Scope == Project {
		return filepath.Join(o.Project, ".qwen", "settings.json")
	}
	return filepath.Join(o.folder("QWEN_HOME", ".qwen"), "settings.json")
}

func qwenEdits(o Options) []edit {
	why := "adds the command " + o.Binary + " mcp as an MCP server: offered from the first turn, allowed in advance (the editor asks), 24 days for a call"
	key := func(name string, value any) edit {
		return edit{path: []string{"mcpServers", server, name}, value: value, why: why, ours: true}
	}
	edits := []edit{
		key("command", o.Binary),
		key("args", []string{"mcp", "--answer-within", "0"}), // as timeout has it
		key("timeout", longestDelay),
		key("trust", true),
		key("alwaysLoadTools", true),
	}
	for _, tool := range qwenOff {
		edits = append(edits, edit{path: []string{"permissions", "deny"}, item: tool, why: "turns off Qwen Code's own tools that change files or run commands: " + strings.Join(qwenOff, ", ")})
	}
	return append(edits, promptHook(o, "qwen", "UserPromptSubmit", 5)...)
}

func qwenNotes(o Options) []string {
	if o.Uninstall {
		return []string{"Qwen Code has its own tools again at its next start."}
	}
	notes := []string{
		"Start it with: qwen, in a folder that is open in your editor. Running sessions keep their old settings.",
		"What it can still do unseen: hooks, extensions and other MCP servers that you configured, commands that you type yourself, and a Qwen Code that is started with --bare, which ignores all of this. --yolo does not bring back its own tools.",
		"Its read_file, grep_search and glob read the disk, without your unsaved changes; Pillion's read_file reads both.",
		withoutEditor("Qwen Code", false),
	}
	if o.Scope == Project {
		notes = append(notes, "The file names a path of this machine: keep "+filepath.Join(".qwen", "settings.json")+" out of git.")
	}
	return notes
}
