package patching

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pillion/internal/bug"
	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/patch"
)

// Review is a patch laid on the files as they are, to be chosen from.
type Review struct {
	text  string
	files []*ReviewedFile
	Total int // chunks
}

// ReviewedFile is one file of it. Each is about the files as they were before all of the
// patch, as git has it; what several parts make of a file is one.
type ReviewedFile struct {
	patch.File
	path, from workspace.Path // from: of a rename or a copy
	before     *document.File // what the hunks are made in; Exists is false of a new file
	after      string
	hunks      []diff.Hunk // they lead from before to after
	// numbers are those of the chunks of the patch that each hunk makes, or of the whole
	// that a file without hunks is; along those that come with any of them.
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
		err := r.add(ctx, p, f)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			row := FileResult{Path: f.New}
			if f.New != f.Old {
				row.From = f.Old
			}
			return nil, p.blame(row, f, err)
		}
		if f.Binary != nil {
			r.files[len(r.files)-1].raw = section(text, files, i)
		}
	}
	for _, f := range r.files {
		if err := f.checkBack(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add lays one more part of the patch on what is there, or on what those before it made
// of the same file.
func (r *Review) add(ctx context.Context, p *Patch, f patch.File) error {
	f = p.guessed(f)
	old, err := p.begin(f)
	if err != nil {
		return err
	}
	switch former := r.named(old.path); {
	case former == nil:
	case former.goesOn(f):
		return r.goOn(ctx, p, former, f, old)
	case !old.was && f.Operation != patch.Create:
		old.is = true
		return p.missing(old)
	}
	one, err := p.review(ctx, f, old)
	if err != nil {
		return err
	}
	if r.named(one.path) != nil {
		return errTwice(one.path)
	}
	if f.Operation == patch.Rename || f.Operation == patch.Delete {
		p.leave(old)
	}
	for range max(1, len(one.hunks)) {
		one.numbers = append(one.numbers, []int{r.next()})
	}
	r.files = append(r.files, one)
	return nil
}

// named is the file that the patch has made something of under that name.
func (r *Review) named(path workspace.Path) *ReviewedFile {
	for _, f := range r.files {
		if f.path == path {
			return f
		}
	}
	return nil
}

func (r *Review) next() int {
	r.Total++
	return r.Total
}

// leave: the patch takes a file away from its name.
func (p *Patch) leave(f *fileState) { p.leaving[f.target], f.is = true, false }

func errTwice(path workspace.Path) error {
	return fault.New(fault.PatchApplyFailed, "the patch names %s twice", fault.Quote(path.String())).WithHint("make one diff per file")
}

// section is the part of a patch that is about one of its files, as it stands there.
func section(text string, files []patch.File, i int) string {
	lines := diff.SplitLines(text)
	end := len(lines)
	if i+1 < len(files) {
		end = files[i+1].Line - 1
	}
	return strings.Join(lines[files[i].Line-1:end], "")
}

// review lays one file of a patch on what is there: old, or nothing yet.
func (p *Patch) review(ctx context.Context, f patch.File, old *fileState) (_ *ReviewedFile, err error) {
	out := &ReviewedFile{File: f, path: old.path, before: old.before}
	carries := f.Operation == patch.Rename || f.Operation == patch.Copy
	to := old
	if carries {
		if to, err = p.open(f.New); err != nil {
			return nil, err
		}
		out.path, out.from = to.path, old.path
	}
	creates := f.Operation == patch.Create
	switch {
	case creates || carries && old != to:
		if err := p.vacant(old, to); err != nil {
			return nil, err
		}
	case carries:
		return nil, errOwnName(old)
	}
	if creates {
		out.before = &document.File{Path: old.path, Content: document.Content{Encoding: document.UTF8}}
	} else {
		if !old.was || !old.is && (f.InOrder || !carries) {
			return nil, p.missing(old)
		}
		if err := p.in.CheckReadable(old.path); err != nil {
			return nil, err
		}
	}
	return out, p.lay(ctx, out, old)
}

// lay makes the hunks, and finds where they are.
func (p *Patch) lay(ctx context.Context, f *ReviewedFile, old *fileState) error {
	needs := len(f.Hunks) > 0 || f.Operation == patch.Delete
	switch {
	case f.Binary != nil:
		return p.layBytes(f, old)
	case f.before == nil && needs:
		return old.opaque
	case f.before == nil:
		return nil
	case f.before.BOM:
		if err := unmark(f.File); err != nil {
			return err
		}
	}
	after, placed, err := patch.Apply(ctx, f.before.Text, f.Hunks)
	if err != nil {
		return err
	}
	f.after = after
	switch f.Operation {
	case patch.Delete:
		if !f.Unseen && after != "" {
			return errHoldsMore(f.path)
		}
		f.after = ""
		f.hunks = diff.Hunks(f.before.Text, "", 3)
	case patch.Create:
		f.hunks = diff.Hunks("", after, 3)
	default:
		f.hunks = locate(f.before.Text, after, f.Hunks, placed)
	}
	return nil
}

func errHoldsMore(path workspace.Path) error {
	return fault.New(fault.PatchApplyFailed, "%s would be deleted, but has more lines than the patch removes", fault.Quote(path.String())).
		WithHint("read it again")
}

// layBytes makes the bytes: the user is told how many there are.
func (p *Patch) layBytes(f *ReviewedFile, old *fileState) error {
	isNew := f.Operation == patch.Create
	was := &document.File{}
	if !isNew {
		var err error
		if was, err = p.bytesOf(old); err != nil {
			return err
		}
	}
	now, err := f.Binary.Apply(f.path.String(), []byte(was.Text), isNew, p.in.WriteBytes)
	if err != nil {
		return err
	}
	f.before = nil
	switch {
	case isNew:
		f.bytes = change.BytesWords(int64(len(now)))
	case f.Operation == patch.Delete:
		f.bytes = change.BytesWords(int64(len(was.Text)))
	default:
		f.bytes = change.BinaryWords(len(was.Text), len(now))
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
		if to > len(old) || end > len(now) {
			bug.Errorf("a hunk was made at %d of %d lines", from, len(old))
			return diff.Hunks(before, after, 3)
		}
		lines := h.Lines
		if from == to && from == len(old) && from > 0 && !strings.HasSuffix(old[from-1], "\n") { // the line above it gets an end
			if n := len(out); n > 0 && endOf(out[n-1]) == from {
				out[n-1].NewLines += end - first
				out[n-1].Lines = append(out[n-1].Lines, linesOf(lines, nil, now[first:end])...)
				continue
			}
			from, first = from-1, first-1
			lines = append([]diff.Line{{Op: diff.Context}}, lines...)
		}
		one := diff.Hunk{OldStart: from, OldLines: to - from, NewStart: first, NewLines: end - first, Section: fault.Clip(fault.Escape(h.Section), 80)}
		if one.OldLines > 0 {
			one.OldStart++
		}
		if one.NewLines > 0 {
			one.NewStart++
		}
		one.Lines = linesOf(lines, old[from:to], now[first:end])
		out = append(out, one)
	}
	return out
}

func endOf(h diff.Hunk) int {
	_, to := h.OldSpan()
	return to
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

// note is what happens to the file beside its name and its lines, in words.
func (f *ReviewedFile) note() string {
	switch {
	case f.Operation == patch.Delete || f.NewMode == 0 || f.NewMode == f.OldMode:
	case f.OldMode != 0:
		return change.ModeWords(fmt.Sprintf("%o", f.OldMode), fmt.Sprintf("%o", f.NewMode))
	case f.NewMode != 0o100644:
		return change.NewModeWords
	}
	return ""
}

// whole is what there is to say of a file without hunks beside its names and its
// operation.
func (f *ReviewedFile) whole() string {
	if f.Operation == patch.Create && f.Binary == nil {
		return change.Words(f.note(), change.EmptyWords)
	}
	return change.Words(f.note(), f.bytes)
}

// header names a file that is taken or left as a whole.
func (f *ReviewedFile) header() string {
	switch f.Operation {
	case patch.Create:
		return change.Words("new file", f.whole())
	case patch.Delete:
		return change.Words("deleted", f.whole())
	case patch.Rename:
		return change.Words("moved from "+fault.Quote(f.from.String()), f.whole())
	case patch.Copy:
		return change.Words("copied from "+fault.Quote(f.from.String()), f.whole())
	}
	return f.whole()
}

// id of a hunk is the number of the first chunk that it makes.
func (f *ReviewedFile) id(hunk int) string { return strconv.Itoa(f.numbers[hunk][0]) }
