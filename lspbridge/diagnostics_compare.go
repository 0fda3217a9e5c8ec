package lspbridge

import (
	"fmt"
	"regexp"
	"slices"
	"sort"

	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// alignment maps the lines of a text to those of another.
type alignment struct {
	edits []diff.Edit
}

func align(before, after string) alignment {
	return alignment{diff.Lines(document.Lines(before), document.Lines(after))}
}

// line is where an old line is now. One that was changed has no place, but is in an edit.
func (a alignment) line(old int) (now int, in *diff.Edit) {
	i := sort.Search(len(a.edits), func(i int) bool { return a.edits[i].OldStart > old }) - 1
	switch {
	case i < 0:
		return old, nil
	case old < a.edits[i].OldEnd:
		return 0, &a.edits[i]
	}
	return old + a.edits[i].NewEnd - a.edits[i].OldEnd, nil
}

// changed says if a line of the new text is one that the change made, and of which edit.
func (a alignment) changed(now int) *diff.Edit {
	i := sort.Search(len(a.edits), func(i int) bool { return a.edits[i].NewStart > now }) - 1
	if i < 0 || now >= a.edits[i].NewEnd {
		return nil
	}
	return &a.edits[i]
}

// compare says which diagnostics of after are new, which of before's are fixed, and how
// many are still there. Two are the same if they say the same of the same line, at the
// same place in it (a message may count lines itself); of a line that was changed, if
// they say the same of what became of it.
func compare(before, after string, was, now []language.Diagnostic) (added, fixed []language.Diagnostic, remaining int) {
	a := align(before, after)
	pairs := pairing{old: make([]bool, len(was)), now: make([]bool, len(now))}
	pairs.match(was, now, says, func(old, is document.Range) bool { return a.stays(old, is) })
	pairs.match(was, now, saysButNumbers, func(old, is document.Range) bool { return a.stays(old, is) })
	pairs.match(was, now, says, func(old, is document.Range) bool { return a.becomes(old, is) })
	for i, d := range was {
		if !pairs.old[i] {
			fixed = append(fixed, d)
		}
	}
	for i, d := range now {
		if !pairs.now[i] {
			added = append(added, d)
		}
	}
	return added, fixed, len(now) - len(added)
}

// pairing is which diagnostics have found their like.
type pairing struct{ old, now []bool }

// match pairs those that say the same in the same place.
func (p pairing) match(was, now []language.Diagnostic, says func(language.Diagnostic) string, same func(old, is document.Range) bool) {
	by := map[string][]int{}
	for i, d := range was {
		if !p.old[i] {
			by[says(d)] = append(by[says(d)], i)
		}
	}
	for i, d := range now {
		if p.now[i] {
			continue
		}
		list := by[says(d)]
		at := slices.IndexFunc(list, func(old int) bool { return same(was[old].Range, d.Range) })
		if at >= 0 {
			p.old[list[at]], p.now[i] = true, true
			by[says(d)] = slices.Delete(list, at, at+1)
		}
	}
}

// onChanged are the diagnostics on lines that the change made; others is how many more
// there are.
func onChanged(before, after string, now []language.Diagnostic) (on []language.Diagnostic, others int) {
	a := align(before, after)
	for _, d := range now {
		if a.changed(int(d.Range.Start.Line)) != nil {
			on = append(on, d)
		} else {
			others++
		}
	}
	return on, others
}

// stays: a place in a line that was not changed is the same place now.
func (a alignment) stays(old, is document.Range) bool {
	line, edit := a.line(int(old.Start.Line))
	if edit != nil || line != int(is.Start.Line) || old.Start.Character != is.Start.Character {
		return false
	}
	// Where it ends counts only within the line: what follows may have grown.
	return old.End.Line != old.Start.Line || is.End.Line == is.Start.Line && old.End.Character == is.End.Character
}

// becomes: both are in the same edit, one before and one after it.
func (a alignment) becomes(old, is document.Range) bool {
	_, edit := a.line(int(old.Start.Line))
	return edit != nil && edit == a.changed(int(is.Start.Line))
}

// says is what a diagnostic says, wherever that is.
func says(d language.Diagnostic) string {
	return fmt.Sprintf("%d\x00%v\x00%s\x00%s", d.Severity, d.Code, d.Source, d.Message)
}

var digits = regexp.MustCompile(`[0-9]+`)

func saysButNumbers(d language.Diagnostic) string {
	d.Message = digits.ReplaceAllString(d.Message, "0")
	return says(d)
}
