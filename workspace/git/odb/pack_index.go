package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/gitfile"
)

// packIndex says where in a pack an object is. Its format is version 2 of
// git's Documentation/gitformat-pack.txt: the sorted names, and beside them checksums and offsets.
type packIndex struct {
	path   string
	file   *gitfile.File // nil between calls
	count  int
	fanout [256]uint32 // how many names have a first byte up to this
}

const (
	hashSize   = len(plumbing.Hash{})
	indexNames = 8 + 256*4 // where the names begin
)

var (
	errOldIndex = errors.New("its index has version 1, which is not supported; git repack -ad rewrites it")
	errIndex    = errors.New("its index is damaged")
)

// open opens the file, unless it is open.
func (x *packIndex) open() error {
	const step, blocks = 4 << 10, 512
	if x.file != nil {
		return nil
	}
	f, err := gitfile.OpenFile(x.path, step, blocks)
	if err != nil {
		return err
	}
	if err := x.readHead(f); err != nil {
		f.Close()
		return err
	}
	x.file = f
	return nil
}

func (x *packIndex) readHead(f *gitfile.File) error {
	head, err := f.Exactly(0, indexNames)
	if err != nil {
		return err
	}
	if string(head[:4]) != "\xfftOc" {
		return errOldIndex
	}
	if version := binary.BigEndian.Uint32(head[4:]); version != 2 {
		return fmt.Errorf("its index is of version %d, which is not supported", version)
	}
	last := uint32(0)
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if x.fanout[i] < last {
			return errIndex
		}
		last = x.fanout[i]
	}
	x.count = int(last)
	if f.Info.Size() < int64(indexNames)+int64(last)*int64(hashSize+8) {
		return errors.New("its index is cut off")
	}
	return nil
}

func (x *packIndex) close() {
	if x.file != nil {
		x.file.Close()
		x.file = nil
	}
}

// name is the one of a number.
func (x *packIndex) name(i int) (plumbing.Hash, error) {
	data, err := x.file.Exactly(int64(indexNames+i*hashSize), hashSize)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return plumbing.Hash(data), nil
}

// search is the number of the first name that is not smaller than h.
func (x *packIndex) search(h plumbing.Hash) (int, error) {
	lo, hi := 0, int(x.fanout[h[0]])
	if h[0] > 0 {
		lo = int(x.fanout[h[0]-1])
	}
	const near = 32 // hashes are spread evenly: most are so near to where they should be
	guess := lo + int(uint64(binary.BigEndian.Uint32(h[1:]))*uint64(hi-lo)>>32)
	for probe := 0; lo < hi; probe++ {
		middle := lo + (hi-lo)/2
		if probe == 0 {
			middle = max(lo, guess-near)
		} else if probe == 1 {
			middle = min(max(lo, guess+near), hi-1)
		}
		name, err := x.name(middle)
		if err != nil {
			return 0, err
		}
		if bytes.Compare(name[:], h[:]) < 0 {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo, nil
}

// find returns where in the pack an object begins.
func (x *packIndex) find(h plumbing.Hash) (offset int64, found bool, err error) {
	if err := x.open(); err != nil {
		return 0, false, err
	}
	i, err := x.search(h)
	if err != nil || i == x.count {
		return 0, false, err
	}
	if name, err := x.name(i); err != nil || name != h {
		return 0, false, err
	}
	offset, err = x.offset(i)
	return offset, err == nil, err
}

// offset is that of a number. Large ones are in a table of their own.
func (x *packIndex) offset(i int) (int64, error) {
	const big = 1 << 31
	offsets := int64(indexNames) + int64(x.count)*int64(hashSize+4)
	raw, err := x.file.Exactly(offsets+int64(i)*4, 4)
	if err != nil {
		return 0, err
	}
	at := binary.BigEndian.Uint32(raw)
	if at < big {
		return int64(at), nil
	}
	raw, err = x.file.Exactly(offsets+int64(x.count)*4+int64(at-big)*8, 8)
	if err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(raw) &^ (1 << 63)), nil
}

// neighbours are the names before and after h.
func (x *packIndex) neighbours(h plumbing.Hash) (out []plumbing.Hash) {
	if x.open() != nil {
		return nil
	}
	at, err := x.search(h)
	if err != nil {
		return nil
	}
	for i := max(at-1, 0); i < min(at+2, x.count); i++ {
		if name, err := x.name(i); err == nil && name != h {
			out = append(out, name)
		}
	}
	return out
}

// beginning calls each with all hashes that begin with the hex digits prefix,
// of which there are at least two.
func (x *packIndex) beginning(prefix string, each func(plumbing.Hash)) error {
	if err := x.open(); err != nil {
		return err
	}
	lowest, highest := hashRange(prefix)
	from, err := x.search(lowest)
	if err != nil {
		return err
	}
	for i := from; i < x.count; i++ {
		name, err := x.name(i)
		if err != nil || bytes.Compare(name[:], highest[:]) > 0 {
			return err
		}
		each(name)
	}
	return nil
}
