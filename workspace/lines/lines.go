// Package lines finds lines in files that are too large to be held.
//
// NewIndex looks through a file once, on all processors, and keeps how many lines
// begin before each of some thousand places; Index.Range then finds any line by
// reading from the place before it. A Cache keeps the indexes of files that have
// not changed since. Memory does not depend on how long files or their lines are.
//
// Not here: decoding, and what a path is. The caller opens the file.
package lines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Unit is how a line feed looks in a file.
type Unit int

// The units. All encodings but UTF-16 spell a line feed as the byte 0x0a, and use
// this byte for nothing else.
const (
	Bytes Unit = iota
	LittleEndian
	BigEndian
)

// Index says where the lines of one version of a file are.
type Index struct {
	size   int64
	unit   Unit
	stride int64
	before []int // how many line feeds lie before each multiple of stride
	feeds  int
	open   bool // the last line has no line feed

	mu     sync.Mutex // guards digest
	digest []byte
}

const (
	leastStride = 1 << 20
	mostPlaces  = 4096
	bufferSize  = 256 << 10 // even, and a divisor of each stride
)

// ErrShorter says that the file has become shorter than it was when it was opened.
var ErrShorter = errors.New("the file became shorter while it was read")

// NewIndex looks through the first size bytes of f.
func NewIndex(ctx context.Context, f *os.File, size int64, unit Unit) (*Index, error) {
	x := &Index{size: size, unit: unit, stride: leastStride}
	for size/x.stride >= mostPlaces {
		x.stride *= 2
	}
	counts := make([]int, (size+x.stride-1)/x.stride)
	if err := x.count(ctx, f, counts); err != nil {
		return nil, err
	}
	x.before = make([]int, len(counts))
	for i, n := range counts {
		x.before[i] = x.feeds
		x.feeds += n
	}
	if size > 0 { // past the end of a file that became shorter there is a hole
		if err := ReadAt(f, make([]byte, 1), size-1); err != nil {
			return nil, err
		}
	}
	end, err := x.lineStart(f, x.feeds+1)
	x.open = end < size
	return x, err
}

