package install

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// agent is one that For sets up.
type agent struct {
	name string // what people call it
	npm  string // its package

	files func(Options) []jsonFile // its settings, the one with our server first; nil: see codex.go
	older []string                 // where older versions have the list of tools that are off

	// What its user should know.
	start   string               // how it is started
	unseen  string               // what it can still do unseen
	reading string               // what its own tools read
	forms   bool                 // it can ask in forms of its own where no editor is open
	project func(Options) string // of an installation in a project; nil: the file is to be kept out of git
}

// jsonFile is a file of an agent, and what it must say.
type jsonFile struct {
	path  string
	edits []edit
}

const readsTheDisk = " read the disk, without your unsaved changes; Pillion's read_file reads both."

// known are the agents, by the names of their programs. The tools that are turned off are
// those that change files or run commands.
var known = map[string]agent{
	"claude": {
		name: "Claude Code", npm: "@anthropic-ai/claude-code", forms: true,
		files:   claudeFiles,
		start:   "claude, in a folder that is open in your editor",
		unseen:  "hooks, plugins and other MCP servers that you configured, commands that you type yourself, and a Claude Code that is started with other settings (--setting-sources). --dangerously-skip-permissions does not bring back its own tools.",
		reading: "Its Read, Grep and Glob" + readsTheDisk + " Its plan mode cannot write its plan file; let it show the plan in the chat.",
		project: func(o Options) string {
			return "Claude Code reads .claude/settings.local.json only from the folder where it is started: start it in " + o.Project + " itself; in a subfolder its own tools would be on. Keep the file out of git."
		},
	},
	"codex": {
		name: "Codex", npm: "@openai/codex", forms: true,
		start:   "codex, in a folder that is open in your editor",
		unseen:  "apply_patch, when Codex is started with --sandbox, --approve-for-me or --dangerously-bypass-approvals-and-sandbox, or when /permissions loosens it; create_worktree, which makes a git work tree and a branch, and which no setting removes; hooks, plugins and other MCP servers that you configured.",
		reading: "Its view_image reads files from the disk, without your unsaved changes.",
		project: func(Options) string {
			return "Codex reads " + filepath.Join(".codex", "config.toml") + " only in a project that you trust: say yes when it asks, or start it once with codex exec --trust. The file names a path of this machine: keep it out of git."
		},
	},
	"gemini": {
		name: "Gemini CLI", npm: "@google/gemini-cli",
		files: func(o Options) []jsonFile {
			path := o.file("GEMINI_CLI_HOME", "", ".gemini/settings.json", ".gemini/settings.json")
			edits := o.serverEdits(": allowed in advance (the editor asks), 24 days for a call", []string{"mcpServers"}, []member{
				{"command", o.Binary},
				{"args", []string{"mcp", "--answer-within", "0"}}, // as timeout has it
				{"timeout", longestDelay},
				{"trust", true},
				{"env.SSH_AUTH_SOCK", "$SSH_AUTH_SOCK"}, // which it strips for its name; git push needs it
			})
			// tools.core, a list of what may stay, is not used: what it names is also allowed without
			// a question, and what it does not name is denied, the tools of other servers too.
			edits = append(edits, turnOff("Gemini CLI", []string{"tools", "exclude"}, "run_shell_command", "replace", "write_file")...)
			return []jsonFile{{path, append(edits, promptHook(o, "gemini", "BeforeAgent", 5000)...)}}
		},
		older:   []string{"excludeTools"},
		start:   "gemini, in a folder that is open in your editor and that Gemini CLI trusts: in others it starts no MCP server",
		unseen:  "hooks, extensions and other MCP servers that you configured, and commands that you type yourself (!). --yolo does not bring back its own tools.",
		reading: "Its read_file, grep_search and glob" + readsTheDisk,
	},
	"opencode": {
		name: "opencode", npm: "opencode-ai",
		files: func(o Options) []jsonFile {
			path := o.file("XDG_CONFIG_HOME", ".config", "opencode/opencode.json", "opencode.json")
			if exists(path + "c") { // with comments; both are read
				path += "c"
			}
			edits := o.serverEdits("", []string{"mcp"}, []member{
				{"type", "local"},
				{"command", []string{o.Binary, "mcp"}},
				{"enabled", true},
			})
			for _, e := range turnOff("opencode", []string{"permission"}, "edit", "bash") { // edit is write and patch too
				edits = append(edits, edit{path: []string{"permission", e.tool}, value: "deny", tool: e.tool, why: e.why})
			}
			return []jsonFile{{path, append(edits, edit{path: []string{"permission", server + "_*"}, value: "allow", why: allowsOurs})}}
		},
		start:   "opencode, in a folder that is open in your editor",
		unseen:  "plugins, agents with permissions of their own, other MCP servers that you configured, and commands that you type yourself (!).",
		reading: "Its read, grep and glob" + readsTheDisk,
	},
	"qwen": {
		name: "Qwen Code", npm: "@qwen-code/qwen-code",
		files: func(o Options) []jsonFile {
			path := o.file("QWEN_HOME", ".qwen", "settings.json", ".qwen/settings.json")
			edits := o.serverEdits(": offered from the first turn, allowed in advance (the editor asks), 24 days for a call", []string{"mcpServers"}, []member{
				{"command", o.Binary},
				{"args", []string{"mcp", "--answer-within", "0"}}, // as timeout has it
				{"timeout", longestDelay},
				{"trust", true},
				{"alwaysLoadTools", true},
			})
			edits = append(edits, turnOff("Qwen Code", []string{"permissions", "deny"}, "run_shell_command", "edit", "write_file", "notebook_edit", "monitor", "enter_worktree")...)
			return []jsonFile{{path, append(edits, promptHook(o, "qwen", "UserPromptSubmit", 5)...)}}
		},
		start:   "qwen, in a folder that is open in your editor",
		unseen:  "hooks, extensions and other MCP servers that you configured, commands that you type yourself, and a Qwen Code that is started with --bare, which ignores all of this. --yolo does not bring back its own tools.",
		reading: "Its read_file, grep_search and glob" + readsTheDisk,
	},
}

