// Package document is text as agents and editors see it: encodings and line
// ends, the buffers that are open in the editor laid over the files on disk, and
// snapshots of the two.
//
// A file that is open in the editor belongs to the editor: every read goes
// through Snapshot.Read, which answers with the buffer's text. The package
// changes nothing; package change does.
package document

import (
	"maps"
	"sync"
	"sync/atomic"

	"pillion/workspace"
)

// Buffer is a document that is open in the editor, at one version. It is
// immutable: a change makes a new one.
type Buffer struct {
	Path     workspace.Path
	URI      string
	Version  int32
	Text     string
	Encoding Encoding // empty: unknown
	EOL      string   // "lf", "crlf" or empty
	BOM      bool
	ReadOnly bool

	state        dirtiness
	stateVersion int32 // the version that state was true for
}

// dirtiness is what the editor said of a buffer; LSP itself has no such flag.
type dirtiness int

const (
	unsaid dirtiness = iota
	clean
	dirty
)

// State is what the editor tells of a buffer beside its text.
type State struct {
	Version  int32
	Dirty    bool
	Encoding string
	EOL      string
	BOM      bool
	ReadOnly bool
}

// Store holds the open buffers. Writers are the editor's notifications, which
// come in order; readers take Snapshots.
type Store struct {
	workspace *workspace.Workspace

	mu       sync.Mutex // guards writes to buffers and watchers
	buffers  atomic.Pointer[map[workspace.Path]*Buffer]
	watchers map[chan<- struct{}]struct{}
}

// NewStore makes a store without open buffers.
func NewStore(w *workspace.Workspace) *Store {
	s := &Store{workspace: w, watchers: map[chan<- struct{}]struct{}{}}
	s.buffers.Store(&map[workspace.Path]*Buffer{})
	return s
}

// Workspace is the workspace beneath the buffers.
func (s *Store) Workspace() *workspace.Workspace { return s.workspace }

// Buffer is the open buffer of the file that p leads to, or nil.
func (s *Store) Buffer(p workspace.Path) *Buffer { return (*s.buffers.Load())[real(p)] }

// real is what buffers are kept by: the file itself, so that a symbolic link to
// an open file leads to its buffer and not past it.
func real(p workspace.Path) workspace.Path {
	if target, err := p.Target(); err == nil {
		return target
	}
	return p
}

// Open records a buffer that the editor opened.
func (s *Store) Open(p workspace.Path, uri string, version int32, text string) {
	s.set(p, &Buffer{Path: p, URI: uri, Version: version, Text: text})
}

// Change gives a buffer its new text. A buffer that is not open is ignored.
func (s *Store) Change(p workspace.Path, version int32, text string) {
	old := s.Buffer(p)
	if old == nil {
		return
	}
	next := *old
	next.Version, next.Text = version, text
	// A clean buffer that now equals the disk was reloaded by the editor, which
	// has no reason to repeat that it is clean.
	if old.state == clean && old.stateVersion == old.Version && sameAsDisk(p, text) {
		next.stateVersion = version
	}
	s.set(p, &next)
}

// Saved records that the editor wrote the buffer to disk as it is.
func (s *Store) Saved(p workspace.Path) {
	if old := s.Buffer(p); old != nil && old.state != unsaid {
		next := *old
		next.state, next.stateVersion = clean, old.Version
		s.set(p, &next)
	}
}

// SetState records what the editor says of a buffer.
func (s *Store) SetState(p workspace.Path, st State) {
	old := s.Buffer(p)
	if old == nil {
		return
	}
	next := *old
	next.state, next.stateVersion = clean, st.Version
	if st.Dirty {
		next.state = dirty
	}
	if e, err := LookupEncoding(st.Encoding); err == nil && st.Encoding != "" {
		next.Encoding = e
	}
	next.EOL, next.BOM, next.ReadOnly = eolName(st.EOL), st.BOM, st.ReadOnly
	s.set(p, &next)
}

// eolName takes both the terms of EditorConfig and the characters themselves.
func eolName(s string) string {
	switch s {
	case "\r\n", "crlf", "CRLF":
		return "crlf"
	case "\n", "lf", "LF":
		return "lf"
	}
	return ""
}

// Close forgets a buffer.
func (s *Store) Close(p workspace.Path) { s.set(p, nil) }

func (s *Store) set(p workspace.Path, b *Buffer) {
	p = real(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(*s.buffers.Load())
	if b == nil {
		delete(next, p)
	} else {
		next[p] = b
	}
	s.buffers.Store(&next)
	for w := range s.watchers {
		signal(w)
	}
}

// Notify has the store signal ch, without blocking, after each change of a
// buffer, until stop is called.
func (s *Store) Notify(ch chan<- struct{}) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[ch] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, ch)
	}
}

func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default: // one signal is waiting already
	}
}

// Dirty lists the open buffers whose text is not on disk, in no order.
func (s *Store) Dirty() []*Buffer {
	var out []*Buffer
	for p, b := range *s.buffers.Load() {
		if b.isDirty(func() bool { return sameAsDisk(p, b.Text) }) {
			out = append(out, b)
		}
	}
	return out
}

// isDirty trusts the editor's word for the version that it was said of. A newer
// version, or no word at all, is judged by comparing with the disk.
func (b *Buffer) isDirty(sameAsDisk func() bool) bool {
	switch {
	case b.state == dirty:
		return true
	case b.state == clean && b.stateVersion >= b.Version:
		return false
	}
	return !sameAsDisk()
}

func sameAsDisk(p workspace.Path, text string) bool {
	data, _, err := p.ReadFile(compareLimit)
	if err != nil {
		return false
	}
	c, err := Decode(data, "")
	return err == nil && c.Same(text)
}

// compareLimit bounds the file that is read to tell whether a buffer is saved;
// editors do not keep larger ones in sync.
const compareLimit = 64 << 20

// Touched tells everyone who waits for changes that files may have changed on
// disk, as the editor's own watcher reports it.
func (s *Store) Touched() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		signal(w)
	}
}
