package patch

import (
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/diff"
)

// The lines of the form that begins with the first of them. It is what Codex's models
// write: hunks have no numbers, but may name lines that stand above them.
const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	addFile    = "*** Add File: "
	deleteFile = "*** Delete File: "
	updateFile = "*** Update File: "
	moveTo     = "*** Move to: "
	endOfFile  = "*** End of File"
)

// isBegin: the first line that means something to either form is one of this.
func isBegin(text string) bool {
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		switch line = strings.Trim(line, blanks); {
		case line == beginPatch, hasAnyPrefix(line, []string{addFile, deleteFile, updateFile}):
			return true
		case hasAnyPrefix(line, []string{"diff --git ", "--- ", "@@ -"}):
			return false
		}
		text = rest
	}
	return false
}

// parseBegin reads what stands between the lines that begin and end it, or all if there
// are none. Several may follow each other.
func parseBegin(text string) ([]File, error) {
	p := beginParser{lines: diff.SplitLines(text)}
	if n := len(p.lines); n > 0 && !strings.HasSuffix(p.lines[n-1], "\n") {
		p.lines[n-1] += "\n"
	}
	p.unpad()
	err := p.begin()
	for err == nil && p.at < len(p.lines) {
		if p.word() == endPatch {
			err = p.begin()
		} else {
			err = p.file()
		}
	}
	return p.files, err
}

// unpad takes the blanks away that stand before the markers around all of it. Within a hunk a blank
// in front means that the line stays, so there a marker has none.
func (p *beginParser) unpad() {
	for i, line := range p.lines {
		if word := strings.Trim(line, blanks); word != "" {
			if word == beginPatch {
				p.lines[i] = strings.TrimLeft(line, blanks)
			}
			break
		}
	}
	for i := len(p.lines) - 1; i >= 0; i-- {
		if word := strings.Trim(p.lines[i], blanks); word != "" {
			if word == endPatch {
				p.lines[i] = strings.TrimLeft(p.lines[i], blanks)
			}
			return
		}
	}
}

// begin goes behind the next line that begins a patch, and passes over what means nothing.
// The first patch may have no such line.
func (p *beginParser) begin() error {
	first := p.at == 0
	for ; p.at < len(p.lines); p.at++ {
		switch line := p.lines[p.at]; {
		case strings.HasPrefix(line, beginPatch):
			p.crlf = strings.HasSuffix(line, "\r\n")
			p.at++
			return nil
		case first && hasAnyPrefix(line, []string{addFile, deleteFile, updateFile}):
			p.at = 0
			return nil
		case hasAnyPrefix(line, []string{addFile, deleteFile, updateFile, "diff --git ", "@@ -"}):
			return broken(p.at+1, "there is text after \"*** End Patch\"").WithHint(oneForm)
		}
	}
	return nil
}

const oneForm = "give one patch per call"

type beginParser struct {
	lines []string
	at    int
	next  int  // no line before it, from at on, has anything but blanks
	crlf  bool // lines end in carriage returns that are none of the files'
	files []File
}

// line is the next line, with its end.
func (p *beginParser) line() string {
	line := p.lines[p.at]
	if p.crlf && strings.HasSuffix(line, "\r\n") {
		return line[:len(line)-2] + "\n"
	}
	return line
}

// word is the next line without blanks at its end, "" at the end of all.
func (p *beginParser) word() string {
	if p.at >= len(p.lines) {
		return ""
	}
	return strings.TrimRight(p.lines[p.at], blanks)
}

// ends: the file's part of the patch is over.
func (p *beginParser) ends() bool {
	return p.at >= len(p.lines) || p.word() == endPatch || hasAnyPrefix(p.word(), []string{addFile, deleteFile, updateFile})
}

func (p *beginParser) file() error {
	word, start := strings.TrimLeft(p.word(), blanks), p.at+1
	var f *File
	if name, ok := cutMarker(word, addFile); ok {
		f = &File{Operation: Create, Old: name, New: name, Line: start}
	} else if name, ok := cutMarker(word, deleteFile); ok {
		f = &File{Operation: Delete, Old: name, New: name, Unseen: true, Line: start}
	} else if name, ok := cutMarker(word, updateFile); ok {
		f = &File{Operation: Change, Old: name, New: name, Line: start}
	}
	switch {
	case f == nil && word == "":
		p.at++
		return nil
	case f == nil:
		return broken(start, "%s is out of place", fault.Quote(clip(word))).
			WithHint("each file begins with a line \"*** Add File: path\", \"*** Update File: path\" or \"*** Delete File: path\"")
	case f.New == "":
		return broken(start, "it names no file")
	}
	p.at++
	f.Returns, f.InOrder = p.crlf, true
	var err error
	switch f.Operation {
	case Create:
		err = p.added(f)
	case Change:
		err = p.updated(f)
	}
	p.files = append(p.files, *f)
	return err
}

