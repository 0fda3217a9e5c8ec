package patch

import (
	"slices"
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
		case line == beginPatch, hasAnyPrefix(line, fileMarkers):
			return true
		case hasAnyPrefix(line, []string{"diff --git ", "--- ", "@@ -"}):
			return false
		}
		text = rest
	}
	return false
}

// beginParser reads what stands between the lines that begin and end it, or all if there
// are none. Several may follow each other.
type beginParser struct {
	lines
	next  int // no line before it, from at on, has anything but blanks
	files []File
}

func parseBegin(text string) ([]File, error) {
	p := beginParser{lines: newLines(text)}
	// Blanks may stand before the markers around all of it. Within a hunk a blank in front
	// means that the line stays, so there a marker has none.
	isWord := func(line string) bool { return strings.Trim(line, blanks) != "" }
	if i := slices.IndexFunc(p.all, isWord); strings.Trim(p.all[i], blanks) == beginPatch {
		p.all[i] = strings.TrimLeft(p.all[i], blanks)
	}
	for i, line := range slices.Backward(p.all) {
		if isWord(line) {
			if strings.Trim(line, blanks) == endPatch {
				p.all[i] = strings.TrimLeft(line, blanks)
			}
			break
		}
	}
	err := p.begin()
	for err == nil && p.at < len(p.all) {
		if p.at > 0 && p.word() == endPatch {
			err = p.begin()
		} else {
			err = p.file()
		}
	}
	return p.files, err
}

// begin goes behind the next line that begins a patch, and passes over what means nothing.
// The first patch may have no such line.
func (p *beginParser) begin() error {
	first := p.at == 0
	for ; p.at < len(p.all); p.at++ {
		switch line := p.all[p.at]; {
		case strings.HasPrefix(line, beginPatch):
			p.crlf = strings.HasSuffix(line, "\r\n")
			p.at++
			return nil
		case first && hasAnyPrefix(line, fileMarkers):
			p.at = 0
			return nil
		case hasAnyPrefix(line, []string{addFile, deleteFile, updateFile, "diff --git ", "@@ -"}):
			return broken(p.at+1, "there is text after \"*** End Patch\"").WithHint(oneForm)
		}
	}
	return nil
}

var fileMarkers = []string{addFile, deleteFile, updateFile}

const oneForm = "give one patch per call"

// word is the next line without blanks at its end, "" at the end of all.
func (p *beginParser) word() string {
	return strings.TrimRight(p.line(p.at), blanks)
}

// ends: the file's part of the patch is over.
func (p *beginParser) ends() bool {
	return p.at >= len(p.all) || p.word() == endPatch || hasAnyPrefix(p.word(), fileMarkers)
}

func (p *beginParser) file() error {
	word, start := strings.TrimLeft(p.word(), blanks), p.at+1
	var f *File
	for marker, operation := range map[string]Operation{addFile: Create, deleteFile: Delete, updateFile: Change} {
		if name, ok := strings.CutPrefix(word, marker); ok {
			name = strings.TrimLeft(name, blanks)
			f = &File{Operation: operation, Old: name, New: name, Unseen: operation == Delete, Returns: p.crlf, InOrder: true, Line: start}
		}
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

// added takes the lines of a new file.
func (p *beginParser) added(f *File) error {
	h := Hunk{Line: p.at + 1}
	for ; !p.ends(); p.at++ {
		line, ok := strings.CutPrefix(p.line(p.at), "+")
		if !ok {
			if p.word() == "" && p.isLast() {
				continue
			}
			if hasAnyPrefix(strings.TrimLeft(p.word(), blanks), fileMarkers) {
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
	for p.next = max(p.next, p.at); p.next < len(p.all); p.next++ {
		if word = strings.TrimRight(p.all[p.next], blanks); word != "" {
			break
		}
	}
	return word == "" || word == endPatch || hasAnyPrefix(word, fileMarkers)
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
	for ; !p.ends() && !strings.HasPrefix(p.line(p.at), "@@"); p.at++ {
		line := p.line(p.at)
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
			h.unend()
		default:
			return nil, broken(p.at+1, "a line of a hunk must begin with \" \", \"-\" or \"+\"")
		}
	}
	switch {
	case len(h.Lines) == 0:
		return nil, nil
	case changes == 0:
		return nil, broken(h.Line, "this hunk changes nothing")
	}
	h.OldLines, h.NewLines = len(h.Old()), len(h.New())
	return h, nil
}

// anchorOf is the line that an "@@" line names, "" if it names none. Some write the
// numbers of a unified diff there, which mean nothing here.
func anchorOf(word string) string {
	word = strings.TrimSpace(strings.TrimPrefix(word, "@@"))
	if h, err := parseHeader("@@ " + word); err == nil {
		return h.Section
	}
	return strings.TrimSpace(strings.TrimSuffix(word, "@@"))
}
