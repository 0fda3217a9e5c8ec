package document_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"pillion/internal/fault"
	"pillion/workspace/document"
)

// TestTheEncodingIsGuessed: what cannot be decoded comes with the encoding that it looks like, which
// then decodes it.
func TestTheEncodingIsGuessed(t *testing.T) {
	for want, c := range map[document.Encoding]struct {
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
		if err != nil {
			t.Fatal(err)
		}
		_, err = document.Decode(data, "")
		if hint := fault.From(err).Hint; !strings.Contains(hint, string(want)) || !strings.Contains(hint, "guess") {
			t.Errorf("%s: %v, %s", want, err, hint)
		}
		if got, err := document.Decode(data, want); err != nil || got.Text != c.text {
			t.Errorf("%s: %q, %v", want, got.Text, err)
		}
	}
	if _, err := document.Decode([]byte("Gr\xf6\xdfe\n"), ""); !strings.Contains(fault.From(err).Hint, "windows-1252") {
		t.Errorf("a short text: %s", fault.From(err).Hint)
	}
	if _, err := document.Decode([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00"), ""); strings.Contains(fault.From(err).Hint, "utf-16") {
		t.Errorf("a program: %s", fault.From(err).Hint)
	}
}
