package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"pillion/workspace/git/gitfile"

	"github.com/go-git/go-git/v5/plumbing"
)

// Graph is git's commit-graph, which has the heads of commits at hand: one file
// or a chain of them, the oldest first. Its format is in git's
// Documentation/gitformat-commit-graph.txt.
type Graph struct {
	layers   []*graphLayer
	Identity string // of its files, by names, sizes and times
	parents  []int  // of the commit that was read last
}

// Count is how many commits are in it: their positions are smaller.
func (g *Graph) Count() int {
	if len(g.layers) == 0 {
		return 0
	}
	last := g.layers[len(g.layers)-1]
	return last.first + last.count
}

// graphLayer is one file of it.
type graphLayer struct {
	file          *os.File
	begin         []byte // of the file
	data          []byte // all of it, once that is worth it: mapped, or read
	mapped        bool
	reads         int
	first         int // the position of its first commit
	count         int
	size, written int64
	fanout        [256]uint32

	// Chunks, by the names that they have there.
	oidf, oidl, cdat, edge, bidx, bdat span

	hashes int // of each path, in its Bloom filters; 0 without
}

// span is where a chunk lies in its file.
type span struct{ start, end int64 }

func (s span) size() int64 { return s.end - s.start }

var errGraph = errors.New("damaged commit-graph")

const (
	graphRow        = hashSize + 16
	noParent        = 0x70000000
	lastEdge        = 0x80000000
	mostGraphInCore = 16 << 20
)

// OpenGraph opens what there is: a graph that cannot be read is as none, since
// all that it says is in the commits as well.
func OpenGraph(commonDir string) *Graph {
	info := filepath.Join(commonDir, "objects", "info")
	names := []string{filepath.Join(info, "commit-graph")}
	if !gitfile.Exists(names[0]) {
		names = nil
		chain, _ := gitfile.Read(filepath.Join(info, "commit-graphs", "commit-graph-chain"))
		for hash := range strings.FieldsSeq(string(chain)) {
			if _, ok := ParseHash(hash); ok {
				names = append(names, filepath.Join(info, "commit-graphs", "graph-"+hash+".graph"))
			}
		}
	}
	g := &Graph{}
	for _, name := range names {
		layer, err := openLayer(name)
		if err != nil {
			g.Close()
			return &Graph{}
		}
		if n := len(g.layers); n > 0 {
			layer.first = g.layers[n-1].first + g.layers[n-1].count
		}
		g.layers = append(g.layers, layer)
		g.Identity += fmt.Sprintln(name, layer.size, layer.written)
	}
	return g
}

func (g *Graph) Close() {
	for _, l := range g.layers {
		l.close()
	}
	g.layers = nil
}

