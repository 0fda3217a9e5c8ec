package install

import (
	"fmt"
	"path/filepath"
	"slices"
)

// State is what an agent's own configuration, the user's and the project's
// together, says of Pillion.
type State struct {
	Scopes  []string // where Pillion is installed: User, Project
	Server  string   // the program that is started as Pillion's server
	On      []string // the agent's own edit and shell tools that it may still use
	Changes []string // what installing once more in Scopes would change
}

// view is one configuration, as it is.
type view struct {
	server   string
	switches []toggle
}

// toggle is one place where an agent's own tool can be turned off.
type toggle struct {
	key, tool string
	said      bool // the configuration says something
	off       bool
}

// Look reads an agent's files and writes nothing. Without Options.Project it
// looks at the user's configuration alone.
func Look(agent string, o Options) (State, error) {
	known, ok := known[agent]
	if !ok {
		return State{}, fmt.Errorf("unknown agent %q: use %s", agent, Choice(Agents()))
	}
	scopes := []string{User}
	if o.Project != "" {
		scopes = append(scopes, Project)
	}
	var s State
	var both []view
	for _, o.Scope = range scopes {
		if err := o.check(); err != nil {
			return State{}, err
		}
		v, err := known.look(o)
		if err != nil {
			return State{}, err
		}
		both = append(both, v)
		if v.server == "" {
			continue
		}
		s.Server = v.server
		s.Scopes = append(s.Scopes, o.Scope)
		changes, err := changesOf(agent, o, v.server)
		if err != nil {
			return State{}, err
		}
		s.Changes = append(s.Changes, changes...)
	}
	s.On = stillOn(both)
	return s, nil
}

// stillOn are the tools that no configuration turns off, or that the nearer one,
// which comes later, turns on again.
func stillOn(views []view) (tools []string) {
	for i, t := range views[0].switches {
		for _, nearer := range views[1:] {
			if nearer.switches[i].said {
				t = nearer.switches[i]
			}
		}
		if !t.off && !slices.Contains(tools, t.tool) {
			tools = append(tools, t.tool)
		}
	}
	return tools
}

// changesOf is what a second installation of the same program would change.
func changesOf(agent string, o Options, server string) (why []string, err error) {
	if !filepath.IsAbs(server) {
		return nil, nil
	}
	o.Binary, o.Uninstall = server, false
	plan, err := For(agent, o)
	if err != nil {
		return nil, err
	}
	for _, f := range plan.Files {
		why = append(why, f.Why...)
	}
	return why, nil
}

// serverIn is the command of our server in a JSON file.
func serverIn(path string, at ...string) (string, error) {
	doc, err := openJSON(path)
	if err != nil {
		return "", err
	}
	command, _ := doc.get(append(at, "command"))
	text, _ := command.(string)
	return text, nil
}

func openJSON(path string) (*jsonText, error) {
	text, _, err := read(path)
	if err != nil {
		return nil, err
	}
	return parseJSON(path, text)
}

// denied are toggles that a list of names at one of the paths turns off.
func denied(file string, tools []string, paths ...[]string) ([]toggle, error) {
	doc, err := openJSON(file)
	if err != nil {
		return nil, err
	}
	var names []any
	for _, path := range paths {
		value, _ := doc.get(path)
		list, _ := value.([]any)
		names = append(names, list...)
	}
	var out []toggle
	for _, tool := range tools {
		off := slices.Contains(names, any(tool))
		out = append(out, toggle{key: tool, tool: tool, said: off, off: off})
	}
	return out, nil
}

func viewClaude(o Options) (v view, err error) {
	at := claudeServer(o)[0].own()
	if v.server, err = serverIn(claudeGlobal(o), at...); err == nil {
		v.switches, err = denied(claudeSettings(o), claudeOff, []string{"permissions", "deny"})
	}
	return v, err
}

func viewQwen(o Options) (v view, err error) {
	file := qwenSettings(o)
	if v.server, err = serverIn(file, "mcpServers", server); err == nil {
		v.switches, err = denied(file, qwenOff, []string{"permissions", "deny"})
	}
	return v, err
}

func viewCodex(o Options) (view, error) {
	file := codexConfig(o)
	text, _, err := read(file)
	if err != nil {
		return view{}, err
	}
	if _, err := parseTOML(file, text); err != nil {
		return view{}, err
	}
	root, err := decodeTOML(text, nil)
	if err != nil {
		return view{}, err
	}
	var v view
	command, _ := valueAt(root, append(slices.Clone(codexServer), "command"))
	v.server, _ = command.(string)
	for _, off := range codexOff {
		wanted, err := decodeTOML("v = "+off.value, nil)
		if err != nil {
			return view{}, err
		}
		t := toggle{key: off.key, tool: "apply_patch"}
		if off.key == "shell_tool" {
			t.tool = "exec_command"
		}
		var is any
		is, t.said = valueAt(root, append(slices.Clone(off.table), off.key))
		// "never" asks nobody to leave the sandbox, so it is as tight.
		t.off = equalJSON(is, wanted["v"]) || off.key == "approval_policy" && is == "never"
		v.switches = append(v.switches, t)
	}
	return v, nil
}

func valueAt(root map[string]any, path []string) (value any, ok bool) {
	value = root
	for _, name := range path {
		table, _ := value.(map[string]any)
		if value, ok = table[name]; !ok {
			return nil, false
		}
	}
	return value, true
}
