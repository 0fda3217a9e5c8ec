package document

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"

	"pillion/internal/fault"
)

// Encoding is the canonical name of a character encoding: "utf-8", "utf-16le",
// "utf-16be", or a label of the WHATWG Encoding Standard such as "windows-1252".
type Encoding string

// UTF8 is what a file is when nothing says otherwise.
const UTF8 Encoding = "utf-8"

// Binary is no encoding: the text is the bytes as they stand, and nobody is shown it. Only
// who asks for it gets it.
const Binary Encoding = "binary"

const (
	utf16LE Encoding = "utf-16le"
	utf16BE Encoding = "utf-16be"

	// ascii is no other name of windows-1252 here, as it is to browsers: who asks for it
	// wants nothing else in the file.
	ascii Encoding = "us-ascii"
)

var boms = []struct {
	encoding Encoding
	mark     string
}{
	{UTF8, "\xef\xbb\xbf"},
	{utf16LE, "\xff\xfe"},
	{utf16BE, "\xfe\xff"},
}

// codePages are what editors offer beyond the WHATWG Encoding Standard.
var codePages = map[Encoding]encoding.Encoding{
	"ibm437": charmap.CodePage437, "ibm850": charmap.CodePage850, "ibm852": charmap.CodePage852, "ibm865": charmap.CodePage865,
}

// LookupEncoding finds an encoding by any of its usual names, as agents and
// editors spell them: "UTF-8", "utf8bom", "windows1252", "latin-1".
func LookupEncoding(name string) (Encoding, error) {
	plain := strings.ToLower(strings.TrimSpace(name))
	folded := fold(name)
	switch folded {
	case "utf8", "utf8bom":
		return UTF8, nil
	case "utf16le":
		return utf16LE, nil
	case "utf16be":
		return utf16BE, nil
	case "ascii", "usascii":
		return ascii, nil
	}
	if page := Encoding(strings.Replace(folded, "cp", "ibm", 1)); codePages[page] != nil {
		return page, nil
	}
	for _, candidate := range []string{plain, editorSpelling(folded)} {
		if e, err := htmlindex.Get(candidate); err == nil {
			if canonical, err := htmlindex.Name(e); err == nil {
				return Encoding(canonical), nil
			}
		}
	}
	return "", fault.New(fault.EncodingError, "unknown encoding %s", fault.Quote(name)).
		WithHint("use a name such as utf-8, utf-16le, windows-1252, iso-8859-15 or shift_jis")
}

// fold leaves out what the spellings of a name differ in.
func fold(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(strings.TrimSpace(name)))
}

var editorNames = map[string]string{
	"shiftjis": "shift_jis", "koi8r": "koi8-r", "koi8u": "koi8-u", "eucjp": "euc-jp", "euckr": "euc-kr",
	"big5hkscs": "big5-hkscs", "cp950": "big5", "macroman": "macintosh",
}

// editorSpelling puts back the dashes that VS Code leaves out of its names.
func editorSpelling(folded string) string {
	if name := editorNames[folded]; name != "" {
		return name
	}
	for _, family := range []string{"windows", "iso8859"} {
		if rest, ok := strings.CutPrefix(folded, family); ok && rest != "" {
			return strings.Replace(family, "iso8859", "iso-8859", 1) + "-" + rest
		}
	}
	return folded
}

func (e Encoding) codec() (encoding.Encoding, error) {
	switch e {
	case utf16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case utf16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	case ascii:
		return ianaindex.MIME.Encoding(string(ascii))
	}
	if page := codePages[e]; page != nil {
		return page, nil
	}
	return htmlindex.Get(string(e))
}

// Content is decoded text together with what it takes to write it back.
type Content struct {
	Text     string
	Encoding Encoding
	BOM      bool
}

// Decode reads data in the given encoding; an empty one means what a byte order
// mark says, else UTF-8. It fails with BINARY_FILE for what is not text, and with
// ENCODING_ERROR when decoding would lose bytes. The data is the Content's own
// afterwards: it must not be changed.
func Decode(data []byte, want Encoding) (Content, error) {
	enc, mark := Marked(data, want)
	c, err := DecodePart(data[mark:], enc)
	c.BOM = mark > 0
	return c, err
}

// DecodePart is Decode for a piece of a file: a byte order mark is a character
// like others.
func DecodePart(data []byte, enc Encoding) (Content, error) {
	c := Content{Encoding: enc}
	switch enc {
	case UTF8:
		return decodeUTF8(c, data)
	case Binary:
		c.Text = string(data)
		return c, nil
	}
	return decodeLegacy(c, data)
}