func openLayer(name string) (*graphLayer, error) {
	f, info, err := gitfile.Open(name)
	if err != nil {
		return nil, err
	}
	l := &graphLayer{file: f, size: info.Size(), written: info.ModTime().UnixNano()}
	if err := l.open(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *graphLayer) close() {
	if l.mapped {
		gitfile.Unmap(l.data)
	}
	l.data, l.mapped = nil, false
	l.file.Close()
}

// open reads what the file begins with, which is about where in it the rest is.
func (l *graphLayer) open() error {
	const about = 2 << 10
	begin, err := l.read(0, int(min(about, max(l.size, 0))))
	if err != nil {
		return err
	}
	l.begin = begin
	head, err := l.read(0, 8)
	if err != nil {
		return err
	}
	if string(head[:6]) != "CGPH\x01\x01" {
		return errGraph
	}
	table, err := l.read(8, (int(head[6])+1)*12)
	if err != nil {
		return err
	}
	chunks := map[string]*span{"OIDF": &l.oidf, "OIDL": &l.oidl, "CDAT": &l.cdat, "EDGE": &l.edge, "BIDX": &l.bidx, "BDAT": &l.bdat}
	for ; len(table) >= 24; table = table[12:] {
		s := span{int64(binary.BigEndian.Uint64(table[4:])), int64(binary.BigEndian.Uint64(table[16:]))}
		if s.start < 0 || s.end < s.start || s.end > l.size {
			return errGraph
		}
		if chunk := chunks[string(table[:4])]; chunk != nil {
			*chunk = s
		}
	}
	return l.readFanout()
}

func (l *graphLayer) readFanout() error {
	fanout, err := l.part(l.oidf, 0, 256*4)
	if err != nil {
		return err
	}
	for i := range l.fanout {
		l.fanout[i] = binary.BigEndian.Uint32(fanout[4*i:])
		if i > 0 && l.fanout[i] < l.fanout[i-1] {
			return errGraph
		}
	}
	l.count = int(l.fanout[255])
	if l.oidl.size() < int64(l.count*hashSize) || l.cdat.size() < int64(l.count*graphRow) {
		return errGraph
	}
	if settings, err := l.part(l.bdat, 0, 12); err == nil && l.bidx.size() >= int64(4*l.count) {
		version, hashes := binary.BigEndian.Uint32(settings), binary.BigEndian.Uint32(settings[4:])
		if (version == 1 || version == 2) && hashes < 100 {
			l.hashes = int(hashes)
		}
	}
	return nil
}

// read reads n bytes. Who asks for many is given them from memory: see packIndex.
func (l *graphLayer) read(at int64, n int) ([]byte, error) {
	if at < 0 || n < 0 {
		return nil, errGraph
	}
	if at <= int64(len(l.begin)) && int64(n) <= int64(len(l.begin))-at {
		return l.begin[at : at+int64(n)], nil
	}
	if err := l.readMuch(); err != nil {
		return nil, err
	}
	if l.data != nil {
		if at > int64(len(l.data)) || int64(n) > int64(len(l.data))-at {
			return nil, errGraph
		}
		return l.data[at : at+int64(n)], nil
	}
	data := make([]byte, n)
	if _, err := l.file.ReadAt(data, at); err != nil {
		return nil, err
	}
	return data, nil
}

// readMuch gets all of the file once much was read of it.
func (l *graphLayer) readMuch() (err error) {
	const many = 200
	switch l.reads++; {
	case l.reads == manyLooks:
		l.data = gitfile.MapOpen(l.file, l.size)
		l.mapped = l.data != nil
	case l.reads == many && l.data == nil && l.size <= mostGraphInCore:
		l.data, err = gitfile.ReadAll(io.NewSectionReader(l.file, 0, l.size), l.size)
	}
	return err
}

// part reads n bytes of a chunk.
func (l *graphLayer) part(s span, at int64, n int) ([]byte, error) {
	if at < 0 || n < 0 || at+int64(n) > s.size() {
		return nil, errGraph
	}
	return l.read(s.start+at, n)
}

// layer is the file that has a position.
func (g *Graph) layer(position int) *graphLayer {
	for _, l := range g.layers {
		if position >= l.first && position < l.first+l.count {
			return l
		}
	}
	return nil
}

// Find is the position of a commit.
func (g *Graph) Find(h plumbing.Hash) (position int, found bool) {
	var cut error // leaves nothing found
	defer gitfile.Guard(debug.SetPanicOnFault(true), &cut)
	for _, l := range slices.Backward(g.layers) {
		lo, hi := 0, int(l.fanout[h[0]])
		if h[0] > 0 {
			lo = int(l.fanout[h[0]-1])
		}
		for lo < hi {
			middle := lo + (hi-lo)/2
			name, err := l.part(l.oidl, int64(middle*hashSize), hashSize)
			if err != nil {
				return 0, false
			}
			switch bytes.Compare(name, h[:]) {
			case 0:
				return l.first + middle, true
			case -1:
				lo = middle + 1
			default:
				hi = middle
			}
		}
	}
	return 0, false
}

// Hash is that of the commit at a position.
func (g *Graph) Hash(position int) (h plumbing.Hash, err error) {
	defer gitfile.Guard(debug.SetPanicOnFault(true), &err)
	l := g.layer(position)
	if l == nil {
		return plumbing.ZeroHash, errGraph
	}
	name, err := l.part(l.oidl, int64((position-l.first)*hashSize), hashSize)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return plumbing.Hash(name), nil
}

// Commit is the head of the commit at a position, its parents as positions, which hold
// until the next call.
func (g *Graph) Commit(position int) (c Commit, parents []int, err error) {
	defer gitfile.Guard(debug.SetPanicOnFault(true), &err)
	l := g.layer(position)
	if l == nil {
		return c, nil, errGraph
	}
	row, err := l.part(l.cdat, int64((position-l.first)*graphRow), graphRow)
	if err != nil {
		return c, nil, err
	}
	c.Tree = plumbing.Hash(row[:hashSize])
	row = row[hashSize:]
	c.Date = int64(binary.BigEndian.Uint32(row[8:])&3)<<32 | int64(binary.BigEndian.Uint32(row[12:]))
	parents = g.parents[:0]
	first, second := binary.BigEndian.Uint32(row), binary.BigEndian.Uint32(row[4:])
	if first != noParent {
		parents = append(parents, int(first))
	}
	switch {
	case second == noParent:
	case second&lastEdge == 0:
		parents = append(parents, int(second))
	default:
		for at := int64(second&^lastEdge) * 4; ; at += 4 {
			edge, err := l.part(l.edge, at, 4)
			if err != nil {
				return c, nil, err
			}
			parent := binary.BigEndian.Uint32(edge)
			parents = append(parents, int(parent&^lastEdge))
			if parent&lastEdge != 0 {
				break
			}
		}
	}
	g.parents = parents
	return c, parents, nil
}

// BloomKey is what is looked up in Bloom filters for a path: the two hashes of
// it and of each folder above it.
type BloomKey [][2]uint32

// NewBloomKey is nil for a path that is not ASCII: of these two versions of git
// compute two hashes.
func NewBloomKey(path string) BloomKey {
	var key BloomKey
	for _, c := range []byte(path) {
		if c >= 0x80 {
			return nil
		}
	}
	for path != "" {
		key = append(key, [2]uint32{murmur3(0x293ae76f, path), murmur3(0x7e646e2c, path)})
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	return key
}

// Unchanged reports whether the commit at a position surely left a path as it
// is in its first parent.
func (g *Graph) Unchanged(position int, key BloomKey) (surely bool) {
	var cut error // makes nothing sure
	defer gitfile.Guard(debug.SetPanicOnFault(true), &cut)
	l := g.layer(position)
	if l == nil || l.hashes == 0 || len(key) == 0 {
		return false
	}
	at, start := position-l.first, uint32(0)
	ends, err := l.part(l.bidx, int64(4*max(at-1, 0)), 4*min(at+1, 2))
	if err != nil {
		return false
	}
	if at > 0 {
		start, ends = binary.BigEndian.Uint32(ends), ends[4:]
	}
	end := binary.BigEndian.Uint32(ends)
	if end <= start {
		return false // none was made
	}
	filter, err := l.part(l.bdat, 12+int64(start), int(end-start))
	if err != nil {
		return false
	}
	for _, hashes := range key {
		if !contains(filter, hashes, l.hashes) {
			return true
		}
	}
	return false
}

// contains looks one path up in a Bloom filter.
func contains(filter []byte, hashes [2]uint32, n int) bool {
	for i := range uint32(n) {
		bit := uint64(hashes[0]+i*hashes[1]) % uint64(len(filter)*8)
		if filter[bit/8]&(1<<(bit&7)) == 0 {
			return false
		}
	}
	return true
}

// murmur3 is the hash of that name, of 32 bits.
func murmur3(seed uint32, text string) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	scramble := func(k uint32) uint32 { return bits.RotateLeft32(k*c1, 15) * c2 }
	h, length := seed, uint32(len(text))
	for ; len(text) >= 4; text = text[4:] {
		k := uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
		h = bits.RotateLeft32(h^scramble(k), 13)*5 + 0xe6546b64
	}
	var k uint32
	for i := len(text) - 1; i >= 0; i-- {
		k = k<<8 | uint32(text[i])
	}
	h ^= scramble(k)
	h ^= length
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
