package code

import (
	"errors"
	"strings"
	"unicode"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
)

// codeFile is a file that a language server is asked about, by its text in the snapshot.
type codeFile struct{ *document.File }

func readCodeFile(in tools.Input, name string) (*codeFile, error) {
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
		return document.Position{}, fault.Invalid("%s has no line %d: it has %s, counted from 0", fault.Quote(f.Path.String()), line, tools.Count(lines, "line")).
			With("lines", lines).WithHint("give a line from 0 to %d", lines-1)
	}
	if units := int(document.Units(text)); character > units {
		return document.Position{}, fault.Invalid("line %d of %s, counted from 0, has no character %d: it has %s",
			line, fault.Quote(f.Path.String()), character, tools.Count(units, "UTF-16 code unit")).
			With("line", fault.Clip(text, tools.LongLine)).WithHint("the line is %s", fault.Quote(fault.Clip(text, tools.LongLine)))
	}
	return document.Position{Line: uint32(line), Character: uint32(character)}, nil
}

// at names a place in the way of compilers, but counted from 0.
func (f *codeFile) at(p document.Position) string {
	return tools.PlaceIn(fault.Quote(f.Path.String()), p)
}

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
	return fault.Clip(line[from:to], tools.LongLine)
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// sourceLines reads the lines that results show, each file once.
type sourceLines struct {
	in    tools.Input
	known map[workspace.Path][]string
}

func newSourceLines(in tools.Input) sourceLines {
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
	return fault.Clip(lines[n], tools.LongLine)
}

func (s sourceLines) read(p workspace.Path) (string, error) {
	if err := s.in.CheckReadable(p); err != nil {
		return "", err
	}
	return s.in.Snapshot.ReadText(p)
}
