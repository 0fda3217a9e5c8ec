// Package patch reads patches (Parse) and makes their hunks in a text (Apply).
//
// It takes unified diffs, plain or git's, and the form that begins with
// "*** Begin Patch". A hunk's place is found wherever its lines stand, nearest to
// where its header says; they must be there to the character, but for line ends and
// blanks at the ends of lines. No context is ever passed over.
//
// Files are not here: whoever calls has the texts, and knows what the names mean.
package patch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/diff"
)

// Operation is what a patch does to a file as a whole.
type Operation string

// The operations. Each but Delete may have hunks or bytes as well.
const (
	Change Operation = "change"
	Create Operation = "create"
	Delete Operation = "delete"
	Rename Operation = "rename"
	Copy   Operation = "copy"
)

// File is one file of a patch.
type File struct {
	Operation Operation
	// Old and New are its names, without the prefixes of a diff: the same but for Rename
	// and Copy. Of a plain diff they may be named with another folder in front: see Bare.
	Old, New string
	// Bare is the name without its first folder, where that could be a prefix or not.
	Bare string
	// OldMode and NewMode are as git writes them, such as 0o100755. 0: not said.
	OldMode, NewMode uint32
	Hunks            []Hunk
	Binary           *Binary // of a binary file
	Unseen           bool    // of a Delete: whatever the file holds
	// InOrder: it is made in what the parts before it left. Else what is renamed or copied
	// is what was there before all of the patch.
	InOrder bool
	// Plain: it has no "diff --git" above it, which would say of a new file that it is one.
	Plain   bool
	Returns bool // its lines end in carriage returns, which are taken for the patch's own
	Line    int  // of the patch, from 1, where the file begins
}

// Hunk is one change of a text.
type Hunk struct {
	diff.Hunk
	// Unnumbered: its header says no line; the place is known by its lines alone.
	Unnumbered bool
	// Anchors are lines that stand above an unnumbered hunk's place, in order.
	Anchors []string
	// AtEnd: an unnumbered hunk's lines are the file's last.
	AtEnd bool
	Line  int // of the patch, from 1, where the hunk begins
}

// Old are the lines that the hunk wants to find, New those that it leaves.
func (h Hunk) Old() []string { return h.without(diff.Insert) }

// New are the lines that the hunk leaves.
func (h Hunk) New() []string { return h.without(diff.Delete) }

func (h Hunk) without(op diff.Op) []string {
	out := make([]string, 0, len(h.Lines))
	for _, line := range h.Lines {
		if line.Op != op {
			out = append(out, line.Text)
		}
	}
	return out
}

// context counts the unchanged lines at the hunk's two ends.
func (h Hunk) context() (leading, trailing int) {
	for leading < len(h.Lines) && h.Lines[leading].Op == diff.Context {
		leading++
	}
	for trailing < len(h.Lines)-leading && h.Lines[len(h.Lines)-1-trailing].Op == diff.Context {
		trailing++
	}
	return leading, trailing
}

// unend: the line read last has no end, as a line "\ No newline at end of file" says.
func (h *Hunk) unend() {
	last := &h.Lines[len(h.Lines)-1]
	last.Text = strings.TrimSuffix(last.Text, "\n")
}

// Count returns how many lines a file's hunks add and delete.
func (f File) Count() (additions, deletions int) {
	for _, h := range f.Hunks {
		a, d := diff.Count([]diff.Hunk{h.Hunk})
		additions, deletions = additions+a, deletions+d
	}
	return additions, deletions
}

// MayCreate: where there is no such file, this makes it, as git and patch have it: a plain
// diff names both sides and wants no line of the first.
func (f File) MayCreate() bool {
	return f.Operation == Change && f.Plain && len(f.Hunks) == 1 && f.Hunks[0].OldStart == 0 && f.Hunks[0].OldLines == 0
}

// Parse reads a patch of one file or several, in their order.
func Parse(text string) ([]File, error) {
	var files []File
	var err error
	text = strings.TrimPrefix(text, "\ufeff")
	if isBegin(text) {
		files, err = parseBegin(text)
	} else {
		files, err = parseUnified(text)
	}
	if why := (*fault.Error)(nil); errors.As(err, &why) && why.Hint == "" {
		err = why.WithHint("make it again, as git diff and diff -u do, or in the form that begins with \"*** Begin Patch\"")
	}
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, broken(1, "it contains no change").
			WithHint("give a unified diff, where each file has the lines \"--- a/path\" and \"+++ b/path\" and its hunks begin with \"@@ -1,3 +1,4 @@\", or a patch that begins with \"*** Begin Patch\"")
	}
	return files, nil
}

// lines are those of a patch, read from at on.
type lines struct {
	all  []string
	at   int
	crlf bool // they end in carriage returns that are none of the files'
}

func newLines(text string) lines {
	l := lines{all: diff.SplitLines(text)}
	if n := len(l.all); n > 0 && !strings.HasSuffix(l.all[n-1], "\n") {
		l.all[n-1] += "\n"
	}
	return l
}

// line is the line at n with its end, "" where there is none.
func (l *lines) line(n int) string {
	if n >= len(l.all) {
		return ""
	}
	if line, cut := strings.CutSuffix(l.all[n], "\r\n"); cut && l.crlf {
		return line + "\n"
	}
	return l.all[n]
}

func hasAnyPrefix(line string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(line, p) })
}

// broken is the error of a patch that cannot be read.
func broken(line int, format string, args ...any) *fault.Error {
	err := fault.New(fault.PatchApplyFailed, format, args...)
	err.Message = fmt.Sprintf("the patch cannot be parsed: line %d: %s", line, err.Message)
	return err.With("line", line)
}
