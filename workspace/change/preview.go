package change

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/diff"
	"pillion/workspace/document"
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
	To           string        `json:"to,omitempty"` // of a move
	// What approval.File's summary and facts say in full:
	Entries *int   `json:"entries,omitempty"` // files in the folder that goes or moves
	Note    string `json:"note,omitempty"`    // in words what happens to it beside its lines
	Whole   string `json:"whole,omitempty"`   // in words what is made of it, where there are no lines to compare

	Pictures *Pictures `json:"pictures,omitempty"`

	// What approval.File's facts say: in which encoding other than UTF-8 it is written, and that its bytes
	// read as ASCII are another text.
	Encoding  document.Encoding `json:"-"`
	Disguised bool              `json:"-"`
}

// HunkPreview is what can be taken or left: one run of changed lines, or the whole of
// what has none, whose header is words.
type HunkPreview struct {
	ID        string `json:"id"`
	Header    string `json:"header"` // "@@ -a,b +c,d @@": lines a… of before become c… of after; or words, of a whole
	Title     string `json:"title"`  // for a list: where it begins, and a line of it
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	// Before and After are its lines in the two texts, absent of a whole. Head and Tail are
	// how many unchanged lines above and below help to find it in a text that was edited.
	Before *HunkLines `json:"before,omitempty"`
	After  *HunkLines `json:"after,omitempty"`
	Head   int        `json:"head"`
	Tail   int        `json:"tail"`
}

// HunkLines are the lines from Start up to End, from 0.
type HunkLines struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// WholeHunk is what is taken or left as a whole.
func WholeHunk(header string) HunkPreview {
	return HunkPreview{Header: header, Title: fault.Line(header)}
}

// PreviewHunk is a hunk of one block, or of several that come together.
func PreviewHunk(header string, blocks []diff.Block) HunkPreview {
	first, last := blocks[0], blocks[len(blocks)-1]
	out := HunkPreview{Header: header, Before: &HunkLines{}, After: &HunkLines{}}
	out.Before.Start, _ = first.OldSpan()
	_, out.Before.End = last.OldSpan()
	out.After.Start, _ = first.NewSpan()
	_, out.After.End = last.NewSpan()
	out.Head, out.Tail = min(first.Head, contextLines), min(last.Tail, contextLines)
	for _, b := range blocks {
		added, deleted := diff.Count([]diff.Hunk{b.Hunk})
		out.Additions, out.Deletions = out.Additions+added, out.Deletions+deleted
	}
	out.Title = fmt.Sprintf("%d: %s", out.Before.Start+1, hunkLine(blocks))
	return out
}

// hunkLine is the first line with text that blocks add, or delete.
func hunkLine(blocks []diff.Block) string {
	const most = 80
	for _, op := range []diff.Op{diff.Insert, diff.Delete} {
		for _, b := range blocks {
			for _, line := range b.Lines {
				if text := strings.TrimSpace(line.Text); line.Op == op && text != "" {
					return fault.Line(fault.Clip(text, most))
				}
			}
		}
	}
	return "blank lines"
}

// Preview is the set as a dialog shows it, without what is left out. Its hunks are
// numbered from 1 over all files.
func (s Set) Preview() []FilePreview {
	out, room := make([]FilePreview, 0, len(s.Files)+len(s.Tree)), mostPictures
	for _, f := range s.Files {
		if !f.LeftOut {
			p := f.preview()
			p.Pictures = f.pictures(&room)
			out = append(out, p)
		}
	}
	for _, c := range s.Tree {
		if !c.LeftOut {
			out = append(out, c.preview())
		}
	}
	for _, x := range s.Restores {
		out = append(out, x.preview())
	}
	number(out)
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
		p.Before, p.After, p.Language, p.Whole = "", "", "", f.about()
	} else if len(hunks) > 0 && f.isNewProgram() {
		p.Note = NewModeWords
	}
	if enc := f.After.Encoding; enc != document.UTF8 && enc != "" && !f.IsBinary() {
		p.Encoding, p.Disguised = enc, f.After.HidesASCII()
	}
	for _, h := range hunks {
		blocks := diff.Blocks([]diff.Hunk{h})
		for _, b := range blocks {
			header := h.Header()
			if len(blocks) > 1 { // its own lines, without the others'
				header = b.Header()
			}
			p.Hunks = append(p.Hunks, PreviewHunk(header, []diff.Block{b}))
		}
	}
	if header := f.whole(); len(hunks) == 0 && header != "" {
		p.Hunks = append(p.Hunks, WholeHunk(header))
	}
	number([]FilePreview{p})
	return p
}

// whole names what is made of a file without a change of its lines.
func (f File) whole() string {
	switch {
	case f.Operation() == Unchanged:
		return ""
	case f.Operation() == Create:
		return Words("new file", f.about())
	case f.IsBinary():
		return f.about()
	}
	return "another encoding"
}

// about is what there is to say of such a file beside its name and its operation.
func (f File) about() string {
	mode := ""
	if f.isNewProgram() {
		mode = NewModeWords
	}
	switch {
	case !f.IsBinary():
		return Words(mode, EmptyWords)
	case f.Before.Exists:
		return BinaryWords(len(f.Before.Text), len(f.After.Text))
	}
	return Words(mode, BytesWords(int64(len(f.After.Text))))
}

func (f File) isNewProgram() bool { return f.Executable && !f.Before.Exists }

// whole names a change of the tree, which is made as one.
func (c TreeChange) whole() string {
	switch c.Operation {
	case CreateDirectory:
		return "new folder"
	case Delete:
		return Words("deleted", c.about())
	case Move:
		return "moved to " + fault.Quote(c.To.String())
	case ChangeMode:
		return c.about()
	}
	return ""
}

// about is what there is to say of it beside its names and its operation.
func (c TreeChange) about() string {
	switch {
	case c.Operation == ChangeMode:
		return c.modeWords()
	case c.Operation != Delete || c.Text != nil || !c.Was.Top().Mode.IsRegular():
		return ""
	case c.TooLarge:
		return "too large to show, " + sizeWords(c.Was.Size())
	}
	return BytesWords(c.Was.Size())
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
