package policy

import "strings"

// allowsSubject reads the rule narrowly: the name as it stands, and * for a part of it.
func (r Rule) allowsSubject(name string) bool {
	return r.Folder == "" && r.matcher()(name, r.Specifier)
}

// judgeSubject reads it widely: however the name is spelled, and * for any part of it.
func (r Rule) judgeSubject(name string) judgement {
	specifier := fold(r.Specifier)
	switch {
	case r.Folder != "":
		return unclear
	case fold(name) == specifier, r.pattern && glob(strings.ReplaceAll(specifier, "*", "**")).MatchString(fold(name)):
		return matches
	}
	return differs
}

// CoversSubject says whether one of the rules is about calls of a tool with that subject.
func CoversSubject(rules []Rule, tool, name string) bool {
	for _, r := range rules {
		if r.names(tool) && (r.Specifier == "" && r.Folder == "" || r.allowsSubject(name)) {
			return true
		}
	}
	return false
}
