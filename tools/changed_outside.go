package tools

import (
	"errors"
	"time"

	"pillion/internal/fault"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/document"
)

// changedOutside names the files that the session knows and that somebody else
// has changed since, each change once.
func (r *Registry) changedOutside(s *session.Session, started time.Time) []string {
	if r.Documents == nil {
		return nil
	}
	var out []string
	now := r.Documents.Snapshot(r.Limits.ReadBytes)
	for _, known := range s.Known() {
		if known.Checked.After(started) {
			continue // by this very call
		}
		p, err := r.Documents.Workspace().Resolve(known.Path)
		if err != nil {
			continue // its folder was closed
		}
		began := time.Now()
		if version := newerVersion(now, r.Limits.ReadBytes, p, known.Checked); version != "" && s.Check(known.Path, version, began) {
			out = append(out, p.String())
		}
	}
	return out
}

// clockSlack is how far the times that a file system writes may lag behind.
const clockSlack = 100 * time.Millisecond

// newerVersion is the version of p now, "" when it has not been touched since or
// cannot be told. Times only spare the hashing: content decides.
func newerVersion(now *document.Snapshot, limit int64, p workspace.Path, since time.Time) string {
	if now.Buffer(p) != nil {
		f, err := now.ReadIfExists(p, "")
		if err != nil {
			return ""
		}
		return f.Version
	}
	info, err := p.Stat()
	switch {
	case errors.Is(err, fault.New(fault.FileNotFound, "")):
		return document.Absent
	case err != nil, info.ModTime().Before(since.Add(-clockSlack)):
		return ""
	}
	data, _, err := p.ReadFile(limit)
	if err != nil {
		return ""
	}
	return document.Version(data)
}
