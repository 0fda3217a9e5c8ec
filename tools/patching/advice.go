package patching

import (
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/match"
	"pillion/workspace/patch"
)

// advised gives what is wrong with a file of the patch a hint for whoever made the patch,
// where that of the file alone does not help.
func (p *Patch) advised(f patch.File, err *fault.Error) *fault.Error {
	if hint := p.otherKind(f.New); hint != "" {
		return err.WithHint("%s", hint)
	}
	switch {
	case err.Code == fault.EncodingError && !strings.Contains(err.Message, "NUL"):
		return err.WithHint("a patch has no encoding; ask the user to open the file in the editor with its encoding, or use write_file, which has an encoding argument")
	case err.Code == fault.InvalidPath && err.Hint == "":
		return err.WithHint("leave it out of the patch, or give it another name")
	}
	return err
}

// otherKind is what to do instead about a name at which the patch has a file and a folder
// take each other's place, "" of any other.
func (p *Patch) otherKind(name string) string {
	for at := range p.leaving {
		gone := at.String()
		if strings.HasPrefix(name, gone+"/") {
			return fmt.Sprintf("a folder cannot replace a file in one patch; delete or move %s first, with delete_file or move_file, then apply the rest of the patch", fault.Quote(gone))
		}
		if strings.HasPrefix(gone, name+"/") {
			return fmt.Sprintf("a file cannot replace a folder in one patch; delete or move the folder %s first, with delete_file or move_file, then apply the rest of the patch", fault.Quote(name))
		}
	}
	return ""
}

// Of a hunk that does not fit so many lines are shown around the first that is another.
const (
	linesBefore = 5
	linesAfter  = 14
)

// mismatched tells of a hunk what it wants and what is there.
func mismatched(name string, hunks int, m *patch.Mismatch) *fault.Error {
	err := fault.New(fault.PatchApplyFailed, "%s: hunk %d of %d, at line %d of the patch, does not apply: %s", fault.Quote(name), m.Hunk, hunks, m.Line, m.Reason).
		With("path", name).With("hunk", m.Hunk).With("patch_line", m.Line)
	if m.Applied && m.At == 0 {
		return err.WithHint("there is nothing left to do for this hunk; leave it out")
	}
	first := max(0, m.Differs-linesBefore)
	last := min(len(m.Expected), m.Differs+linesAfter)
	if first >= last {
		return err.WithHint("make the diff with three lines of context")
	}
	expected := match.Show(strings.Join(m.Expected[first:last], ""), 1, last-first)
	for i := range expected {
		expected[i] = "     " + expected[i][5:] // numbers are those of the file
	}
	err = err.With("expected", expected)
	if len(m.Places) > 0 {
		return err.With("lines", m.Places).WithHint("they are at lines %s; add context until they are unique", match.List(m.Places, len(m.Places)))
	}
	hint := "the hunk expects (· is a space, → a tab, ␍ a carriage return):\n" + strings.Join(expected, "\n")
	if m.Applied {
		hint += "\nits result is already in the file: it may have been applied before"
	}
	if m.At > 0 && len(m.Found) > 0 {
		found := numberedLines(m.Found, m.At, first, min(len(m.Found), last))
		err = err.With("found", found).With("line", m.At)
		hint += fmt.Sprintf("\nthe nearest lines are:\n%s", strings.Join(found, "\n"))
	}
	return err.WithHint("%s\nread the file again and make the patch for its current text", hint)
}

// numberedLines shows some of the lines that begin at line at.
func numberedLines(lines []string, at, first, last int) []string {
	first = min(first, last)
	shown := match.Show(strings.Join(lines[first:last], ""), 1, last-first)
	for i := range shown {
		shown[i] = fmt.Sprintf("%5d%s", at+first+i, shown[i][5:])
	}
	return shown
}
