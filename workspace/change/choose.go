package change

import (
	"slices"
	"strconv"

	"pillion/internal/fault"
	"pillion/workspace/diff"
)

// Choose is the set with exactly these hunks of its Preview, by their ids, and how many
// of how many that are. What has none of them is LeftOut.
func (s Set) Choose(ids []string) (chosen Set, taken, of int, err error) {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	next := func() bool {
		of++
		if !wanted[strconv.Itoa(of)] {
			return false
		}
		taken++
		return true
	}
	s.Files, s.Tree = slices.Clone(s.Files), slices.Clone(s.Tree)
	for i := range s.Files {
		s.Files[i].choose(next)
	}
	for i, c := range s.Tree {
		if c.whole() != "" && !next() {
			s.Tree[i].LeaveOut()
		}
	}
	s.Restores = slices.DeleteFunc(slices.Clone(s.Restores), func(x Restore) bool { return x.isLink() && !next() })
	if taken != len(wanted) {
		return Set{}, 0, 0, fault.Invalid("the editor's answer names hunks that are not in the proposal; nothing was changed").
			WithHint("this is a bug in the editor's plugin; call again, and if it happens again ask the user to update it")
	}
	return s, taken, of, nil
}

// choose makes the hunks that next agrees to.
func (f *File) choose(next func() bool) {
	var hunks []diff.Hunk
	for _, b := range diff.Blocks(f.Hunks()) {
		hunks = append(hunks, b.Hunk)
	}
	if len(hunks) == 0 {
		if f.whole() != "" && !next() {
			f.LeaveOut()
		}
		return
	}
	var take []bool
	for range hunks {
		take = append(take, next())
	}
	switch {
	case !slices.Contains(take, true):
		f.LeaveOut()
	case slices.Contains(take, false):
		f.After.Text = diff.Select(f.Before.Text, f.After.Text, hunks, func(i int) bool { return take[i] })
	}
}

// LeaveOut keeps the file as it is: it stands in its set, and nothing is done to it.
func (f *File) LeaveOut() { f.LeftOut, f.After = true, f.Before.Content }

// LeaveOut likewise.
func (c *TreeChange) LeaveOut() { c.LeftOut, c.Operation = true, Unchanged }
