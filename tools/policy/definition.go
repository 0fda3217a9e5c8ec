package policy

import (
	"slices"
	"strings"
)

// definitionMark leads the specifier of a rule for a tool of another program: the rule is
// about what that tool is declared to be, and not about another that has its name later.
const definitionMark = "definition:"

// judgeDefinition is exact, where a rule allows and where it restricts.
func (r Rule) judgeDefinition(definition string) judgement {
	switch {
	case r.Folder != "" || r.pattern || !strings.HasPrefix(r.Specifier, definitionMark):
		return unclear
	case r.Specifier == definition:
		return matches
	}
	return differs
}

// classReasons are why a call asks that no rule allows.
func (r Request) classReasons() []Reason {
	if r.Definition == "" {
		return []Reason{{ReasonClass, classReason[r.Access]}}
	}
	out := []Reason{{ReasonClass, "this tool is another program's"}}
	if slices.ContainsFunc(r.given(), func(rule Rule) bool { return rule.judgeDefinition(r.Definition) == differs }) {
		out = append(out, Reason{ReasonChanged, "its definition has changed since you approved it"})
	}
	return out
}
