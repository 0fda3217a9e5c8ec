package install

import (
	"os"
	"path/filepath"
	"strings"
)

// The tools of Claude Code that change files or run commands. A name that is
// no tool of the version at hand costs a warning at each start, so only names
// go here that today's version knows.
var claudeOff = []string{"Bash", "PowerShell", "Monitor", "Edit", "Write", "NotebookEdit", "EnterWorktree"}

func planClaude(o Options) (Plan, error) {
	files, err := planJSON(o, "claude", claudeGlobal(o), claudeServer(o), true)
	if err != nil {
		return Plan{}, err
	}
	more, err := planJSON(o, "claude", claudeSettings(o), claudeRules(o), len(files) > 0)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Files: append(files, more...), Notes: claudeNotes(o)}, nil
}

// claudeSettings is the file in which Claude Code keeps rules.
func claudeSettings(o Options) string {
	if o.Scope == Project {
		return filepath.Join(o.Project, ".claude", "settings.local.json")
	}
	return filepath.Join(o.folder("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")
}

// claudeGlobal is the file in which Claude Code keeps servers and projects.
func claudeGlobal(o Options) string {
	dir := o.folder("CLAUDE_CONFIG_DIR", ".claude")
	if old := filepath.Join(dir, ".config.json"); exists(old) {
		return old
	}
	if o.Getenv("CLAUDE_CONFIG_DIR") != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(o.Home, ".claude.json")
}

func claudeServer(o Options) []edit {
	at := []string{"mcpServers", server}
	if o.Scope == Project {
		at = []string{"projects", claudeRoot(o.Project), "mcpServers", server}
	}
	why := "adds the command " + o.Binary + " mcp as an MCP server: offered from the first turn, 24 days for a call"
	key := func(name string, value any) edit {
		return edit{path: append(append([]string{}, at...), name), value: value, why: why, ours: true}
	}
	return []edit{
		key("type", "stdio"),
		key("command", o.Binary),
		key("args", []string{"mcp"}),
		key("timeout", longestDelay),
		key("alwaysLoad", true),
	}
}

func claudeRules(o Options) []edit {
	rules := []edit{{path: []string{"permissions", "allow"}, item: "mcp__" + server + "__*", why: "allows Pillion's tools in advance: your editor asks instead"}}
	for _, tool := range claudeOff {
		rules = append(rules, edit{path: []string{"permissions", "deny"}, item: tool, why: "turns off Claude Code's own tools that change files or run commands: " + strings.Join(claudeOff, ", ")})
	}
	rules = append(rules, promptHook(o, "claude", "UserPromptSubmit", 5)...)
	return append(rules, edit{
		path: []string{"env", "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS"}, value: "0",
		why: "keeps a call in the foreground while you read its diff; otherwise the model goes on after two minutes (applies to your other MCP servers too)",
	})
}

func claudeNotes(o Options) []string {
	if o.Uninstall {
		return []string{"Claude Code has its own tools again at its next start."}
	}
	notes := []string{
		"Start it with: claude, in a folder that is open in your editor. Running sessions keep their old settings.",
		"What it can still do unseen: hooks, plugins and other MCP servers that you configured, commands that you type yourself, and a Claude Code that is started with other settings (--setting-sources). --dangerously-skip-permissions does not bring back its own tools.",
		"Its Read, Grep and Glob read the disk, without your unsaved changes; Pillion's read_file reads both. Its plan mode cannot write its plan file; let it show the plan in the chat.",
		withoutEditor("Claude Code", true),
	}
	if o.Scope == Project {
		notes = append(notes, "Claude Code reads .claude/settings.local.json only from the folder where it is started: start it in "+o.Project+" itself; in a subfolder its own tools would be on. Keep the file out of git.")
	}
	return notes
}

// claudeRoot is the name under which Claude Code files a project: the main
// work tree of its repository, or else the folder itself.
func claudeRoot(project string) string {
	if real, err := filepath.EvalSymlinks(project); err == nil {
		project = real
	}
	for dir := project; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil && info.IsDir() {
			return dir
		}
		if err == nil {
			return mainWorkTree(dir)
		}
		if dir == filepath.Dir(dir) {
			return project
		}
	}
}

// mainWorkTree follows a linked work tree's .git file
// (gitdir: MAIN/.git/worktrees/NAME) to the repository that it belongs to.
func mainWorkTree(dir string) string {
	text, _, err := read(filepath.Join(dir, ".git"))
	if err != nil {
		return dir
	}
	gitdir := strings.TrimSpace(strings.TrimPrefix(text, "gitdir:"))
	main, _, ok := strings.Cut(filepath.ToSlash(gitdir), "/.git/worktrees/")
	if !ok {
		return dir
	}
	return filepath.FromSlash(main)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
