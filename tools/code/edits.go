package code

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/patching"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// codeEditsResult is what became of the changes that a language server proposed.
type codeEditsResult struct {
	Title string       `json:"title,omitempty"` // of an action
	Files []editedFile `json:"files"`
	Edits int          `json:"edits"`
	Diff  string       `json:"diff"`
	// DiffOmitted: it is over the limit.
	DiffOmitted bool `json:"diff_omitted,omitempty"`
	tools.AnsweredBy
}

type editedFile struct {
	Path      string           `json:"path"`
	Operation change.Operation `json:"operation"`
	Edits     int              `json:"edits"`
	Additions int              `json:"additions"`
	Deletions int              `json:"deletions"`
	Version   string           `json:"version"`
	Saved     bool             `json:"saved"`
	Formatted bool             `json:"formatted,omitempty"`
}

// planCodeEdits plans what a language server proposes, as one change of all its files. Its
// edits are made in exactly the text of the snapshot, and those that overlap in none.
func planCodeEdits(in tools.Input, r codeEditsResult, title string, proposed []language.FileEdits) (*tools.Edits, error) {
	files, err := joinEdits(proposed)
	if err != nil {
		return nil, err
	}
	e := &tools.Edits{Title: title, Several: true, Set: change.Set{Label: title}}
	counts := make([]int, len(files))
	targets := map[workspace.Path]bool{}
	for i, f := range files {
		c, err := codeEdit(in, f)
		if err != nil {
			return nil, err
		}
		if targets[c.Target] {
			return nil, fault.New(fault.ExecutionFailed, "the server's edits use two names for %s; nothing was changed", fault.Quote(c.Target.String()))
		}
		targets[c.Target] = true
		e.Set.Files = append(e.Set.Files, c)
		counts[i] = len(f.Edits)
	}
	if err := tools.CheckAllShown(e.Set); err != nil {
		return nil, err
	}
	e.Learns = func(f change.File) bool { // of what it has not read it knows nothing now either
		version, ok := tools.SeenVersion(in.Session, f.Path())
		return ok && version == f.Before.Version
	}
	e.Answer = func(o []change.Outcome) *tools.Answer { return codeEditsAnswer(in, r, title, o, counts) }
	return e, nil
}