func claudeFiles(o Options) []jsonFile {
	// Servers and projects are in a file of their own.
	global := filepath.Join(o.folder("CLAUDE_CONFIG_DIR", ".claude"), ".config.json")
	if !exists(global) {
		global = filepath.Join(o.folder("CLAUDE_CONFIG_DIR", ""), ".claude.json")
	}
	at := []string{"mcpServers"}
	if o.Scope == Project {
		at = []string{"projects", claudeRoot(o.Project), "mcpServers"}
	}
	servers := o.serverEdits(": offered from the first turn, 24 days for a call", at, []member{
		{"type", "stdio"},
		{"command", o.Binary},
		{"args", []string{"mcp"}},
		{"timeout", longestDelay},
		{"alwaysLoad", true},
	})
	rules := []edit{{path: []string{"permissions", "allow"}, item: "mcp__" + server + "__*", why: allowsOurs}}
	// A name that is no tool of the version at hand costs a warning at each start, so only names
	// are here that today's version knows.
	rules = append(rules, turnOff("Claude Code", []string{"permissions", "deny"}, "Bash", "PowerShell", "Monitor", "Edit", "Write", "NotebookEdit", "EnterWorktree")...)
	rules = append(rules, promptHook(o, "claude", "UserPromptSubmit", 5)...)
	rules = append(rules, edit{
		path: []string{"env", "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS"}, value: "0",
		why: "keeps a call in the foreground while you read its diff; otherwise the model goes on after two minutes (applies to your other MCP servers too)",
	})
	return []jsonFile{{global, servers}, {o.file("CLAUDE_CONFIG_DIR", ".claude", "settings.json", ".claude/settings.local.json"), rules}}
}

