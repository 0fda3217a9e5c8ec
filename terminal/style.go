package terminal

import (
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"pillion/internal/fault"
)

// Style is how text is laid out for one output: in colour, or not, and how wide.
type Style struct {
	Colour bool
	Width  int // columns, 0 where lines may be of any length
}

// StyleOf is the style for a file: plain unless it is a terminal, and without
// colours where NO_COLOR is set (https://no-color.org) or the terminal is dumb.
func StyleOf(f *os.File) Style {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return Style{}
	}
	s := Style{Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", Width: 80}
	if width, _, err := term.GetSize(fd); err == nil && width > 0 {
		s.Width = width
	}
	return s
}

func (s Style) paint(code, text string) string {
	if !s.Colour || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold, and the colours below, leave text alone where there are none.
func (s Style) Bold(text string) string { return s.paint(bold, text) }

// The colours and weights of a terminal (ECMA-48, Select Graphic Rendition).
const (
	bold      = "1"
	dim       = "2"
	red       = "31"
	green     = "32"
	yellow    = "33"
	cyan      = "36"
	revealed  = "7;31"
	underline = "4;" // and one of the others
)

// painted are all that Style paints with.
var painted = map[string]bool{
	"0": true, bold: true, dim: true, red: true, green: true, yellow: true, cyan: true, revealed: true,
	underline: true, underline + bold: true, underline + dim: true, underline + red: true, underline + green: true, underline + cyan: true,
}

// Red is for what is taken away, refused or wrong.
func (s Style) Red(text string) string { return s.paint(red, text) }

// Green is for what is added or done.
func (s Style) Green(text string) string { return s.paint(green, text) }

// Yellow is for what wants attention.
func (s Style) Yellow(text string) string { return s.paint(yellow, text) }

// Cyan is for signposts.
func (s Style) Cyan(text string) string { return s.paint(cyan, text) }

// Dim is for what need not be read.
func (s Style) Dim(text string) string { return s.paint(dim, text) }

// reveal makes everything invisible in text visible. Where there are colours it
// stands out, so that a \u202e that was made visible differs from one that is
// written in the file.
func (s Style) reveal(text string, paint func(string) string) string {
	if fault.Escape(text) == text {
		return paint(text)
	}
	var out strings.Builder
	plain := 0
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		shown := fault.Escape(text[i : i+size])
		if shown != text[i:i+size] {
			out.WriteString(paint(text[plain:i]) + s.paint(revealed, shown))
			plain = i + size
		}
		i += size
	}
	out.WriteString(paint(text[plain:]))
	return out.String()
}

// the narrowest column that text is wrapped to
const narrowest = 20

// setIn sets somebody's words in: its first line stands after first, the others after rest, which both take so many columns.
// No line is longer than the screen, which would go on with it at its edge, where only what is ours stands.
func (s Style) setIn(first, rest string, columns int, text string) string {
	room := max(s.Width-columns, 1)
	if s.Width > 0 {
		room = max(room, 2) // for a character that is wide
	}
	out := first
	for i, line := range strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n") {
		if i > 0 {
			out += "\n" + rest
		}
		for {
			fits, space, used := 0, 0, 0 // where the line can be broken, and between words
			for at, r := range line {
				if used++; r >= 0x80 {
					used++ // it may be wide
				}
				if used > room && s.Width > 0 {
					break
				}
				if fits = at + utf8.RuneLen(r); r == ' ' {
					space = fits
				}
			}
			if fits == len(line) {
				break
			}
			if space == 0 {
				space = fits
			}
			out, line = out+line[:space]+"\n"+rest, line[space:]
		}
		out += line
	}
	return out
}

// Wrap breaks prose between words. Its first line stands after first, the others
// after rest, which holds no colours.
func (s Style) Wrap(first, rest, text string) string {
	room := s.Width - utf8.RuneCountInString(rest)
	if s.Width == 0 || room < narrowest {
		return first + strings.ReplaceAll(text, "\n", "\n"+rest)
	}
	var out strings.Builder
	out.WriteString(first)
	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteString("\n" + rest)
		}
		used := 0
		for j, word := range strings.Split(paragraph, " ") {
			size := utf8.RuneCountInString(word)
			switch {
			case j == 0:
			case used+1+size <= room:
				out.WriteByte(' ')
				used++
			default:
				out.WriteString("\n" + rest)
				used = 0
			}
			out.WriteString(word)
			used += size
		}
	}
	return out.String()
}
