package odb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"

	"pillion/workspace/git/gitfile"
)

// pack reads the objects of one pack file.
type pack struct {
	index *packIndex
	path  string
	file  *gitfile.File // nil between calls
}

// packStep is how much of a pack is read at least.
const packStep = 16 << 10

// The kinds of entries of a pack.
const (
	offsetDelta = 6
	hashDelta   = 7
)

var errDamaged = errors.New("the pack is damaged")

func (p *pack) open() (err error) {
	const blocks = 256
	if p.file == nil {
		p.file, err = gitfile.OpenFile(p.path, packStep, blocks)
	}
	return err
}

func (p *pack) close() {
	p.index.close()
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
}

// packEntry is one packEntry of a pack as it is stored.
type packEntry struct {
	kind byte
	size int64 // of what is compressed: the object, or the delta
	base int64 // where the object is that a delta starts from
	data int64 // where the compressed bytes begin
}

// entryAt reads the head of the entry at offset.
func (p *pack) entryAt(offset int64) (packEntry, error) {
	head, err := p.file.From(offset)
	if err != nil {
		return packEntry{}, err
	}
	e := packEntry{kind: head[0] >> 4 & 7, size: int64(head[0] & 15)}
	n := 1
	for shift := 4; head[n-1]&0x80 != 0; shift += 7 {
		if n == len(head) || shift > 56 {
			return packEntry{}, errDamaged
		}
		e.size |= int64(head[n]&0x7f) << shift
		n++
	}
	if e.size < 0 {
		return packEntry{}, errDamaged
	}
	switch e.kind {
	case offsetDelta:
		back, used := offsetOf(head[n:])
		if used == 0 || back <= 0 || back > offset {
			return packEntry{}, errDamaged
		}
		e.base = offset - back
		n += used
	case hashDelta:
		if len(head) < n+hashSize {
			return packEntry{}, errDamaged
		}
		base, found, err := p.index.find(plumbing.Hash(head[n : n+hashSize]))
		if err != nil || !found {
			return packEntry{}, errDamaged
		}
		e.base = base
		n += hashSize
	}
	e.data = offset + int64(n)
	return e, nil
}

// offsetOf reads git's offset encoding.
func offsetOf(data []byte) (value int64, used int) {
	for i, c := range data {
		if i > 8 {
			break
		}
		value = value<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
		value++
	}
	return 0, 0
}

// inflater uncompresses, again and again with the same memory.
type inflater struct {
	source bytes.Reader
	zlib   io.ReadCloser
	delta  []byte
}

// from begins to read what is compressed in r. Only a bytes.Reader or a
// bufio.Reader is read quickly.
func (f *inflater) from(r io.Reader) (io.Reader, error) {
	if f.zlib == nil {
		z, err := zlib.NewReader(r)
		if err != nil {
			return nil, err
		}
		f.zlib = z
		return z, nil
	}
	return f.zlib, f.zlib.(zlib.Resetter).Reset(r, nil)
}

// compressed begins to read an entry's content.
func (p *pack) compressed(f *inflater, e packEntry) (io.Reader, error) {
	most := e.size + e.size/1000 + 64 // zlib makes nothing larger than this
	if most > packStep {
		return f.from(bufio.NewReaderSize(p.file.Reader(e.data), packStep))
	}
	data, err := p.file.From(e.data)
	if err != nil {
		return nil, err
	}
	f.source.Reset(data)
	return f.from(&f.source)
}

// content reads an entry's whole content.
func (p *pack) content(f *inflater, e packEntry) ([]byte, error) {
	r, err := p.compressed(f, e)
	if err != nil {
		return nil, err
	}
	return readExactly(r, e.size)
}

// delta reads an entry's delta, which holds until the next one is read.
func (p *pack) delta(f *inflater, e packEntry) ([]byte, error) {
	const short = 64 << 10
	if e.size > short {
		return p.content(f, e)
	}
	r, err := p.compressed(f, e)
	if err != nil {
		return nil, err
	}
	if f.delta == nil {
		f.delta = make([]byte, short)
	}
	return f.delta[:e.size], fill(r, f.delta[:e.size])
}

// readExactly reads size bytes, after which r must end. Not more is allocated
// at once than there may be: the size is only what somebody wrote.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	const trusted = 1 << 20
	if size > trusted {
		data, err := gitfile.ReadAll(io.LimitReader(r, size+1), trusted)
		if err == nil && int64(len(data)) != size {
			err = errDamaged
		}
		return data, err
	}
	data := make([]byte, size)
	return data, fill(r, data)
}

// fill reads data, after which r must end.
func fill(r io.Reader, data []byte) error {
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	var more [1]byte
	if n, err := r.Read(more[:]); n > 0 || err != io.EOF {
		return fmt.Errorf("%w: %v", errDamaged, err)
	}
	return nil
}

// resultSize is the size of the object that an entry's delta makes.
func (p *pack) resultSize(f *inflater, e packEntry) (int64, error) {
	r, err := p.compressed(f, e)
	if err != nil {
		return 0, err
	}
	var head [20]byte
	n, err := io.ReadFull(r, head[:min(e.size, int64(len(head)))])
	if err != nil {
		return 0, err
	}
	_, used := binary.Uvarint(head[:n])
	if used <= 0 {
		return 0, errDamaged
	}
	size, used := binary.Uvarint(head[used:n])
	if used <= 0 || size > 1<<62 {
		return 0, errDamaged
	}
	return int64(size), nil
}

// patched is what a delta makes of base.
func patched(base, delta []byte) ([]byte, error) {
	from, used := binary.Uvarint(delta)
	if used <= 0 || from != uint64(len(base)) {
		return nil, errDamaged
	}
	delta = delta[used:]
	size, used := binary.Uvarint(delta)
	if used <= 0 || size > MaxObject {
		return nil, errDamaged
	}
	delta = delta[used:]
	out := make([]byte, 0, min(size, uint64(len(base)+len(delta))+4096))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 { // what is new
			n := int(op)
			if n == 0 || n > len(delta) {
				return nil, errDamaged
			}
			out = append(out, delta[:n]...)
			delta = delta[n:]
			continue
		}
		offset, n, rest, whole := deltaCopy(op, delta)
		if !whole || offset > len(base) || n > len(base)-offset || uint64(len(out)+n) > size {
			return nil, errDamaged
		}
		out = append(out, base[offset:offset+n]...)
		delta = rest
	}
	if uint64(len(out)) != size {
		return nil, errDamaged
	}
	return out, nil
}

// deltaCopy reads what op has copied from the base: four bytes of where and three of how
// much, of which those are there whose bits op has.
func deltaCopy(op byte, delta []byte) (offset, n int, rest []byte, whole bool) {
	var all [7]byte
	for i := range all {
		if op>>i&1 == 0 {
			continue
		}
		if len(delta) == 0 {
			return 0, 0, nil, false
		}
		all[i], delta = delta[0], delta[1:]
	}
	offset = int(binary.LittleEndian.Uint32(all[:4]))
	if n = int(all[4]) | int(all[5])<<8 | int(all[6])<<16; n == 0 {
		n = 0x10000
	}
	return offset, n, delta, offset >= 0
}
