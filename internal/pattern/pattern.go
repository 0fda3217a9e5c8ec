// Package pattern has regular expressions that are compiled when they are first used. This program starts itself
// for each command that it runs, and there nearly all of them are used never.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression, as regexp has them.
type Pattern struct {
	text    string
	compile func() *regexp.Regexp
}

// New takes the text of one, which must be well formed.
func New(text string) *Pattern {
	return &Pattern{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

func (p *Pattern) String() string { return p.text }

// The methods are those of regexp.Regexp.

func (p *Pattern) MatchString(s string) bool { return p.compile().MatchString(s) }

func (p *Pattern) Match(b []byte) bool { return p.compile().Match(b) }

func (p *Pattern) FindString(s string) string { return p.compile().FindString(s) }

func (p *Pattern) FindStringIndex(s string) []int { return p.compile().FindStringIndex(s) }

func (p *Pattern) FindStringSubmatch(s string) []string { return p.compile().FindStringSubmatch(s) }

func (p *Pattern) FindAllString(s string, n int) []string { return p.compile().FindAllString(s, n) }

func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compile().FindAllStringIndex(s, n)
}

func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compile().FindAllStringSubmatch(s, n)
}

func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compile().FindAllStringSubmatchIndex(s, n)
}

func (p *Pattern) ReplaceAllString(s, with string) string {
	return p.compile().ReplaceAllString(s, with)
}

func (p *Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.compile().ReplaceAllStringFunc(s, with)
}
