package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/gitfile"
)

// Graph is git's commit-graph, which has the heads of commits at hand: one file
// or a chain of them, the oldest first. Its format is in git's
// Documentation/gitformat-commit-graph.txt.
type Graph struct {
	layers  []*graphLayer
	parents []int // of the commit that was read last
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
	file   *gitfile.File
	first  int // the position of its first commit
	count  int
	fanout [256]uint32

	// Chunks, by the names that they have there.
	oidf, oidl, cdat, edge span
}

// span is where a chunk lies in its file.
type span struct{ start, end int64 }

func (s span) size() int64 { return s.end - s.start }

var errGraph = errors.New("damaged commit-graph")

const (
	graphRow = hashSize + 16
	noParent = 0x70000000
	lastEdge = 0x80000000
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
		layer.first = g.Count()
		g.layers = append(g.layers, layer)
	}
	return g
}

// Close closes its files.
func (g *Graph) Close() {
	for _, l := range g.layers {
		l.file.Close()
	}
	g.layers = nil
}

func openLayer(name string) (*graphLayer, error) {
	const step, blocks = 4 << 10, 1024
	f, err := gitfile.OpenFile(name, step, blocks)
	if err != nil {
		return nil, err
	}
	l := &graphLayer{file: f}
	if err := l.open(); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// open reads what the file begins with, which is about where in it the rest is.
func (l *graphLayer) open() error {
	head, err := l.file.Exactly(0, 8)
	if err != nil {
		return err
	}
	if string(head[:6]) != "CGPH\x01\x01" {
		return errGraph
	}
	table, err := l.file.Exactly(8, (int(head[6])+1)*12)
	if err != nil {
		return err
	}
	chunks := map[string]*span{"OIDF": &l.oidf, "OIDL": &l.oidl, "CDAT": &l.cdat, "EDGE": &l.edge}
	for ; len(table) >= 24; table = table[12:] {
		s := span{int64(binary.BigEndian.Uint64(table[4:])), int64(binary.BigEndian.Uint64(table[16:]))}
		if s.start < 0 || s.end < s.start || s.end > l.file.Info.Size() {
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
	return nil
}

// part reads n bytes of a chunk.
func (l *graphLayer) part(s span, at int64, n int) ([]byte, error) {
	if at < 0 || at+int64(n) > s.size() {
		return nil, errGraph
	}
	return l.file.Exactly(s.start+at, n)
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