// cutMarker gives the name behind a marker, which may have more blanks around it.
func cutMarker(word, marker string) (name string, ok bool) {
	name, ok = strings.CutPrefix(word, marker)
	return strings.TrimLeft(name, blanks), ok
}

// added takes the lines of a new file.
func (p *beginParser) added(f *File) error {
	h := Hunk{Line: p.at + 1}
	for ; !p.ends(); p.at++ {
		line, ok := strings.CutPrefix(p.line(), "+")
		if !ok {
			if p.word() == "" && p.isLast() {
				continue
			}
			if hasAnyPrefix(strings.TrimLeft(p.word(), blanks), []string{addFile, deleteFile, updateFile}) {
				break
			}
			return broken(p.at+1, "a line of a new file must begin with \"+\", an empty one too")
		}
		h.Lines = append(h.Lines, diff.Line{Op: diff.Insert, Text: line})
	}
	if h.NewLines = len(h.Lines); h.NewLines > 0 {
		h.NewStart = 1
		f.Hunks = []Hunk{h}
	}
	return nil
}

// updated takes the hunks of a file.
func (p *beginParser) updated(f *File) error {
	if to, ok := strings.CutPrefix(strings.TrimLeft(p.word(), blanks), strings.TrimRight(moveTo, " ")); ok {
		if f.Operation, f.New = Rename, strings.TrimLeft(to, blanks); f.New == "" {
			return broken(p.at+1, "it does not name the file's new path")
		}
		p.at++
	}
	for !p.ends() {
		if p.word() == "" && p.isLast() {
			p.at++
			continue
		}
		h, err := p.hunk()
		if err != nil {
			return err
		}
		if h != nil {
			f.Hunks = append(f.Hunks, *h)
		}
	}
	if len(f.Hunks) == 0 && f.Operation == Change {
		return broken(f.Line, "nothing is changed in %s", fault.Quote(f.New)).
			WithHint("below \"*** Update File\" give hunks: lines that begin with \" \", \"-\" or \"+\", below a line \"@@\"")
	}
	return nil
}

// isLast: nothing but empty lines comes before the next file.
func (p *beginParser) isLast() bool {
	word := ""
	for p.next = max(p.next, p.at); p.next < len(p.lines); p.next++ {
		if word = strings.TrimRight(p.lines[p.next], blanks); word != "" {
			break
		}
	}
	return word == "" || word == endPatch || hasAnyPrefix(word, []string{addFile, deleteFile, updateFile})
}

// hunk takes a hunk with the "@@" lines above it.
func (p *beginParser) hunk() (*Hunk, error) {
	h := &Hunk{Unnumbered: true, Line: p.at + 1}
	for ; !p.ends() && strings.HasPrefix(p.word(), "@@"); p.at++ {
		if anchor := anchorOf(p.word()); anchor != "" {
			h.Anchors = append(h.Anchors, anchor)
		}
	}
	changes := 0
	for ; !p.ends() && !strings.HasPrefix(p.line(), "@@"); p.at++ {
		line := p.line()
		switch {
		case p.word() == endOfFile:
			h.AtEnd = true
			continue
		case h.AtEnd && p.word() == "":
			continue
		case h.AtEnd:
			return nil, broken(p.at+1, "there is text after \"*** End of File\"")
		case line == "\n":
			if p.isLast() {
				continue
			}
			h.Lines = append(h.Lines, diff.Line{Op: diff.Context, Text: line})
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "-"), strings.HasPrefix(line, "+"):
			if line[0] != ' ' {
				changes++
			}
			h.Lines = append(h.Lines, diff.Line{Op: diff.Op(line[0]), Text: line[1:]})
		case strings.HasPrefix(line, `\ No newline`) && len(h.Lines) > 0:
			last := &h.Lines[len(h.Lines)-1]
			last.Text = strings.TrimSuffix(last.Text, "\n")
		default:
			return nil, broken(p.at+1, "a line of a hunk must begin with \" \", \"-\" or \"+\"")
		}
	}
	if changes == 0 && len(h.Lines) > 0 {
		return nil, broken(h.Line, "this hunk changes nothing")
	}
	if changes == 0 {
		return nil, nil
	}
	h.OldLines, h.NewLines = len(h.Old()), len(h.New())
	return h, nil
}

