package tools

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
	"pillion/workspace/language"
	"pillion/workspace/patch"
)

// reviewing is a patch laid on the files as they are, to be chosen from.
type reviewing struct {
	text  string
	files []*reviewed
	total int // chunks
}

// reviewed is one file of it. Each is about the files as they were before all of the
// patch, as git has it.
type reviewed struct {
	patch.File
	path, from workspace.Path // from: of a rename or a copy
	before     *document.File // what the hunks are made in; Exists is false of a new file
	after      string
	hunks      []diff.Hunk // they lead from before to after
	whole      string      // what there is to say of a file without hunks beside its names and its operation
	first      int         // the number of its first chunk
	raw        string      // of a binary file, its part of the patch
}

func newReviewing(ctx context.Context, in Input, text string) (*reviewing, error) {
	files, err := patch.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(files) > mostFiles {
		return nil, fault.New(fault.FileTooLarge, "the patch is of %d files, over the limit of %d", len(files), mostFiles).WithHint("have it reviewed in parts")
	}
	r, p := &reviewing{text: text}, newPatching(in, files)
	named, left := map[workspace.Path]bool{}, map[workspace.Path]bool{}
	for i, f := range files {
		one, err := p.review(ctx, f)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, p.blame(patchedFile{Path: f.New}, f, err)
		}
		if name := one.twice(named, left); !name.IsZero() {
			return nil, fault.New(fault.PatchApplyFailed, "the patch names %s twice", fault.Quote(name.String())).WithHint("make one diff of each file")
		}
		named[one.path] = true
		if f.InOrder && f.Operation == patch.Rename {
			left[one.from] = true
			p.leaving[one.from] = true
		}
		if f.Binary != nil {
			one.raw = section(text, files, i)
		}
		one.first = r.total + 1
		r.total += one.chunks()
		r.files = append(r.files, one)
	}
	return r, nil
}

// twice is a name under which the patch has made something of a file before, and that is
// not only taken by another since.
func (f *reviewed) twice(named, left map[workspace.Path]bool) workspace.Path {
	switch {
	case named[f.path], f.InOrder && f.Operation == patch.Change && left[f.path]:
		return f.path
	case f.InOrder && f.Operation == patch.Rename && (named[f.from] || left[f.from]):
		return f.from
	}
	return workspace.Path{}
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

// chunks is how many parts of the file can be taken.
func (f *reviewed) chunks() int { return max(1, len(f.hunks)) }

// review lays one file of a patch on what is there.
func (p *patching) review(ctx context.Context, f patch.File) (*reviewed, error) {
	if err := checkModes(f); err != nil {
		return nil, err
	}
	if err := p.checkNotGits(f); err != nil {
		return nil, err
	}
	old, err := p.open(p.existing(f))
	if err != nil {
		return nil, err
	}
	out := &reviewed{File: f, path: old.path, before: old.before}
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
		if !old.was {
			return nil, p.missing(old)
		}
		if err := p.in.readable(old.path); err != nil {
			return nil, err
		}
	}
	return out, p.lay(ctx, out, old)
}

// lay makes the hunks, and finds where they are.
func (p *patching) lay(ctx context.Context, f *reviewed, old *patched) error {
	needs := len(f.Hunks) > 0 || f.Operation == patch.Delete
	switch {
	case f.Binary != nil:
		return p.layBytes(f, old)
	case f.before == nil && needs:
		return old.opaque
	case f.before == nil:
		f.whole = f.note()
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
			return fault.New(fault.PatchApplyFailed, "%s would be deleted, and has more lines than the patch takes away", fault.Quote(f.path.String())).
				WithHint("read it again")
		}
		f.after = ""
		f.hunks = diff.Hunks(f.before.Text, "", 3)
	case patch.Create:
		f.whole = change.Words(f.note(), change.EmptyWords)
		f.hunks = diff.Hunks("", after, 3)
	default:
		f.whole = f.note()
		f.hunks = locate(f.before.Text, after, f.Hunks, placed)
	}
	return nil
}

// layBytes makes the bytes: the human is told how many there are.
func (p *patching) layBytes(f *reviewed, old *patched) error {
	isNew := f.Operation == patch.Create
	was := &document.File{}
	if !isNew {
		var err error
		if was, err = p.bytesOf(old); err != nil {
			return err
		}
	}
	now, err := f.Binary.Apply(f.path.String(), []byte(was.Text), isNew, p.in.Limits.WriteBytes)
	if err != nil {
		return err
	}
	f.before = nil
	switch {
	case isNew:
		f.whole = change.Words(f.note(), change.BytesWords(int64(len(now))))
	case f.Operation == patch.Delete:
		f.whole = change.BytesWords(int64(len(was.Text)))
	default:
		f.whole = change.Words(f.note(), change.BinaryWords(len(was.Text), len(now)))
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
		one := diff.Hunk{OldStart: from, OldLines: to - from, NewStart: first, NewLines: end - first, Section: clip(fault.Escape(h.Section), 80)}
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
func (f *reviewed) note() string {
	switch {
	case f.Operation == patch.Delete || f.NewMode == 0 || f.NewMode == f.OldMode:
	case f.OldMode != 0:
		return change.ModeWords(fmt.Sprintf("%o", f.OldMode), fmt.Sprintf("%o", f.NewMode))
	case f.NewMode != 0o100644:
		return change.NewModeWords
	}
	return ""
}

// header names a file that is taken or left as a whole.
func (f *reviewed) header() string {
	switch f.Operation {
	case patch.Create:
		return change.Words("new file", f.whole)
	case patch.Delete:
		return change.Words("deleted", f.whole)
	case patch.Rename:
		return change.Words("moved from "+fault.Quote(f.from.String()), f.whole)
	case patch.Copy:
		return change.Words("copied from "+fault.Quote(f.from.String()), f.whole)
	}
	return f.whole
}

// show is the patch as the human sees it.
func (r *reviewing) show() []ReviewFile {
	out := make([]ReviewFile, 0, len(r.files))
	for _, f := range r.files {
		out = append(out, f.show())
	}
	return out
}

var reviewOperations = map[patch.Operation]change.Operation{
	patch.Change: change.Overwrite, patch.Create: change.Create, patch.Delete: change.Delete, patch.Rename: change.Move, patch.Copy: "copy",
}

func (f *reviewed) show() ReviewFile {
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
		shown := ReviewHunk{ID: strconv.Itoa(f.first + i), Header: h.Header(), Lines: []string{}}
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
		out.Whole = f.whole
		out.Hunks = []ReviewHunk{{ID: strconv.Itoa(f.first), Header: f.header(), Lines: []string{}}}
	}
	return out
}
