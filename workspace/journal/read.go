package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Query says which entries are wanted.
type Query struct {
	// Wants chooses; nil wants all. It sees entries with their states.
	Wants func(*Entry) bool
	Limit int // 0: all
}

// Entries lists entries of all programs, newest first.
func (s *Store) Entries(q Query) ([]Entry, error) {
	names, err := s.segments()
	if err != nil {
		return nil, err
	}
	return s.list(names, q)
}

func (s *Store) list(names []string, q Query) ([]Entry, error) {
	var all []*Entry
	byID := map[string]*Entry{}
	var marks []mark
	for _, name := range names {
		seen, err := s.seen(name)
		if err != nil {
			return nil, err
		}
		for _, begun := range seen.begun {
			e := *begun
			all, byID[e.ID] = append(all, &e), &e
		}
		for _, end := range seen.ends {
			if e := byID[end.ID]; e != nil {
				e.end(end)
			}
		}
		marks = append(marks, seen.marks...)
	}
	for _, m := range marks {
		if e := byID[m.ID]; e != nil {
			e.mark(m)
		}
	}
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b *Entry) int { return b.Time.Compare(a.Time) })
	var out []Entry
	for _, e := range all {
		if q.Wants == nil || q.Wants(e) {
			out = append(out, *e)
			if q.Limit > 0 && len(out) == q.Limit {
				break
			}
		}
	}
	return out, nil
}

func (e *Entry) end(end ending) {
	e.State, e.Why, e.Unswept = end.State, end.Why, end.Unswept
	if len(end.Records) > 0 {
		e.Records = end.Records
	}
}

func (e *Entry) mark(m mark) {
	e.State = m.State
	if m.Why != "" {
		e.Why = m.Why
	}
	if m.Swept {
		e.Unswept = m.Unswept
	}
	if e.Reverted == nil {
		e.Reverted = map[string]bool{}
	}
	for _, p := range m.Reverted {
		e.Reverted[p] = true
	}
	for _, p := range m.Restored {
		delete(e.Reverted, p)
	}
}

// segments are the names of all segments, in the order in which they were begun.
func (s *Store) segments() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentSuffix) && e.Type().IsRegular() {
			out = append(out, e.Name())
		}
	}
	return out, nil // ReadDir sorts, and names begin with the time
}

// ErrGone is wrapped when a content is not in the journal any more.
var ErrGone = errors.New("the journal no longer has it")

// Content reads contents of one entry's states.
type Content struct {
	file     *os.File
	size     int64
	at       map[hash]payloadAt
	unpacker *zstd.Decoder
}

// payloadAt is where the payload of a chunk is.
type payloadAt struct {
	kind   byte
	at     int64
	length int
}

// Content opens the contents of an entry. Close it.
func (s *Store) Content(e Entry) (*Content, error) {
	f, err := openRegular(filepath.Join(s.dir, e.segment))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	c := &Content{file: f, at: map[hash]payloadAt{}}
	info, err := f.Stat()
	if err == nil {
		c.size, err = scan(f, 0, info.Size(), c.note)
	}
	if err == nil {
		c.unpacker, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(4*chunkSize))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

// note takes the place of a chunk. Of one that was written twice the first counts: what
// rests on it may stand before the second.
func (c *Content) note(f frame) {
	if !f.isChunk() || len(f.payload) != chunkHead {
		return
	}
	if sum := hash(f.payload[:32]); c.at[sum].at == 0 {
		c.at[sum] = payloadAt{f.kind, f.at, f.length}
	}
}

// Close ends reading.
func (c *Content) Close() {
	c.unpacker.Close()
	c.file.Close()
}

// Read gives the whole content of a file's state.
func (c *Content) Read(st *State) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(int(st.Size))
	err := c.WriteTo(&out, st)
	return out.Bytes(), err
}

// WriteTo writes the content of a file's state, a chunk at a time.
func (c *Content) WriteTo(w io.Writer, st *State) error {
	for _, name := range st.Chunks {
		chunk, err := c.chunk(name)
		if err == nil {
			_, err = w.Write(chunk)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stream gives the content of one state of an entry, for what is too large to be held
// in memory.
func (s *Store) Stream(e Entry, st State) (io.ReadCloser, error) {
	c, err := s.Content(e)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	go func() {
		defer c.Close()
		w.CloseWithError(c.WriteTo(w, &st)) //nolint:errcheck // it never fails
	}()
	return r, nil
}

// Mark notes what happened to entries after they ended: the paths that were put back,
// or those that were put back and are no longer.
func (s *Store) Mark(id string, state EntryState, why string, reverted, restored []string) error {
	return s.mark(mark{ID: id, State: state, Why: why, Reverted: reverted, Restored: restored})
}

// Swept notes that an interrupted entry was looked after, and whether it still is unswept.
func (s *Store) Swept(id string, state EntryState, why string, unswept bool) error {
	return s.mark(mark{ID: id, State: state, Why: why, Swept: true, Unswept: unswept})
}

func (s *Store) mark(m mark) error {
	g, err := s.use(0, "")
	if err == nil {
		defer s.leave(g, "", true)
		err = s.batch(g).write(kindMark, m, true)
	}
	return journalFault(err)
}

// Interrupted lists the entries that were begun by programs that are gone, and never
// ended, or left something that could not be removed.
func (s *Store) Interrupted() ([]Entry, error) {
	gone, err := s.gone()
	if err != nil {
		return nil, err
	}
	return s.interrupted(gone)
}

func (s *Store) interrupted(gone map[string]bool) ([]Entry, error) {
	names, err := s.segments()
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(names, func(name string) bool { return gone[writerOf(name)] })
	if first < 0 {
		return nil, nil
	}
	// Marks on them may stand in segments of those who live.
	return s.list(names[first:], Query{Wants: func(e *Entry) bool { return (e.State == StatePending || e.Unswept) && gone[e.writer()] }})
}

// writer is the program that made it.
func (e *Entry) writer() string { return writerOf(e.segment) }

// gone are the programs that have a sign of life and do not live.
func (s *Store) gone() (map[string]bool, error) {
	alive, err := lives(s.dir)
	gone := map[string]bool{}
	for writer, lives := range alive {
		if !lives {
			gone[writer] = true
		}
	}
	return gone, err
}

// Tidy removes the signs of programs that are gone and left nothing to repair.
func (s *Store) Tidy() error {
	gone, err := s.gone() // who goes after this may leave something
	if err != nil {
		return err
	}
	left, err := s.interrupted(gone)
	if err != nil {
		return err
	}
	for writer := range gone {
		if !slices.ContainsFunc(left, func(e Entry) bool { return e.writer() == writer }) {
			os.Remove(filepath.Join(s.dir, writer+lifeSuffix)) //nolint:errcheck // the next start tries again
		}
	}
	return nil
}

// Live reports whether an entry is one that its program may still be making.
func (s *Store) Live(e Entry) bool {
	if e.State != StatePending {
		return false
	}
	if e.writer() == s.writer { // one that has ended may lack its end: the disk was full
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.active[e.ID]
	}
	alive, err := lives(s.dir)
	return err == nil && alive[e.writer()]
}
