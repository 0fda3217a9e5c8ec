package tools

import (
	"encoding/json"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Activity is activity/changed: what the activity list shows of one call.
type Activity struct {
	CallID     string         `json:"callId"`
	SessionID  string         `json:"sessionId"`
	Agent      approval.Agent `json:"agent"`
	Tool       string         `json:"tool"`
	Title      string         `json:"title"`          // what the call does: "Edit app.py"
	Path       string         `json:"path,omitempty"` // the file that it is about, of several the first
	State      State          `json:"state"`
	Summary    string         `json:"summary"` // what came of it; while it waits and runs, the title
	Started    time.Time      `json:"started"`
	DurationMS int64          `json:"durationMs"`
	// Shows is the kind of what Registry.Show has of it, Problem the first error or warning
	// that it caused.
	Shows   string   `json:"shows,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
}

// Problem is where a change caused an error or a warning.
type Problem struct {
	Path     string            `json:"path"`
	Range    document.Range    `json:"range"`
	Severity language.Severity `json:"severity"`
}

// State is where a call stands.
type State string

// The states of a call.
const (
	Queued  State = "queued"
	Running State = "running"
	Waiting State = "waiting"
	Done    State = "done"
	Failed  State = "failed"
)

// mostName is how much is shown of the name of a tool that an agent made up.
const mostName = 100

func quoteName(name string) string { return fault.Quote(fault.Clip(name, mostName)) }

func (r *Registry) report(c Call, p *pending, a Activity, started time.Time) {
	if r.Activity == nil {
		return
	}
	agent := c.Session.Agent()
	a.CallID, a.SessionID, a.Tool = c.CallID, c.Session.ID(), fault.Line(fault.Clip(c.Name, mostName))
	a.Agent = approval.Agent{Name: agent.Name, Via: agent.Via}
	title, path := about(c, p)
	a.Title, a.Path, a.Summary = fault.Line(title), path, fault.Line(a.Summary)
	a.Started, a.DurationMS = started, time.Since(started).Milliseconds()
	r.Activity(a)
}

// about says what a call does, and to which file. Of one that came to no plan, all that
// is known are its arguments.
func about(c Call, p *pending) (title, path string) {
	if p != nil && p.plan != nil {
		if _, runs := p.plan.(*Action); !runs {
			if touched := p.plan.touches(); len(touched) > 0 {
				path = touched[0].path.String()
			}
		}
		return p.title(), path
	}
	if c.tool.Name == "" {
		return fault.Clip(c.Name, mostName), ""
	}
	if line := commandOf(c); line != "" {
		return "Run " + fault.Escape(fault.Clip(FirstLine(line), 60)), ""
	}
	if named := namedBy(c); named.Path != "" {
		return c.tool.Title + ": " + fault.Quote(named.Path), named.Path
	}
	return c.tool.Title, ""
}

// commandOf is the line that a call runs which was planned by another sidecar, "" of others.
func commandOf(c Call) string {
	var args struct {
		Command string `json:"command"`
	}
	if c.tool.Access != policy.Exec || json.Unmarshal(c.Arguments, &args) != nil {
		return ""
	}
	return args.Command
}

// shown is what the latest calls came to, for people who look into one later.
type shown struct {
	mu    sync.Mutex // guards all below
	all   map[[2]string]*Display
	order [][2]string
	bytes int
}

// What is kept: as many calls as editors list, and no more text than this.
const (
	mostShown      = 200
	mostShownBytes = 16 << 20
)

// keep takes what a call shows, and gives the kind of it if it is kept.
func (s *shown) keep(c Call, d *Display) string {
	if d == nil || d.size() > mostShownBytes {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[[2]string]*Display{}
	}
	key := [2]string{c.Session.ID(), c.CallID}
	if s.all[key] != nil { // an id that is used again
		s.bytes -= s.all[key].size()
	} else {
		s.order = append(s.order, key)
	}
	s.all[key] = d
	s.bytes += d.size()
	for len(s.order) > mostShown || s.bytes > mostShownBytes {
		s.bytes -= s.all[s.order[0]].size()
		delete(s.all, s.order[0])
		s.order = s.order[1:]
	}
	return d.Kind
}

func (d *Display) size() int {
	n := len(d.Text) + len(d.Command) + len(d.Stdout) + len(d.Stderr)
	for _, f := range d.Files {
		n += len(f.FilePreview.Before) + len(f.FilePreview.After) + len(f.Diff)
	}
	return n
}

// Show is what people see of a call that is over, nil if it is not kept any more.
func (r *Registry) Show(session, call string) *Display {
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	return r.shown.all[[2]string{session, call}]
}
