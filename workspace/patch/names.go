package patch

import (
	"regexp"
	"strings"
	"time"
)

// names are what a section calls its file, without prefixes.
type names struct {
	operation Operation
	old, now  string
	bare      string
}

const devNull = "/dev/null"

// identify finds what a section does to which file.
func (s section) identify() (names, error) {
	n := names{operation: Change}
	from, to := "", ""
	for _, line := range s.header {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "new file mode "):
			n.operation = Create
		case strings.HasPrefix(line, "deleted file mode "):
			n.operation = Delete
		case strings.HasPrefix(line, "rename from "), strings.HasPrefix(line, "rename old "):
			n.operation, from = Rename, unquoted(line[len("rename from "):])
		case strings.HasPrefix(line, "rename to "):
			n.operation, to = Rename, unquoted(line[len("rename to "):])
		case strings.HasPrefix(line, "rename new "):
			n.operation, to = Rename, unquoted(line[len("rename new "):])
		case strings.HasPrefix(line, "copy from "):
			n.operation, from = Copy, unquoted(line[len("copy from "):])
		case strings.HasPrefix(line, "copy to "):
			n.operation, to = Copy, unquoted(line[len("copy to "):])
		}
	}
	if n.operation == Rename || n.operation == Copy {
		n.old, n.now = from, to
		if from == "" || to == "" {
			return n, broken(s.line, "it does not say which file is renamed or copied to which")
		}
		return n, nil
	}
	old, isOld := sideName(s.old)
	now, isNew := sideName(s.now)
	switch {
	case s.old != "" && !isOld && s.now != "" && !isNew:
		return n, broken(s.line, "it names no file on either side")
	case s.old != "" && !isOld:
		n.operation = Create
	case s.now != "" && !isNew:
		n.operation = Delete
	}
	s.settle(&n, old, now)
	if n.old == "" || n.now == "" {
		return n, broken(s.line, "it does not name its file")
	}
	return n, nil
}

// settle takes the prefixes off: "a/" and "b/", or whatever differs in front of the same
// name. What both sides call the same has none.
func (s section) settle(n *names, old, now string) {
	first, second := gitNames(s.git)
	if old == "" && now == "" {
		old, now = first, second
	}
	switch {
	case old == "" || now == "":
		one, letter := old, "a/"
		if old == "" {
			one, letter = now, "b/"
		}
		switch {
		case first != "" && first == second: // without prefixes
			n.old, n.now = one, one
		case first != "" && folderOf(first) != folderOf(second):
			n.old, n.now = withoutFolder(one), withoutFolder(one)
		default:
			n.old = strings.TrimPrefix(one, letter)
			n.now = n.old
			if n.now == one {
				n.bare = withoutFolder(one)
			}
		}
	case old == now:
		n.old, n.now = old, now
		if s.git == "" {
			n.bare = withoutFolder(old)
		}
	default:
		one := plainName(old, now)
		n.old, n.now = one, one
	}
}

// plainName is the file that a diff between two names is about.
func plainName(old, now string) string {
	if a, b := folderOf(old), folderOf(now); a != b && a != "" && b != "" {
		short, other := withoutFolder(old), withoutFolder(now)
		if short == other || isPrefix(a) && isPrefix(b) {
			old, now = short, other
		}
	}
	if strings.HasPrefix(now, old) { // x.orig
		return old
	}
	if strings.HasPrefix(old, now) {
		return now
	}
	return now
}

// isPrefix: git writes one of these, as it is set up.
func isPrefix(folder string) bool { return len(folder) == 1 && strings.Contains("abciow12", folder) }

func folderOf(name string) string {
	folder, _, found := strings.Cut(name, "/")
	if !found {
		return ""
	}
	return folder
}

// withoutFolder is a name without its first folder, "" if it has none.
func withoutFolder(name string) string {
	_, rest, _ := strings.Cut(name, "/")
	return strings.TrimLeft(rest, "/")
}

// dated is a time as it stands behind a name without a tab.
var dated = regexp.MustCompile(` +\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?( [-+]\d{4})?$`)

// sideName reads what stands behind "---" or "+++". It is no file where there is none:
// that is written as /dev/null, or with the first of all times.
func sideName(s string) (name string, exists bool) {
	if strings.HasPrefix(s, `"`) {
		return unquoted(s), true
	}
	name, stamp, tabbed := strings.Cut(s, "\t")
	if !tabbed {
		if at := dated.FindStringIndex(name); at != nil {
			name, stamp = name[:at[0]], strings.TrimSpace(name[at[0]:])
		}
	}
	switch {
	case name == devNull:
		return "", false
	case isEpoch(stamp):
		return "", false
	}
	return name, name != ""
}

func isEpoch(stamp string) bool {
	for _, layout := range []string{"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 -07:00"} {
		if t, err := time.Parse(layout, stamp); err == nil && t.Unix() == 0 {
			return true
		}
	}
	return false
}

// gitNames are the two names behind "diff --git". Names with blanks in them are not
// quoted: where both are the same but for their prefixes it is clear where one ends.
func gitNames(s string) (first, second string) {
	if len(s) > mostNames {
		return "", ""
	}
	if strings.HasPrefix(s, `"`) {
		end := quoteEnd(s)
		return unquoted(s[:end]), unquoted(strings.TrimLeft(s[end:], " "))
	}
	if at := strings.Index(s, ` "`); at > 0 {
		return s[:at], unquoted(s[at+1:])
	}
	if strings.Count(s, " ") == 1 {
		first, second, _ = strings.Cut(s, " ")
		return first, second
	}
	if half := len(s) / 2; len(s)%2 == 1 && s[half] == ' ' { // both are as long as each other
		first, second = s[:half], s[half+1:]
		if first == second || withoutFolder(first) == withoutFolder(second) {
			return first, second
		}
	}
	for at := range len(s) { // prefixes of other lengths
		if s[at] == ' ' && at < len(s)-1 && len(s)-at < 2*at+64 && withoutFolder(s[:at]) != "" && withoutFolder(s[:at]) == withoutFolder(s[at+1:]) {
			return s[:at], s[at+1:]
		}
	}
	return "", ""
}

// mostNames bounds a line with two names; no path is as long.
const mostNames = 32 << 10

// quoteEnd is the place behind a quoted name.
func quoteEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// unquoted undoes git's quotes.
func unquoted(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	s = s[1:quoteEnd(s)]
	s = strings.TrimSuffix(s, `"`)
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		switch at := strings.IndexByte(escapedAs, s[i]); {
		case at >= 0:
			out.WriteByte(escapes[at])
		case s[i] >= '0' && s[i] <= '7':
			value := 0
			for end := i + 3; i < end && i < len(s) && s[i] >= '0' && s[i] <= '7'; i++ {
				value = value*8 + int(s[i]-'0')
			}
			i--
			out.WriteByte(byte(value))
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

const (
	escapedAs = `abtnvfr`
	escapes   = "\a\b\t\n\v\f\r"
)
