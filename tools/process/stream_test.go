package process

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		writes []string
		want   string
	}{
		{10, nil, ""},
		{10, []string{"0123456789"}, "0123456789"},
		{10, []string{"01234567", "89a"}, "01234\n[... 1 bytes left out ...]\n6789a"},
		{4, []string{"abcdefgh"}, "ab\n[... 4 bytes left out ...]\ngh"},
		{1, []string{"ab"}, "\n[... 1 bytes left out ...]\nb"},
		{6, []string{"aé€é€z"}, "aé\n[... 8 bytes left out ...]\nz"}, // no half runes at the cut
		{100, []string{"a\xffb\xc3"}, "a\ufffdb\ufffd"},
		{8, []string{"xx", "x\xc3", "\xa9yy"}, "xxxéyy"}, // a rune across head and tail
	} {
		w := window{limit: c.limit}
		for _, text := range c.writes {
			w.write([]byte(text))
		}
		got, cut := w.text()
		if got != c.want || cut != strings.Contains(c.want, "left out") {
			t.Errorf("limit %d of %q: %q (%v), want %q", c.limit, c.writes, got, cut, c.want)
		}
	}
}

// However a stream is cut into writes, the same is kept, and the numbers add up.
func TestWindowKeepsHeadAndTail(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		limit := 1 + random.IntN(200)
		text := make([]byte, random.IntN(600))
		for i := range text {
			text[i] = byte('a' + random.IntN(26))
		}
		w := window{limit: int64(limit)}
		for rest := text; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			w.write(rest[:n])
			rest = rest[n:]
		}
		want := string(text)
		if len(text) > limit {
			want = fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s",
				text[:limit/2], len(text)-limit, text[len(text)-(limit-limit/2):])
		}
		if got, _ := w.text(); got != want {
			t.Fatalf("limit %d of %d bytes: %q, want %q", limit, len(text), got, want)
		}
	}
}

func TestChunksEndAtRunes(t *testing.T) {
	text := strings.Repeat("aé€😀", 1000) + "\xf0\x9f\x98" // and an unfinished one at the end
	stdout, w, err := os.Pipe()
	must(t, err)
	stderr, none, err := os.Pipe()
	must(t, err)
	none.Close()
	var chunks []string
	c := newCapture(Spec{}, func(_ Stream, b []byte) { chunks = append(chunks, string(b)) })
	c.read(stdout, stderr)
	for i := range len(text) {
		if _, err := w.WriteString(text[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	c.readers.Wait()
	c.drain(stdout, stderr)
	if strings.Join(chunks, "") != text {
		t.Error("the chunks are not the text")
	}
	for i, chunk := range chunks {
		if !utf8.ValidString(chunk) && i < len(chunks)-1 && chunk != "\xf0\x9f\x98" {
			t.Errorf("chunk %d ends within a rune: %q", i, chunk)
		}
	}
}

func TestWholeRunes(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "é": 2, "\xc3": 0, "a\xe2\x82": 1, "a€": 4, "\xf0\x9f\x98": 0, "\xf0\x9f\x98\x80": 4,
		"\xff": 1, "\x80\x80\x80\x80": 4, "a\x80": 2, "€\xff": 4,
	} {
		if got := wholeRunes([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
