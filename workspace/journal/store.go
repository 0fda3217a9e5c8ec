package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Store is the journal in one folder, as one program uses it.
type Store struct {
	dir    string
	writer string // names this program's segments
	packer *zstd.Encoder

	pruning sync.WaitGroup

	reading sync.Mutex      // guards what follows
	known   map[string]seen // by segment
	held    int             // entries in known

	mu      sync.Mutex // guards all below, and writing to segments
	options Options
	life    *life    // nil until something is written
	current *segment // nil: the next entry opens one
	opened  time.Time
	serial  int
	open    map[*segment]bool // segments with a file open
	active  map[string]bool   // entries of ours that have no end; false: its writing failed
	copies  int
	copied  []*os.File // see Copies
	closed  bool
	began   time.Time // when the store was opened
	last    time.Time // of the newest entry
	faults  Faults    // of tests
}

// Faults are what a test may have go wrong.
type Faults struct {
	Write func() error // before frames are written
	Sync  func() error // before they are synced
}

// Open gives the store in a folder. Nothing is created before the first Begin.
func Open(dir string, o Options) (*Store, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(chunkSize))
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the journal's folder %q is not an absolute path", dir)
	}
	return &Store{
		dir: dir, writer: strings.ToLower(rand.Text()[:12]), packer: packer,
		options: o.filled(), open: map[*segment]bool{}, active: map[string]bool{}, began: time.Now(),
	}, nil
}

func (o Options) filled() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxAge <= 0 {
		o.MaxAge = DefaultMaxAge
	}
	return o
}

// Configure takes other options from now on.
func (s *Store) Configure(o Options) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options = o.filled()
}

// Break has the store fail as the faults say; for tests.
func (s *Store) Break(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// Dir is the folder that holds it all.
func (s *Store) Dir() string { return s.dir }

// Close ends this program's part. Entries that have not ended stay as they are, to be
// found by the next start.
func (s *Store) Close() error {
	defer s.pruning.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for g := range s.open {
		errs = append(errs, g.file.Close())
	}
	clear(s.open)
	for _, f := range s.copied {
		errs = append(errs, f.Close())
	}
	s.current, s.copied = nil, nil
	if s.life != nil {
		errs = append(errs, s.life.end(len(s.active) == 0))
		s.life = nil
	}
	s.packer.Close() //nolint:errcheck // it has no stream
	return errors.Join(errs...)
}

// stamp is the time of the next entry, by the clock as it is. Entries are in the order
// in which they were made, and none is older than this program, also when somebody sets
// the clock back.
func (s *Store) stamp(clock time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := clock.Round(0)
	for _, least := range []time.Time{s.began.Add(time.Since(s.began)).Round(0), s.last.Add(1)} {
		if out.Before(least) {
			out = least
		}
	}
	s.last = out
	return out.UTC()
}

// segmentBytes is how large a segment becomes before the next one is begun: what is
// pruned goes by whole segments.
func (o Options) segmentBytes() int64 { return min(16<<20, max(o.MaxBytes/8, 64<<10)) }

// segmentAge bounds how long one is written to, so that old entries can go.
const segmentAge = 24 * time.Hour

// segmentFor gives the segment that an entry of about so many bytes goes to. What is
// large gets one of its own, so that nobody else's entry waits for it.
func (s *Store) segmentFor(size int64) (*segment, error) {
	if s.closed {
		return nil, errors.New("the journal is closed")
	}
	if size > s.options.MaxBytes {
		return nil, fmt.Errorf("%d bytes: %w (journal.maxBytes is %d)", size, ErrTooLarge, s.options.MaxBytes)
	}
	if size > s.options.segmentBytes()/2 {
		g, err := s.newSegment()
		if g != nil {
			g.full = true
		}
		return g, err
	}
	if g := s.current; g != nil && (g.full || s.isRemoved(g) || g.size >= s.options.segmentBytes() || time.Since(s.opened) > segmentAge) {
		g.full = true
		s.release(g)
		s.current = nil
	}
	if s.current == nil {
		g, err := s.newSegment()
		if err != nil {
			return nil, err
		}
		s.current, s.opened = g, time.Now()
	}
	return s.current, nil
}

// isRemoved: the user has emptied the journal.
func (s *Store) isRemoved(g *segment) bool {
	_, err := os.Lstat(filepath.Join(s.dir, g.name))
	return errors.Is(err, fs.ErrNotExist)
}

func (s *Store) newSegment() (*segment, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	if s.life != nil && s.life.isRemoved() { // with the whole folder
		s.life.lock.Close() //nolint:errcheck // closing unlocks
		s.life = nil
	}
	if s.life == nil {
		l, err := begin(s.dir, s.writer)
		if err != nil {
			return nil, err
		}
		s.life = l
	}
	s.pruning.Go(s.prune)
	s.serial++
	name := fmt.Sprintf("%013x-%s-%04d%s", time.Now().UnixMilli(), s.writer, s.serial, segmentSuffix)
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	g := &segment{name: name, file: f, chunks: map[half]held{}}
	if err := g.write([]byte(magic)); err != nil {
		f.Close()
		os.Remove(f.Name()) //nolint:errcheck // an empty segment does no harm
		return nil, err
	}
	if !s.options.NoSync {
		syncFolder(s.dir)
	}
	s.open[g] = true
	return g, nil
}

const segmentSuffix = ".seg"

// release closes a segment that nobody writes to any more.
func (s *Store) release(g *segment) {
	if g.users == 0 && g.full && s.open[g] {
		delete(s.open, g)
		g.file.Close() //nolint:errcheck // all in it was synced that was to be
	}
}

func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		f.Sync() //nolint:errcheck // where the system has no such call none is needed
		f.Close()
	}
}

// writerOf is the program that wrote a segment.
func writerOf(name string) string {
	parts := strings.Split(strings.TrimSuffix(name, segmentSuffix), "-")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}
