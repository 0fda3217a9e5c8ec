package git

import (
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
)

// checkBranchName holds a name to git check-ref-format --branch, without the
// abbreviations of other names (@{-1}).
func checkBranchName(name string) error {
	if problem := badReference(name); problem != "" {
		return fault.Invalid("no branch can be called %s: %s", fault.Quote(name), problem)
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
	}
	return gitdir.NameProblem(name)
}
