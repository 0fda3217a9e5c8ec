package tools

import (
	"slices"
	"strings"

	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/search"
)

// keysIn are the keys that a plan would show an agent, with the files that they are in.
func keysIn(plan Plan) []policy.KeyFact {
	a, looks := plan.(*Answer)
	if !looks {
		return nil
	}
	var out []policy.KeyFact
	for path, kind := range a.keys() {
		if fact, err := factOf(resolveTouch(touch{path: path, tracked: true})); err == nil && kind != "" {
			out = append(out, policy.KeyFact{PathFact: fact, Kind: kind})
		}
	}
	return out
}

func (a *Answer) keys() map[workspace.Path]string {
	out := map[workspace.Path]string{}
	if a.shows != nil {
		for path, text := range a.shows {
			out[path] = policy.KeyIn(text)
		}
		return out
	}
	if len(a.Reads) == 0 {
		return nil
	}
	text := a.Text
	if a.Err != nil { // the lines that do not fit
		text = ErrorText(a.Err) + "\n" + text + string(mustMarshal(a.Err)) + string(mustMarshal(a.Result))
		text = strings.ReplaceAll(text, "·", " ")
	}
	for section := range strings.SplitSeq("\n"+text, "\ndiff --git ") {
		kind := policy.KeyIn(section)
		if kind == "" {
			continue
		}
		head, _, _ := strings.Cut(section, "\n")
		of := slices.DeleteFunc(slices.Clone(a.Reads), func(path workspace.Path) bool { return !strings.HasSuffix(head, "/"+path.Base()) })
		if len(of) == 0 { // whose it is cannot be told
			of = a.Reads
		}
		for _, path := range of {
			out[path] = kind
		}
	}
	return out
}

// showKeys has it asked for the files in whose lines a search found keys.
func (a *Answer) showKeys(w *workspace.Workspace, matches []search.Match) {
	for _, m := range matches {
		text := strings.Join(slices.Concat(m.Before, []string{m.Text}, m.After), "\n")
		if policy.KeyIn(text) == "" {
			continue
		}
		path, err := w.Resolve(m.Path)
		if err != nil {
			continue
		}
		if a.shows == nil {
			a.shows = map[workspace.Path]string{}
		}
		a.shows[path] += text + "\n"
	}
}
