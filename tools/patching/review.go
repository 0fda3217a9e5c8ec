package patching

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/bug"
	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/language"
	"pillion/workspace/patch"
)

// Review is a patch laid on the files as they are, to be chosen from.
type Review struct {
	text  string
	files []*reviewedFile
	Total int // chunks
}

// reviewedFile is one file of it, from what it was before all of the patch to what comes of
// all parts of the patch that are about it.
type reviewedFile struct {
	patch.File
	path, from workspace.Path // from: of a rename or a copy
	mode       uint32         // that it had before, as git has it
	before     *document.File // what the hunks are made in; nil of bytes, empty of a new file
	after      string
	hunks      []diff.Hunk // they lead from before to after
	// numbers are those of the chunks of the patch that each hunk makes; along those that come
	// with any of them, or that a file without hunks is as a whole.
	numbers [][]int
	along   []int
	bytes   string // what there is to say of a binary file
	raw     string // of such a file, its part of the patch
}

// NewReview lays a patch on the files as they are.
func NewReview(ctx context.Context, in Input, text string) (*Review, error) {
	files, err := patch.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := checkCount(files, "have it reviewed in parts"); err != nil {
		return nil, err
	}
	r, p := &Review{text: text}, newPatch(in, files)
	for i, f := range files {
		f = p.guessed(f)
		row := newResult(f)
		err := r.add(ctx, p, f, &row)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, p.blame(row, f, err)
		}
		if f.Binary != nil {
			lines := diff.SplitLines(text)
			if i+1 < len(files) {
				lines = lines[:files[i+1].Line-1]
			}
			r.files[len(r.files)-1].raw = strings.Join(lines[f.Line-1:], "")
		}
	}
	for _, f := range r.files {
		if f.Operation == patch.Change && len(f.along) > 1 && len(f.hunks) == 0 && f.note() == "" {
			return nil, fault.New(fault.PatchApplyFailed, "the patch changes %s and changes it back, so there is nothing to choose", fault.Quote(f.path.String())).
				WithHint("leave it out of the patch")
		}
	}
	return r, nil
}

// add applies one more part of the patch, and has what comes of it chosen from.
func (r *Review) add(ctx context.Context, p *Patch, f patch.File, row *FileResult) error {
	source, err := p.begin(f)
	if err != nil {
		return err
	}
	former := r.named(source.path)
	switch {
	case f.Operation == patch.Delete && former != nil && former.Operation != patch.Rename && !source.was:
		return p.missing(source)
	case f.Operation != patch.Create && source.was:
		if err := p.in.CheckReadable(source.path); err != nil {
			return err
		}
	}
	if f.Operation == patch.Delete && f.Binary == nil && source.opaque != nil {
		return source.opaque
	}
	if err := p.applyFile(ctx, f, row); err != nil {
		return err
	}
	to := source
	if carries(f) {
		if to, err = p.open(f.New, false); err != nil {
			return err
		}
	}
	goesOn := former != nil && former.goesOn(f)
	if named := r.named(to.path); named != nil && !(goesOn && named == former) {
		return errTwice(to.path)
	}
	if goesOn {
		return r.goOn(former, f, to, row)
	}
	one := &reviewedFile{File: f, path: to.path, mode: modeFile, before: source.before, after: row.now}
	if source.wasExec {
		one.mode = modeProgram
	}
	if carries(f) {
		one.from = source.path
	}
	switch {
	case f.Binary != nil:
		one.before = nil
		switch f.Operation {
		case patch.Create:
			one.bytes = change.BytesWords(int64(len(row.now)))
		case patch.Delete:
			one.bytes = change.BytesWords(int64(len(row.was)))
		default:
			one.bytes = change.BinaryWords(len(row.was), len(row.now))
		}
		one.after = ""
	case f.Operation == patch.Create:
		one.before = &document.File{Path: to.path, Content: document.Content{Encoding: document.UTF8}}
		one.hunks = diff.Hunks("", row.now, 3)
	case f.Operation == patch.Delete:
		one.after, one.hunks = "", diff.Hunks(source.before.Text, "", 3)
	default:
		one.hunks = locate(row.was, row.now, f.Hunks, row.placed)
	}
	one.numbers, one.along = r.number(one.hunks)
	r.files = append(r.files, one)
	return nil
}

// named is the file that the patch has made something of under that name.
func (r *Review) named(path workspace.Path) *reviewedFile {
	for _, f := range r.files {
		if f.path == path {
			return f
		}
	}
	return nil
}

// number gives the chunks of a part of the patch their numbers.
func (r *Review) number(hunks []diff.Hunk) (numbers [][]int, along []int) {
	for range hunks {
		r.Total++
		numbers = append(numbers, []int{r.Total})
	}
	if len(hunks) == 0 {
		r.Total++
		along = []int{r.Total}
	}
	return numbers, along
}

