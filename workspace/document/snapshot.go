package document

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
)

// Source says where a file's text was read.
type Source string

// The sources of a File.
const (
	FromBuffer Source = "buffer"
	FromDisk   Source = "disk"
)

// Absent is the version of a file that does not exist.
const Absent = "absent"

// File is one file as it stood in a snapshot.
type File struct {
	Content
	Path     workspace.Path
	Exists   bool
	Source   Source
	Version  string // hash of the bytes: see Version
	Size     int64  // of the encoded bytes
	Modified time.Time
	Mode     fs.FileMode

	Buffer *Buffer // nil when it is not open
	Dirty  bool    // the buffer's text is not on disk
	// Behind: the buffer is clean, but the disk moved on and the editor has not
	// reloaded it yet. The disk's text is then the file's text.
	Behind      bool
	DiskVersion string // of the bytes on disk, Absent without a file
}

// Version is the name of some content: the first half of its SHA-256, in hex.
func Version(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Snapshot is one view of the buffers over the disk. The buffers are those of
// the moment it was taken; a file on disk is as of its first read. It remembers
// what was read, so that a plan can be checked against the world later.
type Snapshot struct {
	store   *Store
	buffers map[workspace.Path]*Buffer
	limit   int64

	mu    sync.Mutex // guards files
	files map[workspace.Path]*File
}

// Snapshot takes a view in which no file of more than limit bytes is read whole.
func (s *Store) Snapshot(limit int64) *Snapshot {
	return &Snapshot{store: s, buffers: *s.buffers.Load(), limit: limit, files: map[workspace.Path]*File{}}
}

// Workspace is the workspace beneath the snapshot.
func (s *Snapshot) Workspace() *workspace.Workspace { return s.store.workspace }

// Buffer is the open buffer in this view of the file that p leads to, or nil.
func (s *Snapshot) Buffer(p workspace.Path) *Buffer {
	if len(s.buffers) == 0 {
		return nil
	}
	return s.buffers[real(p)]
}

// Dirty lists the buffers of this view whose text is not on disk.
func (s *Snapshot) Dirty() []*Buffer {
	var out []*Buffer
	for p, b := range s.buffers {
		if b.isDirty(func() bool { return sameAsDisk(p, b.Text) }) {
			out = append(out, b)
		}
	}
	return out
}

// Read gives the file at p, decoded. An empty encoding means what the editor or
// a byte order mark says, else UTF-8. A file that does not exist is an error; use
// ReadIfExists to plan its creation.
func (s *Snapshot) Read(p workspace.Path, enc Encoding) (*File, error) {
	f, err := s.ReadIfExists(p, enc)
	if err == nil && !f.Exists {
		_, err = p.Stat()
		if err == nil {
			err = fault.New(fault.ConcurrentModification, "%s appeared while it was read; read it again", fault.Quote(p.String()))
		}
	}
	return f, err
}

// ReadIfExists is Read, with a File that has Exists false where there is none.
func (s *Snapshot) ReadIfExists(p workspace.Path, enc Encoding) (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[p]; f != nil && (enc == "" || enc == f.Encoding) {
		return f, nil
	}
	f, err := s.read(p, enc)
	if err != nil {
		return nil, err
	}
	s.files[p] = f
	return f, nil
}

func (s *Snapshot) read(p workspace.Path, enc Encoding) (*File, error) {
	b := s.Buffer(p)
	if b != nil && enc == "" {
		enc = b.Encoding
	}
	onDisk, err := readDisk(p, enc, s.limit)
	if b == nil {
		return onDisk, err
	}
	if err != nil || !onDisk.Exists {
		onDisk = &File{Path: p, DiskVersion: Absent, Modified: time.Now(), Mode: 0o644}
	}
	return overlay(b, onDisk, err == nil && onDisk.Exists)
}

// overlay lays an open buffer over what is on disk.
func overlay(b *Buffer, onDisk *File, readable bool) (*File, error) {
	f := *onDisk
	f.Buffer = b
	same := readable && onDisk.Same(b.Text)
	f.Dirty = b.isDirty(func() bool { return same })
	if readable && !f.Dirty && !same {
		f.Behind, f.Source = true, FromDisk
		return &f, nil
	}
	f.Exists, f.Source, f.Text = true, FromBuffer, b.Text
	if !readable {
		f.Encoding, f.BOM = b.Encoding, b.BOM
	}
	if f.Encoding == "" {
		f.Encoding = UTF8
	}
	if same {
		return &f, nil // the version stays that of the bytes on disk
	}
	data, err := f.Encode()
	if err != nil {
		data = []byte(f.Text)
	}
	f.Version, f.Size = Version(data), int64(len(data))
	return &f, nil
}

func readDisk(p workspace.Path, enc Encoding, limit int64) (*File, error) {
	f := &File{Path: p, Source: FromDisk, Version: Absent, DiskVersion: Absent}
	data, info, err := p.ReadFile(limit)
	switch {
	case errors.Is(err, fault.New(fault.FileNotFound, "")):
		if _, err := p.Lstat(); err == nil {
			return nil, fault.New(fault.FileNotFound, "%s is a symbolic link that leads nowhere; name the file itself", fault.Quote(p.String()))
		}
		return f, nil
	case err != nil:
		return nil, err
	}
	f.Content, err = Decode(data, enc)
	if err != nil {
		return nil, naming(p, err)
	}
	f.Exists, f.Size, f.Modified, f.Mode = true, info.Size(), info.ModTime(), info.Mode()
	f.Version = Version(data)
	f.DiskVersion = f.Version
	return f, nil
}

// naming puts the path into an error about bytes alone.
func naming(p workspace.Path, err error) error {
	e := *fault.From(err)
	e.Message = fault.Quote(p.String()) + ": " + e.Message
	return &e
}

// ReadText is the text of p as the agent must see it, for searches.
func (s *Snapshot) ReadText(p workspace.Path) (string, error) {
	if s.Buffer(p) != nil {
		f, err := s.ReadIfExists(p, "")
		if err != nil {
			return "", err
		}
		return f.Text, nil
	}
	data, _, err := p.ReadFile(s.limit)
	if err != nil {
		return "", err
	}
	c, err := Decode(data, "")
	return c.Text, err
}

// Rests is what the reads of this snapshot saw: the version of each path, by
// which a plan made from it is bound. See Store.Moved.
func (s *Snapshot) Rests() map[workspace.Path]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[workspace.Path]string, len(s.files))
	for p, f := range s.files {
		out[p] = f.state()
	}
	return out
}

// state tells apart all that matters for a plan: the text, the bytes on disk
// beneath a buffer, and whether the text is saved.
func (f *File) state() string {
	s := f.Version + " " + f.DiskVersion
	if f.Dirty {
		s += " dirty"
	}
	return s
}

// Moved reports whether anything that snap read is different now.
func (s *Store) Moved(snap *Snapshot) bool {
	now := s.Snapshot(snap.limit)
	snap.mu.Lock()
	defer snap.mu.Unlock()
	for p, was := range snap.files {
		f, err := now.read(p, was.Encoding)
		if err != nil || f.state() != was.state() {
			return true
		}
	}
	return false
}
