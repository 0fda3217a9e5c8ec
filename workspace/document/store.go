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
	"slices"
	"sync"
	"sync/atomic"

	"pillion/workspace"
)

// Store holds the open buffers. Writers are the editor's notifications, which
// come in order; readers take Snapshots.
type Store struct {
	workspace *workspace.Workspace

	mu       sync.Mutex // guards writes to open, and watchers
	open     atomic.Pointer[buffers]
	watchers map[chan<- struct{}]struct{}
}

// buffers are all that is open at one moment. They are never changed.
type buffers struct {
	named map[workspace.Path]*Buffer   // by the name that the editor has for it
	files map[workspace.Path][]*Buffer // by the file that the name led to, last opened last
	held  map[workspace.Path]bool      // see Store.SetState
}

// NewStore makes a store without open buffers.
func NewStore(w *workspace.Workspace) *Store {
	s := &Store{workspace: w, watchers: map[chan<- struct{}]struct{}{}}
	s.open.Store(&buffers{})
	return s
}

// Workspace is the workspace beneath the buffers.
func (s *Store) Workspace() *workspace.Workspace { return s.workspace }

// Buffer is the open buffer that the editor has under the name p, else the one
// of the file that p leads to, or nil.
func (s *Store) Buffer(p workspace.Path) *Buffer {
	open := s.open.Load()
	if b := open.named[p]; b != nil {
		return b
	}
	return open.of(p, real)
}

// of is the buffer that speaks for the file that p leads to. A file may be open
// under its own name and under that of a symbolic link: the one with unsaved text
// counts, else the one of that name, else the last.
// follow says which that is.
func (o *buffers) of(p workspace.Path, follow func(workspace.Path) workspace.Path) *Buffer {
	if len(o.files) == 0 {
		return nil
	}
	file := follow(p)
	all := o.files[file]
	if elsewhere := func(b *Buffer) bool { return follow(b.Path) != file }; slices.ContainsFunc(all, elsewhere) {
		all = slices.DeleteFunc(slices.Clone(all), elsewhere) // a link leads elsewhere since it was opened
	}
	if len(all) == 0 {
		return nil
	}
	best := all[len(all)-1]
	for _, b := range all {
		if b.Path == p {
			best = b
		}
	}
	if len(all) > 1 {
		if i := slices.IndexFunc(all, (*Buffer).dirtyNow); i >= 0 {
			best = all[i]
		}
	}
	return best
}

// real is the file itself, so that a symbolic link to an open file leads to its
// buffer and not past it.
func real(p workspace.Path) workspace.Path {
	if target, err := p.Target(); err == nil {
		return target
	}
	return p
}

// Open records a buffer that the editor opened. One with the text of the disk has
// nothing unsaved in it, whatever the disk holds later.
func (s *Store) Open(p workspace.Path, uri string, version int32, text string) {
	s.OpenAs(p, uri, version, text, "")
}

// OpenAs is Open with what the editor calls the language.
func (s *Store) OpenAs(p workspace.Path, uri string, version int32, text, language string) {
	b := &Buffer{Path: p, URI: uri, Version: version, Text: text, Language: language, hash: hashOf(text)}
	if b.sameAsDisk() {
		b.state, b.stateVersion = clean, version
	}
	s.set(p, b)
}

// Change gives a buffer its new text. A buffer that is not open is ignored.
func (s *Store) Change(p workspace.Path, version int32, text string) {
	old := s.open.Load().named[p]
	if old == nil {
		return
	}
	next := *old
	next.Version, next.Text, next.hash = version, text, hashOf(text)
	// A clean buffer that now equals the disk was reloaded by the editor, which
	// has no reason to repeat that it is clean.
	if old.state == clean && old.stateVersion <= version && next.sameAsDisk() {
		next.stateVersion = version
	}
	s.set(p, &next)
}

// Saved records that the editor wrote the buffer to disk. What the user typed
// while it was being written is not saved, so the disk has the last word.
func (s *Store) Saved(p workspace.Path) {
	if old := s.open.Load().named[p]; old != nil && old.sameAsDisk() {
		next := *old
		next.state, next.stateVersion = clean, old.Version
		s.set(p, &next)
	}
}

// SetState records what the editor says of a buffer. Of a notebook or a custom
// editor nothing but that is known: version 0, and no text. While such a one is
// dirty, its file is held.
func (s *Store) SetState(p workspace.Path, st State) {
	old := s.open.Load().named[p]
	if old == nil {
		if st.Version == 0 {
			s.hold(p, st.Dirty)
		}
		return
	}
	next := *old
	next.Told, next.state, next.stateVersion = true, clean, st.Version
	if st.Dirty {
		next.state = dirty
	}
	if st.Encoding != "" {
		next.Encoding, _ = LookupEncoding(st.Encoding) // one that is unknown here is as good as none
	}
	next.EOL, next.BOM, next.ReadOnly = eolName(st.EOL), st.BOM, st.ReadOnly
	s.set(p, &next)
}

// Close forgets a buffer.
func (s *Store) Close(p workspace.Path) { s.set(p, nil) }

func (s *Store) set(p workspace.Path, b *Buffer) {
	if b != nil {
		b.file = real(p)
	}
	s.update(func(o *buffers) {
		if old := o.named[p]; old != nil {
			o.files[old.file] = slices.DeleteFunc(slices.Clone(o.files[old.file]), func(b *Buffer) bool { return b == old })
			if len(o.files[old.file]) == 0 {
				delete(o.files, old.file)
			}
		}
		delete(o.named, p)
		if b != nil {
			delete(o.held, b.file)
			o.named[p] = b
			o.files[b.file] = append(slices.Clone(o.files[b.file]), b)
		}
	})
}

func (s *Store) hold(p workspace.Path, held bool) {
	file := real(p)
	s.update(func(o *buffers) {
		delete(o.held, file)
		if held {
			o.held[file] = true
		}
	})
}

// update publishes a changed copy of what is open.
func (s *Store) update(change func(*buffers)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.open.Load()
	next := &buffers{named: cloned(old.named), files: cloned(old.files), held: cloned(old.held)}
	change(next)
	s.open.Store(next)
	s.signalAll()
}

// cloned never gives nil.
func cloned[V any](m map[workspace.Path]V) map[workspace.Path]V {
	if m == nil {
		return map[workspace.Path]V{}
	}
	return maps.Clone(m)
}

// Touched tells everyone who waits for changes that files may have changed on
// disk, as the editor's own watcher reports it.
func (s *Store) Touched() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signalAll()
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

func (s *Store) signalAll() {
	for w := range s.watchers {
		select {
		case w <- struct{}{}:
		default: // one signal is waiting already
		}
	}
}

// Dirty lists the open buffers whose text is not on disk, in no order.
func (s *Store) Dirty() []*Buffer { return s.open.Load().dirty() }

func (o *buffers) dirty() []*Buffer {
	var out []*Buffer
	for _, b := range o.named {
		if b.dirtyNow() {
			out = append(out, b)
		}
	}
	for p := range o.held {
		out = append(out, &Buffer{Path: p, URI: p.URI(), file: p, state: dirty})
	}
	return out
}