func errTwice(path workspace.Path) error {
	return fault.New(fault.PatchApplyFailed, "the patch names %s twice", fault.Quote(path.String())).WithHint("make one diff per file")
}

// goesOn reports whether a part of the patch is made in what those before it made of f: a
// text that is changed, and in the form that is made in order also one that is moved or
// deleted.
func (f *reviewedFile) goesOn(next patch.File) bool {
	if f.Binary != nil || next.Binary != nil || f.Operation == patch.Delete {
		return false
	}
	return next.Operation == patch.Change || next.Operation == patch.Delete ||
		next.Operation == patch.Rename && next.InOrder && f.Operation == patch.Change
}

// goOn adds a further part to those that made something of a file. What comes of all of
// them is shown as one.
func (r *Review) goOn(f *reviewedFile, next patch.File, to *fileState, row *FileResult) error {
	if next.NewMode != 0 {
		f.NewMode = next.NewMode
		if f.OldMode == 0 && f.Operation != patch.Create {
			f.OldMode = next.OldMode
		}
	}
	switch next.Operation {
	case patch.Rename:
		f.Operation, f.from, f.path = patch.Rename, f.path, to.path
	case patch.Delete: // it goes as it was, from where it was
		if f.Operation == patch.Rename {
			if r.named(f.from) != nil {
				return errTwice(f.from)
			}
			f.path = f.from
		}
		f.Operation, f.from, f.after, f.NewMode = patch.Delete, workspace.Path{}, "", 0
		f.hunks = diff.Hunks(f.before.Text, "", 3)
		_, last := r.number(nil)
		all := slices.Sorted(slices.Values(slices.Concat(slices.Concat(f.numbers...), f.along, last)))
		if f.numbers, f.along = nil, all; len(f.hunks) > 0 {
			f.numbers, f.along = [][]int{all}, nil
		}
		return nil
	}
	hunks := locate(row.was, row.now, next.Hunks, row.placed)
	numbers, along := r.number(hunks)
	if f.along = append(f.along, along...); len(hunks) > 0 {
		f.join(row.now, hunks, numbers)
	}
	return nil
}

// locate are a patch's hunks as they lead from before to after.
func locate(before, after string, hunks []patch.Hunk, placed []patch.Placed) []diff.Hunk {
	old, now := diff.SplitLines(before), diff.SplitLines(after)
	var out []diff.Hunk
	shift := 0
	for i, h := range hunks {
		from, to := placed[i].At, placed[i].At+len(h.Old())
		first, end := from+shift, from+shift+len(h.New())
		shift += (end - first) - (to - from)
		lines := h.Lines
		if from == to && from == len(old) && from > 0 && !strings.HasSuffix(old[from-1], "\n") { // the line above it gets an end
			if n := len(out); n > 0 {
				if _, above := out[n-1].OldSpan(); above == from {
					out[n-1].NewLines += end - first
					out[n-1].Lines = append(out[n-1].Lines, linesOf(lines, nil, now[first:end])...)
					continue
				}
			}
			from, first = from-1, first-1
			lines = append([]diff.Line{{Op: diff.Context}}, lines...)
		}
		one := hunkOf(from, to, first, end)
		one.Section, one.Lines = fault.Clip(fault.Escape(h.Section), 80), linesOf(lines, old[from:to], now[first:end])
		out = append(out, one)
	}
	return out
}

// hunkOf is a hunk of these lines of the text before and the one after, from 0.
func hunkOf(from, to, first, end int) diff.Hunk {
	h := diff.Hunk{OldStart: from, OldLines: to - from, NewStart: first, NewLines: end - first}
	if h.OldLines > 0 {
		h.OldStart++
	}
	if h.NewLines > 0 {
		h.NewStart++
	}
	return h
}

// linesOf are a hunk's lines as they stand in the texts. A line that stays and ends
// otherwise is another.
func linesOf(lines []diff.Line, old, now []string) []diff.Line {
	out := make([]diff.Line, 0, len(lines))
	for _, line := range lines {
		switch {
		case line.Op == diff.Insert:
			line.Text, now = now[0], now[1:]
		case line.Op == diff.Delete:
			line.Text, old = old[0], old[1:]
		case old[0] != now[0]:
			out = append(out, diff.Line{Op: diff.Delete, Text: old[0]})
			line, old, now = diff.Line{Op: diff.Insert, Text: now[0]}, old[1:], now[1:]
		default:
			line.Text, old, now = old[0], old[1:], now[1:]
		}
		out = append(out, line)
	}
	return out
}

