package tools

import (
	"errors"
	"slices"
	"time"

	"pillion/internal/fault"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/document"
)

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
