package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{
		"", "plain", "0123456\"", "1234567\\", "\x00\x1f\x7f", "tab\tfeed\nreturn\r\b\f", "<>&'/", "é\u2028\u2029\U0001f600",
		"\xff", "a\xc3", "12345678\xed\xa0\x80", "\ufffd", strings.Repeat("x", 100) + "\x01",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := AppendString([]byte("kept"), s)
		if !bytes.HasPrefix(out, []byte("kept")) {
			t.Fatal("what was there is gone")
		}
		out = out[4:]
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		if want := string([]rune(s)); back != want { // each invalid byte is one U+FFFD
			t.Fatalf("%q came back as %q, want %q", s, back, want)
		}
		if !utf8.Valid(out) || bytes.ContainsAny(out, "\u2028\u2029") {
			t.Fatalf("%q must be escaped", out)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`, `{"jsonrpc":"2.0","id":"\u0061","result":null}`,
		`{"jsonrpc":"2.0","error":{"code":1}}`, `[]`, `{"id":1`, `{"\u006det\u0068od":"m"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, bad := parse(text)
		if bad != nil {
			if bad.Message == "" || m.id != "" && !json.Valid([]byte(m.id)) {
				t.Fatalf("refused %q with %+v and the id %q", text, bad, m.id)
			}
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("took %q: %v", text, err)
		}
		if m.id != "" && !json.Valid([]byte(m.id)) {
			t.Fatalf("id %q of %q", m.id, text)
		}
		if params := want["params"]; m.params != nil && !bytes.Equal(m.params, params) {
			t.Fatalf("params %q of %q", m.params, text)
		}
	})
}

// FuzzFrames wraps any body in a frame among others and wants it back.
func FuzzFrames(f *testing.F) {
	f.Add("", []byte("{}"))
	f.Add("X: y\r\n", []byte(""))
	f.Add("Content-Type: x; charset=latin1\r\n", []byte("{}"))
	f.Add("Content-Length: 2\r\n", []byte("{}"))
	f.Add("{\"jsonrpc\":\"2.0\"}\n", []byte("{}"))
	f.Add("\n", bytes.Repeat([]byte("x"), 5000))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		const limit = 1 << 12
		text := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%sContent-Length: 4\r\n\r\nlast", header, len(body), body)
		fr := newFrames(strings.NewReader(text), limit)
		for {
			got, refused, err := fr.next()
			switch {
			case refused != nil:
				continue
			case err == io.EOF && header == "":
				t.Fatal("the last frame was not found")
			case err != nil:
				return
			}
			if len(got) > limit {
				t.Fatalf("a body of %d bytes", len(got))
			}
			if header == "" && !bytes.Equal(got, body) && string(got) != "last" {
				t.Fatalf("got %q, want %q", got, body)
			}
			if string(got) == "last" {
				return
			}
		}
	})
}
