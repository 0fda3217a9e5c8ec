package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/tools/wellformed"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// brokenFile is a file of data that could be read before the change, and cannot be now.
type brokenFile struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Line   int    `json:"line"` // from 1
	Reason string `json:"reason"`
}

// noteBroken tells of files that the change has left invalid. Nothing is refused for it: a
// change may be one of several.
func (p *pending) noteBroken(a *Answer) {
	for _, o := range p.outcomes {
		if o.Tree != nil || o.Operation == change.Unchanged {
			continue
		}
		if problem := wellformed.Broken(o.File.Path().Rel(), o.File.Before.Text, o.Text); problem != nil {
			a.broken = append(a.broken, brokenFile{o.File.Path().String(), problem.Format, problem.Line, problem.Reason})
		}
	}
	if len(a.broken) == 0 {
		return
	}
	var lines []string
	for _, b := range a.broken[:min(len(a.broken), mostFileNote)] {
		lines = append(lines, fmt.Sprintf("%s is not valid %s now, line %d: %s", fault.Quote(b.Path), b.Format, b.Line, fault.Line(fault.Clip(b.Reason, 300))))
	}
	a.Notes = append(a.Notes, strings.Join(lines, "\n"))
	a.Summary = fmt.Sprintf("invalid %s: ", a.broken[0].Format) + a.Summary
}

// noteNext marks a change of what the user's own next command runs, first in its line of
// the list of activity: lists are narrow.
func (p *pending) noteNext(a *Answer) {
	var names, clauses []string
	for _, o := range p.outcomes {
		if o.Operation == change.Unchanged {
			continue
		}
		name := changedName(o)
		if clause := policy.RunsNext(name); clause != "" {
			names, clauses = append(names, fault.Quote(name)+" "+clause), append(clauses, clause)
		}
	}
	switch {
	case len(names) == 0 || a.Err != nil:
	case len(p.outcomes) == 1: // the summary names the file
		a.Summary = clauses[0] + ": " + a.Summary
	case len(names) > mostNextNamed:
		a.Summary = Count(len(names), "file") + " run with your next commands: " + a.Summary
	default:
		a.Summary = strings.Join(names, ", ") + ": " + a.Summary
	}
}

const mostNextNamed = 2

// changedName is the name that a file has now.
func changedName(o change.Outcome) string {
	switch {
	case o.Tree == nil:
		return o.File.Path().String()
	case o.Tree.Operation == change.Move:
		return o.Tree.To.String()
	}
	return o.Tree.Path.String()
}

// changedOutside names the files that the session knows and that somebody else
// has changed since, each change once. A session may know thousands: a file that
// nobody touched costs one look at its times.
func (r *Registry) changedOutside(s *session.Session, started time.Time) []string {
	limits := r.limits.Load()
	if r.Documents == nil || limits == nil {
		return nil
	}
	var out []string
	now := r.Documents.Snapshot(limits.ReadBytes)
	open := now.OpenFiles()
	for _, known := range s.Known() {
		if known.Checked.After(started) || !open[known.Path] && untouched(known) {
			continue // by this very call, or by nobody
		}
		p, err := r.Documents.Workspace().Resolve(known.Path)
		if err != nil {
			continue // its folder was closed
		}
		began := time.Now()
		if version := versionNow(now, limits.ReadBytes, p); version != "" && s.Check(known.Path, version, began) {
			out = append(out, p.String())
		}
	}
	slices.Sort(out)
	return out
}

func untouched(known session.Known) bool {
	touched, ok := workspace.Touched(known.Path)
	return ok && touched.Before(known.Checked.Add(-workspace.ClockSlack))
}

// versionNow is the version of p now, "" when it cannot be told.
func versionNow(now *document.Snapshot, limit int64, p workspace.Path) string {
	if now.Buffer(p) != nil {
		f, err := now.ReadIfExists(p, "")
		if err != nil {
			return ""
		}
		return f.Version
	}
	data, _, err := p.ReadFile(limit)
	switch {
	case errors.Is(err, fault.New(fault.FileNotFound, "")):
		return document.Absent
	case err != nil:
		return ""
	}
	return document.Version(data)
}
