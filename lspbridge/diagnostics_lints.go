package lspbridge

import (
	"slices"
	"strings"
	"time"
)

// lints are the looks at texts that a server has begun and not yet reported, if it tells:
// pylsp reports progress for each of its linters, in their order, as "lint: name", before
// the linter reads the text. So a look that begins after the server has read a text is a
// look at that text, and the others are counted here.
type lints struct {
	first string      // the linter that begins a look
	since []time.Time // of looks that were not reported yet
}

const lintTitle = "lint: "

// began takes the title of a piece of work. When nothing else goes on it begins a look.
func (l *lints) began(title string, now time.Time) {
	if !strings.HasPrefix(title, lintTitle) {
		return
	}
	if flying, _ := l.flying(now); len(flying) == 0 {
		l.first = title
	}
	if title == l.first {
		l.since = append(l.since, now)
	}
}

// ended: one was reported.
func (l *lints) ended(time.Time) {
	if len(l.since) > 0 {
		l.since = slices.Delete(l.since, 0, 1)
	}
}

// flying are those that go on, if that is told at all. One that has taken very long has
// failed.
func (l *lints) flying(now time.Time) (list []time.Time, told bool) {
	l.since = slices.DeleteFunc(l.since, func(t time.Time) bool { return now.Sub(t) > mostLint })
	return slices.Clone(l.since), l.first != ""
}
