package document

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
	"unsafe"

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
	// HardLinks is how many names the file on disk has; ReadOnly, that it may not be
	// written to; LosesOwner, whose it is now and would not be once it is replaced.
	HardLinks  int
	ReadOnly   bool
	LosesOwner string

	Buffer *Buffer // nil when it is not open; whose text it is, Source says
	Dirty  bool    // the buffer's text is not on disk
	// Behind: the buffer is clean, but the disk moved on and the editor, which
	// tells what is dirty, has not reloaded it yet. The disk's text is then the
	// file's text, as it is for the clean buffer of any other editor.
	Behind bool
	// Lossy: the editor shows replacement characters for bytes on disk that it
	// could not decode, and would write those if it saved.
	Lossy bool
	// Held: it has unsaved changes in an editor that shows no text, such as that
	// of a notebook.
	Held bool
	// DiskFault: why the bytes on disk beneath the buffer cannot be read as text.
	DiskFault   error
	DiskVersion string // of the bytes on disk, Absent without a file
	DiskSize    int64

	asked    Encoding // what was asked for when it was read
	diskText string   // where the buffer shows it with other line ends
}

// IsBytes: the text is the bytes on disk as they stand.
func (f *File) IsBytes() bool {
	return f.Source == FromDisk && f.Encoding == UTF8 && !f.BOM && f.Version == f.DiskVersion
}

// isReadOnly: the disk says so, or the editor.
func (f *File) isReadOnly() bool { return f.ReadOnly || f.Buffer != nil && f.Buffer.ReadOnly }

// OnDisk is text, a version of f.Text, as it is to be written to disk: where the
// editor shows the file with other line ends than it has, with those that it has.
func (f *File) OnDisk(text string) string {
	if f.diskText == "" {
		return text
	}
	return RestoreLineEnds(f.diskText, text)
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
	store *Store
	open  *buffers
	limit int64

	mu     sync.Mutex // guards what follows
	files  map[workspace.Path]*File
	bytes  map[workspace.Path]string // what was on disk: see RestOn
	apart  map[string]string         // outside the workspace: see RestOnOutside
	states map[string]looked         // see RestOnState
	trees  map[workspace.Path]workspace.Tree
	asked  bool // which buffers are unsaved

	following sync.Mutex // guards reals
	reals     map[workspace.Path]workspace.Path

	utf8 bool // see OnlyUTF8

	last atomic.Pointer[lastText]

	expected func(abs string) (bytes, version string) // see Expect
}

// Snapshot takes a view in which no file of more than limit bytes is read whole.
func (s *Store) Snapshot(limit int64) *Snapshot {
	return &Snapshot{store: s, open: s.open.Load(), limit: limit, files: map[workspace.Path]*File{}}
}

// OnlyUTF8 has the snapshot refuse text in any other encoding. It is called before
// anything is read.
func (s *Snapshot) OnlyUTF8() { s.utf8 = true }

// Expect tells the snapshot of bytes that a file may well hold, and of their version: to
// find them again is to compare, not to hash. It is called before anything is read.
func (s *Snapshot) Expect(known func(abs string) (bytes, version string)) { s.expected = known }

func (s *Snapshot) admits(p workspace.Path, enc Encoding) error {
	if !s.utf8 || enc == UTF8 || enc == "" {
		return nil
	}
	return fault.New(fault.EncodingError, "%s is in %s, and the settings (limits.preset) allow only UTF-8", fault.Quote(p.String()), enc).
		WithHint("ask the user to save it as UTF-8")
}

// Workspace is the workspace beneath the snapshot.
func (s *Snapshot) Workspace() *workspace.Workspace { return s.store.workspace }

// Buffer is the open buffer in this view of the file that p leads to, or nil.
func (s *Snapshot) Buffer(p workspace.Path) *Buffer { return s.open.of(p, s.Real) }

// Real is the file that p leads to when this view first follows it; p itself where
// that cannot be told.
func (s *Snapshot) Real(p workspace.Path) workspace.Path {
	s.following.Lock()
	defer s.following.Unlock()
	if file, known := s.reals[p]; known {
		return file
	}
	if s.reals == nil {
		s.reals = map[workspace.Path]workspace.Path{}
	}
	file := real(p)
	s.reals[p] = file
	return file
}

// OpenFiles are the absolute names of the files that are open in this view.
func (s *Snapshot) OpenFiles() map[string]bool {
	out := make(map[string]bool, len(s.open.files))
	for file := range s.open.files {
		out[file.Abs()] = true
	}
	return out
}

// Dirty lists the buffers of this view whose text is not on disk. Who has asked
// rests on the answer: see Store.Moved.
func (s *Snapshot) Dirty() []*Buffer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
	return s.open.dirty()
}

