package file

import (
	"bytes"
	"strings"
	"testing"

	"pillion/workspace/document"
)

// spliced are the encodings in which an edit is tried. Of ISO-2022-JP, which has
// states, the same bytes need not follow, and it is held to the text.
var spliced = []string{"utf-8", "utf-16le", "utf-16be", "windows-1252", "iso-8859-15", "koi8-r", "cp437", "shift_jis", "euc-jp", "gbk", "gb18030", "big5", "euc-kr", "iso-2022-jp"}

// FuzzEditsSpliceBytes: an edit changes the bytes of its place; every other byte of the
// file stays, whatever the encoding, the byte order mark and the line ends.
func FuzzEditsSpliceBytes(f *testing.F) {
	for i := range spliced {
		f.Add([]byte("one\r\n"), []byte("two\nthree\r\n"), "a\nb", uint8(i), i%2 == 0)
	}
	f.Add([]byte("caf\xe9\r\n"), []byte("\xe9\n"), "é", uint8(3), false)
	f.Add([]byte("\x83\x5c\r"), []byte("\x95\x5c"), "表\n", uint8(7), false)
	f.Add([]byte("\x1b$B%F\x1b(B"), []byte("\x1b$B%9%H\x1b(B\n"), "テ", uint8(13), false)
	f.Add([]byte("a\x00\r\x00\n\x00"), []byte("\r\x00"), "b\n\n", uint8(1), true)
	f.Add([]byte("\x81\x30\x81\x30"), []byte("\xfe\x50"), "\n", uint8(10), false)
	f.Add([]byte("a\r"), []byte("\rb"), "x\ny", uint8(0), true)
	f.Fuzz(func(t *testing.T, before, after []byte, text string, which uint8, bom bool) {
		name := spliced[int(which)%len(spliced)]
		enc, err := document.LookupEncoding(name)
		must(t, err)
		const place = "@HERE@"
		mark, err := document.Content{Text: place, Encoding: enc}.Encode()
		must(t, err)
		head, err := document.Content{Encoding: enc, BOM: bom}.Encode()
		must(t, err)
		head = append(head, before...)
		data := append(append(bytes.Clone(head), mark...), after...)
		was, err := document.Decode(bytes.Clone(data), enc)
		if err != nil || strings.Count(was.Text, place) != 1 || text == place {
			return // no text, or a place that the bytes around it changed
		}
		done, err := applyEdits(t.Context(), &document.File{Content: was}, was.Text, []textEdit{{OldString: place, NewString: text}}, 1<<20)
		if err != nil {
			t.Fatalf("%q in %q: %v", place, was.Text, err)
		}
		now := was
		now.Text = done.text
		got, err := now.Encode()
		if err != nil || document.CheckText(now.Text) != nil {
			return // it cannot be written, and is not
		}
		if name == "iso-2022-jp" {
			if back, err := document.Decode(bytes.Clone(got), enc); err != nil || back != now {
				t.Fatalf("%x is read as %q (%v), not as %q", got, back.Text, err, now.Text)
			}
		} else if !bytes.HasPrefix(got, head) || !bytes.HasSuffix(got[len(head):], after) {
			t.Fatalf("%s: %x became %x: not all of %x and %x is there", name, data, got, head, after)
		}
		at := strings.Index(was.Text, place)
		made := done.text[at : len(done.text)-(len(was.Text)-at-len(place))]
		checkMade(t, was.Text, text, made)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkMade: what was put there is the agent's text, with line ends of the file.
func checkMade(t *testing.T, file, text, made string) {
	switch {
	case strings.Contains(text, "\r"):
		if made != text {
			t.Fatalf("%q was put there as %q", text, made)
		}
	case document.PlainLineEnds(made) != text:
		t.Fatalf("%q was put there as %q", text, made)
	case strings.Contains(made, "\r\n") && !strings.Contains(file, "\r\n"),
		strings.Contains(made, "\n") && !strings.Contains(made, "\r") && strings.Contains(file, "\r\n") && strings.Count(file, "\n") == strings.Count(file, "\r\n"):
		t.Fatalf("%q was put into %q as %q", text, file, made)
	}
}
