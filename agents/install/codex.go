package install

import (
	"slices"
	"strconv"
	"strings"
)

const codexComment = "# Pillion: the agent works through your editor. Written by `pillion mcp install codex`."

var codexServer = []string{"mcp_servers", server}

// codexOff is what takes Codex's own tools away from it.
var codexOff = []struct {
	path             []string
	value, tool, why string
}{
	{[]string{"sandbox_mode"}, `"read-only"`, "apply_patch", codexReadOnly},
	{[]string{"approval_policy"}, "{ granular = { sandbox_approval = false, rules = false, skill_approval = false, request_permissions = false, mcp_elicitations = true } }", "apply_patch", codexReadOnly},
	{[]string{"features", "shell_tool"}, "false", "exec_command", "turns off Codex's own shell (features.shell_tool)"},
}

const codexReadOnly = "makes Codex itself read-only: its apply_patch cannot be hidden from the model, so it fails (sandbox_mode, approval_policy)"

func planCodex(o Options) ([]FileChange, error) {
	doc, change, err := openTOML(codexConfig(o))
	if err != nil {
		return nil, err
	}
	past, err := o.readRecord("codex", doc.path)
	if err != nil {
		return nil, err
	}
	edit := codexInstall
	if o.Uninstall {
		edit = codexUninstall
	}
	if change.Why, err = edit(doc, o, past); err != nil {
		return nil, err
	}
	if err := onlyOurs(doc.path, change.Before, doc.text); err != nil {
		return nil, err
	}
	var changes []FileChange
	if doc.text != change.Before {
		changes = append(changes, change.to(doc.text, o.Uninstall && strings.TrimSpace(doc.text) == ""))
	}
	return append(changes, past.changes(o)...), nil
}

func codexConfig(o Options) string {
	return o.file("CODEX_HOME", ".codex", "config.toml", ".codex/config.toml")
}

func codexInstall(doc *tomlText, o Options, past *recordFile) (why []string, err error) {
	if !strings.Contains(doc.text, codexComment) && !past.Existed {
		own, err := doc.textOf(codexServer)
		if err != nil {
			return nil, err
		}
		if own != "" { // the user's own server of our name
			past.add(recorded{Path: codexServer, Text: own})
		}
		if args, ok := doc.find(codexServer, "args"); own != "" && !(ok && strings.HasPrefix(doc.text[args.valueStart:], `["mcp"`)) {
			if _, err := doc.cut(codexServer, codexComment); err != nil {
				return nil, err
			}
		}
	}
	for _, off := range codexOff {
		changed, err := doc.set(off.path, off.value)
		if err != nil {
			return nil, err
		}
		if changed && !slices.Contains(why, off.why) {
			why = append(why, off.why)
		}
	}
	changed, err := codexAddServer(doc, o)
	if changed {
		why = append([]string{"adds the command " + o.Binary + " mcp as an MCP server, with its tools allowed (the editor asks), 24 days for a call, and the variables it needs"}, why...)
	}
	return why, err
}

// codexAddServer writes our table whole, or sets its keys in the one that is
// there: what the user added to it stays.
func codexAddServer(doc *tomlText, o Options) (changed bool, err error) {
	keys := codexKeys(o)
	if !slices.ContainsFunc(doc.statements, func(s statement) bool { return s.header && slices.Equal(s.path, codexServer) }) {
		if _, err := doc.cut(codexServer, codexComment); err != nil { // written as an inline table
			return false, err
		}
		lines := []string{"", codexComment, "[" + dotted(codexServer) + "]"}
		for _, k := range keys {
			lines = append(lines, k[0]+" = "+k[1])
		}
		nl := newlineOf(doc.text)
		return true, doc.insertAt(len(doc.text), strings.Join(lines, nl)+nl)
	}
	for _, k := range keys {
		s, ok := doc.find(codexServer, k[0])
		switch {
		case !ok:
			err = doc.insert(codexServer, k[0]+" = "+k[1])
		case !sameTOML(doc.text[s.valueStart:s.valueEnd], k[1]):
			err = doc.splice(s.valueStart, s.valueEnd, k[1])
		default:
			continue
		}
		if err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

func codexKeys(o Options) [][2]string {
	return [][2]string{
		{"command", quote(o.Binary)},
		{"args", `["mcp", "--answer-within", "0"]`}, // as tool_timeout_sec has it
		{"default_tools_approval_mode", `"approve"`},
		{"omit_tools_from", `["deferred"]`},
		{"tool_timeout_sec", strconv.Itoa(longestDelay / 1000)},
		// What Codex strips from a server's environment and a command of the user wants: where
		// settings and state live, and the key agent (git push).
		{"env_vars", `["PILLION_SESSION", "SSH_AUTH_SOCK", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"]`},
	}
}

func codexUninstall(doc *tomlText, _ Options, past *recordFile) (why []string, err error) {
	own, remembered := past.find(codexServer, "")
	past.After = ""
	if !remembered && !strings.Contains(doc.text, codexComment) && !slices.ContainsFunc(doc.statements, statement.isOurs) {
		return nil, nil // nothing here is of our making
	}
	cut, err := doc.cut(codexServer, codexComment)
	if err != nil {
		return nil, err
	}
	if cut {
		why = append(why, "removes the server")
	}
	more, err := doc.unset()
	if err != nil || !cut || own.Text == "" {
		return append(why, more...), err
	}
	why[0] = "restores your own server of that name"
	return append(why, more...), doc.insertAt(len(doc.text), own.Text)
}