// Marked tells the encoding of a file that begins with head and was asked for in
// want, "" for what it says itself, and how long its byte order mark is.
func Marked(head []byte, want Encoding) (enc Encoding, mark int) {
	for _, b := range boms {
		if bytes.HasPrefix(head, []byte(b.mark)) && want.admits(b.encoding) {
			return b.encoding, len(b.mark)
		}
	}
	if want == "" {
		return UTF8, 0
	}
	return want, 0
}

// admits reports whether a file may turn out to be of another encoding by its
// mark: "utf-16" alone does not say which of the two.
func (e Encoding) admits(marked Encoding) bool {
	return e == "" || e == marked || e.isUTF16() && marked.isUTF16()
}

// IsStateful: all of its bytes are ASCII, whatever they say.
func (e Encoding) IsStateful() bool { return e == "iso-2022-jp" }

func (e Encoding) isUTF16() bool { return e == utf16LE || e == utf16BE }

// IsUTF16 says whether characters are spelled in pairs of bytes, and which comes first.
func (e Encoding) IsUTF16() (is, bigEndian bool) { return e.isUTF16(), e == utf16BE }

func decodeUTF8(c Content, data []byte) (Content, error) {
	switch {
	case looksBinary(data):
		return c, binary(data)
	case !utf8.Valid(data):
		at := invalidAt(data)
		return c, fault.New(fault.EncodingError, "the file is not UTF-8: line %d cannot be decoded (byte %d, %#x)", lineOf(data[:at]), at, data[at]).
			WithHint("%s", HintAt(data))
	}
	c.Text = unsafe.String(unsafe.SliceData(data), len(data)) // a file may be large
	return c, nil
}

func lineOf(before []byte) int { return 1 + bytes.Count(before, []byte("\n")) }

func looksBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffLength)], 0) >= 0
}

func binary(data []byte) error {
	err := fault.New(fault.BinaryFile, "the file is binary, not text")
	if guess := guessed(data); guess.isUTF16() {
		return err.WithHint("if it is text after all, give encoding \"%s\", which is a guess; else use run_command with a program for its format", guess)
	}
	return err.WithHint("use run_command with a program for its format")
}

// HintAt says which encoding the text may have, of which a part that is no UTF-8 is given.
func HintAt(data []byte) string {
	if guess := guessed(data); guess != "" {
		return fmt.Sprintf("give its encoding: encoding %q is a guess from its bytes", guess)
	}
	return "give its encoding, for example encoding \"windows-1252\""
}

// guessed is the encoding that the bytes look like, "" where they look like none in particular.
func guessed(data []byte) Encoding {
	const enough, least = 64 << 10, 0.7
	found := chardet.Detect(data[:min(len(data), enough)])
	if found.Confidence < least {
		return ""
	}
	enc, err := LookupEncoding(found.Charset)
	if err != nil || enc == UTF8 {
		return ""
	}
	return enc
}

// sniffLength is how far into a file git and ripgrep look for a NUL byte.
const sniffLength = 8000

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(data)
}

func decodeLegacy(c Content, data []byte) (Content, error) {
	codec, err := c.Encoding.codec()
	if err != nil {
		return c, fault.New(fault.EncodingError, "unknown encoding %s", fault.Quote(string(c.Encoding)))
	}
	text, err := codec.NewDecoder().Bytes(data)
	if looksBinary(text) {
		return c, binary(data)
	}
	if err == nil {
		c.Text = string(text)
		var back []byte
		if back, err = codec.NewEncoder().Bytes(text); err == nil && bytes.Equal(back, data) {
			return c, nil
		}
	}
	return c, fault.New(fault.EncodingError, "the file does not decode as %s without loss: writing would change bytes in line %d",
		c.Encoding, lossyLine(codec, data)).
		WithHint("give another encoding, or use run_command with a program for its format")
}

// lossyLine is the first line of data whose bytes the codec does not give back. There
// are many that it might not: bytes that mean nothing, and second spellings of a
// character, of which an encoder knows one.
func lossyLine(codec encoding.Encoding, data []byte) int {
	text, err := codec.NewDecoder().Bytes(data)
	if err != nil {
		return 1
	}
	at, line := 0, 1
	for part := range bytes.Lines(text) {
		back, err := codec.NewEncoder().Bytes(part)
		if err != nil || !bytes.HasPrefix(data[at:], back) {
			return line
		}
		at += len(back)
		line++
	}
	return max(1, line-1)
}

// Encode gives the bytes of the content on disk. It fails with ENCODING_ERROR
// when the encoding has no bytes for a character, and names the first.
func (c Content) Encode() ([]byte, error) {
	mark := ""
	for _, b := range boms {
		if c.BOM && b.encoding == c.Encoding {
			mark = b.mark
		}
	}
	if c.Encoding == UTF8 || c.Encoding == "" || c.Encoding == Binary {
		return append([]byte(mark), c.Text...), nil
	}
	codec, err := c.Encoding.codec()
	if err != nil {
		return nil, fault.New(fault.EncodingError, "unknown encoding %s", fault.Quote(string(c.Encoding)))
	}
	out, ok := encodes(codec, c.Text)
	if !ok {
		return nil, c.unencodable(codec)
	}
	return append([]byte(mark), out...), nil
}

