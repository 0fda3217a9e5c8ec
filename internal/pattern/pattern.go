// Package pattern has regular expressions that are compiled when they are first used. This program starts itself
// for each command that it runs, and there nearly all of them are never used.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern gives its regular expression.
type Pattern func() *regexp.Regexp

// New takes the text of one, which must be well formed.
func New(text string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
