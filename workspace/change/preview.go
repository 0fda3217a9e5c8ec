package change

import (
	"slices"
	"strconv"

	"pillion/internal/fault"
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
	Whole        string        `json:"whole,omitempty"`   // in words what is made of it, where there are no lines to compare
}

// HunkPreview is what can be taken or left: a hunk, or the whole of what has none,
// whose header is words.
type HunkPreview struct {
	ID     string `json:"id"`
	Header string `json:"header"`
}

// Preview is the set as a dialog shows it, without what is left out. Its hunks are
// numbered from 1 over all files.
func (s Set) Preview() []FilePreview {
	out := make([]FilePreview, 0, len(s.Files)+len(s.Tree))
	for _, f := range s.Files {
		if !f.LeftOut {
			out = append(out, f.preview())
		}
	}
	for _, c := range s.Tree {
		if !c.LeftOut {
			out = append(out, c.preview())
		}
	}
	number(out)
	for _, x := range s.Restores {
		out = append(out, x.preview())
	}
	for _, p := range s.Empty {
		out = append(out, FilePreview{Path: p.String(), URI: p.URI(), Operation: Delete, Hunks: []HunkPreview{}, Entries: new(int)})
	}
	return out
}

// number gives each hunk its id in the whole set.
func number(files []FilePreview) {
	id := 0
	for _, f := range files {
		for i := range f.Hunks {
			id++
			f.Hunks[i].ID = strconv.Itoa(id)
		}
	}
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
	if f.IsBinary() {
		p.Before, p.After, p.Language, p.Whole = "", "", "", f.whole()
	}
	for _, h := range hunks {
		p.Hunks = append(p.Hunks, HunkPreview{Header: h.Header()})
	}
	if header := f.whole(); len(hunks) == 0 && header != "" {
		p.Hunks = append(p.Hunks, HunkPreview{Header: header})
	}
	number([]FilePreview{p})
	return p
}

// whole names what is made of a file without a change of its lines.
func (f File) whole() string {
	switch {
	case f.Operation() == Unchanged:
		return ""
	case f.IsBinary():
		return f.binaryWords()
	case f.Operation() == Overwrite:
		return "another encoding"
	case f.Executable:
		return "new empty file, executable"
	}
	return "new empty file"
}

func (f File) binaryWords() string {
	if f.Before.Exists {
		return BinaryWords(len(f.Before.Text), len(f.After.Text))
	}
	return NewBinaryWords(len(f.After.Text), f.Executable)
}

// BinaryWords say what becomes of a file of so many bytes.
func BinaryWords(was, now int) string {
	if was == now {
		return "binary, other content, " + BytesWords(int64(now))
	}
	return "binary, " + strconv.Itoa(was) + " → " + BytesWords(int64(now))
}

// NewBinaryWords are about a file that was not there.
func NewBinaryWords(size int, executable bool) string {
	if executable {
		return "new binary file, executable, " + BytesWords(int64(size))
	}
	return "new binary file, " + BytesWords(int64(size))
}

// BytesWords count them.
func BytesWords(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

// whole names a change of the tree, which is made as one.
func (c TreeChange) whole() string {
	switch c.Operation {
	case CreateDirectory:
		return "new folder"
	case Delete:
		return "deleted"
	case Move:
		return "moved to " + fault.Quote(c.To.String())
	case ChangeMode:
		return c.modeWords()
	}
	return ""
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
			f.IsBinary() && (f.Before.Version != g.Before.Version || f.After != g.After) ||
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