// anchorOf is the line that an "@@" line names, "" if it names none. Some write the
// numbers of a unified diff there, which mean nothing here.
func anchorOf(word string) string {
	word = strings.TrimSpace(strings.TrimPrefix(word, "@@"))
	if _, _, err := counts("@@ " + word); err == nil {
		_, section, _ := strings.Cut(word, "@@")
		return strings.TrimSpace(section)
	}
	return strings.TrimSpace(strings.TrimSuffix(word, "@@"))
}

// findUnnumbered finds a hunk below the ones before it and below its anchors. Without
// an anchor its lines must be there once; an anchor that is there more than once must lead
// to one place.
func (a *applier) findUnnumbered(h Hunk, old []string) (int, Placed, string) {
	at, s, why := a.below(h, old, a.end)
	n := len(h.Anchors)
	switch {
	case why == reasonAbsent && n > 0 && strings.TrimSpace(old[0]) == h.Anchors[n-1]: // it may itself be the first line of the hunk
		h.Anchors = h.Anchors[:n-1]
		return a.findUnnumbered(h, old)
	case why == "" && n > 0 && a.isElsewhere(h, old, at, s):
		why = reasonAmbiguous
	case why == "" && n == 0 && a.overlaps(s.m, old):
		why = reasonAbove
	case why == reasonAbsent && len(a.all(&a.loose, old, 0, 1)) > 0:
		switch why = reasonAbove; {
		case h.AtEnd:
			why = reasonNotLast
		case n > 0:
			why = reasonNotBelow
		}
	}
	if why != "" {
		return -1, Placed{}, why
	}
	return at, a.placed(h, at, s), ""
}

// below is the place of an unnumbered hunk whose anchors are looked for from a line on.
func (a *applier) below(h Hunk, old []string, from int) (int, search, string) {
	for _, anchor := range h.Anchors {
		at := a.anchor(anchor, from)
		if at < 0 {
			return -1, search{}, reasonAnchor
		}
		from = at + 1
	}
	if len(old) == 0 {
		if len(h.Anchors) > 0 {
			return -1, search{}, reasonBare
		}
		return len(a.lines), search{m: &a.exact}, "" // to add at the end
	}
	for _, s := range []search{{m: &a.exact}, {m: &a.loose, leniency: upToBlanks}} {
		if s.m == &a.loose && allBlank(old) {
			continue
		}
		var found []int
		if h.AtEnd {
			if at := len(a.lines) - len(old); at >= from && a.isAt(s.m, at, s.m.pattern(old)) {
				found = []int{at}
			}
		} else {
			found = a.all(s.m, old, from, 2)
		}
		switch {
		case a.work < 0:
			return -1, s, reasonWork
		case len(found) > 1 && len(h.Anchors) == 0:
			return -1, s, reasonAmbiguous
		case len(found) > 0:
			return found[0], s, ""
		}
	}
	return -1, search{}, reasonAbsent
}

// overlaps: the lines of a hunk are there already from within the hunk before it on, which
// shares some of them. Those further down are hardly meant.
func (a *applier) overlaps(m *matching, old []string) bool {
	if len(a.made) == 0 {
		return false
	}
	want := m.pattern(old)
	for at := max(a.made[len(a.made)-1].start, a.end-len(old)+1); at < a.end; at++ {
		if a.isAtAnywhere(m, at, want) {
			return true
		}
	}
	return false
}

// isElsewhere: the first anchor is there again, and leads to another place as good.
func (a *applier) isElsewhere(h Hunk, old []string, at int, s search) bool {
	for from := a.end; ; {
		first := a.anchor(h.Anchors[0], from)
		if from = first + 1; first < 0 {
			return false
		}
		other, by, why := a.below(h, old, from)
		if why != "" || by.leniency != s.leniency {
			return false
		}
		if other != at {
			return true
		}
	}
}

// anchor is the first line from one on that is a text but for indentation.
func (a *applier) anchor(text string, from int) int {
	for i := from; i < len(a.lines); i++ {
		if a.work--; a.work < 0 {
			return -1
		}
		if strings.TrimSpace(a.lines[i]) == text {
			return i
		}
	}
	return -1
}
