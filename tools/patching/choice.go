package patching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/patch"
)

// Choice is what the user took of a review.
type Choice struct {
	review  *Review
	chosen  map[int]bool             // chunks, by their numbers; each hunk by all of its own, or by none
	Numbers []int                    // of the chunks that are chosen, in order
	own     map[*reviewedFile]string // texts that the user wrote
	Edited  bool
}

// Take reads what the user took: hunks by their ids, and whole texts by ReviewFile.Path.
func (r *Review) Take(selected []string, edited map[string]string) (*Choice, error) {
	t := &Choice{review: r, chosen: map[int]bool{}, Numbers: []int{}, own: map[*reviewedFile]string{}}
	hunks := map[string][]int{}
	for _, f := range r.files {
		for _, numbers := range f.groups() {
			hunks[strconv.Itoa(numbers[0])] = numbers
		}
	}
	for _, id := range selected {
		if hunks[id] == nil {
			return nil, fault.Invalid("the editor's answer names hunk %s, which is not in the patch; nothing was chosen", fault.Quote(id)).
				WithHint("this is a bug in the editor's plugin; call again, and if it happens again ask the user to update it")
		}
		for _, n := range hunks[id] {
			t.chosen[n] = true
		}
	}
	for name, text := range edited {
		i := slices.IndexFunc(r.files, func(f *reviewedFile) bool { return f.path.String() == name })
		if i < 0 || r.files[i].before == nil {
			return nil, fault.Invalid("the editor's answer has text for %s, which is not in the patch; nothing was chosen", fault.Quote(name)).
				WithHint("this is a bug in the editor's plugin; call again, and if it happens again ask the user to update it")
		}
		f := r.files[i]
		like := f.after
		if like == "" {
			like = f.before.Text
		}
		if text = document.RestoreLineEnds(like, text); text != t.textOf(f) {
			t.own[f], t.Edited = text, true
		}
	}
	for _, f := range r.files {
		if t.takesHunk(f) {
			for _, n := range f.along {
				t.chosen[n] = true
			}
		}
	}
	t.Numbers = slices.AppendSeq(t.Numbers, maps.Keys(t.chosen))
	slices.Sort(t.Numbers)
	return t, nil
}

// takesHunk reports whether some hunk of a file was taken, or the whole of one without any.
func (t *Choice) takesHunk(f *reviewedFile) bool {
	return slices.ContainsFunc(f.groups(), func(numbers []int) bool { return t.chosen[numbers[0]] })
}

// textOf is what the choice makes of a file's text.
func (t *Choice) textOf(f *reviewedFile) string {
	if own, wrote := t.own[f]; wrote {
		return own
	}
	return diff.Select(f.before.Text, f.after, f.hunks, func(i int) bool { return t.chosen[f.numbers[i][0]] })
}

// Follow lays the choice on the files as they are by now.
func (t *Choice) Follow(ctx context.Context, in Input) error {
	now, err := NewReview(ctx, in, t.review.text)
	if err != nil {
		return t.movedOn(err)
	}
	if len(now.files) != len(t.review.files) || now.Total != t.review.Total || slices.ContainsFunc(now.files, t.splits) {
		return t.movedOn(fault.New(fault.PatchApplyFailed, "its parts have moved"))
	}
	own := map[*reviewedFile]string{}
	for i, f := range t.review.files {
		text, wrote := t.own[f]
		if !wrote {
			continue
		}
		next := now.files[i]
		if next.path != f.path || next.before == nil {
			return t.movedOn(fault.New(fault.FileNotFound, "%s has changed", fault.Quote(f.path.String())))
		}
		if next.before.Text != f.before.Text {
			merged := false
			if text, merged = change.Merge(f.before.Text, text, next.before.Text); !merged {
				return fault.New(fault.ConcurrentModification, "%s changed while the user edited the patch, and the two changes conflict", fault.Quote(f.path.String())).
					With("human_text", t.own[f]).With("current_text", next.before.Text)
			}
		}
		own[next] = text
	}
	t.review, t.own = now, own
	return nil
}

// splits reports whether some of the chunks that are one hunk are taken, and not all.
func (t *Choice) splits(f *reviewedFile) bool {
	return slices.ContainsFunc(f.groups(), func(numbers []int) bool {
		return slices.ContainsFunc(numbers, func(n int) bool { return t.chosen[n] != t.chosen[numbers[0]] })
	})
}

// movedOn is what a review ends with whose files became others meanwhile. What the user
// wrote is in it.
func (t *Choice) movedOn(err error) error {
	var why *fault.Error
	if !errors.As(err, &why) {
		return err
	}
	why = fault.New(fault.ConcurrentModification, "the files changed while the user reviewed the patch, which no longer fits: %s", why.Message).
		WithHint("read them again and make the patch for their current text")
	if len(t.own) == 0 {
		return why
	}
	texts := map[string]string{}
	for f, text := range t.own {
		texts[f.path.String()] = text
	}
	return why.With("human_texts", texts)
}

// Diff is what was taken, as git writes it.
func (t *Choice) Diff() string {
	var out strings.Builder
	for _, f := range t.review.files {
		if own, wrote := t.own[f]; t.takesHunk(f) || wrote && own != f.before.Text {
			out.WriteString(t.fileDiff(f))
		}
	}
	return out.String()
}

func (t *Choice) fileDiff(f *reviewedFile) string {
	if f.raw != "" {
		return f.raw
	}
	before, text, bom := "", "", ""
	if f.before != nil {
		before, text = f.before.Text, t.textOf(f)
		if f.before.BOM {
			bom = mark
		}
	}
	old, now, after, oldMode := f.path.String(), f.path.String(), bom+text, cmp.Or(f.OldMode, f.mode)
	if !f.from.IsZero() {
		old = f.from.String()
	}
	from, to, head := change.GitName("a/"+old), change.GitName("b/"+now), ""
	names := "diff --git " + from + " " + to + "\n"
	switch f.Operation {
	case patch.Delete:
		if text == "" { // else the user kept some of it
			to, after, head = "/dev/null", "", fmt.Sprintf("deleted file mode %o\n", oldMode)
		}
	case patch.Create:
		from, head = "/dev/null", fmt.Sprintf("new file mode %o\n", cmp.Or(f.NewMode, modeFile))
	default:
		if f.NewMode != 0 && f.NewMode != f.OldMode {
			head = fmt.Sprintf("old mode %o\nnew mode %o\n", oldMode, f.NewMode)
		}
		if carries(f.File) {
			head += fmt.Sprintf("%[1]s from %[2]s\n%[1]s to %[3]s\n", f.Operation, change.GitName(old), change.GitName(now))
		}
	}
	hunks := diff.Hunks(bom+before, after, 3)
	switch {
	case head == "" && len(hunks) == 0:
		return ""
	case len(hunks) == 0:
		return names + head
	}
	return names + head + "--- " + from + "\n+++ " + to + "\n" + diff.Unified(hunks)
}
