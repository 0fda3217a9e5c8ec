package file

import (
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/patching"
	"pillion/workspace"
	"pillion/workspace/change"
)

// patchAnswer says what became of a patch.
func patchAnswer(in tools.Input, p *patching.Patch, outcomes []change.Outcome) *tools.Answer {
	made := p.Made(outcomes)
	r := applyPatchResult{Applied: true, FilesModified: []string{}, Results: made.Results, Diff: made.Diff}
	a := &tools.Answer{Knows: map[workspace.Path]tools.Knowledge{}, Rest: tools.RestOfDiff}
	var shown []change.FilePreview
	var unsaved []string
	weight := 0
	for _, o := range outcomes {
		if o.File.LeftOut || o.Tree != nil && o.Tree.LeftOut {
			continue
		}
		if o.Tree != nil {
			if o.Operation != change.Unchanged {
				for path, k := range treeKnowledge(in.Session, *o.Tree) {
					a.Knows[path] = k
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
		if to, moved := made.MovedTo(o.File.Target); moved && !o.File.IsBinary() && knew(in.Session, o.File.Before) {
			a.Knows[to] = tools.Knowledge{Version: o.Version, Encoding: o.File.After.Encoding, Text: o.Text, HasText: true, IsBytes: o.IsBytes}
		}
	}
	summarizePatch(a, &r, p.Notes, unsaved, in.Limits.DiffBytes)
	r.FilesModified = slices.DeleteFunc(r.FilesModified, func(name string) bool { return !made.Changed[name] })
	if weight+6*len(r.Diff) < tools.ShownBytes/3 && len(shown) > 0 {
		a.Display = tools.DisplayDiff(shown...)
	}
	a.Result = r
	return a
}

func summarizePatch(a *tools.Answer, r *applyPatchResult, notes, unsaved []string, most int64) {
	additions, deletions, made := 0, 0, 0
	var lines []string
	told := map[string]bool{}
	for _, row := range r.Results {
		if row.Operation == string(change.Unchanged) {
			continue // the user left it out
		}
		made++
		additions, deletions = additions+row.Additions, deletions+row.Deletions
		lines = append(lines, resultLine(row))
		for _, name := range []string{row.From, row.Path} {
			if name != "" && !told[name] && (name == row.Path || row.Operation == string(change.Move)) {
				told[name] = true
				r.FilesModified = append(r.FilesModified, name)
			}
		}
	}
	size := fmt.Sprintf("%s (+%d −%d)", tools.Count(made, "file"), additions, deletions)
	a.Summary = "patched " + size
	a.Text = "Applied the patch to " + size + "."
	if r.Diff == "" {
		a.Text = "The patch changes nothing: the files are already that way."
	}
	if more := len(lines) - tools.MostFilesSaid; more > 0 {
		lines = append(lines[:tools.MostFilesSaid], fmt.Sprintf("and %d more", more))
	}
	a.Text += "\n" + strings.Join(append(lines, notes...), "\n")
	if len(unsaved) > 0 {
		a.Text += "\nThe user has unsaved changes in " + strings.Join(unsaved, ", ") + ": there the edits are in the buffer and not on disk."
	}
	if why := tools.OmitDiff(&r.Diff, &r.DiffOmitted, most); why != "" {
		a.Text += "\n" + why
	} else if len(r.Diff) <= tools.ShortDiff {
		a.Text += "\n" + r.Diff
	}
}

// mostHunksSaid is how many hunks of a file are named in the text.
const mostHunksSaid = 10

// resultLine is what the model reads of one file.
func resultLine(f patching.FileResult) string {
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
		out += tools.FormattedNote
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
			out += ", matched except for " + h.Leniency
		}
	}
	return out
}

// dryRun is the answer of a patch that is only tried: what the files would be is told as
// if it were so, without versions.
func dryRun(p *patching.Patch, e *tools.Edits) *tools.Answer {
	a := e.Answer(proposedOutcomes(e.Set))
	r := a.Result.(applyPatchResult)
	r.Applied, r.DryRun = false, true
	for i := range r.Results {
		r.Results[i].Saved = nil
	}
	a.Result, a.Knows = r, nil
	a.Text = strings.Replace(a.Text, "Applied the patch to", "Nothing was changed. The patch can be applied to", 1)
	a.Summary = "dry run: " + a.Summary
	a.Reads = append(a.Reads, p.Existing()...)
	return a
}

// refusedPatch is the answer of a patch that cannot be applied.
func refusedPatch(p *patching.Patch, dry bool) *tools.Answer {
	r := applyPatchResult{DryRun: dry, FilesModified: []string{}, Results: p.Results}
	a := &tools.Answer{Reads: p.Reads}
	var lines []string
	for i, row := range p.Results {
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
		p.Results[i].Error = row.Error.WithHint("")
	}
	a.Err.Message += "; nothing was changed"
	if p.Failed > 1 {
		if more := len(lines) - tools.MostFilesSaid; more > 0 {
			lines = append(lines[:tools.MostFilesSaid], fmt.Sprintf("and %d more", more))
		}
		a.Text = fmt.Sprintf("%d of %s cannot be patched:\n%s", p.Failed, tools.Count(len(p.Results), "file"), strings.Join(lines, "\n"))
	}
	a.Result = r
	return a
}

// proposedOutcomes are those of a set as if it were made.
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
