package document

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"pillion/internal/fault"
	"pillion/workspace"
)

// hashedWhole is the largest file whose bytes are looked at each time. Of a larger
// one the beginning is, and when anything of it was written last: agents can name
// files of any size, and a question must not wait for gigabytes.
const hashedWhole = 8 << 20

// RestOn has a plan made from this view rest on the bytes of p on disk, text or
// not, there or not yet: a command will run them, whatever the editor shows.
func (s *Snapshot) RestOn(p workspace.Path) {
	version := bytesOnDisk(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes == nil {
		s.bytes = map[workspace.Path]string{}
	}
	if _, known := s.bytes[p]; !known {
		s.bytes[p] = version
	}
}

// RestOnOutside is RestOn for an absolute name that leads outside the workspace, or
// through links. Nothing is opened: where it leads, and when that was written, must
// be enough.
func (s *Snapshot) RestOnOutside(name string) {
	state := outsideState(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apart == nil {
		s.apart = map[string]string{}
	}
	if _, known := s.apart[name]; !known {
		s.apart[name] = state
	}
}

// RestsOutside is Rests for what RestOnOutside and RestOnState were told.
func (s *Snapshot) RestsOutside() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := maps.Clone(s.apart)
	for name, l := range s.states {
		if out == nil {
			out = map[string]string{}
		}
		out[name] = l.state
	}
	return out
}

// RestOnState has a plan made from this view rest on a state that look gives, now and
// whenever it is asked: of what is no file, and of what only the tool can read.
func (s *Snapshot) RestOnState(name, state string, look func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states == nil {
		s.states = map[string]looked{}
	}
	s.states[name] = looked{state, look}
}

// looked is what somebody saw, and how to see it again.
type looked struct {
	state string
	look  func() string
}

// bytesOnDisk tells the contents of a file of any size apart.
func bytesOnDisk(p workspace.Path) string {
	f, info, err := p.OpenFile()
	if err != nil {
		return "unreadable: " + string(fault.CodeOf(err))
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, hashedWhole)); err != nil {
		return "unreadable: " + err.Error()
	}
	state := hex.EncodeToString(sum.Sum(nil)) + " " + info.Mode().Perm().String()
	if info.Size() > hashedWhole {
		state += " " + lastWritten(p.Abs(), info)
	}
	return state
}

// outsideState tells apart what a name outside leads to. Nothing can be run out of a
// folder or a device, and nothing out of an empty file: when those were written last
// does not matter. It changes all the time for a busy folder such as /tmp, and in
// /proc, whose files have no size, with each look.
func outsideState(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "not there"
	}
	info, err := os.Lstat(real)
	if err != nil {
		return "not there"
	}
	state := real + " " + info.Mode().String()
	if info.Mode().IsRegular() && info.Size() > 0 {
		state += " " + lastWritten(real, info)
	}
	return state
}

func lastWritten(name string, info os.FileInfo) string {
	at := info.ModTime()
	if touched, ok := workspace.Touched(name); ok {
		at = touched
	}
	return fmt.Sprint(info.Size(), " ", at.UnixNano())
}
