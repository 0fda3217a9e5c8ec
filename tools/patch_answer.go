package tools

import (
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/patch"
)

// answer tells what became of a patch.
func (p *patching) answer(outcomes []change.Outcome, moved map[*patched]*patched) *Answer {
	r := applyPatchResult{Applied: true, FilesModified: []string{}, Results: append([]patchedFile{}, p.results...)}
	a := &Answer{knows: map[workspace.Path]knowledge{}, rest: restOfDiff}
	moved = p.leftOut(r.Results, outcomes, moved)
	var shown []change.FilePreview
	var unsaved []string
	weight := 0
	for _, o := range outcomes {
		if o.File.LeftOut || o.Tree != nil && o.Tree.LeftOut {
			continue
		}
		if o.Tree != nil {
			if o.Operation != change.Unchanged {
				for path, k := range sawTree(p.in.Session, *o.Tree) {
					a.knows[path] = k
				}
			}
			preview := change.Set{Tree: []change.TreeChange{*o.Tree}}.Preview()[0]
			shown = append(shown, preview)
			weight += 6 * len(preview.Before)
			continue
		}
		if !o.Saved && o.Operation != change.Unchanged {
			unsaved = append(unsaved, fault.Quote(o.File.Path().String()))
		}
		shown = append(shown, o.Preview())
		if !o.File.IsBinary() {
			weight += 6 * (len(o.File.Before.Text) + len(o.File.After.Text))
		}
		to := moved[p.files[o.File.Target]]
		if to != nil && !o.File.IsBinary() && p.knew(o.File.Before) {
			a.knows[to.target] = knowledge{version: o.Version, encoding: o.File.After.Encoding, text: o.Text, at: true, bytes: o.IsBytes}
		}
		p.tell(r.Results, o, to)
	}
	r.Diff = p.diff(outcomes, moved)
	changed := changedNames(r.Results, outcomes, moved)
	p.summarize(a, &r, unsaved)
	r.FilesModified = slices.DeleteFunc(r.FilesModified, func(name string) bool { return !changed[name] })
	if weight+6*len(r.Diff) < shownBytes/3 && len(shown) > 0 {
		a.Display = displayDiff(shown...)
	}
	a.Result = r
	return a
}

// tell puts what became of a file into the rows that are about it.
func (p *patching) tell(rows []patchedFile, o change.Outcome, to *patched) {
	name := o.File.Path().String()
	if to != nil {
		name = to.path.String()
	}
	for i := range rows {
		if rows[i].Path == name {
			saved := o.Saved
			rows[i].Version, rows[i].Saved, rows[i].Formatted = o.Version, &saved, o.Formatted
		}
	}
}

// diff is what was changed, in git's format: what is renamed and changed is one.
func (p *patching) diff(outcomes []change.Outcome, moved map[*patched]*patched) string {
	var out strings.Builder
	also, modes := map[workspace.Path]bool{}, map[workspace.Path]string{}
	for _, o := range outcomes {
		if o.Tree != nil && o.Operation == change.ChangeMode {
			modes[o.Tree.Source] = o.Tree.ModeLines()
		}
	}
	add := func(at workspace.Path, diff string) {
		if first, rest, is := strings.Cut(diff, "\n"); is {
			also[at] = true
			out.WriteString(first + "\n" + modes[at] + rest)
		}
	}
	for _, o := range outcomes {
		if o.Tree != nil {
			continue
		}
		if to := moved[p.files[o.File.Target]]; to != nil {
			add(o.File.Target, o.File.MovedDiff(o.Hunks, to.path))
			continue
		}
		add(o.File.Target, o.File.Diff(o.Hunks))
	}
	for _, o := range outcomes {
		isMode := o.Tree != nil && o.Operation == change.ChangeMode
		if o.Tree == nil || o.Tree.LeftOut || also[o.Tree.Source] || isMode && moved[p.files[o.Tree.Source]] != nil {
			continue
		}
		shown := change.Set{Tree: []change.TreeChange{*o.Tree}}.Preview()[0].Diff
		if isMode {
			out.WriteString(shown)
			continue
		}
		add(o.Tree.Source, shown)
	}
	return out.String()
}

