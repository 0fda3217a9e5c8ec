package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"

	"pillion/workspace/git/gitfile"

	"github.com/go-git/go-git/v5/plumbing"
)

// packIndex says where in a pack an object is. Its format is version 2 of
// git's Documentation/gitformat-pack.txt. What is asked for is read, and the file mapped
// once much is: to map and unmap the places that ten commits are at takes longer than to
// read them. Where it cannot be mapped, the names that begin with one byte are read
// together, and kept, up to a bound.
type packIndex struct {
	path   string
	count  int
	fanout [256]uint32
	parts  [256]namesPart // by the first byte; empty where not read yet
	kept   int            // bytes of all parts
	last   namesPart      // around what was looked for last
	asked  int            // how often a part was asked for that is not kept

	size, written int64    // of the file that all this is from
	checked       bool     // it is still that file; false between calls
	file          *os.File // nil between calls
	data          []byte   // all of it, where it is mapped
	looks         int      // how often something of it was looked at while it was open
	unmappable    bool
}

// namesPart is a part of the sorted names, and where the objects are.
type namesPart struct {
	first   int    // the number of the first
	names   []byte // hashSize bytes each
	offsets []byte // 4 bytes each
}

const (
	hashSize       = len(plumbing.Hash{})
	indexNames     = 8 + 256*4
	mostNamesKept  = 40 << 20 // bytes a pack
	mostNamesAtOne = 8192     // of one first byte; in larger packs they are searched on disk
	manyLooks      = 64       // from which on a file is mapped
)

var errOldIndex = errors.New("its index is of version 1, which is not supported; git repack -ad writes it anew")

// known sees to it that what is known is about the file as it is. One that has not changed
// is not opened for that.
func (x *packIndex) known() error {
	if x.file != nil || x.checked {
		return nil
	}
	if info, err := os.Lstat(x.path); err != nil || !info.Mode().IsRegular() || !x.isOf(info) {
		return x.open()
	}
	x.checked = true
	return nil
}

// isOf says whether what is known is about this very file.
func (x *packIndex) isOf(info fs.FileInfo) bool {
	return x.count > 0 && x.size == info.Size() && x.written == info.ModTime().UnixNano()
}

// open opens the file, unless it is open.
func (x *packIndex) open() error {
	if x.file != nil {
		return nil
	}
	f, info, err := gitfile.Open(x.path)
	if err != nil {
		return err
	}
	if err := x.look(f, info); err != nil {
		f.Close()
		return err
	}
	x.file = f
	return nil
}

// lookAt is open for who wants to see more than how many names there are.
func (x *packIndex) lookAt() error {
	if err := x.open(); err != nil {
		return err
	}
	if x.looks++; x.looks == manyLooks {
		x.data = gitfile.MapOpen(x.file, x.size)
		x.unmappable = x.data == nil
	}
	return nil
}

// look reads how many names there are, unless that is known of this very file.
func (x *packIndex) look(f *os.File, info fs.FileInfo) error {
	if x.isOf(info) {
		return nil
	}
	*x = packIndex{path: x.path, size: info.Size(), written: info.ModTime().UnixNano()}
	return x.readHead(f)
}

func (x *packIndex) readHead(f *os.File) error {
	head := make([]byte, indexNames)
	if _, err := f.ReadAt(head, 0); err != nil {
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
			return errors.New("its index is damaged")
		}
		last = x.fanout[i]
	}
	if x.size < int64(indexNames)+int64(last)*int64(hashSize+8) {
		return errors.New("its index is cut off")
	}
	x.count = int(last)
	return nil
}

func (x *packIndex) close() {
	x.checked = false
	if x.file != nil {
		gitfile.Unmap(x.data)
		x.file.Close()
		x.file, x.data, x.looks = nil, nil, 0
	}
}

// span is the range of names that begin with a byte.
func (x *packIndex) span(first byte) (lo, hi int) {
	if first > 0 {
		lo = int(x.fanout[first-1])
	}
	return lo, int(x.fanout[first])
}

