package terminal

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"pillion/internal/fault"
)

// Style is how text is laid out for one output: in colour, or not, and how wide and high.
type Style struct {
	Colour bool
	Width  int // columns, 0 where lines may be of any length
	Height int // rows, 0 where nothing is moved out of sight
}

// StyleOf is the style for a file: plain unless it is a terminal, and without
// colours where NO_COLOR is set (https://no-color.org) or the terminal is dumb.
func StyleOf(f *os.File) Style {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return Style{}
	}
	s := Style{Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", Width: 80, Height: 24}
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		s.Width, s.Height = width, height
	}
	return s
}

func (s Style) paint(code, text string) string {
	if !s.Colour || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + unpainted
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
	unpainted = "\x1b[0m"
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

// Wrap breaks text into rows of the screen, between words where that fills half a row: the first stands after first,
// the others after rest. A terminal would go on with what is longer at its edge, where only what is ours stands.
func (s Style) Wrap(first, rest, text string) string {
	if s.Width == 0 {
		return first + strings.ReplaceAll(text, "\n", "\n"+rest)
	}
	if _, used := fits(rest, s.Width); used > s.Width/2 {
		rest = "  "
	}
	var rows []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\t", "    "), "\n") {
		for more := true; more; {
			_, used := fits(first, s.Width)
			at, _ := fits(line, max(s.Width-used, 2)) // for a character that is wide
			row := line[:at]
			if more = at < len(line); more {
				row = strings.TrimSuffix(row, " ")
				line = line[at:]
				if paint := strings.LastIndex(row, "\x1b["); paint >= 0 && !strings.HasPrefix(row[paint:], unpainted) {
					line = row[paint:paint+ownSequence(row[paint:])] + line
					row += unpainted
				}
			}
			rows, first = append(rows, first+row), rest
		}
	}
	return strings.Join(rows, "\n")
}

// Behind is Wrap for text that begins where so many columns are printed already; its other rows begin there, too.
func (s Style) Behind(columns int, text string) string {
	blanks := strings.Repeat(" ", columns)
	return s.Wrap(blanks, blanks, text)[columns:]
}

// fits is how much of a line so many columns hold, and how many of them it takes.
func fits(line string, room int) (at, used int) {
	for space := 0; at < len(line); {
		if own := ownSequence(line[at:]); own > 0 {
			at += own
			continue
		}
		r, size := utf8.DecodeRuneInString(line[at:])
		switch more := used + columns(r); {
		case more <= room:
			used = more
		case r == ' ':
			return at + size, used // which is left out
		case space > at/2:
			return space, used
		default:
			return at, used
		}
		if at += size; r == ' ' {
			space = at
		}
	}
	return at, used
}

// columns are what a character takes at most: terminals differ in which symbols they show wide, and in how they combine.
// The letters below the first wide ones are wide only where somebody set a terminal to it.
func columns(r rune) int {
	if r < 0x80 || r < 0x1100 && unicode.In(r, unicode.Letter, unicode.Mark) {
		return 1
	}
	return 2
}