// View is Encode, without a copy where the text is its bytes: they must not be changed.
func (c Content) View() ([]byte, error) {
	if (c.Encoding == UTF8 || c.Encoding == "" || c.Encoding == Binary) && !c.BOM {
		return unsafe.Slice(unsafe.StringData(c.Text), len(c.Text)), nil
	}
	return c.Encode()
}

// encodes gives the bytes of text, and false unless they are the text when they
// are read again: some encodings have one byte for two characters.
func encodes(codec encoding.Encoding, text string) ([]byte, bool) {
	out, err := codec.NewEncoder().Bytes([]byte(text))
	if err != nil {
		return nil, false
	}
	back, err := codec.NewDecoder().Bytes(out)
	return out, err == nil && string(back) == text
}

// unencodable names the characters that the codec has no bytes for.
func (c Content) unencodable(codec encoding.Encoding) error {
	type place struct {
		Line      int    `json:"line"`
		Character string `json:"character"`
	}
	var places []place
	known := map[rune]bool{}
	line := 0
	for text := range strings.Lines(c.Text) {
		line++
		if _, ok := encodes(codec, text); ok {
			continue
		}
		for _, r := range text {
			holds, asked := known[r]
			if !asked {
				_, holds = encodes(codec, string(r))
				known[r] = holds
			}
			if !holds && len(places) < maxPlaces {
				places = append(places, place{line, fmt.Sprintf("%s (%U)", fault.Quote(string(r)), r)})
			}
		}
		if len(places) == 0 { // each by itself, but not together
			places = append(places, place{line, "what stands there"})
		}
		if len(places) == maxPlaces {
			break
		}
	}
	if len(places) == 0 {
		return fault.New(fault.EncodingError, "the text cannot be written as %s", c.Encoding)
	}
	return fault.New(fault.EncodingError, "line %d has %s, which %s cannot represent", places[0].Line, places[0].Character, c.Encoding).
		With("characters", places).
		WithHint("leave it out, or write the file with encoding \"utf-8\"")
}

// maxPlaces bounds the characters that an error names.
const maxPlaces = 10

// Same reports whether two contents are the same text to a reader: line ends,
// byte order mark and encoding apart. Editors normalise these when they open a file.
func (c Content) Same(text string) bool {
	return c.Text == text || PlainLineEnds(c.Text) == PlainLineEnds(text)
}

// PlainLineEnds is text with "\n" for every end of a line that an editor knows.
func PlainLineEnds(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// HidesASCII says whether a program that takes the bytes for ASCII reads something in them that the text does not say.
func (c Content) HidesASCII() bool {
	ascii := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r == 0 || r >= utf8.RuneSelf {
				return -1
			}
			return r
		}, text)
	}
	data, err := c.View()
	return err == nil && ascii(string(data)) != ascii(c.Text)
}

func (c Content) String() string { return fmt.Sprintf("%d characters of %s", len(c.Text), c.Encoding) }

// Recoded is how a file with content c is written when an agent names an encoding, and
// a new one when c has none. The byte order mark stays as it is while the encoding does.
// What is new in UTF-16 has one, since it could not be told without.
func (c Content) Recoded(name string) (Encoding, bool, error) {
	enc, err := LookupEncoding(name)
	if err != nil {
		return "", false, err
	}
	folded := fold(name)
	if folded == "utf16" && c.Encoding.isUTF16() {
		enc = c.Encoding
	}
	switch {
	case folded == "utf8bom":
		return enc, true, nil
	case enc == c.Encoding:
		return enc, c.BOM, nil
	}
	return enc, enc.isUTF16(), nil
}

// TakeMark takes a byte order mark off the beginning of a text that is to be written,
// if the encoding has such a thing.
func (e Encoding) TakeMark(text string) (rest string, marked bool) {
	if e == UTF8 || e == "" || e.isUTF16() {
		return strings.CutPrefix(text, "\ufeff")
	}
	return text, false
}

// CheckText refuses a text that would be taken for binary when it is read again.
func CheckText(text string) error {
	if i := strings.IndexByte(text[:min(len(text), sniffLength)], 0); i >= 0 {
		return fault.New(fault.EncodingError, "line %d has a NUL character, which text files cannot contain", 1+strings.Count(text[:i], "\n")).
			WithHint("leave it out, or write binary data with a program in run_command")
	}
	return nil
}
