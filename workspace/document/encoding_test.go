package document

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
)

// encodings are all that a file may be said to have, one spelling each.
var encodings = []string{
	"", "utf-8", "utf-16le", "utf-16be", "utf-16", "windows-1252", "iso-8859-2", "iso-8859-15", "koi8-r", "macintosh",
	"shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "gbk", "gb18030", "big5", "us-ascii", "ibm866", "cp437", "cp850", "windows-874",
}

func lookup(t interface{ Fatalf(string, ...any) }, name string) Encoding {
	if name == "" {
		return ""
	}
	e, err := LookupEncoding(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return e
}

// TestDecodedBytesAreWrittenBack is the property on which every edit rests: what
// was decoded at all is encoded to the very same bytes.
func TestDecodedBytesAreWrittenBack(t *testing.T) {
	machine.Rapid(t, 200, 1000)
	rapid.Check(t, func(t *rapid.T) {
		enc := lookup(t, rapid.SampledFrom(encodings).Draw(t, "encoding"))
		data := rapid.OneOf(
			rapid.SliceOf(rapid.Byte()),
			rapid.Map(texts, func(s string) []byte { return []byte(s) }),
			rapid.Map(texts, func(s string) []byte { return utf16Bytes(s) }),
		).Draw(t, "data")
		checkWrittenBack(t, data, enc)
	})
}

func checkWrittenBack(t interface{ Fatalf(string, ...any) }, data []byte, enc Encoding) {
	c, err := Decode(data, enc)
	if err != nil {
		return
	}
	if back, err := c.Encode(); err != nil || !bytes.Equal(back, data) {
		t.Fatalf("%x as %q became %q and then %x (%v)", data, enc, c.Text, back, err)
	}
}

// TestEncodedTextIsReadBack: a text that an encoding takes is the same text when
// it is read again.
func TestEncodedTextIsReadBack(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "\n", "é", "€", "¥", "\\", "~", "‾", "я", "語", "ｱ", "한", "ß", "\u0081", "😀", "―", "－"})
	machine.Rapid(t, 200, 1000)
	rapid.Check(t, func(t *rapid.T) {
		c := Content{Text: strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), "")}
		c.Encoding = lookup(t, rapid.SampledFrom(encodings[1:]).Draw(t, "encoding"))
		c.BOM = strings.HasPrefix(string(c.Encoding), "utf-") && rapid.Bool().Draw(t, "mark")
		data, err := c.Encode()
		if err != nil {
			if !errors.Is(err, fault.New(fault.EncodingError, "")) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if back, err := Decode(data, c.Encoding); err != nil || back != c {
			t.Fatalf("%+v is read as %+v (%v)", c, back, err)
		}
	})
}

