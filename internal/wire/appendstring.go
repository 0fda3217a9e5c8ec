package wire

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
	hexDigit = "0123456789abcdef"
)

// AppendString appends s to dst as a JSON string. Control characters, quotes
// and backslashes are escaped, and so are U+2028 and U+2029, which end a line in
// JavaScript; invalid UTF-8 becomes U+FFFD. The characters < > & stay as they
// are: nothing here is read as HTML.
func AppendString(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+len(s)/16+2), '"')
	return append(appendEscaped(dst, s), '"')
}

// appendEscaped is AppendString without the quotes.
func appendEscaped(dst []byte, s string) []byte {
	start := 0 // of what is not copied yet
	for i := 0; ; {
		i += plainPrefix(s[i:])
		if i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			if short := shortEscape[c]; short != 0 {
				dst = append(dst, '\\', short)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hexDigit[c>>4], hexDigit[c&15])
			}
			i++
			start = i
			continue
		}
		escape, width := escapeRune(s[i:])
		if escape != "" {
			dst = append(dst, s[start:i]...)
			dst = append(dst, escape...)
			start = i + width
		}
		i += width
	}
	return append(dst, s[start:]...)
}

var shortEscape = [utf8.RuneSelf]byte{
	'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f',
}

// escapeRune says how the character at the start of s, which is not ASCII, is
// written ("" is as it is), and how many bytes of s it takes.
func escapeRune(s string) (escape string, width int) {
	r, width := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && width == 1:
		return `\ufffd`, 1
	case r == '\u2028':
		return `\u2028`, width
	case r == '\u2029':
		return `\u2029`, width
	}
	return "", width
}

// plainPrefix counts the bytes at the start of s that a JSON string can hold as
// they are: printable ASCII without quote and backslash. It looks at eight
// bytes a step.
func plainPrefix(s string) int {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	i := 0
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		if mask := specials(word) | word&highBits; mask != 0 {
			return i + bits.TrailingZeros64(mask)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// specials marks, by its high bit, each byte of word that is a quote, a
// backslash or a control character. A borrow can mark a byte above a true mark
// wrongly, so only the lowest mark counts. Bytes over 0x7f are never marked.
func specials(word uint64) uint64 {
	quote := word ^ lowBits*'"'
	slash := word ^ lowBits*'\\'
	return ((quote - lowBits) | (slash - lowBits) | (word - lowBits*' ')) &^ word & highBits
}