// read reads n bytes.
func (x *packIndex) read(at int64, n int) ([]byte, error) { return x.readInto(nil, at, n) }

// readInto is read, into memory that there is if it has room for them.
func (x *packIndex) readInto(memory []byte, at int64, n int) ([]byte, error) {
	if x.data != nil {
		if at > int64(len(x.data)) || int64(n) > int64(len(x.data))-at {
			return nil, io.ErrUnexpectedEOF
		}
		return x.data[at : at+int64(n)], nil
	}
	data := slices.Grow(memory[:0], n)[:n]
	_, err := x.file.ReadAt(data, at)
	return data, err
}

// some reads the names from lo to hi.
func (x *packIndex) some(lo, hi int) ([]byte, error) {
	return x.read(int64(indexNames+lo*hashSize), (hi-lo)*hashSize)
}

// part reads the names from lo to hi and their offsets, in place of another part.
func (x *packIndex) part(instead namesPart, lo, hi int) (namesPart, error) {
	names, err := x.readInto(instead.names, int64(indexNames+lo*hashSize), (hi-lo)*hashSize)
	if err != nil {
		return namesPart{}, err
	}
	offsets, err := x.readInto(instead.offsets, int64(indexNames+x.count*(hashSize+4)+lo*4), (hi-lo)*4)
	return namesPart{lo, names, offsets}, err
}

// around is a part of the names in which h is if it is anywhere.
func (x *packIndex) around(h plumbing.Hash) (namesPart, error) {
	const few = 100
	lo, hi := x.span(h[0])
	switch {
	case lo == hi:
		return namesPart{}, nil
	case x.data != nil:
		return x.part(namesPart{}, lo, hi)
	case hi-lo > mostNamesAtOne:
		lo, hi, err := x.narrow(h, lo, hi)
		if err != nil {
			return namesPart{}, err
		}
		return x.part(namesPart{}, lo, hi)
	}
	if x.parts[h[0]].names != nil {
		return x.parts[h[0]], nil
	}
	if x.last.surrounds(h) {
		return x.last, nil
	}
	if x.asked++; x.asked < few || !x.unmappable {
		if x.last = x.near(h, lo, hi); x.last.names != nil {
			return x.last, nil
		}
	}
	part, err := x.part(namesPart{}, lo, hi)
	if err != nil {
		return part, err
	}
	size := (hi - lo) * (hashSize + 4)
	if x.kept += size; x.kept > mostNamesKept {
		x.parts, x.kept = [256]namesPart{}, size
	}
	x.parts[h[0]] = part
	return part, nil
}

// near reads the names around the place where h should be among those from lo
// to hi, in place of those that it read last. It is nothing if h is not well inside.
func (x *packIndex) near(h plumbing.Hash, lo, hi int) namesPart {
	const around = 64
	guess := lo + expected(h, hi-lo)
	from, to := max(lo, guess-around), min(hi, guess+around)
	part, err := x.part(x.last, from, to)
	if err != nil || from > lo && !part.begins(h) || to < hi && !part.goesPast(h) {
		return namesPart{}
	}
	return part
}

// begins reports whether the part begins before h.
func (p namesPart) begins(h plumbing.Hash) bool { return bytes.Compare(p.names[:hashSize], h[:]) < 0 }

// goesPast reports whether the part ends behind h.
func (p namesPart) goesPast(h plumbing.Hash) bool {
	return bytes.Compare(p.names[len(p.names)-hashSize:], h[:]) > 0
}

// surrounds reports whether h and what is beside it lies in the part, if it is there.
func (p namesPart) surrounds(h plumbing.Hash) bool {
	return len(p.names) > 0 && p.begins(h) && p.goesPast(h)
}

// expected is where h should be among n names with its first byte: hashes are
// spread evenly.
func expected(h plumbing.Hash, n int) int {
	return int(uint64(binary.BigEndian.Uint32(h[1:])) * uint64(n) >> 32)
}

