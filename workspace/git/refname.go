package git

import (
	"strings"

	"pillion/internal/fault"
)

// checkBranchName holds a name to git check-ref-format --branch, without the
// abbreviations of other names (@{-1}).
func checkBranchName(name string) error {
	if problem := badReference(name); problem != "" {
		return fault.New(fault.InvalidArguments, "no branch can be called %s: %s", fault.Quote(name), problem)
	}
	return nil
}

// badReference is why no branch has the name; "" if one may.
func badReference(name string) string {
	switch {
	case name == "":
		return "the name is empty"
	case name == "HEAD" || name == "@":
		return "that is another name for what is checked out"
	case strings.HasPrefix(name, "-"):
		return "it begins with -"
	case strings.HasSuffix(name, "."):
		return "it ends with a full stop"
	case strings.Contains(name, "..") || strings.Contains(name, "@{"):
		return "it holds .. or @{"
	case strings.ContainsAny(name, " ~^:?*[\\") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "it holds a blank, a control character or one of ~ ^ : ? * [ \\"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "it begins or ends with a slash, or has two in a row"
		case strings.HasPrefix(part, "."):
			return "a part of it begins with a full stop"
		case strings.HasSuffix(part, ".lock"):
			return "a part of it ends with .lock"
		}
	}
	return ""
}
