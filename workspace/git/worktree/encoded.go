package worktree

import (
	"bytes"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// encoded is the text of a file that the work tree has in another encoding, as git would
// store it: in UTF-8. What is no text of that encoding stays as it is, as it does when
// git compares it.
func encoded(data []byte, name string) []byte {
	if len(data) == 0 || name == AttrUnspecified || name == AttrSet || name == AttrUnset {
		return data
	}
	e, mark := treeEncoding(strings.ToUpper(name), data)
	if e == nil {
		return data
	}
	text, err := e.NewDecoder().Bytes(data[mark:])
	if err != nil {
		return data
	}
	if again, err := e.NewEncoder().Bytes(text); err != nil || !bytes.Equal(again, data[mark:]) {
		return data
	}
	return text
}

// The marks at the beginning of a text that say how it is encoded.
const (
	mark16BE, mark16LE = "\xfe\xff", "\xff\xfe"
	mark32BE, mark32LE = "\x00\x00\xfe\xff", "\xff\xfe\x00\x00"
)

// treeEncoding is the encoding of that name, and the length of the mark that data begins
// with. Git wants a mark where the name leaves the order of the bytes open, and none
// where it says it.
func treeEncoding(name string, data []byte) (encoding.Encoding, int) {
	big16, little16 := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	big32, little32 := utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	has := func(mark string) bool { return bytes.HasPrefix(data, []byte(mark)) }
	wide, known := strings.CutPrefix(strings.Replace(name, "UTF-", "UTF", 1), "UTF")
	switch {
	case !known:
		return EncodingOf(name), 0
	case (wide == "16" || wide == "16LE-BOM") && has(mark16BE):
		return big16, len(mark16BE)
	case (wide == "16" || wide == "16LE-BOM") && has(mark16LE):
		return little16, len(mark16LE)
	case wide == "32" && has(mark32BE):
		return big32, len(mark32BE)
	case wide == "32" && has(mark32LE):
		return little32, len(mark32LE)
	case strings.HasPrefix(wide, "16") && (has(mark16BE) || has(mark16LE)), strings.HasPrefix(wide, "32") && (has(mark32BE) || has(mark32LE)):
		return nil, 0
	}
	switch wide {
	case "16BE":
		return big16, 0
	case "16LE", "16LE-BOM":
		return little16, 0
	case "32BE":
		return big32, 0
	case "32LE":
		return little32, 0
	}
	return nil, 0
}

// EncodingOf is nil for UTF-8 and for what nobody knows.
func EncodingOf(name string) encoding.Encoding {
	switch strings.ToLower(name) {
	case "", "utf-8", "utf8":
		return nil
	}
	for _, index := range []*ianaindex.Index{ianaindex.IANA, ianaindex.MIME} {
		if e, err := index.Encoding(name); err == nil && e != nil {
			return e
		}
	}
	if e, err := htmlindex.Get(name); err == nil { // cp1252 and the like
		return e
	}
	return nil
}