// count fills in how many line feeds each stretch of the file has.
func (x *Index) count(ctx context.Context, f *os.File, counts []int) error {
	var next atomic.Int64
	var running sync.WaitGroup
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for range min(runtime.GOMAXPROCS(0), len(counts)) {
		running.Go(func() {
			buf := make([]byte, bufferSize)
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(counts)) {
					return
				}
				n, err := x.countStretch(f, i*x.stride, buf)
				if err != nil {
					cancel(err)
				}
				counts[i] = n
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

func (x *Index) countStretch(f *os.File, from int64, buf []byte) (int, error) {
	end, n := min(from+x.stride, x.size), 0
	for at := skipHole(f, from); at < end; {
		at -= at % 2
		piece := buf[:min(int64(len(buf)), end-at)]
		if err := ReadAt(f, piece, at); err != nil {
			return 0, err
		}
		n += x.unit.count(piece)
		at += int64(len(piece))
	}
	return n, nil
}

// ReadAt fills piece, or fails: with ErrShorter past the end.
func ReadAt(f io.ReaderAt, piece []byte, at int64) error {
	n, err := f.ReadAt(piece, at)
	switch {
	case n == len(piece):
		return nil
	case err == io.EOF:
		return ErrShorter
	}
	return err
}

func (u Unit) count(piece []byte) int {
	if u == Bytes {
		return bytes.Count(piece, []byte{'\n'})
	}
	n := 0
	for at := 0; ; n++ {
		end := u.feed(piece[at:])
		if end < 0 {
			return n
		}
		at += end
	}
}

// feed is where the first line feed of piece ends, -1 without one. The piece
// begins with a whole unit.
func (u Unit) feed(piece []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(piece[at:], '\n')
		switch {
		case i < 0:
			return -1
		case u == Bytes:
			return at + i + 1
		}
		at += i
		switch {
		case u == LittleEndian && at%2 == 0 && at+1 < len(piece) && piece[at+1] == 0:
			return at + 2
		case u == BigEndian && at%2 == 1 && piece[at-1] == 0:
			return at + 1
		}
		at++
	}
}

// Digest is the SHA-256 of the whole file. It takes longer than all else.
func (x *Index) Digest(f io.ReaderAt) ([]byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.digest != nil {
		return x.digest, nil
	}
	h := sha256.New()
	switch n, err := io.Copy(h, io.NewSectionReader(f, 0, x.size)); {
	case err != nil:
		return nil, err
	case n < x.size:
		return nil, ErrShorter
	}
	x.digest = h.Sum(nil)
	return x.digest, nil
}

// LastEnd is where the last whole line of piece ends, 0 without one. The piece begins
// with a whole unit.
func LastEnd(piece []byte, unit Unit) int {
	if unit == Bytes {
		return bytes.LastIndexByte(piece, '\n') + 1
	}
	for at := len(piece)/2*2 - 2; at >= 0; at -= 2 {
		if unit.feed(piece[at:at+2]) > 0 {
			return at + 2
		}
	}
	return 0
}

// Lines is the number of lines, a last one without an end counted.
func (x *Index) Lines() int {
	if x.open {
		return x.feeds + 1
	}
	return x.feeds
}

// Range finds the bytes of the lines first to last, 1-based and inclusive. Lines
// that are not there are empty and lie at the end of the file.
func (x *Index) Range(f io.ReaderAt, first, last int) (from, to int64, err error) {
	if from, err = x.lineStart(f, first); err != nil {
		return 0, 0, err
	}
	to, err = x.lineStart(f, last+1)
	return from, max(from, to), err
}

// lineStart is where line n begins.
func (x *Index) lineStart(f io.ReaderAt, n int) (int64, error) {
	missing := n - 1 // line feeds to find
	switch {
	case missing <= 0:
		return 0, nil
	case missing > x.feeds:
		return x.size, nil
	}
	low, high := 0, len(x.before) // the last place with fewer line feeds before it
	for low+1 < high {
		if middle := (low + high) / 2; x.before[middle] < missing {
			low = middle
		} else {
			high = middle
		}
	}
	missing -= x.before[low]
	buf := make([]byte, bufferSize)
	for at := int64(low) * x.stride; at < x.size; at += int64(len(buf)) {
		piece := buf[:min(int64(len(buf)), x.size-at)]
		if err := ReadAt(f, piece, at); err != nil {
			return 0, err
		}
		if n := x.unit.count(piece); n < missing {
			missing -= n
			continue
		}
		end := 0
		for ; missing > 0; missing-- {
			end += x.unit.feed(piece[end:])
		}
		return at + int64(end), nil
	}
	return 0, ErrShorter // fewer line feeds than were counted
}

// Cache keeps the indexes of the files that were looked through last. The zero
// Cache is ready to use, and a nil one keeps nothing.
type Cache struct {
	mu   sync.Mutex // guards kept
	kept []kept     // the latest last
}

type kept struct {
	key   string
	index *Index
}

const (
	mostKept = 32
	// clockSlack is how far the times that a file system writes may lag behind: a
	// file that was written so short a time ago may have been written again since.
	clockSlack = 100 * time.Millisecond
)

// Index gives the index of f as it is now. The stamp names a version of the file,
// and says when it was last touched.
func (c *Cache) Index(ctx context.Context, f *os.File, size int64, unit Unit, stamp func() (name string, touched time.Time)) (*Index, error) {
	if c == nil {
		return NewIndex(ctx, f, size, unit)
	}
	began := time.Now()
	name, touched := stamp()
	key := name + string(rune('0'+unit))
	if x := c.find(key); x != nil {
		return x, nil
	}
	x, err := NewIndex(ctx, f, size, unit)
	if err != nil {
		return nil, err
	}
	if after, _ := stamp(); after == name && touched.Before(began.Add(-clockSlack)) {
		c.add(key, x)
	}
	return x, nil
}

func (c *Cache) find(key string) *Index {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(k kept) bool { return k.key == key })
	if i < 0 {
		return nil
	}
	k := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), k)
	return k.index
}

func (c *Cache) add(key string, x *Index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) == mostKept {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	c.kept = append(c.kept, kept{key, x})
}
