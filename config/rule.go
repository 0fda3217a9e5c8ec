package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"pillion/tools/policy"
)

// Rule is a rule as settings hold it: a text, or an object that has examples by its
// side, which are held against the rule when it is read.
type Rule struct {
	Rule    string   `json:"rule"`
	Matches []string `json:"matches,omitempty"` // command lines, or paths, that the rule is about
	Not     []string `json:"not,omitempty"`     // and some that it is not about
	Why     string   `json:"why,omitempty"`
}

// String is the rule alone.
func (r Rule) String() string { return r.Rule }

// MarshalJSON writes a rule that is nothing but a text as one.
func (r Rule) MarshalJSON() ([]byte, error) {
	if len(r.Matches) == 0 && len(r.Not) == 0 && r.Why == "" {
		return json.Marshal(r.Rule)
	}
	type object Rule
	return json.Marshal(object(r))
}

// How much of a list of rules is read, and of one rule.
const (
	maxRules    = 1000
	maxRule     = 8192
	maxExamples = 50
)

// decodeRule reads a text or an object. It reports false for what is no rule.
func (p *problems) decodeRule(raw json.RawMessage, v reflect.Value, at string) bool {
	rule := v.Addr().Interface().(*Rule)
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		if string(raw) == "null" || json.Unmarshal(raw, &rule.Rule) != nil {
			p.add("setting %q is ignored: it must be a string, or an object with \"rule\"", at)
			return false
		}
		return true
	}
	p.decodeObject(raw, v, at)
	if rule.Rule == "" {
		p.add("setting %q is ignored: it has no \"rule\"", at)
		return false
	}
	return true
}

// checkRules drops what is no rule, and of those that allow what its own examples
// speak against. A rule that restricts stays: better one too many.
func (p *problems) checkRules(list *[]Rule, kind policy.Verdict) {
	if len(*list) > maxRules {
		p.add("only the first %d of %d rules are read", maxRules, len(*list))
		*list = (*list)[:maxRules]
	}
	*list = slices.DeleteFunc(*list, func(r Rule) bool {
		if len(r.Rule) > maxRule {
			p.add("rule %q is ignored: it is longer than %d bytes", r.Rule, maxRule)
			return true
		}
		rule, err := policy.ParseRule(r.Rule)
		if err != nil {
			p.add("rule %q is ignored: %v", r.Rule, err)
			return true
		}
		differs := r.differs(rule, kind)
		if why := rule.NeverAllows(); why != "" && kind == policy.Run {
			differs = "it would allow nothing: " + why
		}
		switch {
		case differs == "":
			return false
		case kind == policy.Run:
			p.add("rule %q is ignored: %s", r.Rule, differs)
			return true
		}
		p.add("rule %q may not be what you mean: %s", r.Rule, differs)
		return false
	})
}

// differs says which example does not hold, "" if all do.
func (r Rule) differs(rule policy.Rule, kind policy.Verdict) string {
	if len(r.Matches)+len(r.Not) > maxExamples {
		return fmt.Sprintf("it has more than %d examples", maxExamples)
	}
	for _, example := range r.Matches {
		if holds, why := rule.Holds(kind, example); !holds {
			return fmt.Sprintf("it does not match its own example %q%s", example, because(why))
		}
	}
	for _, example := range r.Not {
		if holds, _ := rule.Holds(kind, example); holds {
			return fmt.Sprintf("it matches %q, which its examples exclude", example)
		}
	}
	return ""
}

func because(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return ": " + strings.Join(reasons, "; ")
}