// claudeRoot is the name under which Claude Code files a project: the main work tree of its
// repository, or else the folder itself.
func claudeRoot(project string) string {
	if real, err := filepath.EvalSymlinks(project); err == nil {
		project = real
	}
	for dir := project; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		switch {
		case err == nil && !info.IsDir(): // a linked work tree: gitdir: MAIN/.git/worktrees/NAME
			text, _, err := read(filepath.Join(dir, ".git"))
			gitdir := filepath.ToSlash(strings.TrimSpace(strings.TrimPrefix(text, "gitdir:")))
			if main, _, ok := strings.Cut(gitdir, "/.git/worktrees/"); ok && err == nil {
				return filepath.FromSlash(main)
			}
			return dir
		case err == nil:
			return dir
		case dir == filepath.Dir(dir):
			return project
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// folder is the agent's own folder: what the variable says, else name in the home folder.
func (o Options) folder(variable, name string) string {
	dir := o.Getenv(variable)
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(o.Home, rest)
	}
	return cmp.Or(dir, filepath.Join(o.Home, name))
}

// file is a file of the agent: in its own folder, or in the project.
func (o Options) file(variable, name, user, project string) string {
	if o.Scope == Project {
		return filepath.Join(o.Project, filepath.FromSlash(project))
	}
	return filepath.Join(o.folder(variable, name), filepath.FromSlash(user))
}

// member is a member of a JSON object; a dot in its name leads into an object in it.
type member struct {
	name  string
	value any
}

// serverEdits are our server in the object at path, and what that gives the agent.
func (o Options) serverEdits(gives string, path []string, members []member) (edits []edit) {
	for _, m := range members {
		edits = append(edits, edit{
			path:  slices.Concat(path, []string{server}, strings.Split(m.name, ".")),
			value: m.value, ours: true, why: "adds the command " + o.Binary + " mcp as an MCP server" + gives,
		})
	}
	return edits
}

const allowsOurs = "allows Pillion's tools in advance: your editor asks instead"

// turnOff puts an agent's own tools into the list at path.
func turnOff(agent string, path []string, tools ...string) (edits []edit) {
	why := "turns off " + agent + "'s own tools that change files or run commands: " + strings.Join(tools, ", ")
	for _, tool := range tools {
		edits = append(edits, edit{path: path, item: tool, tool: tool, why: why})
	}
	return edits
}

// promptHook has the agent tell of each prompt: by `pillion prompt`, in the place of the shell
// so that its parent is the agent, and by nothing once the program is gone. Empty on Windows,
// where what runs a hook's command is not known.
func promptHook(o Options, agent, event string, timeout int) []edit {
	if runtime.GOOS == "windows" {
		return nil
	}
	run := "' prompt " + agent // a user's own command ends otherwise
	program := "'" + strings.ReplaceAll(o.Binary, "'", `'\''`)
	command := "[ ! -x " + program + "' ] || exec " + program + run
	return []edit{{
		path: []string{"hooks", event}, item: run,
		value: map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": timeout}}},
		why:   "adds a hook that names each turn in your editor by the first words of your prompt (hooks." + event + ")",
	}}
}

// notes are what its user should know now.
func (a agent) notes(o Options) []string {
	if o.Uninstall {
		return []string{a.name + " has its own tools again at its next start."}
	}
	without := "When no editor is open, run pillion watch in another terminal: " + a.name + " has no forms to ask in, and what needs approval fails."
	if a.forms {
		without = "When no editor is open, " + a.name + " asks in small forms, a longer change in several. What does not fit in those you approve in pillion watch, which you run in another terminal."
	}
	notes := []string{"Start it with: " + a.start + ". Running sessions keep their old settings.", "What it can still do unseen: " + a.unseen, a.reading, without}
	switch {
	case o.Scope == User:
	case a.project != nil:
		notes = append(notes, a.project(o))
	default:
		file, _ := filepath.Rel(o.Project, a.files(o)[0].path) //nolint:errcheck // it is in it
		notes = append(notes, "The file names a path of this machine: keep "+file+" out of git.")
	}
	return notes
}
