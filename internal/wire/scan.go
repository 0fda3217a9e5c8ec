package wire

import (
	"encoding/binary"
	"math/bits"
)

// What a scan can find wrong, as negative offsets.
const (
	syntaxError = -1
	depthError  = -2
)

// scanner checks JSON strictly (RFC 8259) in one pass and without recursion,
// so that hostile nesting costs a refusal and no stack. It copies nothing.
type scanner struct {
	text     []byte
	maxDepth int
	// kinds has one bit for each open bracket, set for objects. It is kept
	// between values.
	kinds []uint64
}

func (s *scanner) space(i int) int {
	for i < len(s.text) {
		switch s.text[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

func (s *scanner) at(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

// value scans the value at i, which is not a blank, with depth brackets open
// around it, and returns the offset after it or an error.
func (s *scanner) value(i, depth int) int {
	base := depth
	for {
		switch c := s.at(i); c {
		case '{', '[':
			if depth++; depth > s.maxDepth {
				return depthError
			}
			s.open(depth, c == '{')
			i = s.space(i + 1)
			if s.at(i) == c+2 { // the closing bracket: '{' + 2 == '}', '[' + 2 == ']'
				depth--
				i++
				break
			}
			if c == '{' {
				i = s.key(i)
			}
			if i < 0 {
				return i
			}
			continue
		case '"':
			i = s.str(i)
		default:
			i = s.scalar(i)
		}
		if i < 0 {
			return i
		}
		if i, depth = s.after(i, depth, base); depth == base || i < 0 {
			return i
		}
	}
}

// after goes from the end of a value to the start of the next one, closing the
// brackets between them down to base.
func (s *scanner) after(i, depth, base int) (next, newDepth int) {
	for depth > base {
		object := s.isObject(depth)
		i = s.space(i)
		switch c := s.at(i); {
		case c == ',':
			i = s.space(i + 1)
			if object {
				i = s.key(i)
			}
			return i, depth
		case c == '}' && object, c == ']' && !object:
			depth--
			i++
		default:
			return syntaxError, depth
		}
	}
	return i, depth
}

// key scans a member's name and colon and returns where its value starts.
func (s *scanner) key(i int) int {
	if i = s.str(i); i < 0 {
		return i
	}
	if i = s.space(i); s.at(i) != ':' {
		return syntaxError
	}
	return s.space(i + 1)
}

func (s *scanner) open(depth int, object bool) {
	word, bit := depth/64, uint64(1)<<(depth%64)
	for word >= len(s.kinds) {
		s.kinds = append(s.kinds, 0)
	}
	if object {
		s.kinds[word] |= bit
	} else {
		s.kinds[word] &^= bit
	}
}

func (s *scanner) isObject(depth int) bool {
	return s.kinds[depth/64]&(1<<(depth%64)) != 0
}

// str scans a string. UTF-8 is not its business: see codec.
func (s *scanner) str(i int) int {
	if s.at(i) != '"' {
		return syntaxError
	}
	text := s.text
	for i++; ; {
		for i+8 <= len(text) {
			mask := specials(binary.LittleEndian.Uint64(text[i:]))
			if mask != 0 {
				i += bits.TrailingZeros64(mask) / 8
				break
			}
			i += 8
		}
		if i >= len(text) {
			return syntaxError
		}
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			if i = s.escape(i); i < 0 {
				return i
			}
		case c < ' ':
			return syntaxError
		default:
			i++
		}
	}
}

func (s *scanner) escape(i int) int {
	switch s.at(i + 1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if !isHex(s.at(k)) {
				return syntaxError
			}
		}
		return i + 6
	}
	return syntaxError
}

func (s *scanner) scalar(i int) int {
	switch s.at(i) {
	case 't':
		return s.word(i, "true")
	case 'f':
		return s.word(i, "false")
	case 'n':
		return s.word(i, "null")
	}
	return s.number(i)
}

func (s *scanner) word(i int, word string) int {
	if len(s.text)-i < len(word) || string(s.text[i:i+len(word)]) != word {
		return syntaxError
	}
	return i + len(word)
}

func (s *scanner) number(i int) int {
	if s.at(i) == '-' {
		i++
	}
	switch c := s.at(i); {
	case c == '0':
		i++
	case isDigit(c):
		i = s.digits(i)
	default:
		return syntaxError
	}
	if s.at(i) == '.' {
		if i = s.digits(i + 1); i < 0 {
			return i
		}
	}
	if c := s.at(i); c == 'e' || c == 'E' {
		i++
		if c := s.at(i); c == '+' || c == '-' {
			i++
		}
		return s.digits(i)
	}
	return i
}

// digits scans at least one.
func (s *scanner) digits(i int) int {
	if !isDigit(s.at(i)) {
		return syntaxError
	}
	for isDigit(s.at(i)) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}
