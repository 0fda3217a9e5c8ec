package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const codexComment = "# Pillion: the agent works through your editor. Written by `pillion mcp install codex`."

var (
	codexServer = []string{"mcp_servers", server}

	// What Codex strips from a server's environment and a command of the user
	// wants: where settings and state live, and the key agent (git push).
	codexEnvironment = []string{"PILLION_SESSION", "SSH_AUTH_SOCK", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"}

	codexOff = []struct {
		table      []string
		key, value string
		why        string
	}{
		{nil, "sandbox_mode", `"read-only"`, "makes Codex itself read-only: its apply_patch cannot be hidden from the model, so it fails (sandbox_mode, approval_policy)"},
		{nil, "approval_policy", "{ granular = { sandbox_approval = false, rules = false, skill_approval = false, request_permissions = false, mcp_elicitations = true } }", "makes Codex itself read-only: its apply_patch cannot be hidden from the model, so it fails (sandbox_mode, approval_policy)"},
		{[]string{"features"}, "shell_tool", "false", "turns off Codex's own shell (features.shell_tool)"},
	}
)

func planCodex(o Options) (Plan, error) {
	path := codexConfig(o)
	before, existed, err := read(path)
	if err != nil {
		return Plan{}, err
	}
	doc, err := parseTOML(path, before)
	if err != nil {
		return Plan{}, err
	}
	past, err := o.readRecord("codex", path)
	if err != nil {
		return Plan{}, err
	}
	edit := codexInstall
	if o.Uninstall {
		edit = codexUninstall
	}
	why, err := edit(doc, o, past)
	if err != nil {
		return Plan{}, err
	}
	ours := [][]string{codexServer}
	for _, off := range codexOff {
		ours = append(ours, append(slices.Clone(off.table), off.key))
	}
	if err := onlyOurs(path, before, doc.text, ours); err != nil {
		return Plan{}, err
	}
	p := Plan{Notes: codexNotes(o)}
	if doc.text != before {
		change := FileChange{Path: path, Before: before, After: doc.text, Existed: existed, Why: why}
		if o.Uninstall && strings.TrimSpace(doc.text) == "" {
			change.After, change.Delete = "", true
		}
		p.Files = []FileChange{change}
	}
	p.Files = append(p.Files, past.change(o)...)
	return p, nil
}

func codexConfig(o Options) string {
	if o.Scope == Project {
		return filepath.Join(o.Project, ".codex", "config.toml")
	}
	return filepath.Join(o.folder("CODEX_HOME", ".codex"), "config.toml")
}

func codexInstall(doc *tomlText, o Options, past *recordFile) (why []string, err error) {
	if !strings.Contains(doc.text, codexComment) && !past.existed {
		own, err := doc.textOf(codexServer)
		if err != nil {
			return nil, err
		}
		if own != "" { // the user's own server of our name
			past.add(recorded{Path: codexServer, Text: own})
		}
		if args, ok := doc.find(append(slices.Clone(codexServer), "args")); own != "" && !(ok && strings.HasPrefix(doc.text[args.valueStart:], `["mcp"`)) {
			if _, err := doc.cut(codexServer, codexComment); err != nil {
				return nil, err
			}
		}
	}
	for _, off := range codexOff {
		changed, err := doc.set(off.table, off.key, off.value)
		if err != nil {
			return nil, err
		}
		if changed && !slices.Contains(why, off.why) {
			why = append(why, off.why)
		}
	}
	changed, err := codexAddServer(doc, o)
	if err != nil {
		return nil, err
	}
	if changed {
		why = append([]string{"adds the command " + o.Binary + " mcp as an MCP server, with its tools allowed (the editor asks), 24 days for a call, and the variables it needs"}, why...)
	}
	return why, nil
}

// codexAddServer writes our table whole, or sets its keys in the one that is
// there: what the user added to it stays.
func codexAddServer(doc *tomlText, o Options) (changed bool, err error) {
	keys := codexKeys(o)
	header := slices.ContainsFunc(doc.statements, func(s statement) bool { return s.header && slices.Equal(s.path, codexServer) })
	if !header {
		if _, err := doc.cut(codexServer, codexComment); err != nil { // written as an inline table
			return false, err
		}
		nl := doc.newline()
		lines := []string{"", codexComment, "[" + dotted(codexServer) + "]"}
		for _, k := range keys {
			lines = append(lines, k[0]+" = "+k[1])
		}
		return true, doc.insertAt(len(doc.text), strings.Join(lines, nl)+nl)
	}
	for _, k := range keys {
		s, ok := doc.find(append(slices.Clone(codexServer), k[0]))
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
	names := make([]string, len(codexEnvironment))
	for i, name := range codexEnvironment {
		names[i] = quoteTOML(name)
	}
	return [][2]string{
		{"command", quoteTOML(o.Binary)},
		{"args", `["mcp", "--answer-within", "0"]`}, // as tool_timeout_sec has it
		{"default_tools_approval_mode", `"approve"`},
		{"omit_tools_from", `["deferred"]`},
		{"tool_timeout_sec", strconv.Itoa(longestDelay / 1000)},
		{"env_vars", "[" + strings.Join(names, ", ") + "]"},
	}
}

func codexUninstall(doc *tomlText, _ Options, past *recordFile) (why []string, err error) {
	own, remembered := past.find(edit{path: codexServer})
	past.text = ""
	if !remembered && !strings.Contains(doc.text, codexComment) && !doc.marked() {
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

func codexNotes(o Options) []string {
	if o.Uninstall {
		return []string{"Codex has its own tools again at its next start."}
	}
	notes := []string{
		"Start it with: codex, in a folder that is open in your editor. Running sessions keep their old settings.",
		"What it can still do unseen: apply_patch, when Codex is started with --sandbox, --approve-for-me or --dangerously-bypass-approvals-and-sandbox, or when /permissions loosens it; create_worktree, which makes a git work tree and a branch, and which no setting removes; hooks, plugins and other MCP servers that you configured.",
		"Its view_image reads files from the disk, without your unsaved changes.",
		withoutEditor("Codex", true),
	}
	if o.Scope == Project {
		notes = append(notes, fmt.Sprintf("Codex reads %s only in a project that you trust: say yes when it asks, or start it once with codex exec --trust. The file names a path of this machine: keep it out of git.", filepath.Join(".codex", "config.toml")))
	}
	return notes
}

// quoteTOML writes a basic string. JSON's escapes are a subset of TOML's.
func quoteTOML(s string) string { return quote(s) }