// narrow searches on disk until few names are left, with one to spare on either
// side, so that the neighbours of h are among them.
func (x *packIndex) narrow(h plumbing.Hash, lo, hi int) (int, int, error) {
	const few = 256
	from, to := lo, hi
	for hi-lo > few {
		middle := lo + (hi-lo)/2
		name, err := x.some(middle, middle+1)
		if err != nil {
			return 0, 0, err
		}
		if bytes.Compare(name, h[:]) <= 0 {
			lo = middle
		} else {
			hi = middle
		}
	}
	return max(from, lo-1), min(to, hi+1), nil
}

// find returns where in the pack an object begins.
func (x *packIndex) find(h plumbing.Hash) (offset int64, found bool, err error) {
	defer gitfile.Guard(debug.SetPanicOnFault(true), &err)
	if err := x.lookAt(); err != nil {
		return 0, false, err
	}
	part, err := x.around(h)
	if err != nil {
		return 0, false, err
	}
	i, found := part.find(h)
	if !found {
		return 0, false, nil
	}
	offset, err = x.offset(binary.BigEndian.Uint32(part.offsets[4*i:]))
	return offset, err == nil, err
}

// neighbours are the names before and after h, of those with its first byte.
func (x *packIndex) neighbours(h plumbing.Hash) (out []plumbing.Hash) {
	var err error
	defer gitfile.Guard(debug.SetPanicOnFault(true), &err)
	if x.lookAt() != nil {
		return nil
	}
	part, err := x.around(h)
	if err != nil {
		return nil
	}
	add := func(i int) {
		if i >= 0 && i < len(part.names)/hashSize {
			out = append(out, plumbing.Hash(part.names[i*hashSize:(i+1)*hashSize]))
		}
	}
	i, found := part.find(h)
	add(i - 1)
	if found {
		i++
	}
	add(i)
	return out
}

// find is the number of a name in the part, looked for around where it should be
// in a part that is all of a byte's names.
func (p namesPart) find(h plumbing.Hash) (int, bool) {
	n := len(p.names) / hashSize
	name := func(i int) []byte { return p.names[i*hashSize : i*hashSize+hashSize] }
	guess := expected(h, n)
	lo, hi := guess, guess // all before lo are smaller than h, all from hi on larger or h itself
	for step := 8; lo > 0 && bytes.Compare(name(lo-1), h[:]) >= 0; step *= 2 {
		lo, hi = max(0, lo-step), lo
	}
	for step := 8; hi < n && bytes.Compare(name(hi), h[:]) < 0; step *= 2 {
		lo, hi = hi+1, min(n, hi+step)
	}
	for lo < hi {
		if middle := (lo + hi) / 2; bytes.Compare(name(middle), h[:]) < 0 {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo, lo < n && bytes.Equal(name(lo), h[:])
}

// offset is what the index means by one: large ones are in a table of their own.
func (x *packIndex) offset(at uint32) (int64, error) {
	const big = 1 << 31
	if at < big {
		return int64(at), nil
	}
	table := int64(indexNames) + int64(x.count)*int64(hashSize+4+4)
	raw, err := x.read(table+int64(at-big)*8, 8)
	if err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(raw) &^ (1 << 63)), nil
}

// beginning calls each with all hashes that begin with the hex digits prefix,
// of which there are at least two.
func (x *packIndex) beginning(prefix string, each func(plumbing.Hash)) (err error) {
	defer gitfile.Guard(debug.SetPanicOnFault(true), &err)
	if err := x.lookAt(); err != nil {
		return err
	}
	lowest, highest := hashRange(prefix)
	lo, hi := x.span(lowest[0])
	if hi-lo > mostNamesAtOne {
		var err error
		if lo, _, err = x.narrow(lowest, lo, hi); err != nil {
			return err
		}
		if _, hi, err = x.narrow(highest, lo, hi); err != nil {
			return err
		}
	}
	names, err := x.some(lo, hi)
	if err != nil {
		return err
	}
	for ; len(names) > 0; names = names[hashSize:] {
		if h := plumbing.Hash(names[:hashSize]); bytes.Compare(h[:], lowest[:]) >= 0 && bytes.Compare(h[:], highest[:]) <= 0 {
			each(h)
		}
	}
	return nil
}
