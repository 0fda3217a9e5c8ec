// Package unusual notices when an agent does what agents at work do not do: it tries
// again and again to get out of the workspace, deletes very much, or goes on although
// it is refused all the time.
//
// Detector.Observe is told of every call. It only counts; what becomes of an alarm is
// its caller's to say. The thresholds are such that ordinary work does not come near
// them, so an agent that keeps below them is not noticed: this finds what has gone
// wrong, it is no wall.
package unusual

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pillion/audit"
	"pillion/internal/fault"
)

// Kind is what is unusual.
type Kind string

// The kinds.
const (
	Escape       Kind = "escape"
	MassDeletion Kind = "mass_deletion"
	Refusals     Kind = "refusals"
)

// threshold is how much within which time is an alarm.
type threshold struct {
	count  int
	within time.Duration
}

// The thresholds, as docs/security.md names them.
var thresholds = map[Kind]threshold{
	Escape:       {5, 2 * time.Minute}, // calls for paths that no agent may reach
	MassDeletion: {25, time.Minute},    // files deleted or emptied without a user's yes to the very call
	Refusals:     {10, time.Minute},    // calls that were refused, or came too fast
}

// quiet is how long a session is not told of again for the same.
const quiet = 5 * time.Minute

// mostSessions and mostShown bound the memory, and the message.
const (
	mostSessions = 1000
	mostShown    = 3
)

// Alarm is something unusual that a session did.
type Alarm struct {
	SessionID, Agent, Via string
	Kind                  Kind
	Message               string // a sentence for people
}

// Detector watches all sessions. The zero Detector is ready.
type Detector struct {
	Now func() time.Time // nil: time.Now

	mu       sync.Mutex // guards sessions
	sessions map[key]*history
}

type key struct {
	session string
	kind    Kind
}

// history is what a session did of one kind, lately.
type history struct {
	deeds []event
	told  time.Time
}

type event struct {
	at    time.Time
	count int
	what  string
}

// Observe counts a call, and says when it is one too many.
func (d *Detector) Observe(r audit.Record) (Alarm, bool) {
	kind, count := judge(r)
	if count == 0 {
		return Alarm{}, false
	}
	now := time.Now()
	if d.Now != nil {
		now = d.Now()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.of(key{r.Session, kind}, now)
	limit := thresholds[kind]
	h.deeds = slices.DeleteFunc(h.deeds, func(one event) bool { return now.Sub(one.at) >= limit.within })
	h.deeds = append(h.deeds, event{now, count, what(r)})
	sum := 0
	for _, one := range h.deeds {
		sum += one.count
	}
	if sum < limit.count || !h.told.IsZero() && now.Sub(h.told) < quiet {
		return Alarm{}, false
	}
	h.told = now
	return Alarm{r.Session, r.Agent, r.Via, kind, h.message(r.Agent, kind, sum)}, true
}

// judge says of which kind a call is, and how much it counts; most count nothing.
func judge(r audit.Record) (Kind, int) {
	switch {
	case r.Protected && r.Outcome != "done":
		return Escape, 1
	case r.Deleted > 0 && r.By != "human":
		return MassDeletion, r.Deleted
	case r.Code == string(fault.PolicyDenied), r.Code == string(fault.UserRejected), r.Code == string(fault.RateLimited):
		return Refusals, 1
	}
	return "", 0
}

// of needs d.mu. The session that has been quiet for longest makes place.
func (d *Detector) of(k key, now time.Time) *history {
	if d.sessions == nil {
		d.sessions = map[key]*history{}
	}
	if h := d.sessions[k]; h != nil {
		return h
	}
	if len(d.sessions) >= mostSessions {
		oldest, at := key{}, now
		for k, h := range d.sessions {
			if last := h.deeds[len(h.deeds)-1].at; !last.After(at) {
				oldest, at = k, last
			}
		}
		delete(d.sessions, oldest)
	}
	h := &history{}
	d.sessions[k] = h
	return h
}

func what(r audit.Record) string {
	switch {
	case len(r.Paths) > 0:
		return r.Tool + " " + r.Paths[0]
	case len(r.Files) > 0:
		return r.Tool + " " + r.Files[0].Path
	case r.Command != "":
		return r.Tool + " " + r.Command
	}
	return r.Tool
}

func (h *history) message(agent string, kind Kind, sum int) string {
	var shown []string
	for _, one := range slices.Backward(h.deeds) {
		if text := fault.Quote(one.what); !slices.Contains(shown, text) && len(shown) < mostShown {
			shown = append(shown, text)
		}
	}
	within := "within " + words(thresholds[kind].within)
	did := map[Kind]string{
		Escape:       fmt.Sprintf("tried %d times %s to access what agents must not", sum, within),
		MassDeletion: fmt.Sprintf("deleted or emptied %d files %s", sum, within),
		Refusals:     fmt.Sprintf("was refused %d times %s and continues", sum, within),
	}[kind]
	return fmt.Sprintf("%s %s; the last: %s", fault.Escape(agent), did, strings.Join(shown, ", "))
}

func words(d time.Duration) string {
	if d == time.Minute {
		return "a minute"
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}
