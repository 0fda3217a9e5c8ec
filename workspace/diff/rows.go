package diff

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Row is a line of a unified diff to be painted where no editor shows a diff of its own.
type Row struct {
	Kind RowKind
	Text string // with its sign, without a line end
	// Marks are the parts of an added or deleted line that its counterpart does not have,
	// in bytes of Text.
	Marks []Mark
}

// Mark is a part of a line, in bytes.
type Mark struct{ Start, End int }

// RowKind says what a row is.
type RowKind int

// The kinds.
const (
	Unchanged RowKind = iota
	Added
	Deleted
	HunkHead // "@@"
	FileHead // names of files, modes
	Remark   // "\ No newline at end of file"
)

// Rows are the lines of a unified diff. Ends of lines as on Windows are left out where all
// lines have them.
func Rows(text string) []Row {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	crlf := allCRLF(lines)
	out := make([]Row, len(lines))
	inHunk := false
	for i, line := range lines {
		inHunk = inHunk && !strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "@@")
		if crlf {
			line = strings.TrimSuffix(line, "\r")
		}
		out[i] = Row{Kind: kindOf(line, inHunk), Text: line}
	}
	markRows(out)
	return out
}

// HunkRows are the rows of a file's diff without the lines that name the file.
func HunkRows(text string) []Row {
	rows := Rows(text)
	for len(rows) > 0 && rows[0].Kind == FileHead {
		rows = rows[1:]
	}
	return rows
}

func kindOf(line string, inHunk bool) RowKind {
	switch {
	case strings.HasPrefix(line, "@@"):
		return HunkHead
	case !inHunk:
		return FileHead
	case strings.HasPrefix(line, "+"):
		return Added
	case strings.HasPrefix(line, "-"):
		return Deleted
	case strings.HasPrefix(line, "\\"):
		return Remark
	}
	return Unchanged
}

// allCRLF reports a diff in which every line ends as on Windows: only where line
// ends differ are they worth showing.
func allCRLF(lines []string) bool {
	found := false
	for _, line := range lines {
		if line == "" || !strings.ContainsRune("+- ", rune(line[0])) || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++") {
			continue
		}
		if !strings.HasSuffix(line, "\r") {
			return false
		}
		found = true
	}
	return found
}

// What is compared within lines: where there is more, a person does not look for single
// letters any more. The time is for one pair of lines, after which what was found counts.
const (
	mostPairs   = 200
	longestLine = 500 // bytes
	pairTime    = 10 * time.Millisecond
)

// markRows marks pairs of lines: those where as many were added as deleted. A pair that has
// little in common is two lines.
func markRows(rows []Row) {
	pairs := 0
	for at := 0; at < len(rows); {
		deleted := run(rows, at, Deleted)
		added := run(rows, at+deleted, Added)
		for i := at; deleted == added && i < at+deleted && pairs < mostPairs; i++ {
			pairs++
			rows[i].Marks, rows[i+deleted].Marks = marks(rows[i].Text[1:], rows[i+deleted].Text[1:])
		}
		at += max(1, deleted+added)
	}
}

func run(rows []Row, at int, kind RowKind) int {
	n := 0
	for at+n < len(rows) && rows[at+n].Kind == kind {
		n++
	}
	return n
}

// marks are what differs between two lines behind their signs: nothing, where hardly
// anything is the same.
func marks(before, after string) (deleted, added []Mark) {
	if max(len(before), len(after)) > longestLine || !utf8.ValidString(before) || !utf8.ValidString(after) {
		return nil, nil
	}
	compare := diffmatchpatch.New()
	compare.DiffTimeout = pairTime
	same, i, j := 0, 1, 1
	for _, part := range compare.DiffCleanupSemantic(compare.DiffMain(before, after, false)) {
		n := len(part.Text)
		switch part.Type {
		case diffmatchpatch.DiffEqual:
			same += len(strings.TrimSpace(part.Text))
			i, j = i+n, j+n
		case diffmatchpatch.DiffDelete:
			deleted = append(deleted, Mark{i, i + n})
			i += n
		case diffmatchpatch.DiffInsert:
			added = append(added, Mark{j, j + n})
			j += n
		}
	}
	if 3*same < max(len(strings.TrimSpace(before)), len(strings.TrimSpace(after))) {
		return nil, nil
	}
	return deleted, added
}

// Parts are the row's text, cut at its marks: of each, whether it is marked.
func (r Row) Parts() []Part {
	var out []Part
	add := func(text string, marked bool) {
		if text != "" {
			out = append(out, Part{text, marked})
		}
	}
	at := 0
	for _, m := range r.Marks {
		add(r.Text[at:m.Start], false)
		add(r.Text[m.Start:m.End], true)
		at = m.End
	}
	add(r.Text[at:], false)
	return out
}

// Part is a piece of a row.
type Part struct {
	Text   string
	Marked bool
}