// join makes one list of the hunks that lead from before to after and of those that lead from
// there to another text. Those that have lines in common, be it only around their changes, are
// one.
func (f *reviewedFile) join(after string, hunks []diff.Hunk, numbers [][]int) {
	type step struct {
		diff.Hunk
		numbers  []int
		from, to int // lines of the text between
		isSecond bool
	}
	var all []step
	for i, h := range f.hunks {
		from, to := h.NewSpan()
		all = append(all, step{h, f.numbers[i], from, to, false})
	}
	for i, h := range hunks {
		from, to := h.OldSpan()
		all = append(all, step{h, numbers[i], from, to, true})
	}
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	old, now := diff.SplitLines(f.before.Text), diff.SplitLines(after)
	ahead, behind := 0, 0 // how many lines more the text between has so far than the first, and the last than that
	f.after, f.hunks, f.numbers = after, nil, nil
	for len(all) > 0 {
		n, from, to := 1, all[0].from, all[0].to
		for n < len(all) && (all[n].from < to || all[n].from == to && (all[n].to == to || from == to)) {
			to = max(to, all[n].to)
			n++
		}
		start, first := from-ahead, from+behind
		var together []int
		for _, s := range all[:n] {
			together = append(together, s.numbers...)
			if s.isSecond {
				behind += s.NewLines - s.OldLines
			} else {
				ahead += s.NewLines - s.OldLines
			}
		}
		slices.Sort(together)
		one, lines := hunkOf(start, to-ahead, first, to+behind), all[0].Lines
		one.Section = all[0].Section
		if n > 1 {
			was, is := strings.Join(old[start:to-ahead], ""), strings.Join(now[first:to+behind], "")
			made := diff.Hunks(was, is, len(was)+len(is))
			if len(made) == 0 { // the second step undoes the first
				f.along, all = append(f.along, together...), all[n:]
				continue
			}
			lines = made[0].Lines
		}
		one.Lines = lines
		f.hunks, f.numbers, all = append(f.hunks, one), append(f.numbers, together), all[n:]
	}
	if made := diff.Select(f.before.Text, after, f.hunks, func(int) bool { return true }); made != after {
		bug.Errorf("the parts of a file make %q, not %q", made, after)
	}
}

// groups are the numbers of the chunks that are taken or left together.
func (f *reviewedFile) groups() [][]int {
	if len(f.hunks) == 0 {
		return [][]int{f.along}
	}
	return f.numbers
}

// note is what happens to the file beside its name and its lines, in words.
func (f *reviewedFile) note() string {
	switch {
	case f.Operation == patch.Delete || f.NewMode == 0 || f.NewMode == f.OldMode:
	case f.OldMode != 0:
		return change.ModeWords(fmt.Sprintf("%o", f.OldMode), fmt.Sprintf("%o", f.NewMode))
	case f.NewMode != modeFile:
		return change.NewModeWords
	}
	return ""
}

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
	if out.Diff == "" {
		out.Whole = change.Words(f.origin(), f.Whole) // which has the note
	} else {
		out.Note = change.Words(f.origin(), f.Note)
	}
	return out
}

// origin says where a file comes from that is moved or copied.
func (f ReviewFile) origin() string {
	switch {
	case f.From == "":
		return ""
	case f.Operation == "copy":
		return "copied from " + fault.Quote(f.From)
	}
	return "moved from " + fault.Quote(f.From)
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

func (f *reviewedFile) show() ReviewFile {
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
		shown := ReviewHunk{ID: strconv.Itoa(f.numbers[i][0]), Header: h.Header(), Lines: []string{}, blocks: diff.Blocks([]diff.Hunk{h})}
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
		out.Whole = change.Words(f.note(), f.bytes)
		if f.Operation == patch.Create && f.Binary == nil {
			out.Whole = change.Words(f.note(), change.EmptyWords)
		}
		kind := map[patch.Operation]string{patch.Create: "new file", patch.Delete: "deleted"}[f.Operation]
		out.Hunks = []ReviewHunk{{ID: strconv.Itoa(f.along[0]), Header: change.Words(kind, out.origin(), out.Whole), Lines: []string{}}}
	}
	return out
}

// ReviewOf is a change that was made without a patch, as a file of a review.
func ReviewOf(p change.FilePreview) ReviewFile {
	out := ReviewFile{
		Path: p.Path, URI: p.URI, Operation: p.Operation, Language: p.Language, Note: p.Note, Whole: p.Whole, Before: p.Before, After: p.After,
		Additions: p.Additions, Deletions: p.Deletions, OpenInEditor: p.OpenInEditor, Dirty: p.Dirty, Hunks: []ReviewHunk{},
	}
	before, after := strings.SplitAfter(p.Before, "\n"), strings.SplitAfter(p.After, "\n")
	for _, h := range p.Hunks {
		shown := ReviewHunk{ID: h.ID, Header: h.Header, Lines: []string{}}
		for _, side := range []struct {
			mark string
			text []string
			at   *change.HunkLines
		}{{"-", before, h.Before}, {"+", after, h.After}} {
			if side.at == nil {
				continue
			}
			for _, line := range side.text[min(side.at.Start, len(side.text)):min(side.at.End, len(side.text))] {
				shown.Lines = append(shown.Lines, side.mark+strings.TrimSuffix(line, "\n"))
			}
		}
		out.Hunks = append(out.Hunks, shown)
	}
	return out
}
