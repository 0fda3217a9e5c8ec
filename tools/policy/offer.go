package policy

import (
	"maps"
	"slices"
	"strings"

	"pillion/internal/pattern"
)

// Offer is a rule that the user may have remembered along with a yes. With it,
// this very call would run.
type Offer struct {
	ID    string
	Title string
	Scope string // "turn", "session", or "workspace": kept on this machine for the folder
	Rule  Rule
	// Once are keys as in Decision.OncePerSession, of hosts that it stands for beside the rule.
	Once []string
}

// Saves is all that it has remembered, as people read rules. Hosts are for the session alone.
func (o Offer) Saves() string {
	hosts := strings.Join(o.Once, ", ")
	switch {
	case hosts == "":
		return o.Rule.String()
	case o.Scope == "workspace":
		return o.Rule.String() + ", and for this session " + hosts
	}
	return o.Rule.String() + ", " + hosts
}

// offersWith are offers that answer the open questions as well, as far as those are about
// hosts.
func offersWith(r Request, open []onceQuestion) []Offer {
	var hosts []string
	answered := maps.Clone(r.Once)
	for _, q := range open {
		if q.reason.Code == ReasonNetwork {
			if answered == nil {
				answered = map[string]bool{}
			}
			hosts, answered[q.key] = append(hosts, q.key), true
		}
	}
	r.Once = answered
	var out []Offer
	for _, o := range offers(r) {
		if len(hosts) > 0 && o.Scope == "turn" { // a yes to hosts holds for the session
			continue
		}
		if o.Once = hosts; len(open) == 0 || r.runsWith(o.Rule) {
			out = append(out, o)
		}
	}
	return out
}

// offers gives the rules that would answer this call the next time, the narrowest
// first.
func offers(r Request) []Offer {
	switch {
	case r.Command != nil:
		return commandOffers(r)
	case r.Host != "":
		rule := Rule{Tool: r.Tool, Specifier: r.Host}
		return []Offer{{ID: "session", Title: "Approve " + r.Host + " for this session", Scope: "session", Rule: rule}}
	case r.Subject != "" && r.Access != Skill: // a skill is approved with its text
		rule := Rule{Tool: r.Tool, Specifier: r.Subject}
		return []Offer{{ID: "session", Title: "Approve " + r.Subject + " for this session", Scope: "session", Rule: rule}}
	case r.Definition != "":
		rule := Rule{Tool: r.Tool, Specifier: r.Definition}
		return []Offer{forSession(rule), forWorkspace(rule)}
	case r.Access == Edit:
		return editOffers(r)
	}
	return nil
}

func editOffers(r Request) []Offer {
	var out []Offer
	if all := (Rule{Tool: changesTool}); r.runsWith(all) {
		out = []Offer{
			{ID: "turn", Title: "Approve all edits for the rest of this turn", Scope: "turn", Rule: all},
			{ID: "changes", Title: "Approve all edits for this session", Scope: "session", Rule: all},
		}
	}
	if len(r.Paths) == 1 {
		rule := Rule{Tool: r.Tool, Specifier: r.Paths[0].real()}
		return slices.Concat([]Offer{forSession(rule)}, out, []Offer{forWorkspace(rule)})
	}
	return out
}

func commandOffers(r Request) []Offer {
	if !r.Command.bare() || r.Command.Line == "" {
		return nil
	}
	exact := Rule{Tool: r.Tool, Specifier: r.Command.Line, Folder: folder(r.Command.Cwd)}
	out := []Offer{forSession(exact)}
	turn := Offer{ID: "turn", Title: "Approve for the rest of this turn", Scope: "turn", Rule: exact}
	if rule, ok := r.narrowPattern(); ok && r.runsWith(rule) {
		turn.Title, turn.Rule = "Approve "+rule.Specifier+listedOptions+" for the rest of this turn", rule
		out = append(out, Offer{ID: "pattern", Title: "Approve " + rule.Specifier + listedOptions + " for this session", Scope: "session", Rule: rule})
	}
	if rule := (Rule{Tool: readsTool}); slices.ContainsFunc(r.reading.parts, onlyReads) && r.runsWith(rule) {
		out = append(out, Offer{ID: "reads", Title: "Approve all commands that only read, for this workspace", Scope: "workspace", Rule: rule})
	}
	return append(out, turn, forWorkspace(exact))
}

func forSession(rule Rule) Offer {
	return Offer{ID: "session", Title: "Approve for this session", Scope: "session", Rule: rule}
}

func forWorkspace(rule Rule) Offer {
	return Offer{ID: "workspace", Title: "Approve for this workspace", Scope: "workspace", Rule: rule}
}

// runsWith says whether the call would run if the rule had been granted.
func (r Request) runsWith(rule Rule) bool {
	r.Grants = append(slices.Clone(r.Grants), rule)
	return len(firmQuestions(r)) == 0 && len(r.unanswered(onceQuestions(r))) == 0 && !r.asks()
}

// narrowPattern is the rule for commands like the first part that no rule allows:
// the program, the word that says what it does, and what is known to be harmless after it.
func (r Request) narrowPattern() (Rule, bool) {
	given := r.given()
	for _, p := range r.reading.parts {
		if r.partWhy(p, given) != noRule {
			continue
		}
		n := patternWords(p)
		if n == 0 {
			return Rule{}, false
		}
		return Rule{Tool: r.Tool, Specifier: strings.Join(append(p.texts()[:n:n], "*"), " "), Folder: folder(r.Command.Cwd), Listed: true, pattern: true}, true
	}
	return Rule{}, false
}

// noRule is why a part asks with which nothing is wrong.
const noRule = "no rule allows it"

var scriptName = pattern.New(`^[A-Za-z][A-Za-z0-9:_-]*$`)

// patternWords is how many words of a part a pattern may begin with, 0 if none is
// offered.
func patternWords(p part) int {
	texts := p.texts()
	_, n, ok := listing(texts)
	switch {
	case !ok:
		return 0
	case n == 1 || !slices.Contains(scripted[texts[0]], texts[1]):
		return n
	case len(p.words) > 2 && scriptName().MatchString(p.words[2].text):
		return 3
	}
	return 0
}
