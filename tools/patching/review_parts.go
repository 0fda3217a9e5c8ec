package patching

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"pillion/internal/bug"
	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/diff"
	"pillion/workspace/patch"
)

// goesOn reports whether a part of the patch is made in what those before it made of f,
// as apply_patch has it: a text that is changed, and in the form that is made in order
// also one that is moved or deleted.
func (f *ReviewedFile) goesOn(next patch.File) bool {
	if f.Binary != nil || next.Binary != nil || f.Operation == patch.Delete {
		return false
	}
	switch next.Operation {
	case patch.Change:
		return true
	case patch.Delete:
		return f.Operation == patch.Change || f.Operation == patch.Rename
	case patch.Rename:
		return next.InOrder && f.Operation == patch.Change
	}
	return false
}

// goOn makes a further part in what those before it made of a file. What comes of all of
// them is shown as one.
func (r *Review) goOn(ctx context.Context, p *Patch, f *ReviewedFile, next patch.File, old *fileState) error {
	if f.before == nil {
		if len(next.Hunks) > 0 || next.Operation == patch.Delete {
			return errTwice(f.path)
		}
	} else if f.before.BOM {
		if err := unmark(next); err != nil {
			return err
		}
	}
	if next.Operation == patch.Rename {
		if err := r.moveOn(p, f, next, old); err != nil {
			return err
		}
	}
	if next.NewMode != 0 {
		f.NewMode = next.NewMode
		if f.OldMode == 0 && f.Operation != patch.Create {
			f.OldMode = next.OldMode
		}
	}
	after, placed, err := patch.Apply(ctx, f.after, next.Hunks)
	if err != nil {
		return err
	}
	if next.Operation == patch.Delete {
		return r.deleteAll(p, f, next, old, after)
	}
	return r.joinOn(f, after, locate(f.after, after, next.Hunks, placed))
}

// moveOn has a file that was changed move.
func (r *Review) moveOn(p *Patch, f *ReviewedFile, next patch.File, old *fileState) error {
	to, err := p.open(next.New)
	switch {
	case err != nil:
		return err
	case old == to:
		return errOwnName(old)
	}
	if err := p.vacant(old, to); err != nil {
		return err
	}
	if r.named(to.path) != nil {
		return errTwice(to.path)
	}
	f.Operation, f.from, f.path = patch.Rename, f.path, to.path
	p.leave(old)
	return nil
}

// deleteAll has a file go that was changed or moved before: it goes as it was.
func (r *Review) deleteAll(p *Patch, f *ReviewedFile, next patch.File, old *fileState, after string) error {
	if !next.Unseen && after != "" {
		return errHoldsMore(f.path)
	}
	if f.Operation == patch.Rename {
		if r.named(f.from) != nil {
			return errTwice(f.from)
		}
		f.path = f.from
	}
	p.leave(old)
	f.Operation, f.from, f.after, f.NewMode = patch.Delete, workspace.Path{}, "", 0
	f.hunks = diff.Hunks(f.before.Text, "", 3)
	f.numbers, f.along = [][]int{append(f.allNumbers(), r.next())}, nil
	return nil
}

// allNumbers are those of all chunks of a file, in order.
func (f *ReviewedFile) allNumbers() []int {
	out := slices.Concat(append(slices.Clone(f.numbers), f.along)...)
	slices.Sort(out)
	return out
}

// joinOn adds the hunks of a further part to those of a file.
func (r *Review) joinOn(f *ReviewedFile, after string, hunks []diff.Hunk) error {
	var numbers [][]int
	for range max(1, len(hunks)) {
		numbers = append(numbers, []int{r.next()})
	}
	switch {
	case f.Operation == patch.Create:
		f.hunks, f.numbers = diff.Hunks("", after, 3), [][]int{append(f.allNumbers(), slices.Concat(numbers...)...)}
	case len(hunks) == 0 && len(f.hunks) == 0:
		f.numbers[0] = append(f.numbers[0], numbers[0]...)
	case len(hunks) == 0:
		f.along = append(f.along, numbers[0]...)
	case len(f.hunks) == 0:
		f.hunks, f.numbers, f.along = hunks, numbers, f.numbers[0]
	default:
		joined := joining{before: diff.SplitLines(f.before.Text), after: diff.SplitLines(after)}
		joined.join(steps(f.hunks, f.numbers, diff.Hunk.NewSpan, false), steps(hunks, numbers, diff.Hunk.OldSpan, true))
		f.hunks, f.numbers, f.along = joined.hunks, joined.numbers, append(f.along, joined.undone...)
		if len(f.hunks) == 0 {
			f.numbers, f.along = [][]int{f.along}, nil
		}
		if made := diff.Select(f.before.Text, after, f.hunks, func(int) bool { return true }); made != after {
			bug.Errorf("the parts of a file make %q, not %q", made, after)
		}
	}
	f.after = after
	return nil
}

