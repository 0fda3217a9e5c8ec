package tools

import (
	"errors"

	"pillion/internal/fault"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/document"
)

// Knowledge is what an agent knows of a file after a call.
type Knowledge struct {
	Version  string // of the text that it has in mind
	Result   string // the version that it was told of: after a merge another one
	Encoding document.Encoding
	Text     string
	HasText  bool       // text is at hand
	IsBytes  bool       // and is the version's bytes
	Lines    *LinesRead // of that version it has read no more
}

// LinesRead is some lines of a file, from 1 and inclusive.
type LinesRead struct{ First, Last, Total int }

// learn has the session know what an answer showed or made.
func (p *pending) learn(a *Answer) error {
	if a.Keeps != nil {
		return p.call.Session.KeepPiece(a.Keeps.Piece, a.Keeps.Limit)
	}
	for path, version := range a.Saw {
		k, changed := a.Knows[path]
		if !changed {
			k = Knowledge{Version: version, Lines: a.Lines}
			if f := p.snapshot.Known(path); f != nil && f.Version == version {
				k.Encoding, k.Text, k.HasText, k.IsBytes = f.Encoding, f.Text, true, f.IsBytes()
			}
		}
		know(p.call.Session, FileName(path), k)
	}
	return nil
}

func know(s *session.Session, name string, k Knowledge) {
	switch {
	case k.IsBytes:
		s.RememberBytes(k.Version, string(k.Encoding), k.Text)
	case k.HasText:
		s.Remember(k.Version, string(k.Encoding), k.Text)
	}
	switch {
	case k.Result != "":
		s.SawMerge(name, k.Version, k.Result)
	case k.Lines != nil:
		s.SawLines(name, k.Version, k.Lines.First, k.Lines.Last, k.Lines.Total)
	default:
		s.Saw(name, k.Version)
	}
}

// KeptPiece is a chunk for the session to remember.
type KeptPiece struct {
	session.Piece
	File  workspace.Path
	Limit int64
}

// dropChunks drops the chunks of a call that came to its end: they are written, or the user
// does not want them. After any other failure the last chunk can be sent again.
func (p *pending) dropChunks(a *Answer, err error) {
	e := p.edits()
	switch {
	case err == nil && a.chunks != "":
		p.call.Session.DropPieces(a.chunks)
	case e != nil && e.Chunks != "" && (errors.Is(err, fault.New(fault.UserRejected, "")) || errors.Is(err, fault.New(fault.Cancelled, ""))):
		p.call.Session.DropPieces(e.Chunks)
	}
}
