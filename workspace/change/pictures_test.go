package change

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestPictures are shown by what the bytes say, with both states or not at all, and no more
// of them than there is room for.
func TestPictures(t *testing.T) {
	b := newTrees(t)
	png := func(size int) string { return "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", size-8) }
	shown := func(kind, content string) string {
		return "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(content))
	}
	jpeg, gif, webp := "\xff\xd8\xff\xe0\x00", "GIF89a\x00", "RIFF\x00\x00\x00\x00WEBPVP8 \x00"
	b.write("a.png", png(9))
	b.write("blob.png", "\x00\x01")
	b.write("text.png", "hello\n")
	for _, c := range []struct {
		name, after string
		want        *Pictures
	}{
		{"a.png", png(10), &Pictures{Before: shown("png", png(9)), After: shown("png", png(10))}},
		{"a.png", jpeg, &Pictures{Before: shown("png", png(9)), After: shown("jpeg", jpeg)}},
		{"new.gif", gif, &Pictures{After: shown("gif", gif)}},
		{"any.name", webp, &Pictures{After: shown("webp", webp)}},
		{"a.png", "\x00", nil},
		{"blob.png", png(9), nil},
		{"text.png", "other\n", nil},
		{"new.png", png(mostPicture), &Pictures{After: shown("png", png(mostPicture))}},
		{"new.png", png(mostPicture + 1), nil},
	} {
		got := Set{Files: []File{b.planBytes(c.name, c.after)}}.Preview()[0].Pictures
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %.60q is shown as %.200v", c.name, c.after, got)
		}
	}
	many, count := Set{}, 0
	for _, name := range strings.Fields("1 2 3 4 5 6") {
		many.Files = append(many.Files, b.planBytes(name, png(mostPicture)))
	}
	for _, p := range many.Preview() {
		if p.Pictures != nil {
			count++
		}
	}
	if want := mostPictures / mostPicture; count != want {
		t.Errorf("%d of them are shown, want %d", count, want)
	}
}
