package install

import (
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
	tool string
	said bool // the configuration says something
	off  bool
}

// Look reads an agent's files and writes nothing. Without Options.Project it
// looks at the user's configuration alone.
func Look(agent string, o Options) (State, error) {
	a, ok := known[agent]
	if !ok {
		return State{}, unknown(agent)
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
		v, err := a.view(o)
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

func (a agent) view(o Options) (v view, err error) {
	if a.files == nil {
		return viewCodex(o)
	}
	for _, f := range a.files(o) {
		doc, _, err := openJSON(f.path)
		if err != nil {
			return v, err
		}
		for _, e := range f.edits {
			is, said := doc.get(e.path)
			list, _ := is.([]any)
			switch {
			case e.ours && e.path[len(e.path)-1] == "command":
				if len(list) > 0 {
					is = list[0]
				}
				v.server, _ = is.(string)
			case e.tool != "" && e.item == "":
				v.switches = append(v.switches, toggle{e.tool, said, is == e.value})
			case e.tool != "":
				older, _ := doc.get(a.older)
				more, _ := older.([]any)
				off := slices.Contains(slices.Concat(list, more), any(e.tool))
				v.switches = append(v.switches, toggle{e.tool, off, off})
			}
		}
	}
	return v, nil
}

func viewCodex(o Options) (view, error) {
	doc, _, err := openTOML(codexConfig(o))
	if err != nil {
		return view{}, err
	}
	root, err := decodeTOML(doc.text)
	if err != nil {
		return view{}, err
	}
	var v view
	command, _ := valueAt(root, append(slices.Clone(codexServer), "command"))
	v.server, _ = command.(string)
	for _, off := range codexOff {
		wanted, err := decodeTOML("v = " + off.value)
		if err != nil {
			return view{}, err
		}
		is, said := valueAt(root, off.path)
		// "never" asks nobody to leave the sandbox, so it is as tight.
		v.switches = append(v.switches, toggle{off.tool, said, equalJSON(is, wanted["v"]) || off.path[0] == "approval_policy" && is == "never"})
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