func utf16Bytes(s string) []byte {
	data, err := Content{Text: s, Encoding: utf16LE, BOM: true}.Encode()
	if err != nil {
		panic(err)
	}
	return data
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "\xef\xbb\xbfa", "\xff\xfea\x00", "\xfe\xff\x00a", "\xff\xfe\x00\xd8", "caf\xe9", "\x81\x5c", "a\x00b", "\xff\xfe"} {
		for i := range encodings {
			f.Add([]byte(seed), i)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which int) {
		checkWrittenBack(t, data, lookup(t, encodings[uint(which)%uint(len(encodings))]))
	})
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       Encoding
		content    Content
		code       fault.Code
	}{
		{"plain", "é\n", "", Content{"é\n", UTF8, false}, ""},
		{"marked UTF-8", "\xef\xbb\xbfé", "", Content{"é", UTF8, true}, ""},
		{"marked UTF-8, asked for", "\xef\xbb\xbfé", UTF8, Content{"é", UTF8, true}, ""},
		{"marked UTF-16", "\xff\xfea\x00", "", Content{"a", utf16LE, true}, ""},
		{"UTF-16 of the other order, by its mark", "\xfe\xff\x00a", utf16LE, Content{"a", utf16BE, true}, ""},
		{"UTF-16 without a mark", "a\x00", utf16LE, Content{"a", utf16LE, false}, ""},
		{"UTF-16 cut short", "\xff\xfea", "", Content{}, fault.EncodingError},
		{"half a surrogate pair", "\xff\xfe\x00\xd8", "", Content{}, fault.EncodingError},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", "", Content{}, fault.BinaryFile},
		{"a legacy encoding unnamed", "caf\xe9", "", Content{}, fault.EncodingError},
		{"a legacy encoding", "caf\xe9", "windows-1252", Content{"café", "windows-1252", false}, ""},
		{"binary", "\x7fELF\x00", "", Content{}, fault.BinaryFile},
		{"binary in a legacy encoding", "\x7fELF\x00", "windows-1252", Content{}, fault.BinaryFile},
		{"two marks: one is text", "\xef\xbb\xbf\xef\xbb\xbfa", "", Content{"\ufeffa", UTF8, true}, ""},
		{"bytes that Shift JIS does not have", "\xfd", "shift_jis", Content{}, fault.EncodingError},
		{"ASCII", "a~\t\n", "us-ascii", Content{"a~\t\n", "us-ascii", false}, ""},
		{"more than ASCII", "caf\xe9", "us-ascii", Content{}, fault.EncodingError},
		{"a UTF-8 é as ASCII", "é", "us-ascii", Content{}, fault.EncodingError},
		{"an unknown encoding", "a", "nonsense", Content{}, fault.EncodingError},
	} {
		got, err := Decode([]byte(c.data), c.want)
		if fault.CodeOf(err) != c.code || err == nil && got != c.content {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestEncodeNamesWhatDoesNotFit(t *testing.T) {
	_, err := Content{Text: "one\ntwo 語\n", Encoding: "windows-1252"}.Encode()
	if fault.CodeOf(err) != fault.EncodingError || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "U+8A9E") {
		t.Errorf("%v", err)
	}
	_, err = Content{Text: "café\n", Encoding: "us-ascii"}.Encode()
	if fault.CodeOf(err) != fault.EncodingError || !strings.Contains(err.Error(), "U+00E9") {
		t.Errorf("more than ASCII: %v", err)
	}
	// Shift JIS would quietly write a backslash.
	_, err = Content{Text: "¥100", Encoding: "shift_jis"}.Encode()
	if fault.CodeOf(err) != fault.EncodingError || !strings.Contains(err.Error(), "U+00A5") {
		t.Errorf("a yen sign in Shift JIS: %v", err)
	}
}

func TestLookupEncoding(t *testing.T) {
	for name, want := range map[string]Encoding{
		"UTF-8": UTF8, "utf8": UTF8, "utf8bom": UTF8, "UTF_16LE": utf16LE, "utf16be": utf16BE, "utf-16": utf16LE, "ascii": "us-ascii", "US-ASCII": "us-ascii",
		"latin1": "windows-1252", "windows1251": "windows-1251", "iso885915": "iso-8859-15", "ISO-8859-15": "iso-8859-15",
		"shiftjis": "shift_jis", "koi8r": "koi8-r", "koi8-u": "koi8-u", "eucjp": "euc-jp", "euckr": "euc-kr", "cp950": "big5",
		"big5hkscs": "big5", "macroman": "macintosh", "macintosh": "macintosh", "cp437": "ibm437", "ibm850": "ibm850", "cp866": "ibm866", "ibm866": "ibm866", " gbk ": "gbk",
	} {
		if got, err := LookupEncoding(name); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "cp", "utf-7", "nonsense", "windows", "\x00"} {
		if got, err := LookupEncoding(name); fault.CodeOf(err) != fault.EncodingError {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
}

// TestTheEncodingIsGuessed: what cannot be decoded comes with the encoding that it looks like, which
// then decodes it.
func TestTheEncodingIsGuessed(t *testing.T) {
	for want, c := range map[Encoding]struct {
		in   encoding.Encoding
		text string
	}{
		"gbk":       {simplifiedchinese.GBK, "# 这是一个测试文件\nname = \"你好，世界\"\n# 读取配置并返回结果\n"},
		"shift_jis": {japanese.ShiftJIS, "# これはテストです\n名前 = \"世界\"\n# 設定を読み込む\n"},
		"euc-jp":    {japanese.EUCJP, "# これはテストです\n名前 = \"世界\"\n# 設定を読み込む\n"},
		"euc-kr":    {korean.EUCKR, "# 이것은 테스트 파일입니다\n이름 = \"세계\"\n"},
		"big5":      {traditionalchinese.Big5, "# 這是一個測試檔案\n名稱 = \"你好，世界\"\n讀取設定\n"},
		"koi8-r":    {charmap.KOI8R, "# это проверка\nимя = \"мир\"\n# читаем настройки из файла\n"},
		"utf-16le":  {unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "hello world\nthis is text\n"},
		"utf-16be":  {unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "hello world\nthis is text\n"},
	} {
		data, err := c.in.NewEncoder().Bytes([]byte(c.text))
		machine.Must(t, err)
		_, err = Decode(data, "")
		if hint := fault.From(err).Hint; !strings.Contains(hint, string(want)) || !strings.Contains(hint, "guess") {
			t.Errorf("%s: %v, %s", want, err, hint)
		}
		if got, err := Decode(data, want); err != nil || got.Text != c.text {
			t.Errorf("%s: %q, %v", want, got.Text, err)
		}
	}
	if _, err := Decode([]byte("Gr\xf6\xdfe\n"), ""); !strings.Contains(fault.From(err).Hint, "windows-1252") {
		t.Errorf("a short text: %s", fault.From(err).Hint)
	}
	if _, err := Decode([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00"), ""); strings.Contains(fault.From(err).Hint, "utf-16") {
		t.Errorf("a program: %s", fault.From(err).Hint)
	}
}

func TestWhatHidesASCII(t *testing.T) {
	for _, c := range []struct {
		encoding, text string
		want           bool
	}{
		{"utf-8", "é;id", false},
		{"windows-1252", "é;id", false},
		{"utf-16le", "a;id\n", false},
		{"utf-16be", "瑯捵攠砊", true},
		{"shift_jis", "あ;id", false},
		{"shift_jis", "echo ポid", true},
		{"gb18030", "echo å", true},
		{"gbk", "中;id", false},
		{"iso-2022-jp", "あ", true},
	} {
		enc, err := LookupEncoding(c.encoding)
		if got := (Content{Text: c.text, Encoding: enc}).HidesASCII(); got != c.want || err != nil {
			t.Errorf("%s of %q: %v, %v", c.encoding, c.text, got, err)
		}
	}
}
