package tools

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/search"
)

// keysIn are the keys that the plan would show an agent, with the files that they are in.
func (p *pending) keysIn() []policy.KeyFact {
	a, looks := p.plan.(*Answer)
	if !looks {
		return nil
	}
	found, of := a.keys(), a.Reads
	if a.Shows != nil {
		of = slices.Collect(maps.Keys(a.Shows))
	}
	for _, path := range of {
		if found[path] == "" && policy.LooksLikeKeyBody(cmp.Or(a.Shows[path], a.said())) {
			if f, err := p.snapshot.Read(path, ""); err == nil { // the key's first line need not be shown
				found[path] = policy.KeyIn(f.Text)
			}
		}
	}
	var out []policy.KeyFact
	for path, kind := range found {
		if fact, err := factOf(resolveTouch(touch{path: path, tracked: true})); err == nil && kind != "" {
			out = append(out, policy.KeyFact{PathFact: fact, Kind: kind})
		}
	}
	return out
}

func (a *Answer) keys() map[workspace.Path]string {
	out := map[workspace.Path]string{}
	if a.Shows != nil {
		for path, text := range a.Shows {
			out[path] = policy.KeyIn(text)
		}
		return out
	}
	if len(a.Reads) == 0 {
		return nil
	}
	for section := range strings.SplitSeq("\n"+a.said(), "\ndiff --git ") {
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

// said is what the agent would read, also of lines that do not fit.
func (a *Answer) said() string {
	if a.Err == nil {
		return a.Text
	}
	text := ErrorText(a.Err) + "\n" + a.Text + string(mustMarshal(a.Err)) + string(mustMarshal(a.Result))
	return strings.ReplaceAll(text, "·", " ")
}

// ShowKeys has it asked for the files in whose lines a search found keys.
func (a *Answer) ShowKeys(w *workspace.Workspace, matches []search.Match) {
	for _, m := range matches {
		text := strings.Join(slices.Concat(m.Before, []string{m.Text}, m.After), "\n")
		if policy.KeyIn(text) == "" && !policy.LooksLikeKeyBody(text) {
			continue
		}
		path, err := w.Resolve(m.Path)
		if err != nil {
			continue
		}
		if a.Shows == nil {
			a.Shows = map[workspace.Path]string{}
		}
		a.Shows[path] += text + "\n"
	}
}