// Read gives the file at p, decoded. An empty encoding means what the editor or
// a byte order mark says, else UTF-8. A file that does not exist is an error; use
// ReadIfExists to plan its creation.
func (s *Snapshot) Read(p workspace.Path, enc Encoding) (*File, error) {
	f, err := s.ReadIfExists(p, enc)
	if err == nil && !f.Exists {
		if _, err = p.Stat(); err == nil {
			err = appeared(p)
		}
	}
	return f, err
}

// ReadIfExists is Read, with a File that has Exists false where there is none.
func (s *Snapshot) ReadIfExists(p workspace.Path, enc Encoding) (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[p]; f != nil && (enc == f.Encoding || enc == "" && f.Encoding != Binary) {
		return f, nil
	}
	f, err := s.read(p, enc)
	if err != nil {
		return nil, err
	}
	if err := s.admits(p, f.Encoding); err != nil {
		return nil, err
	}
	f.asked = enc
	s.files[p] = f
	return f, nil
}

func (s *Snapshot) read(p workspace.Path, enc Encoding) (*File, error) {
	b := s.Buffer(p)
	if b != nil && enc == "" {
		enc = b.Encoding
	}
	f, err := s.readDisk(p, enc, b)
	if b != nil && enc != Binary {
		return f.under(b, err)
	}
	if err != nil {
		return nil, err
	}
	if enc == Binary { // no editor shows it
		if f.Encoding = Binary; b != nil {
			f.Buffer, f.Dirty = b, b.dirtyNow()
		}
	}
	f.Held = len(s.open.held) > 0 && s.open.held[s.Real(p)]
	return f, nil
}

// under lays an open buffer over what is on disk, which fault says could not be
// read as text.
func (f *File) under(b *Buffer, fault error) (*File, error) {
	f.Buffer, f.DiskFault = b, fault
	same := fault == nil && f.Exists && f.Same(b.Text)
	f.Dirty = b.isDirty(func() bool { return same })
	switch {
	case !f.Dirty && !same && fault == nil:
		// All that the editor has was saved once, so the disk is what counts: it
		// moved on, or the file is gone.
		f.Behind = f.Exists && b.Told
		return f, nil
	case !f.Dirty && undecodable(fault) && b.Encoding != "" && !strings.ContainsRune(b.Text, utf8.RuneError):
		return nil, fault // it moved on to what is no text
	case same && f.Text != b.Text:
		f.diskText = f.Text
	case fault != nil || !f.Exists:
		f.Encoding, f.BOM = b.Encoding, b.BOM
	}
	if f.Encoding == "" {
		f.Encoding = UTF8
	}
	f.Lossy = undecodable(fault) && strings.ContainsRune(b.Text, utf8.RuneError)
	f.Exists, f.Source, f.Text = true, FromBuffer, b.Text
	if !same { // else the version stays that of the bytes on disk
		f.Version, f.Size = f.Content.version()
	}
	return f, nil
}

func undecodable(err error) bool {
	code := fault.CodeOf(err)
	return code == fault.EncodingError || code == fault.BinaryFile
}

// Version is the version of the content as it would be written.
func (c Content) Version() string {
	version, _ := c.version()
	return version
}

// version is what the content has as bytes. Where it cannot be encoded, its
// characters stand for them.
func (c Content) version() (string, int64) {
	data, err := c.View()
	if err != nil {
		data = []byte(c.Text)
	}
	return Version(data), int64(len(data))
}

// readDisk gives what it found out about the file even when it fails.
func (s *Snapshot) readDisk(p workspace.Path, enc Encoding, b *Buffer) (*File, error) {
	f := &File{Path: p, Source: FromDisk, Version: Absent, DiskVersion: Absent, Modified: time.Now(), Mode: 0o644}
	data, version, info, err := s.readBytes(p, b)
	switch {
	case errors.Is(err, fault.New(fault.FileNotFound, "")):
		info, statErr := p.Lstat()
		switch {
		case statErr != nil:
			return f, nil
		case info.Mode()&fs.ModeSymlink == 0: // it appeared this moment
			return f, appeared(p)
		}
		return f, fault.New(fault.FileNotFound, "%s is a broken symbolic link; name the file itself", fault.Quote(p.String()))
	case err != nil:
		f.DiskVersion = "unreadable: " + string(fault.CodeOf(err))
		return f, err
	}
	f.Exists, f.Size, f.DiskSize, f.Modified, f.Mode = true, info.Size(), int64(len(data)), info.ModTime(), info.Mode()
	f.HardLinks, f.ReadOnly, f.LosesOwner = workspace.HardLinks(info), p.ReadOnly(info), workspace.LosesOwner(info)
	f.Version, f.DiskVersion = version, version
	if f.Content, err = Decode(data, enc); err != nil {
		return f, naming(p, err)
	}
	return f, nil
}

