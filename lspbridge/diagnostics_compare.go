package lspbridge

import (
	"fmt"
	"regexp"
	"slices"

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
	shift := 0
	for i, e := range a.edits {
		switch {
		case old < e.OldStart:
			return old + shift, nil
		case old < e.OldEnd:
			return 0, &a.edits[i]
		}
		shift = e.NewEnd - e.OldEnd
	}
	return old + shift, nil
}

// changed says if a line of the new text is one that the change made, and of which edit.
func (a alignment) changed(now int) *diff.Edit {
	for i, e := range a.edits {
		if now >= e.NewStart && now < e.NewEnd {
			return &a.edits[i]
		}
	}
	return nil
}

// compare says which diagnostics of after are new, which of before's are fixed, and how
// many are still there. Two are the same if they say the same of the same line, at the
// same place in it; of a line that was changed, if they say the same of what became of it.
func compare(before, after string, was, now []language.Diagnostic) (added, fixed []language.Diagnostic, remaining int) {
	a := align(before, after)
	left := slices.Clone(was)
	added = slices.Clone(now)
	for _, same := range []func(old, is language.Diagnostic) bool{
		func(old, is language.Diagnostic) bool { return a.stays(old.Range, is.Range) && says(old) == says(is) },
		// A message may count lines itself.
		func(old, is language.Diagnostic) bool {
			return a.stays(old.Range, is.Range) && says(numberless(old)) == says(numberless(is))
		},
		func(old, is language.Diagnostic) bool { return a.becomes(old.Range, is.Range) && says(old) == says(is) },
	} {
		left = slices.DeleteFunc(left, func(old language.Diagnostic) bool {
			i := slices.IndexFunc(added, func(is language.Diagnostic) bool { return same(old, is) })
			if i >= 0 {
				added = slices.Delete(added, i, i+1)
				remaining++
			}
			return i >= 0
		})
	}
	return added, left, remaining
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

func numberless(d language.Diagnostic) language.Diagnostic {
	d.Message = digits.ReplaceAllString(d.Message, "0")
	return d
}
