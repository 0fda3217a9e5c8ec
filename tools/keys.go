package tools

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// keysIn are the keys that the plan would show an agent, with the files that they are in.
func (p *pending) keysIn() []policy.KeyFact {
	var found map[workspace.Path]string
	switch plan := p.plan.(type) {
	case *Edits:
		found = plan.keys(p.snapshot)
	case *Answer:
		found = plan.keys()
		of := plan.Reads
		if plan.Shows != nil {
			of = slices.Collect(maps.Keys(plan.Shows))
		}
		for _, path := range of {
			if found[path] == "" && plan.Whole == nil && policy.LooksLikeKeyBody(cmp.Or(plan.Shows[path], plan.said())) {
				if f, err := p.snapshot.Read(path, ""); err == nil { // the key's first line need not be shown
					found[path] = policy.KeyIn(f.Text)
				}
			}
		}
	}
	for path := range p.snapshot.Rests() {
		if kind := hiddenKey(p.snapshot.Known(path)); found != nil && kind != "" {
			found[path] = kind
		}
	}
	var out []policy.KeyFact
	for path, kind := range found {
		at := resolveTouch(touch{path: path, tracked: true})
		if fact, err := factOf(at); err == nil && kind != "" {
			if at.err != nil {
				at.target = path
			}
			p.noteSecret(at.target)
			out = append(out, policy.KeyFact{PathFact: fact, Kind: kind})
		}
	}
	return out
}

// hiddenKey is one in a file's bytes that is not in its text: an agent that names an encoding can have ASCII shown as any
// other text.
func hiddenKey(f *document.File) string {
	if f == nil || f.Encoding == document.UTF8 || policy.KeyIn(f.Text) != "" {
		return ""
	}
	data, err := f.View()
	if err != nil {
		return ""
	}
	return policy.KeyIn(string(data))
}

// keys are those that were in the files before, as far as the differences in the result show them.
func (e *Edits) keys(snap *document.Snapshot) map[workspace.Path]string {
	out := map[workspace.Path]string{}
	for _, f := range e.Set.Files {
		kind := policy.KeyIn(f.Before.Text)
		if kind == "" {
			continue
		}
		var shown strings.Builder
		for _, h := range f.Hunks() {
			for _, line := range h.Lines {
				if line.Op != diff.Insert {
					shown.WriteString(line.Text)
				}
			}
		}
		if f.Merged || policy.KeyIn(shown.String()) != "" || policy.LooksLikeKeyBody(shown.String()) { // of a merge it shows what the agent did not know
			out[f.Path()] = kind
		}
	}
	for _, c := range e.Set.Tree {
		if e.Several && c.Operation == change.Delete && c.Text != nil {
			out[c.Source] = policy.KeyIn(c.Text.Text)
		}
	}
	for _, path := range e.Reads {
		if f, err := snap.Read(path, ""); err == nil {
			out[path] = policy.KeyIn(f.Text)
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
	var whole map[string]string
	for head, section := range sections(a.said()) {
		kind := policy.KeyIn(section)
		if kind == "" && a.Whole != nil && policy.LooksLikeKeyBody(section) {
			if whole == nil {
				text, err := a.Whole()
				if whole = sections(text); err != nil {
					whole = map[string]string{}
				}
			}
			if text, known := whole[head]; known {
				kind = policy.KeyIn(text)
			} else {
				kind = "what may be a part of a key"
			}
		}
		if kind == "" {
			continue
		}
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

// sections are what a text has of each file, by the lines that git begins these with.
func sections(text string) map[string]string {
	out := map[string]string{}
	for section := range strings.SplitSeq("\n"+text, "\ndiff --git ") {
		head, _, _ := strings.Cut(section, "\n")
		out[head] += section
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

// ShowKeys has it asked for a file in whose lines, which the answer shows, keys seem to be.
func (a *Answer) ShowKeys(w *workspace.Workspace, name, lines string) {
	if policy.KeyIn(lines) == "" && !policy.LooksLikeKeyBody(lines) {
		return
	}
	path, err := w.Resolve(name)
	if err != nil {
		return
	}
	if a.Shows == nil {
		a.Shows = map[workspace.Path]string{}
	}
	a.Shows[path] += lines + "\n"
}
