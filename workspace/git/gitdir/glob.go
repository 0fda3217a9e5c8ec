package gitdir

import (
	"slices"
	"strings"
)

// MatchPath matches a path with a pattern of git's, both cut at slashes: "**"
// stands for any number of folders, at the end for at least one name. Its time
// is at most the product of the two lengths, whatever the pattern.
func MatchPath(pattern, path []string) bool {
	reached := make([]bool, len(path)+1) // after so many names of path
	reached[0] = true
	for i, segment := range pattern {
		next := make([]bool, len(path)+1)
		for at, here := range reached {
			switch {
			case !here:
			case segment == "**" && i == len(pattern)-1:
				return at < len(path)
			case segment == "**":
				for to := at; to <= len(path); to++ {
					next[to] = true
				}
			case at < len(path) && MatchName(segment, path[at]):
				next[at+1] = true
			}
		}
		if !slices.Contains(next, true) {
			return false
		}
		reached = next
	}
	return reached[len(path)]
}

// MatchName matches one name of a path with *, ?, [] and \.
func MatchName(pattern, name string) bool {
	starred, restart := -1, 0 // where to go on when the last * takes one byte more
	p, n := 0, 0
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				starred, restart = p, n+1
				p++
				continue
			}
			if width, ok := matchByte(pattern[p:], name[n:]); ok {
				p += width
				n++
				continue
			}
		}
		if starred < 0 || restart > len(name) {
			return false
		}
		p, n = starred+1, restart
		restart++
	}
	return true
}

// matchByte matches the first element of pattern with the first byte of name
// and returns the element's width.
func matchByte(pattern, name string) (width int, ok bool) {
	if name == "" {
		return 0, false
	}
	switch {
	case pattern[0] == '?':
		return 1, true
	case pattern[0] == '[':
		return matchClass(pattern, name[0])
	case pattern[0] == '\\' && len(pattern) > 1:
		return 2, pattern[1] == name[0]
	}
	return 1, pattern[0] == name[0]
}

// matchClass matches [abc], [a-z], [!a] and [[:alpha:]].
func matchClass(pattern string, c byte) (width int, ok bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	matched := false
	for first := true; i < len(pattern) && (first || pattern[i] != ']'); first = false {
		if name, rest, found := strings.Cut(strings.TrimPrefix(pattern[i:], "[:"), ":]"); found && strings.HasPrefix(pattern[i:], "[:") {
			matched = matched || inNamedClass(name, c)
			i = len(pattern) - len(rest)
			continue
		}
		low := unescaped(pattern, &i)
		high := low
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			i++
			high = unescaped(pattern, &i)
		}
		matched = matched || low <= c && c <= high
	}
	if i >= len(pattern) {
		return 0, false
	}
	return i + 1, matched != negated
}

func unescaped(pattern string, i *int) byte {
	if pattern[*i] == '\\' && *i+1 < len(pattern) {
		*i++
	}
	*i++
	return pattern[*i-1]
}

func inNamedClass(name string, c byte) bool {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "alnum":
		return lower || upper || digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r'
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	case "punct":
		return '!' <= c && c <= '~' && !lower && !upper && !digit
	}
	return false
}