// joinEdits has each file once, in the order of their names.
func joinEdits(proposed []language.FileEdits) ([]language.FileEdits, error) {
	var out []language.FileEdits
	for _, f := range proposed {
		if f.Path.IsZero() {
			return nil, fault.New(fault.PathOutsideWorkspace, "the server wants to change a file outside the workspace; nothing was changed").
				WithHint("make the change in the workspace with edit_file")
		}
		at := slices.IndexFunc(out, func(g language.FileEdits) bool { return g.Path == f.Path })
		if at < 0 {
			out = append(out, language.FileEdits{Path: f.Path})
			at = len(out) - 1
		}
		out[at].Edits = append(out[at].Edits, f.Edits...)
	}
	if len(out) > patching.MostFiles {
		return nil, fault.New(fault.FileTooLarge, "the change is in %d files, over the limit of %d; nothing was changed", len(out), patching.MostFiles)
	}
	slices.SortStableFunc(out, func(a, b language.FileEdits) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	return out, nil
}

func codeEdit(in tools.Input, f language.FileEdits) (change.File, error) {
	if err := in.CheckReadable(f.Path); err != nil {
		return change.File{}, err // the result shows what stands around the edits
	}
	before, err := in.Snapshot.Read(f.Path, "")
	if err != nil {
		return change.File{}, err
	}
	text, err := applyTextEdits(before.Text, f.Edits)
	if err != nil {
		return change.File{}, fault.New(fault.ExecutionFailed, "the server's edits of %s cannot be applied: %w; nothing was changed", fault.Quote(f.Path.String()), err)
	}
	text = document.KeepLineEnds(before.Text, text)
	if size := int64(len(text)); size > in.Limits.WriteBytes && size > int64(len(before.Text)) {
		return change.File{}, fault.New(fault.FileTooLarge, "%s would have %d bytes, over the limit of %d", fault.Quote(f.Path.String()), size, in.Limits.WriteBytes)
	}
	return change.New(before, document.Content{Text: text, Encoding: before.Encoding, BOM: before.BOM})
}

// applyTextEdits makes edits that all count in text. Several may insert at one place,
// in their order.
func applyTextEdits(text string, edits []document.TextEdit) (string, error) {
	type span struct {
		from, to int
		with     string
	}
	var spans []span
	for _, e := range edits {
		s := span{document.Offset(text, e.Range.Start), document.Offset(text, e.Range.End), e.NewText}
		if e.Range.Start.Compare(e.Range.End) > 0 {
			return "", fmt.Errorf("one ends before it starts, at %d:%d", e.Range.End.Line, e.Range.End.Character)
		}
		spans = append(spans, s)
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var out strings.Builder
	at := 0
	for _, s := range spans {
		if s.from < at {
			return "", fmt.Errorf("two of them overlap")
		}
		out.WriteString(text[at:s.from] + s.with)
		at = s.to
	}
	return out.String() + text[at:], nil
}

func codeEditsAnswer(in tools.Input, r codeEditsResult, title string, outcomes []change.Outcome, counts []int) *tools.Answer {
	var unsaved, lines []string
	var shown []change.FilePreview
	var patch strings.Builder
	additions, deletions, weight := 0, 0, 0
	r.Files = []editedFile{}
	for i, o := range outcomes {
		f := editedFile{Path: o.File.Path().String(), Operation: o.Operation, Edits: counts[i], Version: o.Version, Saved: o.Saved, Formatted: o.Formatted}
		f.Additions, f.Deletions = diff.Count(o.Hunks)
		if o.File.LeftOut {
			f.Edits = 0
		}
		additions, deletions = additions+f.Additions, deletions+f.Deletions
		r.Files, r.Edits = append(r.Files, f), r.Edits+f.Edits
		patch.WriteString(o.File.Diff(o.Hunks))
		line := fmt.Sprintf("%s (+%d −%d), version %s", fault.Quote(f.Path), f.Additions, f.Deletions, f.Version)
		if f.Formatted {
			line += tools.FormattedNote
		}
		lines = append(lines, line)
		if !o.Saved && o.Operation != change.Unchanged {
			unsaved = append(unsaved, fault.Quote(f.Path))
		}
		shown = append(shown, o.Preview())
		weight += 6 * (len(o.File.Before.Text) + len(o.File.After.Text))
	}
	r.Diff = patch.String()
	a := &tools.Answer{Rest: tools.RestOfDiff, Summary: fmt.Sprintf("%s, %s, +%d −%d", title, tools.Count(len(outcomes), "file"), additions, deletions)}
	a.Text = fmt.Sprintf("%s: done, in %s (+%d −%d).", title, tools.Count(len(outcomes), "file"), additions, deletions)
	if additions+deletions == 0 {
		a.Text = title + ": nothing was changed; the files are already that way."
	}
	if more := len(lines) - tools.MostFilesSaid; more > 0 {
		lines = append(lines[:tools.MostFilesSaid], fmt.Sprintf("and %d more", more))
	}
	a.Text += "\n" + strings.Join(lines, "\n")
	if len(unsaved) > 0 {
		a.Text += "\nThe user has unsaved changes in " + strings.Join(unsaved, ", ") + ": there the edits are in the buffer and not on disk."
	}
	if why := tools.OmitDiff(&r.Diff, &r.DiffOmitted, in.Limits.DiffBytes); why != "" {
		a.Text += "\n" + why
	} else if len(r.Diff) <= tools.ShortDiff {
		a.Text += "\n" + r.Diff
	}
	if weight+6*len(r.Diff) < tools.ShownBytes/3 {
		a.Display = tools.DisplayDiff(shown...)
	}
	a.Result = r
	return a
}