func (p *patching) summarize(a *Answer, r *applyPatchResult, unsaved []string) {
	additions, deletions, made := 0, 0, 0
	var lines []string
	told := map[string]bool{}
	for _, row := range r.Results {
		if row.Operation == string(change.Unchanged) {
			continue // the human left it out
		}
		made++
		additions, deletions = additions+row.Additions, deletions+row.Deletions
		lines = append(lines, row.line())
		for _, name := range []string{row.From, row.Path} {
			if name != "" && !told[name] && (name == row.Path || row.Operation == string(change.Move)) {
				told[name] = true
				r.FilesModified = append(r.FilesModified, name)
			}
		}
	}
	size := fmt.Sprintf("%s (+%d −%d)", count(made, "file"), additions, deletions)
	a.Summary = "patched " + size
	a.Text = "Applied the patch to " + size + "."
	if r.Diff == "" {
		a.Text = "The patch changes nothing: the files are so already."
	}
	if more := len(lines) - mostFilesSaid; more > 0 {
		lines = append(lines[:mostFilesSaid], fmt.Sprintf("and %d more", more))
	}
	a.Text += "\n" + strings.Join(append(lines, p.notes...), "\n")
	if len(unsaved) > 0 {
		a.Text += "\nThe user has unsaved changes in " + strings.Join(unsaved, ", ") + ": there the edits are in the buffer and not saved to disk."
	}
	if size := int64(len(r.Diff)); size > p.in.Limits.DiffBytes {
		a.Text += fmt.Sprintf("\n(The difference has %d bytes, over the limit of %d, and is left out.)", size, p.in.Limits.DiffBytes)
		r.Diff = ""
	} else if size <= shortDiff {
		a.Text += "\n" + r.Diff
	}
}

// line is what the model reads of one file.
func (f patchedFile) line() string {
	name := fault.Quote(f.Path)
	if f.From != "" {
		name = fault.Quote(f.From) + " → " + name
	}
	out := fmt.Sprintf("%s: %s (+%d −%d)", name, f.Operation, f.Additions, f.Deletions)
	if f.Binary {
		out = fmt.Sprintf("%s: %s, binary", name, f.Operation)
	}
	if f.Mode != "" {
		out += ", mode " + f.Mode
	}
	if f.Version != "" {
		out += ", version " + f.Version
	}
	if f.Formatted {
		out += formattedNote
	}
	for i, h := range f.Hunks {
		if i == mostHunksSaid {
			return out + fmt.Sprintf("; and %d hunks more", len(f.Hunks)-i)
		}
		out += fmt.Sprintf("; hunk %d at line %d", h.Hunk, h.Line)
		if h.Offset != 0 {
			out += fmt.Sprintf(" (offset %+d)", h.Offset)
		}
		if h.Leniency != "" {
			out += ", matched but for " + h.Leniency
		}
	}
	return out
}

const (
	mostHunksSaid = 10
	formattedNote = ", formatted by the editor when it saved it"
)

// dryRun is the answer of a patch that is only tried: what the files would be is told as
// if it were so, without versions.
func (p *patching) dryRun(e *Edits) *Answer {
	a := e.Answer(proposedOutcomes(e.Set))
	r := a.Result.(applyPatchResult)
	r.Applied, r.DryRun = false, true
	for i := range r.Results {
		r.Results[i].Saved = nil
	}
	a.Result, a.knows = r, nil
	a.Text = strings.Replace(a.Text, "Applied the patch to", "Nothing was changed. The patch can be applied to", 1)
	a.Summary = "dry run: " + a.Summary
	for _, f := range p.order {
		if f.was {
			a.Reads = append(a.Reads, f.path)
		}
	}
	return a
}