// readBytes reads the file, which most often holds what is known: the text of its
// buffer, or what was expected. Then nothing is hashed and nothing allocated. The data
// is shared: it must not be changed.
func (s *Snapshot) readBytes(p workspace.Path, b *Buffer) (data []byte, version string, info fs.FileInfo, err error) {
	var known string
	switch {
	case b != nil:
		known = b.Text
	case s.expected != nil:
		known, version = s.expected(p.Abs())
	}
	data, same, info, err := p.ReadFileUnless(known, s.limit)
	switch {
	case err != nil:
		return nil, "", info, err
	case !same:
		return data, Version(data), info, nil
	case b != nil:
		version = b.hash()
	}
	return unsafe.Slice(unsafe.StringData(known), len(known)), version, info, nil
}

func appeared(p workspace.Path) error {
	return fault.New(fault.ConcurrentModification, "%s appeared while it was read; read it again", fault.Quote(p.String()))
}

// naming puts the path into an error about bytes alone.
func naming(p workspace.Path, err error) error {
	e := *fault.From(err)
	e.Message = fault.Quote(p.String()) + ": " + e.Message
	return &e
}

// ReadText is the text of p as the agent must see it, for searches. Who asks for one file
// again and again has it read once.
func (s *Snapshot) ReadText(p workspace.Path) (string, error) {
	if s.Buffer(p) != nil {
		f, err := s.ReadIfExists(p, "")
		if err != nil {
			return "", err
		}
		return f.Text, nil
	}
	if last := s.last.Load(); last != nil && last.path == p {
		return last.text, nil
	}
	text, err := s.readText(p)
	if err == nil {
		s.last.Store(&lastText{p, text})
	}
	return text, err
}

// HasOpen says that an editor has the file p, which no link leads to, so that ReadText
// may give another text than that of the bytes on disk.
func (s *Snapshot) HasOpen(p workspace.Path) bool {
	return len(s.open.files[p]) > 0 || s.open.named[p] != nil
}

// Open are the files for which HasOpen is true.
func (s *Snapshot) Open() []workspace.Path {
	return slices.AppendSeq(slices.Collect(maps.Keys(s.open.files)), maps.Keys(s.open.named))
}

// Text is what ReadText gives for a file that nobody has open and that holds data. It may
// be data itself.
func (s *Snapshot) Text(p workspace.Path, data []byte) (string, error) {
	c, err := Decode(data, "")
	if err == nil {
		err = s.admits(p, c.Encoding)
	}
	return c.Text, err
}

// Limit is how many bytes a file may have that is read whole.
func (s *Snapshot) Limit() int64 { return s.limit }

// lastText is what ReadText has read.
type lastText struct {
	path workspace.Path
	text string
}

func (s *Snapshot) readText(p workspace.Path) (string, error) {
	data, _, err := p.ReadFile(s.limit)
	if err != nil {
		return "", err
	}
	return s.Text(p, data)
}

// Known is the file at p as this snapshot has read it, nil if it has not.
func (s *Snapshot) Known(p workspace.Path) *File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[p]
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
	for p, version := range s.bytes {
		out[p] += " " + version
	}
	for p, t := range s.trees {
		out[p] += " " + treeState(t)
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
	if f.Held {
		s += " held"
	}
	if f.HardLinks > 1 || f.isReadOnly() || f.LosesOwner != "" {
		s += fmt.Sprint(" ", f.HardLinks, f.isReadOnly(), f.LosesOwner) // it is asked about
	}
	return s
}

// Moved reports whether anything that snap read, or was asked for, is different now.
func (s *Store) Moved(snap *Snapshot) bool {
	now := s.Snapshot(snap.limit)
	snap.mu.Lock()
	defer snap.mu.Unlock()
	if snap.asked && !maps.Equal(paths(snap.open.dirty()), paths(now.open.dirty())) {
		return true
	}
	for p, was := range snap.files {
		f, err := now.read(p, was.asked)
		if err != nil || f.state() != was.state() {
			return true
		}
	}
	for p, was := range snap.bytes {
		if bytesOnDisk(p) != was {
			return true
		}
	}
	for p, was := range snap.trees {
		if !p.Same(was) {
			return true
		}
	}
	for name, was := range snap.apart {
		if outsideState(name) != was {
			return true
		}
	}
	for _, was := range snap.states {
		if was.look() != was.state {
			return true
		}
	}
	return false
}

func paths(buffers []*Buffer) map[workspace.Path]bool {
	out := map[workspace.Path]bool{}
	for _, b := range buffers {
		out[b.Path] = true
	}
	return out
}
