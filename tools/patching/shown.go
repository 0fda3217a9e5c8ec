package patching

import (
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/language"
	"pillion/workspace/patch"
)

// ReviewFile is one file of a patch, in the wire shape of patch/review.
type ReviewFile struct {
	// Path is unique in the review: the file's name after the patch, of a deleted one the
	// name it had.
	Path      string           `json:"path"`
	From      string           `json:"from,omitempty"` // of a file that is moved or copied: where from
	URI       string           `json:"uri"`
	Operation change.Operation `json:"operation"`
	Language  string           `json:"language"`
	// Note is what happens to the file beside its name and lines: "mode 100644 → 100755".
	Note string `json:"note,omitempty"`
	// Whole is what there is to say of a file without lines beside its operation and its
	// names, the note included: "binary, 79 → 99 bytes".
	Whole        string       `json:"whole,omitempty"`
	Hunks        []ReviewHunk `json:"hunks"`
	Before       string       `json:"before"`
	After        string       `json:"after"`
	Additions    int          `json:"additions"`
	Deletions    int          `json:"deletions"`
	OpenInEditor bool         `json:"openInEditor"`
	Dirty        bool         `json:"dirty"`
}

// Preview is the file as a change that an editor shows; where it came from is said.
func (f ReviewFile) Preview() change.FilePreview {
	out := change.FilePreview{
		Path: f.Path, URI: f.URI, Operation: change.Overwrite, Language: f.Language, Size: len(f.After), Before: f.Before, After: f.After,
		Additions: f.Additions, Deletions: f.Deletions, OpenInEditor: f.OpenInEditor, Dirty: f.Dirty,
	}
	if f.Operation == change.Create || f.Operation == change.Delete {
		out.Operation = f.Operation
	}
	var text strings.Builder
	for _, h := range f.Hunks {
		shown := change.WholeHunk(h.Header)
		if len(h.Lines) > 0 {
			shown = change.PreviewHunk(h.Header, h.blocks)
			text.WriteString(h.Header + "\n" + strings.Join(h.Lines, "\n") + "\n")
		}
		shown.ID = h.ID
		out.Hunks = append(out.Hunks, shown)
	}
	out.Diff = text.String()
	origin := ""
	switch {
	case f.From != "" && f.Operation == "copy":
		origin = "copied from " + fault.Quote(f.From)
	case f.From != "":
		origin = "moved from " + fault.Quote(f.From)
	}
	if out.Diff == "" {
		out.Note, out.Whole = "", change.Words(origin, f.Whole) // which has the note
	} else {
		out.Note = change.Words(origin, f.Note)
	}
	return out
}

// ReviewHunk is what can be taken or left. Lines have their ' ', '+' or '-' and no
// line end.
type ReviewHunk struct {
	ID     string   `json:"id"`
	Header string   `json:"header"`
	Lines  []string `json:"lines"`

	blocks []diff.Block
}

// Show is the patch as the user sees it.
func (r *Review) Show() []ReviewFile {
	out := make([]ReviewFile, 0, len(r.files))
	for _, f := range r.files {
		out = append(out, f.show())
	}
	return out
}

var reviewOperations = map[patch.Operation]change.Operation{
	patch.Change: change.Overwrite, patch.Create: change.Create, patch.Delete: change.Delete, patch.Rename: change.Move, patch.Copy: "copy",
}

func (f *ReviewedFile) show() ReviewFile {
	out := ReviewFile{
		Path: f.path.String(), URI: f.path.URI(), Operation: reviewOperations[f.Operation], Language: language.Of("", f.path.Base(), f.after),
		Note: f.note(), Hunks: []ReviewHunk{}, After: f.after,
	}
	if !f.from.IsZero() {
		out.From = f.from.String()
	}
	if f.before != nil {
		out.Before, out.OpenInEditor, out.Dirty = f.before.Text, f.before.Buffer != nil, f.before.Dirty
	}
	out.Additions, out.Deletions = diff.Count(f.hunks)
	for i, h := range f.hunks {
		shown := ReviewHunk{ID: f.id(i), Header: h.Header(), Lines: []string{}, blocks: diff.Blocks([]diff.Hunk{h})}
		for _, line := range h.Lines {
			text, ended := strings.CutSuffix(line.Text, "\n")
			shown.Lines = append(shown.Lines, string(line.Op)+text)
			if !ended {
				shown.Lines = append(shown.Lines, `\ No newline at end of file`)
			}
		}
		out.Hunks = append(out.Hunks, shown)
	}
	if len(out.Hunks) == 0 {
		out.Whole = f.whole()
		out.Hunks = []ReviewHunk{{ID: f.id(0), Header: f.header(), Lines: []string{}}}
	}
	return out
}
