package lspbridge

import (
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"pillion/workspace/document"
)

// encoding is what a server counts characters in. Ours are always UTF-16 code units.
type encoding protocol.PositionEncodingKind

const (
	utf8Units = encoding(protocol.PositionEncodingKindUTF8)
	utf16     = encoding(protocol.PositionEncodingKindUTF16)
	utf32     = encoding(protocol.PositionEncodingKindUTF32)
)

// known says if we can count so.
func (e encoding) known() bool { return e == utf8Units || e == utf16 || e == utf32 }

// units is how many an encoding counts for a character.
func (e encoding) units(r rune) uint32 {
	switch {
	case e == utf8Units:
		return uint32(max(utf8.RuneLen(r), 1))
	case e == utf16 && r > 0xffff:
		return 2
	}
	return 1
}

// theirs is our position in text as the server counts it. One past the end becomes the
// end: there are servers that fail where LSP has them do that.
func (e encoding) theirs(text string, at document.Position) document.Position {
	return convert(text, at, utf16, e)
}

// oursRange is the server's range in text as we count.
func (e encoding) oursRange(text string, r document.Range) document.Range {
	if e == utf16 {
		return r
	}
	return document.Range{Start: convert(text, r.Start, e, utf16), End: convert(text, r.End, e, utf16)}
}

// convert counts a position otherwise.
func convert(text string, at document.Position, from, to encoding) document.Position {
	rest, line := text, uint32(0)
	for ; line < at.Line; line++ {
		n := document.LineBreak(rest)
		if n < 0 { // past the end
			return document.Position{Line: line, Character: count(rest, len(rest), to)}
		}
		rest = rest[n:]
	}
	if n := document.LineBreak(rest); n >= 0 {
		rest = strings.TrimRight(rest[:n], "\r\n")
	}
	var counted uint32
	for i, r := range rest {
		if counted >= at.Character {
			return document.Position{Line: line, Character: count(rest, i, to)}
		}
		counted += from.units(r)
	}
	return document.Position{Line: line, Character: count(rest, len(rest), to)}
}

// count is how many units the first n bytes of a line have.
func count(line string, n int, e encoding) (units uint32) {
	for _, r := range line[:n] {
		units += e.units(r)
	}
	return units
}

// position is the place of a byte offset in a text whose lines end with a line feed.
func (e encoding) position(text string, offset int) document.Position {
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	return document.Position{
		Line:      uint32(strings.Count(text[:start], "\n")),
		Character: count(text[start:], offset-start, e),
	}
}
