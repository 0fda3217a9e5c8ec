package change

import (
	"encoding/base64"
	"strings"
)

// Pictures are a file's states as an editor can draw them: data URLs, empty where there is none.
type Pictures struct {
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Of larger pictures a preview tells the size alone, in bytes; so it does when those before have used up the room of a set.
const (
	mostPicture  = 256 << 10
	mostPictures = 1 << 20
)

// pictures are those of a binary file, if both of its states are pictures; room is what the set has left.
func (f File) pictures(room *int) *Pictures {
	size := len(f.Before.Text) + len(f.After.Text)
	if !f.IsBinary() || size > *room {
		return nil
	}
	before, isBefore := picture(f.Before.Text)
	after, isAfter := picture(f.After.Text)
	if !isBefore && f.Before.Exists || !isAfter {
		return nil
	}
	*room -= size
	return &Pictures{Before: before, After: after}
}

// picture goes by the bytes, whatever the file's name says. SVG is text, and has a diff.
func picture(content string) (string, bool) {
	kind := pictureKind(content)
	if kind == "" || len(content) > mostPicture {
		return "", false
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(content)), true
}

// pictureKind is a media type by the patterns of https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern.
func pictureKind(content string) string {
	switch {
	case strings.HasPrefix(content, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(content, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(content, "GIF87a"), strings.HasPrefix(content, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(content, "RIFF") && len(content) > 14 && content[8:14] == "WEBPVP":
		return "image/webp"
	}
	return ""
}
