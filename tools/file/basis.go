package file

import (
	"cmp"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/session"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// basis is the text that an agent had in mind when it made a change.
type basis struct {
	version    string // "" when the session knows nothing of the file
	explicit   bool   // the agent named it
	moved      bool   // the file holds something else now
	text       string
	remembered bool // text is at hand
	proposed   bool // of a file that the session never saw: what it held when the call came
	standing   bool // what the file holds is what became of the session's own last change of it
}

// basisOf is what an edit of f rests on: the version that the agent names, else the one
// that this session saw last.
func basisOf(s *session.Session, f *document.File, expected string) basis {
	name := tools.FileName(f.Path)
	b := basis{version: s.Believes(name, expected), explicit: expected != ""}
	if !b.explicit {
		b.version, _ = s.Seen(name)
	}
	return b.against(s, f)
}

// wholeBasisOf is what a whole new text of f rests on. An agent that knew all of an older
// text, and has read no more than a part of the newer one, has the older one in mind:
// what changed elsewhere is not for it to take back.
func wholeBasisOf(s *session.Session, f *document.File, expected string) basis {
	b, name := basisOf(s, f, expected), tools.FileName(f.Path)
	last, _ := s.Seen(name)
	if whole := s.SeenWhole(name); whole != "" && b.version == last {
		b.version = whole
	}
	return b.against(s, f)
}

// basisFor is what a change of f rests on: a whole new text of it, or an edit. Of a file that
// the session never saw that is what the user was shown first: what they type while the
// question is open is not to be taken back by their yes.
func basisFor(in tools.Input, f *document.File, expected string, whole bool) basis {
	b := basisOf(in.Session, f, expected)
	if whole {
		b = wholeBasisOf(in.Session, f, expected)
	}
	if was := in.First[f.Path]; was != nil && b.version == "" {
		b.version, b.proposed = was.Version, true
		b.moved = was.Version != f.Version
		b.text, b.remembered = was.Text, was.Encoding == f.Encoding
	}
	return b
}

func (b basis) against(s *session.Session, f *document.File) basis {
	b.moved = b.version != "" && b.version != f.Version
	if b.moved {
		b.text, b.remembered = s.Recall(b.version, string(cmp.Or(f.Encoding, document.UTF8))) // one that is gone has none
		b.standing = s.Believes(tools.FileName(f.Path), f.Version) == b.version
	}
	return b
}

// merge brings ours, which the agent made of the basis, together with what f holds
// now. Line ends that somebody changed throughout are no reason for a conflict.
func (b basis) merge(f *document.File, ours string) (string, error) {
	if !f.Exists || !b.remembered {
		return "", b.conflict(f, ours)
	}
	if text, ok := change.Merge(b.text, ours, f.Text); ok {
		return text, nil
	}
	if document.EOL(b.text) == document.EOL(ours) {
		plain := document.PlainLineEnds
		if text, ok := change.Merge(plain(b.text), plain(ours), plain(f.Text)); ok {
			return document.RestoreLineEnds(f.Text, text), nil
		}
	}
	return "", b.conflict(f, ours)
}

// reason is what the user reads of a change that was merged.
func (b basis) reason() string {
	if b.proposed {
		return "the file changed since you were asked, and the agent's change was merged with it"
	}
	return "the file changed since the agent read it, and its change was merged with that"
}

// conflict tells both sides of a file that is not what the agent knows, and where the
// text that it knew is at hand, what has changed since.
func (b basis) conflict(f *document.File, ours string) *fault.Error {
	name := fault.Quote(f.Path.String())
	err := fault.New(fault.ConcurrentModification, "%s has changed since it was read", name).
		With("expected_version", b.version).With("current_version", f.Version).
		WithHint("read %s again and change its current text", name)
	if ours != "" {
		err = err.With("your_text", fault.Clip(ours, conflictClip))
	}
	if !f.Exists {
		err.Message = name + " no longer exists"
		return err.WithHint("ask the user; to create it again, use write_file with expected_version \"absent\"")
	}
	if b.remembered {
		err.Message = name + " has changed since it was read, in the same lines"
		err = err.With("changes_since", fault.Clip(diff.Unified(diff.Hunks(b.text, f.Text, 3)), conflictClip))
	}
	return err.With("current_text", fault.Clip(f.Text, conflictClip))
}

// sayMoved adds to an edit that has no place that the file is not what the agent read: by whom, and
// what has changed.
func (b basis) sayMoved(in tools.Input, f *document.File, err error) error {
	if !b.moved || b.proposed || fault.CodeOf(err) != fault.EditNoMatch {
		return err
	}
	e := *fault.From(err)
	e.Message += "; the file has changed since you read it"
	if by := in.ChangedBy(f.Path); by != "" {
		e.Message += ", by " + fault.Quote(by)
	}
	if !b.remembered {
		return &e
	}
	since := fault.Clip(diff.Unified(diff.Hunks(b.text, f.Text, 3)), movedClip)
	moved := e.With("changes_since", since)
	moved.Hint += "\nsince you read it:\n" + since
	return moved
}

// movedClip bounds what of a change goes into a message.
const movedClip = 4 << 10

// conflictClip bounds each side of a conflict in a result.
const conflictClip = 64 << 10

// believe is what the agent has in mind after its change was merged: its own text. The
// other half it has not read.
func (b basis) believe(ours document.Content, made bool) tools.Knowledge {
	if !made {
		return tools.Knowledge{Version: b.version}
	}
	return tools.Knowledge{Version: ours.Version(), Encoding: ours.Encoding, Text: ours.Text, HasText: true}
}
