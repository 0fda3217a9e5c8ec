package policy

import (
	"path"
	"strings"
)

// In makes a rule of one workspace folder, written as if that were open by itself,
// a rule for a window in which its name leads the paths; an empty name changes
// nothing. Which calls touch that folder alone is for the caller to see to: a rule
// without a specifier says nothing of it.
//
// A rule that restricts commands and names no folder holds in all below.
func (r Rule) In(name string, command, restricts bool) Rule {
	switch {
	case name == "", command && restricts && r.Folder == "":
	case command && r.Specifier != "":
		r.Folder = path.Join(name, r.Folder)
	case !command && r.Specifier != "" && !path.IsAbs(r.Specifier):
		r.Specifier = path.Join(name, r.Specifier)
	}
	return r
}

// Out is In undone. It reports false for a rule of another folder.
func (r Rule) Out(name string, command bool) (Rule, bool) {
	from := &r.Specifier
	if command {
		from = &r.Folder
	}
	if name == "" {
		return r, true
	}
	inside, ok := strings.CutPrefix(*from+"/", name+"/")
	*from = strings.TrimSuffix(inside, "/")
	return r, ok && (command || r.Specifier != "") // without one it would be a rule for every call
}

// Names says whether a word of the command leads into the folder with that real path.
func (c Command) Names(root string) bool {
	for _, word := range c.Words {
		if !word.Outside && word.Root == root {
			return true
		}
	}
	return false
}
