package workspace

import (
	"crypto/rand"
	"strings"
)

const tempBegins, tempEnds = ".pillion-", ".tmp"

// NewTemp is a name for a temporary file.
func NewTemp() string { return tempBegins + rand.Text() + tempEnds }

// IsTemp: the temporary files beside a file that is written, and folders that go.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, tempBegins) && strings.HasSuffix(name, tempEnds)
}
