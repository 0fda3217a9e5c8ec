package journal

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"
)

// Pending is a change set that is written down and not yet made, or not whole.
type Pending struct {
	ID   string
	Time time.Time

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
	e := Entry{Origin: o, ID: newID(), Time: s.stamp(time.Now()), Records: records}
	p := &Pending{ID: e.ID, Time: e.Time, store: s}
	b := &batch{store: s, fresh: map[hash]bool{}}
	err := func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		var err error
		if p.segment, err = s.segmentFor(sizeOf(records)); err != nil {
			return err
		}
		p.segment.users++
		s.active[e.ID] = true
		return nil
	}()
	if err != nil {
		return nil, journalFault(err)
	}
	b.segment = p.segment
	if err = b.keepAll(records); err == nil {
		if err = b.addJSON(kindBegin, e); err == nil {
			err = b.commit(false)
		}
	}
	if err != nil {
		p.Undone("the journal could not keep it") //nolint:errcheck // if nothing of it was written there is nothing to end
		return nil, journalFault(err)
	}
	return p, nil
}

// Sync has the set outlive a crash of the machine. When it fails the set has ended.
func (p *Pending) Sync() error {
	b := &batch{store: p.store, segment: p.segment, fresh: map[hash]bool{}}
	if err := b.commit(true); err != nil {
		p.Undone("the journal could not keep it") //nolint:errcheck // then it is found at the next start
		return journalFault(err)
	}
	return nil
}

func journalFault(err error) error {
	return fmt.Errorf("the journal cannot keep it: %w", err)
}

// newID is in the order of time, as far as clocks go.
func newID() string {
	return fmt.Sprintf("%013x%s", time.Now().UnixMilli(), rand.Text()[:10])
}

// Done says that all of it was made. The records, if there are any, are what is there
// now, for what is not as it was to be: a formatter changed it, or the human did.
func (p *Pending) Done(after []Record) error { return p.end(ending{State: StateDone, Records: after}) }

// Undone says that it was not made, or taken back, and why.
func (p *Pending) Undone(why string) error { return p.end(ending{State: StateUndone, Why: why}) }

// Interrupted says that it was made in part, and could not be taken back.
func (p *Pending) Interrupted(why string) error {
	return p.end(ending{State: StateInterrupted, Why: why})
}

func (p *Pending) end(e ending) error {
	defer p.forget()
	e.ID = p.ID
	b := &batch{store: p.store, segment: p.segment, fresh: map[hash]bool{}}
	if err := b.keepAll(e.Records); err != nil {
		return journalFault(err)
	}
	if err := b.addJSON(kindEnd, e); err != nil {
		return journalFault(err)
	}
	// An end that is lost is found out again by looking at the files; contents are not.
	if err := b.commit(b.wrote); err != nil {
		return journalFault(err)
	}
	return nil
}

func (p *Pending) forget() {
	s := p.store
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.active, p.ID)
	p.segment.users--
	s.release(p.segment)
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
	fresh   map[hash]bool // chunks in frames
	wrote   bool          // there was a chunk that the segment did not have
	packed  []byte
	space   []byte
}

// batchBytes is how much is collected before it is written.
const batchBytes = 4 << 20

func (b *batch) keepAll(records []Record) error {
	for i := range records {
		for _, st := range records[i].states() {
			if st.Type != TypeFile || st.Hash != "" {
				continue
			}
			if err := b.keep(st); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep puts the content of a file into the segment.
func (b *batch) keep(st *State) error {
	st.Chunks, st.Size = nil, 0
	if st.Path == "" && st.Open == nil {
		st.Size = int64(len(st.Data))
		if len(st.Version) == 2*len(half{}) && len(st.Data) <= chunkSize {
			if sum, ok := b.knows(st.Version); ok {
				st.Hash = hex.EncodeToString(sum[:])
				st.Chunks = []string{st.Hash}
				return nil
			}
		}
		all := sha256.Sum256(st.Data)
		st.Hash = hex.EncodeToString(all[:])
		if len(st.Data) <= chunkSize {
			return b.keepChunk(st, st.Data, all)
		}
		for at := 0; at < len(st.Data); at += chunkSize {
			chunk := st.Data[at:min(at+chunkSize, len(st.Data))]
			if err := b.keepChunk(st, chunk, sha256.Sum256(chunk)); err != nil {
				return err
			}
		}
		return nil
	}
	open := st.Open
	if open == nil {
		open = func() (io.ReadCloser, error) { return openRegular(st.Path) }
	}
	f, err := open()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSource, err)
	}
	defer f.Close()
	if b.space == nil {
		b.space = make([]byte, chunkSize) // for all files of a tree
	}
	all, r, buf := sha256.New(), bufio.NewReaderSize(f, 1), b.space
	for {
		n, err := readFull(r, buf)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrSource, err)
		}
		st.Size += int64(n)
		all.Write(buf[:n])
		if n > 0 || st.Size == 0 {
			if err := b.keepChunk(st, buf[:n], sha256.Sum256(buf[:n])); err != nil {
				return err
			}
		}
		if n < len(buf) {
			st.Hash = hex.EncodeToString(all.Sum(nil))
			return nil
		}
		if st.Size > b.store.maxBytes() {
			return fmt.Errorf("%s: %w", st.Path, ErrTooLarge)
		}
	}
}

func (s *Store) maxBytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options.MaxBytes
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

func (b *batch) keepChunk(st *State, data []byte, sum hash) error {
	st.Chunks = append(st.Chunks, hex.EncodeToString(sum[:]))
	if b.fresh[sum] || b.has(sum) {
		return nil
	}
	b.fresh[sum], b.wrote = true, true
	b.packed = b.store.packer.EncodeAll(data, b.packed[:0])
	b.frames = appendFrame(b.frames, kindChunk, sum[:], binary.LittleEndian.AppendUint32(nil, uint32(len(data))), b.packed)
	if len(b.frames) < batchBytes {
		return nil
	}
	return b.commit(false)
}

func (b *batch) has(sum hash) bool {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	return b.segment.chunks[half(sum[:16])] == sum
}

// knows gives the hash of a content of which the version is known, if the segment has it.
func (b *batch) knows(version string) (sum hash, ok bool) {
	var first half
	if n, err := hex.Decode(first[:], []byte(version)); err != nil || n != len(first) {
		return sum, false
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	sum, ok = b.segment.chunks[first]
	return sum, ok
}

func (b *batch) addJSON(kind byte, v any) (err error) {
	b.frames, err = appendJSON(b.frames, kind, v)
	return err
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
		for sum := range b.fresh {
			b.segment.chunks[half(sum[:16])] = sum
		}
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
