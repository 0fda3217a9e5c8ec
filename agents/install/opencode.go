package install

import (
	"path/filepath"
	"strings"
)

// The permissions of opencode's own tools that change files (edit, write, patch) or run
// commands. Denied, the tools are not offered to the model.
var opencodeOff = []string{"edit", "bash"}

func planOpencode(o Options) (Plan, error) {
	path := opencodeConfig(o)
	present, err := has(path, "mcp", server)
	if err != nil {
		return Plan{}, err
	}
	files, err := planJSON(o, "opencode", path, opencodeEdits(o), present)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Files: files, Notes: opencodeNotes(o)}, nil
}

// opencodeConfig is the file with comments if there is one: both are read.
func opencodeConfig(o Options) string {
	dir := filepath.Join(o.folder("XDG_CONFIG_HOME", ".config"), "opencode")
	if o.Scope == Project {
		dir = o.Project
	}
	if commented := filepath.Join(dir, "opencode.jsonc"); exists(commented) {
		return commented
	}
	return filepath.Join(dir, "opencode.json")
}

func opencodeEdits(o Options) []edit {
	why := "adds the command " + o.Binary + " mcp as an MCP server"
	key := func(name string, value any) edit {
		return edit{path: []string{"mcp", server, name}, value: value, why: why, ours: true}
	}
	edits := []edit{
		key("type", "local"),
		key("command", []string{o.Binary, "mcp"}),
		key("enabled", true),
	}
	for _, tool := range opencodeOff {
		edits = append(edits, edit{path: []string{"permission", tool}, value: "deny", why: "turns off opencode's own tools that change files or run commands: " + strings.Join(opencodeOff, ", ")})
	}
	return append(edits, edit{path: []string{"permission", server + "_*"}, value: "allow", why: "allows Pillion's tools in advance: your editor asks instead"})
}

func opencodeNotes(o Options) []string {
	if o.Uninstall {
		return []string{"opencode has its own tools again at its next start."}
	}
	notes := []string{
		"Start it with: opencode, in a folder that is open in your editor. Running sessions keep their old settings.",
		"What it can still do unseen: plugins, agents with permissions of their own, other MCP servers that you configured, and commands that you type yourself (!).",
		"Its read, grep and glob read the disk, without your unsaved changes; Pillion's read_file reads both.",
		withoutEditor("opencode", false),
	}
	if o.Scope == Project {
		notes = append(notes, "The file names a path of this machine: keep "+filepath.Base(opencodeConfig(o))+" out of git.")
	}
	return notes
}

func viewOpencode(o Options) (v view, err error) {
	doc, err := openJSON(opencodeConfig(o))
	if err != nil {
		return v, err
	}
	command, _ := doc.get([]string{"mcp", server, "command"})
	if line, ok := command.([]any); ok && len(line) > 0 {
		v.server, _ = line[0].(string)
	}
	for _, tool := range opencodeOff {
		is, said := doc.get([]string{"permission", tool})
		v.switches = append(v.switches, toggle{key: tool, tool: tool, said: said, off: is == "deny"})
	}
	return v, nil
}
