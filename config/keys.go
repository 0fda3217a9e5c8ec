package config

import (
	"reflect"
	"slices"
)

// Key is one setting as people read of it: in docs/settings.md and in Neovim's
// help, which are generated from Keys.
type Key struct {
	Name    string // its path in the object: limits.readBytes
	Type    string
	Default string // as JSON, "" where there is none
	Meaning string // Markdown of one line
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
	{Name: "path", Meaning: "where the editor finds the `pillion` program. Only editors read it"},
	{Name: "trace.server", Default: `"off"`, Meaning: "what of the talk between editor and sidecar is logged: `off`, `messages` or `verbose`. Only editors read it"},
	{
		Name: "mode", Default: `"default"`, Meaning: "the mode in which a session starts: `plan` (agents read, and change nothing), `default` (changes and commands ask) " +
			"or `auto_edit` (edits inside the workspace run, commands ask). `full_access` is no setting; choose it for one session, in the editor",
	},
	{Name: "permissions.allow", Default: "[]", Meaning: "calls that need no asking"},
	{Name: "permissions.ask", Default: "[]", Meaning: "calls that ask although their mode would let them run"},
	{Name: "permissions.deny", Default: "[]", Meaning: "calls that are refused"},
	{
		Name: "approvals.expireSeconds", Default: "0",
		Meaning: "how long a question waits for you before it counts as a no; 0: as long as the agent waits. Takes effect at the next start",
	},
	{
		Name: "limits.preset", Default: `"default"`, Meaning: "`codelab` is the strict reading of the tool contract: at most 1 MB is read or written, a larger file not even in parts, and a diff has at most 5 MB; " +
			"text is UTF-8 alone; paths are relative alone, of at most 255 bytes; folders are not made unasked; a call and a command take at most 30 s; 100 calls a minute, reads too; `write_file`, `delete_file`, " +
			"`apply_patch`, `run_command`, `git.commit` and `git.push` ask every time, whatever the mode or the rules. The limits below hold where they are lower",
	},
	{Name: "limits.readBytes", Default: "10485760", Meaning: "the largest file that is read as a whole; larger ones are read by lines"},
	{Name: "limits.writeBytes", Default: "5242880", Meaning: "the largest text that is written"},
	{Name: "limits.diffBytes", Default: "5242880", Meaning: "the largest diff"},
	{
		Name: "limits.outputBytes", Default: "1048576",
		Meaning: "how much a command's standard output, and its standard error, may be; of more than that the beginning and the end are kept",
	},
	{Name: "limits.callSeconds", Default: "30", Meaning: "how long a call may take. Waiting for you does not count"},
	{Name: "limits.commandSeconds", Default: "120", Meaning: "how long a command may take if its call does not say; at most 600"},
	{Name: "limits.changesPerMinute", Default: "100", Meaning: "how many calls that change or run something a session may make in a minute"},
	{Name: "limits.readsPerMinute", Default: "6000", Meaning: "the same for calls that only read"},
	{Name: "limits.patches", Default: `"any"`, Meaning: "`clean`: `apply_patch` only where git has no changes that are not committed. The preset `codelab` wants it as well"},
	{
		Name: "sandbox", Default: `"prefer"`, Meaning: "whether commands are held in a sandbox (Linux alone; security.md says what each kind holds): `require` (without one they do not run), " +
			"`prefer` (they run in the strongest that works here, and without one if none does; the question and the result say which) or `off`",
	},
	{
		Name: "sandboxWritable", Default: "[]", Meaning: "folders beside the workspace, the temporary folder and the usual build caches that commands in the sandbox may write: " +
			"absolute, or beginning with `~/`. Your keys, your shell's files and `~/.config` stay closed under bubblewrap even in these",
	},
	{Name: "sandboxNetwork", Default: `"on"`, Meaning: "whether commands in the sandbox have a network: `on` or `off`"},
	{
		Name: "sandboxNetworkFor", Default: "[]", Meaning: "rules for commands that have a network although `sandboxNetwork` is `off`, written as in `permissions.allow`: `run_command(npm ci)`",
	},
	{
		Name: "journal.mode", Default: `"require"`, Meaning: "what becomes of an agent's change that cannot be written into the journal, because the disk is full or the change too large: " +
			"`require` (it is not made), `prefer` (it is made and cannot be reverted; you are told) or `off` (nothing is kept, and nothing can be reverted)",
	},
	{
		Name: "journal.sync", Default: "true",
		Meaning: "whether a change, and what the journal has of it, is on the disk itself before its call answers. Without it edits are some times faster, and a crash of the machine, not of the editor, may lose the last ones",
	},
	{Name: "journal.maxBytes", Default: "524288000", Meaning: "how large the journal of all your workspaces may become; the oldest changes go first"},
	{Name: "journal.days", Default: "30", Meaning: "how long a change is kept"},
	{
		Name: "audit", Default: `"full"`, Meaning: "what the audit log keeps of each call: `full`, `brief` (of a command line, which may hold a password, its SHA-256 alone) or `off` (nothing). " +
			"Never what a file holds or a command prints",
	},
	{
		Name: "unusual", Default: `"tell"`, Meaning: "what happens when an agent does what agents at work do not do (security.md says what that is): `tell` (you are told, and may pause it or put its changes back), " +
			"`pause` (it is paused as well) or `revert` (what it changed is put back as well)",
	},
	{
		Name: "languageServers.prefer", Default: `"editor"`, Meaning: "who is asked where something is defined or used, and what it is: `editor` (the language server that your editor runs, " +
			"and Pillion's own where it has none) or `own`",
	},
	{
		Name: "languageServers.diagnostics", Default: `"own"`,
		Meaning: "who says what is wrong with a file: `own` (Pillion's own server, of whose list it is known which text it is about) or `editor`",
	},
	{Name: "languageServers.editWaitSeconds", Default: "1.5", Meaning: "how long the result of an edit waits to say what the edit broke or mended; 0: it does not say"},
	{Name: "languageServers.idleMinutes", Default: "30", Meaning: "after how long a language server that nobody asks is stopped; 0: never"},
	{
		Name: "languageServers.servers", Default: "{}", Meaning: "language servers by name, laid over those that Pillion knows (languages.md lists them): `command` (a list: the program and its arguments), `languages` (LSP's identifiers), " +
			"`rootMarkers` (files that lie in the root of a project), `env`, `settings` (what the server is told as its configuration), `initializationOptions`, `install` (how to get it, for people) and `enabled`. " +
			"One that is named here is asked before the others of its language. A project's file may switch one off, and nothing else without your trust",
	},
	{
		Name: "mcp.structured", Default: "false",
		Meaning: "whether agents get the structure of a result (`structuredContent`) beside its text, as with `pillion mcp --structured`. Most agents show it to their model in place of the text, escaped in one line",
	},
}

// typeOf is the type of the setting at a path, in words.
func typeOf(t reflect.Type, path string) string {
	for f := range t.Fields() {
		name := keyOf(f)
		if name == path && f.Type == reflect.TypeFor[[]Rule]() {
			return "list of rules"
		}
		if name == path {
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
