package journal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"time"
)

// Pending is a change set that is written down and not yet made, or not whole.
type Pending struct {
	ID   string
	Time time.Time

	// Unswept: a temporary file that a record names could not be removed.
	Unswept bool

	store   *Store
	segment *segment
}

// Begin writes a change set down. It is durable when Begin returns; a failure means
// that nothing is written down, and the change is not to be made.
func (s *Store) Begin(o Origin, records []Record) (*Pending, error) {
	p, err := s.Write(o, records)
	if err == nil {
		err = p.Sync()
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Write is the first half of Begin: what is written outlives this program, and Sync has
// it outlive the machine. In between temporary files can be made.
func (s *Store) Write(o Origin, records []Record) (*Pending, error) {
	e := s.entry(o, records)
	g, err := s.keep(e, func(b *batch) error { return b.write(kindBegin, e, false) })
	if err != nil {
		s.leave(g, e.ID, true) // there is no begin of it that would need an end
		return nil, journalFault(err)
	}
	return &Pending{ID: e.ID, Time: e.Time, store: s, segment: g}, nil
}

// Made writes down a change set that somebody else has made already. It is durable when
// Made returns. Its end stands before its begin: no crash leaves one that was begun and
// did not end, which the next start would take back.
func (s *Store) Made(o Origin, records []Record) (Entry, error) {
	e := s.entry(o, records)
	g, err := s.keep(e, func(b *batch) (err error) {
		if b.frames, err = appendJSON(b.frames, kindEnd, ending{ID: e.ID, State: StateDone}); err != nil {
			return err
		}
		return b.write(kindBegin, e, true)
	})
	s.leave(g, e.ID, true)
	e.State = StateDone
	return e, journalFault(err)
}

func (s *Store) entry(o Origin, records []Record) Entry {
	return Entry{Origin: o, ID: newID(), Time: s.stamp(time.Now()), Records: records}
}

// keep puts what the entry's states hold into a segment, and then what is to be written of
// it. The segment is to be left.
func (s *Store) keep(e Entry, write func(*batch) error) (*segment, error) {
	g, err := s.use(sizeOf(e.Records), e.ID)
	if err != nil {
		return nil, err
	}
	b := s.batch(g)
	if err = b.keepAll(e.Records); err == nil {
		err = write(b)
	}
	return g, err
}

// Sync has the set outlive a crash of the machine. When it fails the set has ended.
func (p *Pending) Sync() error {
	if err := p.store.batch(p.segment).commit(true); err != nil {
		p.Undone("the journal could not record it") //nolint:errcheck // then it is found at the next start
		return journalFault(err)
	}
	return nil
}

func journalFault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the journal cannot record it: %w", err)
}

// newID is in the order of time, as far as clocks go.
func newID() string {
	return fmt.Sprintf("%013x%s", time.Now().UnixMilli(), rand.Text()[:10])
}

// Done says that all of it was made. The records, if there are any, are what is there
// now, for what is not as it was to be: a formatter changed it, or the user did.
func (p *Pending) Done(after []Record) error { return p.end(ending{State: StateDone, Records: after}) }

// Undone says that it was not made, or taken back, and why.
func (p *Pending) Undone(why string) error { return p.end(ending{State: StateUndone, Why: why}) }

// Interrupted says that it was made in part, and could not be taken back.
func (p *Pending) Interrupted(why string) error {
	return p.end(ending{State: StateInterrupted, Why: why})
}

func (p *Pending) end(e ending) error {
	e.ID, e.Unswept = p.ID, p.Unswept
	b := p.store.batch(p.segment)
	err := b.keepAll(e.Records)
	if err == nil {
		// An end that is lost is found out again by looking at the files; contents are not.
		err = b.write(kindEnd, e, b.wrote)
	}
	p.store.leave(p.segment, p.ID, err == nil && !p.Unswept)
	return journalFault(err)
}

// use gives a segment that has room for so many bytes, and keeps it open until leave.
// The id is of the entry that is begun there, "" for a mark.
func (s *Store) use(size int64, id string) (*segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.segmentFor(size)
	if err != nil {
		return nil, err
	}
	g.users++
	if id != "" {
		s.active[id] = true
	}
	return g, nil
}

// leave: with the entry ended, or without an end, so that the next start looks into it.
func (s *Store) leave(g *segment, id string, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[id] = false; ended {
		delete(s.active, id)
	}
	if g != nil {
		g.users--
		s.release(g)
	}
}

// sizeOf is about what the records need.
func sizeOf(records []Record) int64 {
	n := int64(0)
	for _, r := range records {
		for _, st := range r.states() {
			n += 512
			if st.Hash != "" {
				continue // nothing of it is to be kept
			}
			n += max(int64(len(st.Data)), st.Size)
			if st.Path != "" {
				if info, err := os.Stat(st.Path); err == nil {
					n += info.Size()
				}
			}
		}
	}
	return n
}

// states are all states of a record, those of children among them.
func (r *Record) states() []*State {
	var out []*State
	for _, st := range []*State{r.Before, r.After, r.Over, r.Buffer} {
		if st == nil {
			continue
		}
		out = append(out, st)
		for i := range st.Children {
			out = append(out, &st.Children[i].State)
		}
	}
	return out
}

// batch collects frames for a segment, and writes them in pieces that fit in memory.
type batch struct {
	store   *Store
	segment *segment
	frames  []byte
	fresh   map[hash]held // chunks in frames
	wrote   bool          // there was a chunk that the segment did not have
	packed  []byte
	space   []byte
}

func (s *Store) batch(g *segment) *batch {
	return &batch{store: s, segment: g, fresh: map[hash]held{}}
}

// batchBytes is how much is collected before it is written.
const batchBytes = 4 << 20

func (b *batch) keepAll(records []Record) error {
	for i := range records {
		for _, st := range records[i].states() {
			if st.Type != TypeFile || st.Hash != "" {
				continue
			}
			var before *State
			if st == records[i].After {
				before = records[i].Before
			}
			if err := b.keep(st, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep puts the content of a file into the segment, with what was kept of it before, if
// it was there.
func (b *batch) keep(st, before *State) error {
	st.Chunks = nil
	switch open := st.Open; {
	case open != nil:
		return b.keepFrom(st, open)
	case st.Path != "":
		return b.keepFrom(st, func() (io.ReadCloser, error) { return openRegular(st.Path) })
	}
	if sum, ok := b.knows(st.Version); ok && len(st.Data) <= chunkSize {
		st.Size, st.Hash = int64(len(st.Data)), hex.EncodeToString(sum[:])
		st.Chunks = []string{st.Hash}
		return nil
	}
	return b.keepData(st, st.Data, before)
}

func (b *batch) keepData(st *State, data []byte, before *State) error {
	all := sha256.Sum256(data)
	st.Size, st.Hash = int64(len(data)), hex.EncodeToString(all[:])
	if len(data) <= chunkSize {
		return b.keepChunk(st, data, all, before)
	}
	for chunk := range slices.Chunk(data, chunkSize) {
		if err := b.keepChunk(st, chunk, sha256.Sum256(chunk), nil); err != nil {
			return err
		}
	}
	return nil
}

// keepFrom keeps what need not fit in memory.
func (b *batch) keepFrom(st *State, open func() (io.ReadCloser, error)) error {
	f, err := open()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	defer f.Close()
	if b.space == nil {
		b.space = make([]byte, chunkSize) // for all files of a tree
	}
	st.Size = 0
	for all, buf := sha256.New(), b.space; ; {
		n, err := readFull(f, buf)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", ErrSource, err)
		case n < len(buf) && st.Size == 0:
			return b.keepData(st, buf[:n], nil)
		}
		st.Size += int64(n)
		all.Write(buf[:n])
		if n > 0 {
			if err := b.keepChunk(st, buf[:n], sha256.Sum256(buf[:n]), nil); err != nil {
				return err
			}
		}
		if n < len(buf) {
			st.Hash = hex.EncodeToString(all.Sum(nil))
			return nil
		}
		if st.Size > b.store.settings().MaxBytes {
			return fmt.Errorf("%s: %w", st.Path, ErrTooLarge)
		}
	}
}

func (s *Store) settings() Options {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options
}

func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		if err == nil {
			err = fmt.Errorf("%s is no regular file", name)
		}
		return nil, err
	}
	return f, nil
}

func (b *batch) keepChunk(st *State, data []byte, sum hash, before *State) error {
	st.Chunks = append(st.Chunks, hex.EncodeToString(sum[:]))
	if _, ok := b.held(sum); ok {
		return nil
	}
	is := held{sum: sum, crc: crc32.Checksum(data, castagnoli)}
	head := binary.LittleEndian.AppendUint32(sum[:], uint32(len(data)))
	if d, ok := b.delta(data, before); ok {
		b.packed = b.store.packer.EncodeAll(d.middle, b.packed[:0])
		b.frames = d.append(b.frames, head, b.packed)
		is.depth = d.depth
	} else {
		b.packed = b.store.packer.EncodeAll(data, b.packed[:0])
		b.frames = appendFrame(b.frames, kindChunk, head, b.packed)
	}
	if b.fresh[sum], b.wrote = is, true; len(b.frames) < batchBytes {
		return nil
	}
	return b.commit(false)
}

// knows gives the hash of a content of which the version is known, if the segment has it.
func (b *batch) knows(version string) (sum hash, ok bool) {
	var first half
	if len(version) != 2*len(first) {
		return sum, false
	}
	if _, err := hex.Decode(first[:], []byte(version)); err != nil {
		return sum, false
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	is, ok := b.segment.chunks[first]
	return is.sum, ok
}

// write adds a frame of JSON, and commits.
func (b *batch) write(kind byte, v any, durable bool) (err error) {
	if b.frames, err = appendJSON(b.frames, kind, v); err != nil {
		return err
	}
	return b.commit(durable)
}

// commit writes what was collected and, on demand, sees it onto the disk.
func (b *batch) commit(durable bool) error {
	s := b.store
	sync, err := func() (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.open[b.segment] {
			return false, os.ErrClosed
		}
		if s.faults.Write != nil && len(b.frames) > 0 {
			if err := s.faults.Write(); err != nil {
				return false, err
			}
		}
		if err := b.segment.write(b.frames); err != nil {
			return false, err
		}
		b.segment.hold(b.fresh)
		b.frames = b.frames[:0]
		clear(b.fresh)
		return durable && !s.options.NoSync, nil
	}()
	if err != nil || !sync {
		return err
	}
	if err = b.segment.sync(s.faults.Sync); err != nil {
		// What the system could not write it may have thrown away.
		s.mu.Lock()
		b.segment.full = true
		s.mu.Unlock()
	}
	return err
}

func (g *segment) sync(fails func() error) error {
	if fails != nil {
		if err := fails(); err != nil {
			return err
		}
	}
	return dataSync(g.file)
}
