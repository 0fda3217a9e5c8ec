package terminal

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// span is a part of a line, in bytes.
type span struct{ start, end int }

// What is compared within lines: where there is more, a person does not look for single
// letters any more. The time is for one pair of lines, after which what was found counts.
const (
	mostPairs   = 200
	longestLine = 500 // bytes
	pairTime    = 10 * time.Millisecond
)

// emphasis says which parts of the lines of hunks are other than in the line that they
// took the place of, by the line's index. Lines are pairs where as many came as went;
// a pair that has little in common is two lines.
func emphasis(lines []string, inHunk []bool) map[int][]span {
	marks := map[int][]span{}
	pairs := 0
	for at := 0; at < len(lines); {
		gone := run(lines, inHunk, at, "-")
		came := run(lines, inHunk, at+gone, "+")
		for i := at; gone == came && i < at+gone && pairs < mostPairs; i++ {
			pairs++
			if before, after := within(lines[i][1:], lines[i+gone][1:]); before != nil || after != nil {
				marks[i], marks[i+gone] = before, after
			}
		}
		at += max(1, gone+came)
	}
	return marks
}

// run is how many lines of hunks begin with sign, from at on.
func run(lines []string, inHunk []bool, at int, sign string) int {
	n := 0
	for at+n < len(lines) && inHunk[at+n] && strings.HasPrefix(lines[at+n], sign) {
		n++
	}
	return n
}

// within is what differs between two lines: nothing, where hardly anything is the same.
func within(before, after string) (gone, came []span) {
	if max(len(before), len(after)) > longestLine || !utf8.ValidString(before) || !utf8.ValidString(after) {
		return nil, nil
	}
	compare := diffmatchpatch.New()
	compare.DiffTimeout = pairTime
	same, i, j := 0, 0, 0
	for _, part := range compare.DiffCleanupSemantic(compare.DiffMain(before, after, false)) {
		n := len(part.Text)
		switch part.Type {
		case diffmatchpatch.DiffEqual:
			same += len(strings.TrimSpace(part.Text))
			i, j = i+n, j+n
		case diffmatchpatch.DiffDelete:
			gone = append(gone, span{i, i + n})
			i += n
		case diffmatchpatch.DiffInsert:
			came = append(came, span{j, j + n})
			j += n
		}
	}
	if 3*same < max(len(strings.TrimSpace(before)), len(strings.TrimSpace(after))) {
		return nil, nil
	}
	return gone, came
}

// marked shows a changed line, its sign first, with those parts of the rest underlined.
func (s Style) marked(line string, marks []span, colour string) string {
	plain := func(text string) string { return s.paint(colour, text) }
	strong := func(text string) string { return s.paint("4;"+colour, text) }
	var out strings.Builder
	at := 0
	for _, m := range marks {
		out.WriteString(s.reveal(line[at:m.start+1], plain))
		out.WriteString(s.reveal(line[m.start+1:m.end+1], strong))
		at = m.end + 1
	}
	out.WriteString(s.reveal(line[at:], plain))
	return out.String()
}
