package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"pillion/workspace/git"
)

// A file that the work tree has in another encoding is compared as git would store it, if
// it is one of that encoding.
func TestWorkTreeEncodings(t *testing.T) {
	bytesOf := map[string]encoding.Encoding{
		"latin": charmap.ISO8859_1, "sjis": japanese.ShiftJIS,
		"be": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "le": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"be-mark": unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "le-mark": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "32le-mark": utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
	}
	names := []string{"UTF-16", "utf-16", "UTF16", "UTF-16LE", "UTF-16BE", "UTF-16LE-BOM", "UTF-32", "UTF-32BE", "ISO-8859-1", "latin1", "SHIFT-JIS", "cp1252", "UTF-8", "nonsense"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			for of, e := range bytesOf {
				for i, text := range []string{"one\r\ntwo\n", "caf\u00e9\n", "\u65e5\u672c\r\n", ""} {
					data, err := e.NewEncoder().String(text)
					if err != nil { // it has no such letter
						data = "\xff\xfe\x00odd\n"
					}
					r.write(fmt.Sprint(of, i, ".txt"), data)
				}
			}
			r.commit()
			r.write(".gitattributes", "*.txt text working-tree-encoding="+name+"\n")
			files, err := filepath.Glob(r.path("*.txt"))
			r.must(err)
			for _, file := range files { // else git does not look at them again
				r.must(os.Chtimes(file, time.Unix(1_000_000_000, 0), time.Unix(1_000_000_000, 0)))
			}
			for _, o := range everyKind {
				got, err := r.diff(o)
				if err != nil {
					t.Fatal(err)
				}
				if want := r.oracle(o); got.Diff != want {
					t.Errorf("%+v: %s", o, apart(got.Diff, want))
				}
			}
			if _, err := r.status(git.StatusOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}
