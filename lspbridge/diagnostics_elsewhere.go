package lspbridge

import (
	"slices"
	"strings"
	"time"

	"pillion/workspace"
	"pillion/workspace/language"
)

// bystander is a document that a change does not touch. What is wrong in it may be
// another all the same.
type bystander struct {
	since int32 // the first of the versions with the text that it has
	sum   uint64
	at    time.Time
	items string // the last list about that text, as it came at that time
}

// bystanders are those documents of a server of which it has said what is wrong.
func (c *client) bystanders(touched map[workspace.Path]bool) map[workspace.Path]bystander {
	r := c.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[workspace.Path]bystander{}
	for p, one := range r.of {
		if !touched[p] {
			if b, said := c.bystanderLocked(one); said {
				out[p] = b
			}
		}
	}
	return out
}

// bystanderLocked looks at what the server has sent by itself: that is there, and nobody
// is asked for it or waits.
func (c *client) bystanderLocked(one *report) (b bystander, said bool) {
	if !one.open {
		return b, false
	}
	last, _ := c.reports.evidenceLocked(one, c.server.spec).proven()
	if last == nil {
		return b, false
	}
	return bystander{one.since, one.sum, last.at, last.items}, true
}

// elsewhere says of which bystanders the server has reported more errors or warnings
// since. Their texts are the same, so that this is not because somebody edited them.
func (c *client) elsewhere(were map[workspace.Path]bystander) (out []language.Elsewhere) {
	r := c.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isBusyLocked() {
		return nil // it may take back what it said
	}
	for p, was := range were {
		now, said := c.bystanderLocked(r.of[p])
		if !said || now.since != was.since || now.sum != was.sum || !now.at.After(was.at) {
			continue
		}
		if added := worse(was.items, now.items); len(added) > 0 {
			out = append(out, language.Elsewhere{Path: p, New: added})
		}
	}
	slices.SortFunc(out, func(a, b language.Elsewhere) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	return out
}

// worse are the errors and warnings that only the second of two lists about one text
// has. Places are compared as the server counts them.
func worse(was, now string) []language.Diagnostic {
	if was == now {
		return nil
	}
	as := counts{encoding: utf16}
	added, _, _ := compare("", "", decoded(was, "", as), decoded(now, "", as))
	return slices.DeleteFunc(added, func(d language.Diagnostic) bool { return d.Severity > language.Warning })
}
