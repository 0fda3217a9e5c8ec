package lspbridge

import (
	"strings"
	"unicode/utf8"

	"pillion/workspace/document"
)

// encoding is what a server counts characters in. Ours are always UTF-16 code units.
type encoding string

const (
	utf8Units encoding = "utf-8"
	utf16     encoding = "utf-16"
	utf32     encoding = "utf-32"
)

// units is how many an encoding counts for a character.
func (e encoding) units(r rune) uint32 {
	switch e {
	case utf8Units:
		return uint32(max(utf8.RuneLen(r), 1))
	case utf32:
		return 1
	}
	if r > 0xffff {
		return 2
	}
	return 1
}

// theirs is our position in text as the server counts it. One past the end of a line
// becomes the end of the line: there are servers that fail where LSP has them clamp.
func (e encoding) theirs(text string, at document.Position) document.Position {
	return convert(text, at, utf16, e)
}

// ours is the server's position in text as we count.
func (e encoding) ours(text string, at document.Position) document.Position {
	if e == utf16 {
		return at
	}
	return convert(text, at, e, utf16)
}

func (e encoding) oursRange(text string, r document.Range) document.Range {
	return document.Range{Start: e.ours(text, r.Start), End: e.ours(text, r.End)}
}

func convert(text string, at document.Position, from, to encoding) document.Position {
	start := document.Offset(text, document.Position{Line: at.Line})
	line := text[start:]
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	var counted, out uint32
	for _, r := range line {
		if counted >= at.Character {
			break
		}
		counted += from.units(r)
		out += to.units(r)
	}
	return document.Position{Line: at.Line, Character: out}
}
