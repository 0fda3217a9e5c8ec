package change

import (
	"strconv"
	"strings"
)

// EmptyWords are about a file that has no lines, NewModeWords about a new one that can be
// run.
const (
	EmptyWords   = "empty"
	NewModeWords = "executable, mode 100755"
)

// Words are those of the parts that say something, as one.
func Words(parts ...string) string {
	said := parts[:0:0]
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, ", ")
}

// BytesWords are about a file of so many bytes, which are no text.
func BytesWords(size int64) string { return "binary, " + sizeWords(size) }

// BinaryWords say what becomes of such a file.
func BinaryWords(was, now int) string {
	if was == now {
		return "binary, other content, " + sizeWords(int64(now))
	}
	return "binary, " + strconv.Itoa(was) + " → " + sizeWords(int64(now))
}

func sizeWords(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
