package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Agents are what is set about single agents: an object by their names, which is kept as a
// list because each entry more only restricts, as with rules.
type Agents []AgentTools

// AgentTools is agents.NAME.tools: the tools that are on for an agent.
type AgentTools struct {
	Name  string   `json:"name"`
	Tools []string `json:"tools"`
}

// Key is the setting that it comes from.
func (a AgentTools) Key() string { return "agents." + a.Name + ".tools" }

// decode takes a list that it cannot read for an empty one: a mistake must not
// loosen anything.
func (a *Agents) decode(p *problems, raw json.RawMessage, at string) {
	object := p.object(raw, at)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		set := p.object(object[name], join(at, name))
		list := set["tools"]
		delete(set, "tools")
		for _, key := range slices.Sorted(maps.Keys(set)) {
			p.add("unknown setting %q is ignored; there is tools", join(join(at, name), key))
		}
		if len(list) == 0 || bytes.Equal(list, []byte("null")) {
			continue
		}
		one := AgentTools{Name: name}
		if json.Unmarshal(list, &one.Tools) != nil || one.Tools == nil {
			p.add("setting %q must be a list of tools. Using none", one.Key())
			one.Tools = []string{}
		}
		*a = append(*a, one)
	}
}
