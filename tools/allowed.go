package tools

import (
	"slices"
	"strings"
	"unicode"

	"pillion/internal/fault"
	"pillion/tools/session"
)

// Allowed is a list of the tools that are on for the agents of a name.
type Allowed struct {
	Agent string // fits every agent whose name begins with these words
	Tools []string
	Where string // the setting, for people
}

// core are the tools that an agent cannot do its work without.
var core = []string{
	"edit_file", "git.diff", "git.status", "glob", "list_files", "lsp_diagnostics", "read_file", "run_command", "search_in_project", "write_file",
}

// Choose reads a list of tools as people write it: names in any spelling, "core" and "all".
// Those that are unknown here are chosen too: a program without an alias may have them.
func Choose(list []string) (chosen, unknown []string) {
	for _, given := range list {
		switch name := canonical(strings.TrimSpace(given)); {
		case name == "core":
			chosen = append(chosen, core...)
		case strings.Contains(name, "__"): // of a server's, which may not be there yet
			chosen = append(chosen, name)
		case name == "all":
			chosen = append(chosen, everything)
			for _, t := range Catalogue() {
				chosen = append(chosen, t.Name)
			}
		case catalogue[name].Name == "":
			unknown = append(unknown, given)
			chosen = append(chosen, name)
		default:
			chosen = append(chosen, name)
		}
	}
	slices.Sort(chosen)
	return slices.Compact(chosen), unknown
}

// everything stands in a list for the tools that are found, beside those that are named.
const everything = "*"

// IsCore says whether the tool is one of "core".
func IsCore(name string) bool { return slices.Contains(core, name) }

// off says why a tool does not exist for a session: a list that is about it, or about one
// that it is below, lacks the tool.
func (s Settings) off(owner *session.Session, tool string) error {
	where := ""
	for ; owner != nil; owner = owner.Parent() {
		if offered, limited := owner.Offered(); limited && !isIn(offered, tool) {
			where = "pillion mcp --tools"
		}
		for _, a := range s.Allowed {
			if a.fits(owner.Agent().Name) && !isIn(a.Tools, tool) {
				where = "the setting " + fault.Escape(a.Where)
			}
		}
	}
	if where == "" {
		return nil
	}
	return fault.New(fault.ToolNotFound, "unknown tool: %s is not on for this agent (%s)", fault.Quote(tool), where).
		WithHint("do it with the tools that tools/list lists, or ask the user to turn this one on")
}

// isIn finds a tool by the name that it has, or that agents know it by.
func isIn(list []string, tool string) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		return name == everything || strings.ReplaceAll(name, ".", "_") == strings.ReplaceAll(tool, ".", "_")
	})
}

func (a Allowed) fits(agent string) bool {
	want, have := nameWords(a.Agent), nameWords(agent)
	return len(want) <= len(have) && slices.Equal(want, have[:len(want)])
}

// nameWords makes "Claude Code" and "claude-code" the same; "*" has none, and fits every agent.
func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
