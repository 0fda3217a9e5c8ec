package patching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
	Numbers []int                    // the same, in order
	own     map[*ReviewedFile]string // texts that the user wrote
	Edited  bool
}

// Take reads what the user took: hunks by their ids, and whole texts by ReviewFile.Path.
func (r *Review) Take(selected []string, edited map[string]string) (*Choice, error) {
	t := &Choice{review: r, chosen: map[int]bool{}, Numbers: []int{}, own: map[*ReviewedFile]string{}}
	hunks := r.byID()
	for _, id := range selected {
		if hunks[id] == nil {
			return nil, fault.New(fault.InvalidArguments, "the editor's answer names hunk %s, which is not in the patch; nothing was chosen", fault.Quote(id)).
				WithHint("this is a bug in the editor's plugin; call again, and if it happens again ask the user to update it")
		}
		for _, n := range hunks[id] {
			t.chosen[n] = true
		}
	}
	for name, text := range edited {
		i := slices.IndexFunc(r.files, func(f *ReviewedFile) bool { return f.path.String() == name })
		if i < 0 || r.files[i].before == nil {
			return nil, fault.New(fault.InvalidArguments, "the editor's answer has text for %s, which is not in the patch; nothing was chosen", fault.Quote(name)).
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
	t.number()
	return t, nil
}

// byID are the numbers of each hunk, by what it is called.
func (r *Review) byID() map[string][]int {
	out := map[string][]int{}
	for _, f := range r.files {
		for i, numbers := range f.numbers {
			out[f.id(i)] = numbers
		}
	}
	return out
}

// number counts what was taken, with what comes along.
func (t *Choice) number() {
	for n := range t.chosen {
		t.Numbers = append(t.Numbers, n)
	}
	for _, f := range t.review.files {
		if t.selectsHunk(f) {
			t.Numbers = append(t.Numbers, f.along...)
		}
	}
	slices.Sort(t.Numbers)
}

// selects reports whether something of a file was taken.
func (t *Choice) selects(f *ReviewedFile) bool {
	own, wrote := t.own[f]
	return t.selectsHunk(f) || wrote && own != f.before.Text
}

func (t *Choice) selectsHunk(f *ReviewedFile) bool {
	return slices.ContainsFunc(f.numbers, func(numbers []int) bool { return t.chosen[numbers[0]] })
}

// textOf is what the choice makes of a file's text.
func (t *Choice) textOf(f *ReviewedFile) string {
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
	if len(now.files) != len(t.review.files) || now.Total != t.review.Total || now.splits(t.chosen) {
		return t.movedOn(fault.New(fault.PatchApplyFailed, "its parts have moved"))
	}
	own := map[*ReviewedFile]string{}
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
		if t.selects(f) {
			out.WriteString(t.fileDiff(f))
		}
	}
	return out.String()
}

func (t *Choice) fileDiff(f *ReviewedFile) string {
	if f.raw != "" {
		return f.raw
	}
	before, text, mark := "", "", ""
	if f.before != nil {
		before, text = f.before.Text, t.textOf(f)
		if f.before.BOM {
			mark = "\ufeff"
		}
	}
	hunks := diff.Hunks(mark+before, mark+text, 3)
	gone := f.Operation == patch.Delete && text == ""
	if gone {
		hunks = diff.Hunks(mark+before, "", 3)
	}
	head := f.head(gone)
	if head == "" && len(hunks) == 0 {
		return ""
	}
	old, now := f.path.String(), f.path.String()
	if !f.from.IsZero() {
		old = f.from.String()
	}
	out := "diff --git " + change.GitName("a/"+old) + " " + change.GitName("b/"+now) + "\n" + head
	if len(hunks) == 0 {
		return out
	}
	from, to := change.GitName("a/"+old), change.GitName("b/"+now)
	if f.Operation == patch.Create {
		from = "/dev/null"
	}
	if gone {
		to = "/dev/null"
	}
	return out + "--- " + from + "\n+++ " + to + "\n" + diff.Unified(hunks)
}

// head are the lines that say what happens to the file beside its lines.
func (f *ReviewedFile) head(gone bool) string {
	switch {
	case gone:
		return fmt.Sprintf("deleted file mode %o\n", f.modeThere())
	case f.Operation == patch.Delete:
		return "" // the user kept some of it
	case f.Operation == patch.Create:
		mode := f.NewMode
		if mode == 0 {
			mode = 0o100644
		}
		return fmt.Sprintf("new file mode %o\n", mode)
	}
	out := ""
	if f.NewMode != 0 && f.NewMode != f.OldMode {
		old := f.OldMode
		if old == 0 {
			old = f.modeThere()
		}
		out = fmt.Sprintf("old mode %o\nnew mode %o\n", old, f.NewMode)
	}
	verb := map[patch.Operation]string{patch.Rename: "rename", patch.Copy: "copy"}[f.Operation]
	if verb == "" {
		return out
	}
	return out + verb + " from " + change.GitName(f.from.String()) + "\n" + verb + " to " + change.GitName(f.path.String()) + "\n"
}

// modeThere is the mode of the file as git has it.
func (f *ReviewedFile) modeThere() uint32 {
	if f.OldMode != 0 {
		return f.OldMode
	}
	if target, err := f.path.Target(); err == nil {
		if info, err := target.Stat(); err == nil && info.Mode()&fs.FileMode(0o111) != 0 {
			return 0o100755
		}
	}
	return 0o100644
}
