package change

import (
	"slices"
	"strconv"

	"pillion/workspace/diff"
	"pillion/workspace/language"
)

// FilePreview is one file of a proposal as a dialog shows it: the wire shape of
// approval/request.
type FilePreview struct {
	Path         string        `json:"path"`
	URI          string        `json:"uri"`
	Operation    Operation     `json:"operation"`
	Language     string        `json:"language"`
	Size         int           `json:"size"`
	Before       string        `json:"before"`
	After        string        `json:"after"`
	Diff         string        `json:"diff"`
	Hunks        []HunkPreview `json:"hunks"`
	Additions    int           `json:"additions"`
	Deletions    int           `json:"deletions"`
	OpenInEditor bool          `json:"openInEditor"`
	Dirty        bool          `json:"dirty"`
	Merged       bool          `json:"merged,omitempty"`
	To           string        `json:"to,omitempty"`      // of a move
	Entries      *int          `json:"entries,omitempty"` // files that the folder holds that goes or moves
}

// HunkPreview names one hunk.
type HunkPreview struct {
	ID     string `json:"id"`
	Header string `json:"header"`
}

// Preview is the set as a dialog shows it.
func (s Set) Preview() []FilePreview {
	out := make([]FilePreview, 0, len(s.Files))
	for _, f := range s.Files {
		out = append(out, f.preview())
	}
	for _, c := range s.Tree {
		out = append(out, c.preview())
	}
	for _, x := range s.Restores {
		out = append(out, x.preview())
	}
	for _, p := range s.Empty {
		out = append(out, FilePreview{Path: p.String(), URI: p.URI(), Operation: Delete, Hunks: []HunkPreview{}, Entries: new(int)})
	}
	return out
}

// Preview is what became of a file, as a dialog would have shown it.
func (o Outcome) Preview() FilePreview { return o.File.previewOf(o.Hunks) }

func (f File) preview() FilePreview { return f.previewOf(f.Hunks()) }

func (f File) previewOf(hunks []diff.Hunk) FilePreview {
	added, deleted := diff.Count(hunks)
	p := FilePreview{
		Path:         f.Path().String(),
		URI:          f.Path().URI(),
		Operation:    f.Operation(),
		Language:     language.Of("", f.Path().Base(), f.After.Text),
		Size:         len(f.After.Text),
		Before:       f.Before.Text,
		After:        f.After.Text,
		Diff:         f.Diff(hunks),
		Hunks:        make([]HunkPreview, 0, len(hunks)),
		Additions:    added,
		Deletions:    deleted,
		OpenInEditor: f.Before.Buffer != nil,
		Dirty:        f.Before.Dirty,
		Merged:       f.Merged,
	}
	for i, h := range hunks {
		p.Hunks = append(p.Hunks, HunkPreview{ID: strconv.Itoa(i + 1), Header: h.Header()})
	}
	return p
}

// OnlyMoved reports whether two previews make the same edits to the same lines,
// which merely stand elsewhere in the file now. A yes to one is a yes to the other.
func OnlyMoved(a, b Set) bool {
	if len(a.Files) != len(b.Files) || !slices.EqualFunc(a.Tree, b.Tree, TreeChange.sameAs) {
		return false
	}
	for i := range a.Files {
		f, g := a.Files[i], b.Files[i]
		if f.Target != g.Target || f.Operation() != g.Operation() || f.Before.Dirty != g.Before.Dirty ||
			f.After.Encoding != g.After.Encoding || f.After.BOM != g.After.BOM || !sameLines(f.Hunks(), g.Hunks()) {
			return false
		}
	}
	return true
}

func sameLines(a, b []diff.Hunk) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i].Lines) != len(b[i].Lines) {
			return false
		}
		for j, line := range a[i].Lines {
			if line != b[i].Lines[j] {
				return false
			}
		}
	}
	return true
}