// joining makes one list of hunks of those of two steps, from a text to a second one and
// from that to a third.
type joining struct {
	before, after []string // the first text and the third
	hunks         []diff.Hunk
	numbers       [][]int
	undone        []int // of hunks of which the second step leaves nothing
	ahead, behind int   // how many lines more the second text has so far than the first, and the third than the second
}

// step is a hunk of one of the two, by the lines of the second text.
type step struct {
	diff.Hunk
	numbers  []int
	from, to int
	isSecond bool
}

func steps(hunks []diff.Hunk, numbers [][]int, span func(diff.Hunk) (int, int), isSecond bool) []step {
	var out []step
	for i, h := range hunks {
		from, to := span(h)
		out = append(out, step{h, numbers[i], from, to, isSecond})
	}
	return out
}

// join makes the list. Hunks that have lines in common, be it only around their changes,
// are one.
func (j *joining) join(first, second []step) {
	all := append(first, second...)
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for len(all) > 0 {
		n, from, to := 1, all[0].from, all[0].to
		for n < len(all) && (all[n].from < to || all[n].from == to && (all[n].to == to || from == to)) {
			to = max(to, all[n].to)
			n++
		}
		j.add(all[:n], from, to)
		all = all[n:]
	}
}

// add makes one hunk of those about these lines of the second text.
func (j *joining) add(parts []step, from, to int) {
	first, start := from-j.ahead, from+j.behind
	var numbers []int
	for _, part := range parts {
		numbers = append(numbers, part.numbers...)
		if part.isSecond {
			j.behind += part.NewLines - part.OldLines
		} else {
			j.ahead += part.NewLines - part.OldLines
		}
	}
	slices.Sort(numbers)
	last, end := to-j.ahead, to+j.behind
	out := parts[0].Hunk
	if len(parts) > 1 {
		old, now := strings.Join(j.before[first:last], ""), strings.Join(j.after[start:end], "")
		made := diff.Hunks(old, now, len(old)+len(now))
		if len(made) == 0 {
			j.undone = append(j.undone, numbers...)
			return
		}
		out.Lines = made[0].Lines
	}
	out.OldStart, out.OldLines, out.NewStart, out.NewLines = first, last-first, start, end-start
	if out.OldLines > 0 {
		out.OldStart++
	}
	if out.NewLines > 0 {
		out.NewStart++
	}
	j.hunks, j.numbers = append(j.hunks, out), append(j.numbers, numbers)
}

// checkBack refuses a file that is as it was when all is made of it.
func (f *ReviewedFile) checkBack() error {
	if f.Operation != patch.Change || len(f.hunks) > 0 || len(f.numbers[0]) < 2 || f.note() != "" {
		return nil
	}
	return fault.New(fault.PatchApplyFailed, "the patch changes %s and changes it back, so there is nothing to choose", fault.Quote(f.path.String())).
		WithHint("leave it out of the patch")
}

// splits reports whether a choice takes some of the chunks that are one hunk, and not all.
func (r *Review) splits(chosen map[int]bool) bool {
	for _, f := range r.files {
		for _, numbers := range f.numbers {
			isTaken := func(n int) bool { return chosen[n] }
			if slices.ContainsFunc(numbers, isTaken) && slices.ContainsFunc(numbers, func(n int) bool { return !chosen[n] }) {
				return true
			}
		}
	}
	return false
}
