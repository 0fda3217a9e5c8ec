package config

import (
	"reflect"
	"slices"
)

// Key is one setting: what it is for people, which values it has, and what a project may do to it. docs/settings.md and Neovim's help are
// generated from Keys.
type Key struct {
	Name    string // its path in the object: limits.readBytes
	Type    string
	Default string // as JSON, "" where there is none
	Meaning string // Markdown of one line

	words    string  // all its values, as a sentence has them
	mistaken string  // the value that stands for any other: a mistake must not loosen anything
	most     float64 // of a number; 0: math.MaxInt32

	// What a project's value may do without the user's trust. What does not tighten needs trust.

	// tighter says of a setting with one value that it leaves agents no more room
	// than another value. Both are what holds: a default where nothing is set.
	tighter func(value, than reflect.Value) bool
	// tightens says of a list that each entry more leaves agents less room; else each
	// one loosens.
	tightens bool
	never    string // why a project cannot set it at all
}

// Keys is every setting, in the order of Settings.
func Keys() []Key {
	out := slices.Clone(keys)
	for i := range out {
		out[i].Type = typeOf(reflect.TypeFor[Settings](), out[i].Name)
	}
	return out
}

// keys has a line for each field of Settings; a test compares the two.
var keys = []Key{
	{Name: "path", never: "only editors read it", Meaning: "the path of the `pillion` program. Only editors read it"},
	{
		Name: "trace.server", Default: `"off"`, words: "off, messages or verbose", never: "only editors read it",
		Meaning: "how much of the traffic between editor and sidecar is logged: `off`, `messages` or `verbose`. Only editors read it",
	},
	{
		Name: "mode", Default: `"default"`, tighter: modeTighter,
		Meaning: "the mode of a new session: `plan` (agents only read), `draft` (edits and commands run on a draft, which you review), `default` (changes and commands ask), " +
			"`auto_edit` (edits in the workspace run, commands ask) or `auto` (commands run too that the sandbox holds). In each, commands that only read run (`commands.readOnly`). `full_access` cannot be a setting; choose it for one session in the editor",
	},
	{Name: "permissions.allow", Default: "[]", Meaning: "calls that run without asking"},
	{Name: "permissions.ask", Default: "[]", tightens: true, Meaning: "calls that ask even if their mode would let them run"},
	{Name: "permissions.deny", Default: "[]", tightens: true, Meaning: "calls that are denied"},
	{Name: "approvals.expireSeconds", Default: "0", tighter: soonest, Meaning: "how long a request waits for you before it is rejected; 0: as long as the agent waits. Takes effect at the next start"},
	{
		Name: "limits.preset", Default: `"default"`, words: "default or codelab", mistaken: CodeLab, tighter: ranked(CodeLab, "default"),
		Meaning: "`codelab` is the strict reading of the tool contract: files of at most 1 MB are read or written, larger ones not even in part; diffs have at most 5 MB; " +
			"only UTF-8; only relative paths of at most 255 characters; no folders created implicitly; 30 s per call and per command; 100 calls a minute, including reads; every tool that changes files " +
			"or runs something, `git.commit` and `git.push` ask every time, in every mode and despite rules. The limits below apply where they are lower",
	},
	{Name: "limits.readBytes", Default: "10485760", tighter: lowest, Meaning: "the largest file that is read whole; larger files are read by lines"},
	{Name: "limits.writeBytes", Default: "5242880", tighter: lowest, Meaning: "the largest text that is written"},
	{Name: "limits.diffBytes", Default: "5242880", tighter: lowest, Meaning: "the largest diff"},
	{Name: "limits.outputBytes", Default: "1048576", tighter: lowest, Meaning: "how much of a command's standard output and standard error is kept, each; of longer output the beginning and the end"},
	{Name: "limits.callSeconds", Default: "30", tighter: lowest, Meaning: "how long a call may take, without the time that it waits for you"},
	{Name: "limits.commandSeconds", Default: "120", tighter: lowest, Meaning: "how long a command may run unless its call says otherwise; at most 600"},
	{Name: "limits.changesPerMinute", Default: "100", tighter: lowest, Meaning: "how many calls per minute a session may make that change or run something"},
	{Name: "limits.readsPerMinute", Default: "6000", tighter: lowest, Meaning: "how many calls per minute a session may make that only read"},
	{
		Name: "limits.patches", Default: `"any"`, words: "any or clean", mistaken: CleanPatches, tighter: ranked(CleanPatches, "any"),
		Meaning: "`clean`: `apply_patch` needs a git work tree without uncommitted changes. The preset `codelab` requires this too",
	},
	{
		Name: "commands.readOnly", Default: "true", tighter: falsest,
		Meaning: "whether commands that only read run without asking, in the box (security.md): `ls -la`, `grep -rn x src`, `git log`, `cat *.md | head`. Where there is no box, they ask",
	},
	{
		Name: "box.home", Meaning: "files and folders of your home that commands in the box may read, in addition to programs, toolchains, package caches and git's settings: starting with `~/`", Default: "[]",
	},
	{Name: "drafts.maxBytes", Default: "2147483648", tighter: lowest, Meaning: "how large what a draft holds may become; a command that makes it larger is ended"},
	{
		Name: "sandbox", Default: `"prefer"`, words: "require, prefer or off", mistaken: "require", tighter: ranked("require", "prefer", "off"),
		Meaning: "the sandbox for commands (Linux only; security.md describes each kind): `require` (commands run only in a sandbox), " +
			"`prefer` (commands run in the strongest sandbox available, or without one; the dialog and the result say which) or `off`",
	},
	{
		Name: "sandboxWritable", Default: "[]", Meaning: "more folders that commands in the sandbox may write, in addition to the workspace, the temporary folder and caches of their own (security.md): " +
			"absolute, or starting with `~/`. Under bubblewrap, your keys, your shell's files and `~/.config` stay closed even in these",
	},
	{
		Name: "sandboxNetwork", Default: `"hosts"`, words: "hosts, off or on", mistaken: "off", tighter: ranked("off", "hosts", "on"),
		Meaning: "what of the network commands in the sandbox can reach: `hosts` (those that rules such as `network(example.org)` allow, and those that a command names and you approve), `off` (nothing) or `on` (everything)",
	},
	{
		Name: "sandboxNetworkFor", Default: "[]", Meaning: "rules for commands that can use the whole network although `sandboxNetwork` is `hosts` or `off`, written as in `permissions.allow`: `run_command(npm ci)`",
	},
	{
		Name: "journal.mode", Default: `"require"`, words: "require, prefer or off", mistaken: "require", never: journalIsYours,
		Meaning: "what happens to a change that the journal cannot record, because the disk is full or the change is too large: " +
			"`require` (the change fails), `prefer` (the change is made, cannot be reverted, and you are notified) or `off` (no journal: no change can be reverted)",
	},
	{
		Name: "journal.sync", Default: "true", never: journalIsYours,
		Meaning: "whether a change and its journal entry are flushed to disk before the call returns. Without it, edits are several times faster, and a crash of the machine (not of the editor) may lose the last ones",
	},
	{Name: "journal.maxBytes", Default: "524288000", never: journalIsYours, Meaning: "the largest size of the journal of all your workspaces; the oldest changes are deleted first"},
	{Name: "journal.days", Default: "30", never: journalIsYours, Meaning: "how long the journal keeps a change"},
	{
		Name: "audit", Default: `"full"`, words: "full, brief or off", mistaken: "full", tighter: ranked("full", "brief", "off"),
		Meaning: "what the audit log keeps of each call: `full`, `brief` (only the SHA-256 of a command line, which may contain a password) or `off`. " +
			"It never contains files or the output of commands",
	},
	{
		Name: "unusual", Default: `"tell"`, words: "tell, pause or revert", mistaken: "pause", tighter: ranked("revert", "pause", "tell"),
		Meaning: "what happens when an agent behaves suspiciously (security.md says when that is): `tell` (you are notified, and can pause it or revert its changes), " +
			"`pause` (it is also paused) or `revert` (it is paused and its changes are reverted)",
	},
	{
		Name: "languageServers.prefer", Default: `"editor"`, words: "editor or own", never: serversAreYours,
		Meaning: "which language server answers about definitions, uses and types: `editor` (the one that your editor runs, " +
			"or Pillion's own if it has none) or `own`",
	},
	{
		Name: "languageServers.diagnostics", Default: `"own"`, words: "own or editor", never: serversAreYours,
		Meaning: "which language server reports errors and warnings: `own` (Pillion's, which knows the text that they are about) or `editor`",
	},
	{Name: "languageServers.editWaitSeconds", Default: "1.5", most: 60, never: serversAreYours, Meaning: "how long an edit waits for the errors that it caused or fixed; 0: it does not report them"},
	{Name: "languageServers.idleMinutes", Default: "30", never: serversAreYours, Meaning: "after how long without use a language server is stopped; 0: never"},
	{
		Name: "languageServers.servers", Default: "{}", Meaning: "language servers by name, merged into those that Pillion knows (see languages.md): `command` (a list: the program and its arguments), `languages` (LSP's identifiers), " +
			"`rootMarkers` (files in the root of a project), `env`, `settings` (the server's configuration), `initializationOptions`, `install` (how to install it, for people) and `enabled`. " +
			"Servers named here come before the others of their language. A project's file can disable a server; anything else in it needs your trust",
	},
	{
		Name: "search.indexMegabytes", Default: "256", most: 1 << 20, never: "it is your memory",
		Meaning: "how much memory the index of your files' text may take, which makes searches of large projects fast; an index that would take more is given up. 0: no index",
	},
	{
		Name: "memory.file", Default: `""`, never: "it says where your agents write",
		Meaning: "the file that `save_memory` adds to: an absolute path, one that starts with `~/`, or `project` for `PILLION.md` in the first folder of the workspace. Without it, `PILLION.md` in the folder of your own settings",
	},
	{Name: "skills.allow", Default: "[]", Meaning: "skills of your own that are loaded without asking, by name; `*` stands for any characters"},
	{Name: "skills.deny", Default: "[]", tightens: true, Meaning: "skills that do not exist for agents, by name; `*` stands for any characters"},
	{
		Name: "skills.folders", Default: "[]", never: "they are your own",
		Meaning: "folders with skills of your own, in addition to `skills` in the folder of your own settings, `~/.agents/skills` and `~/.claude/skills`: absolute, or starting with `~/`",
	},
	{
		Name: "web.privateHosts", Default: "[]", never: "it opens your own network",
		Meaning: "hosts that `web_fetch` may reach although their addresses are not public, such as `localhost` or `wiki.example.org`: names as they stand in the address, without a port",
	},
	{Name: "web.search.provider", Default: `""`, words: "searxng, tavily or brave", never: searchIsYours, Meaning: "who searches the web for `web_search`: `searxng`, `tavily` or `brave`. Without one, nobody does"},
	{
		Name: "web.search.url", Default: `""`, never: searchIsYours,
		Meaning: "the address of your SearXNG, such as `https://search.example.org`; its settings must allow the format `json`. For the others, an address in place of their usual one. It may be private",
	},
	{
		Name: "web.search.keyCommand", Default: `""`, never: searchIsYours,
		Meaning: "a command line that prints your key for Tavily or Brave; without it, the key is in the environment variable `PILLION_SEARCH_KEY`. It runs at each search, after you approved it",
	},
	{
		Name: "task.runners", Default: "{}", Meaning: "sub-agents that agents may give tasks to, by name (see agents.md): `acp` (a list: the program and its arguments, which speaks the Agent Client Protocol) or `command` (a list; `{objective}` in it stands for the task, which otherwise comes on standard input), " +
			"`env`, `inheritEnv` (names of your environment variables that it gets), `writable` (folders that it may write in the sandbox), `writesItself` (it changes files by itself: opencode), `mode` (the loosest that it works in) and `timeoutSeconds` (1800). A project's file can add one only with your trust",
	},
	{
		Name: "tools.toolDiscoveryCommand", Default: `""`, tighter: needsTrust,
		Meaning: "a command line that prints a JSON array of function declarations, as tools for agents (tools.md, \"Found tools\"). In a project's file it needs your trust, like the three settings below",
	},
	{
		Name: "tools.toolCallCommand", Default: `""`, tighter: needsTrust,
		Meaning: "the command line that calls such a tool: it gets the tool's name as its last argument and the call's arguments as JSON on standard input, and prints the result. Its exit code says whether it failed",
	},
	{
		Name: "mcpServers", Default: "{}", Meaning: "MCP servers by alias, whose tools agents can call as `ALIAS__TOOL`: `command`, `args`, `env` and `cwd` of a program, or `url` (or `httpUrl`) and `headers` of streamable HTTP; `timeout` of a call in milliseconds; " +
			"`enabled`; `access`, which gives single tools another class than `exec`: `{\"search\": \"read\", \"*\": \"network\"}` (only in your own settings). `${NAME}` in values of `env` and `headers` is the environment variable of that name",
	},
	{Name: "mcp.mcpServerCommand", Default: `""`, tighter: needsTrust, Meaning: "the command line of one MCP server without an alias: its tools keep their own names"},
	{
		Name: "mcp.structured", Default: "false", never: "it applies to all your agents",
		Meaning: "whether agents get the structure of a result (`structuredContent`) in addition to its text, as with `pillion mcp --structured`. Most agents show it to their model instead of the text, escaped in one line",
	},
	{
		Name: "gateway.url", Default: `""`, never: gatewaysAreYours,
		Meaning: "the address of the gateway that you connect to, such as `wss://codelab.example.org/ws`. `{session_id}` in it stands for the session; without it, the session is put behind the path",
	},
	{
		Name: "gateway.tokenCommand", Default: `""`, never: gatewaysAreYours,
		Meaning: "a command line that prints the token for the gateway, for Neovim and `pillion chat`; without it, the token is in the environment variable `PILLION_GATEWAY_TOKEN`. VS Code asks you and keeps it in its secret storage",
	},
	{
		Name: "gateway.allowInsecure", Default: "false", never: gatewaysAreYours,
		Meaning: "whether a gateway on another machine may be connected to without TLS (`ws://`): your token and your files then cross the network in the clear",
	},
	{
		Name: "gateway.execution", Default: `"editor"`, words: "editor or agent", mistaken: "editor", never: gatewaysAreYours,
		Meaning: "who does what you approved for a gateway's agent: `editor` (it is done here) or `agent` (the agent gets your decision and does it itself). Calls that you are not asked about are always done here",
	},
	{
		Name: "gateway.rejection", Default: `"both"`, words: "both, decision or result", mistaken: "both", never: gatewaysAreYours,
		Meaning: "what a gateway gets when you reject a call: `both` (the decision and a failed result), `decision` or `result`",
	},
	{
		Name: "gateway.errors", Default: `"object"`, words: "object, text or bare", mistaken: "object", never: gatewaysAreYours,
		Meaning: "the form of errors for a gateway: `object` (`error` is an object with a code and a message), `text` (`error` is the message, `error_code` the code) or `bare` (`error` is the code in lower case)",
	},
	{
		Name: "gateway.codes", Default: `"own"`, words: "own or codelab", mistaken: "own", never: gatewaysAreYours,
		Meaning: "the codes of errors for a gateway: `own`, or `codelab` (only those of CodeLab's descriptions; the code proper is in `details.code`)",
	},
	{
		Name: "agents", Default: "{}", tightens: true,
		Meaning: "what holds for single agents, by name: `{\"codex\": {\"tools\": [\"core\", \"git_log\"]}}`. `tools` are the tools that are on for that agent, by name; `core` is ten of them, `all` is all. " +
			"Others do not exist for it. A name fits every agent whose name begins with its words, `*` fits all; where several lists fit an agent (a project's too), a tool has to be in each of them",
	},
}

// keyOf finds a row by its name.
func keyOf(name string) Key {
	return keys[slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })]
}

// typeOf is the type of the setting at a path, in words.
func typeOf(t reflect.Type, path string) string {
	for f := range t.Fields() {
		name := nameOf(f)
		switch {
		case name != path:
		case f.Type == reflect.TypeFor[[]Rule]():
			return "list of rules"
		case f.Type == reflect.TypeFor[Agents]():
			return typeNames[reflect.Map]
		default:
			return typeNames[kindOf(f.Type)]
		}
		if len(path) > len(name) && path[:len(name)+1] == name+"." {
			return typeOf(f.Type, path[len(name)+1:])
		}
	}
	return ""
}

var typeNames = map[reflect.Kind]string{
	reflect.String:  "string",
	reflect.Int:     "integer",
	reflect.Int64:   "integer",
	reflect.Float64: "number",
	reflect.Slice:   "list of strings",
	reflect.Bool:    "boolean",
	reflect.Map:     "object",
}