// refused is the answer of a patch that cannot be applied.
func (p *patching) refused(dry bool) *Answer {
	r := applyPatchResult{DryRun: dry, FilesModified: []string{}, Results: p.results}
	a := &Answer{Reads: p.reads}
	var lines []string
	for i, row := range p.results {
		if row.Error == nil {
			continue
		}
		said := row.Error.Message
		if name := fault.Quote(row.Path); !strings.HasPrefix(said, name) {
			said = name + ": " + said
		}
		if a.Err == nil {
			first := *row.Error
			a.Err = &first
		} else if row.Error.Hint != "" {
			said += "\n" + row.Error.Hint
		}
		lines = append(lines, said)
		p.results[i].Error = row.Error.WithHint("")
	}
	a.Err.Message += "; nothing was changed"
	if p.failed > 1 {
		if more := len(lines) - mostFilesSaid; more > 0 {
			lines = append(lines[:mostFilesSaid], fmt.Sprintf("and %d more", more))
		}
		a.Text = fmt.Sprintf("%d of %s cannot be patched:\n%s", p.failed, count(len(p.results), "file"), strings.Join(lines, "\n"))
	}
	a.Result = r
	return a
}

// Of a hunk that does not fit so many lines are shown around the first that is another.
const (
	linesBefore = 5
	linesAfter  = 14
)

// mismatched tells of a hunk what it wants and what is there.
func mismatched(name string, hunks int, m *patch.Mismatch) *fault.Error {
	err := fault.New(fault.PatchApplyFailed, "%s: hunk %d of %d, at line %d of the patch, cannot be made: %s", fault.Quote(name), m.Hunk, hunks, m.Line, m.Reason).
		With("path", name).With("hunk", m.Hunk).With("patch_line", m.Line)
	first := max(0, m.Differs-linesBefore)
	last := min(len(m.Expected), m.Differs+linesAfter)
	if first >= last {
		return err.WithHint("make the diff with three lines around each change")
	}
	expected := showLines(strings.Join(m.Expected[first:last], ""), 1, last-first)
	for i := range expected {
		expected[i] = "     " + expected[i][5:] // numbers are those of the file
	}
	err = err.With("expected", expected)
	if len(m.Places) > 0 {
		return err.With("lines", m.Places).WithHint("they are at lines %s; add lines around the change until they are unique", joinInts(m.Places, len(m.Places)))
	}
	hint := "the hunk wants (· is a blank, → a tab, ␍ a carriage return):\n" + strings.Join(expected, "\n")
	if m.Applied {
		hint += "\nwhat it would make of them is in the file already: it may have been applied before"
	}
	if m.At > 0 && len(m.Found) > 0 {
		found := numberedLines(m.Found, m.At, first, min(len(m.Found), last))
		err = err.With("found", found).With("line", m.At)
		hint += fmt.Sprintf("\nthe nearest lines are:\n%s", strings.Join(found, "\n"))
	}
	return err.WithHint("%s\nread the file again and make the patch of what it holds now", hint)
}

// numberedLines shows some of the lines that begin at line at.
func numberedLines(lines []string, at, first, last int) []string {
	first = min(first, last)
	shown := showLines(strings.Join(lines[first:last], ""), 1, last-first)
	for i := range shown {
		shown[i] = fmt.Sprintf("%5d%s", at+first+i, shown[i][5:])
	}
	return shown
}

// proposed are the outcomes of a set as if it were made.
func proposedOutcomes(s change.Set) []change.Outcome {
	var out []change.Outcome
	for _, f := range s.Files {
		out = append(out, change.Outcome{File: f, Operation: f.Operation(), Hunks: f.Hunks(), Text: f.After.Text, Saved: true})
	}
	for _, c := range s.Tree {
		out = append(out, change.Outcome{Tree: &c, Operation: c.Operation, Saved: true})
	}
	return out
}
