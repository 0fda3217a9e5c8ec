package tools

import (
	"errors"
	"strings"
	"unicode"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
)

// codeFile is a file that a language server is asked about, by its text in the snapshot.
type codeFile struct{ *document.File }

func (in Input) codeFile(name string) (*codeFile, error) {
	p, err := in.Snapshot.Workspace().Resolve(name)
	if err != nil {
		return nil, err
	}
	f, err := in.Snapshot.Read(p, "")
	if errors.Is(err, fault.New(fault.FileTooLarge, "")) {
		return nil, fault.From(err).WithHint("the file is too large for language servers; use search_in_project")
	}
	if errors.Is(err, fault.New(fault.EncodingError, "")) {
		return nil, fault.From(err).WithHint("language servers support only UTF-8; the user can save the file as UTF-8, or open it in the editor with its encoding")
	}
	if err != nil {
		return nil, err
	}
	return &codeFile{f}, nil
}

// position checks what an agent gives as a place. A wrong one is told with what is there,
// since many count from 1.
func (f *codeFile) position(line, character int) (document.Position, error) {
	text, ok := document.Line(f.Text, line)
	if !ok {
		lines := len(document.Lines(f.Text))
		return document.Position{}, invalid("%s has no line %d: it has %s, counted from 0", fault.Quote(f.Path.String()), line, count(lines, "line")).
			With("lines", lines).WithHint("give a line from 0 to %d", lines-1)
	}
	if units := int(document.Units(text)); character > units {
		return document.Position{}, invalid("line %d of %s, counted from 0, has no character %d: it has %s",
			line, fault.Quote(f.Path.String()), character, count(units, "UTF-16 code unit")).
			With("line", fault.Clip(text, longLine)).WithHint("the line is %s", fault.Quote(fault.Clip(text, longLine)))
	}
	return document.Position{Line: uint32(line), Character: uint32(character)}, nil
}

// longLine is how much of a line is shown.
const longLine = 200

// at names a place in the way of compilers, but counted from 0.
func (f *codeFile) at(p document.Position) string { return placeIn(fault.Quote(f.Path.String()), p) }

// line is the line of a place, without its end.
func (f *codeFile) line(p document.Position) string {
	line, _ := document.Line(f.Text, int(p.Line))
	return line
}

// word is the name that stands at a place, "" if none does.
func (f *codeFile) word(p document.Position) string {
	line := f.line(p)
	at := document.Offset(line, document.Position{Character: p.Character})
	from := len(strings.TrimRightFunc(line[:at], inName))
	to := at + len(line[at:]) - len(strings.TrimLeftFunc(line[at:], inName))
	return fault.Clip(line[from:to], longLine)
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// sourceLines reads the lines that results show, each file once.
type sourceLines struct {
	in    Input
	known map[workspace.Path][]string
}

func (in Input) sourceLines() sourceLines {
	return sourceLines{in, map[workspace.Path][]string{}}
}

// line is the text of a line, "" where it cannot be shown: of a file that looks like a
// secret and that this session has not read, of one that is no text.
func (s sourceLines) line(p workspace.Path, n uint32) string {
	if p.IsZero() {
		return ""
	}
	lines, read := s.known[p]
	if !read {
		if text, err := s.read(p); err == nil {
			lines = document.Lines(text)
		}
		s.known[p] = lines
	}
	if int(n) >= len(lines) {
		return ""
	}
	return fault.Clip(lines[n], longLine)
}

func (s sourceLines) read(p workspace.Path) (string, error) {
	if err := s.in.readable(p); err != nil {
		return "", err
	}
	return s.in.Snapshot.ReadText(p)
}

// readable says whether a file's text may be shown that nobody named: not that of one
// which looks like a secret and which this session has not read.
func (in Input) readable(p workspace.Path) error {
	if !isSecret(p) {
		return nil
	}
	if _, known := seenVersion(in.Session, p); known {
		return nil
	}
	return fault.New(fault.PermissionDenied, "%s looks like a file with secrets", fault.Quote(p.String())).
		WithHint("read_file asks the user")
}
