package git

import (
	"fmt"
	"strings"
)

// quoted writes a path with its prefix, "a/" or "b/", as git does: in double
// quotes with C's escapes if it holds a control character, a quote or a
// backslash, or, with quotePath, a byte beyond ASCII.
func quoted(prefix, path string, quotePath bool) string {
	special := func(c byte) bool { return c < ' ' || c == '"' || c == '\\' || c == 127 || quotePath && c >= 128 }
	var out strings.Builder
	any := false
	for i := range len(path) {
		c := path[i]
		if !special(c) {
			out.WriteByte(c)
			continue
		}
		any = true
		if at := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); at >= 0 {
			out.WriteByte('\\')
			out.WriteByte("abtnvfr\"\\"[at])
		} else {
			fmt.Fprintf(&out, "\\%03o", c)
		}
	}
	if !any {
		return prefix + path
	}
	return `"` + prefix + out.String() + `"`
}
