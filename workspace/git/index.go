package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
)

// The kinds of file that git tracks, as its modes, and the bits that tell them
// apart.
const (
	modeAbsent     = 0
	modeFile       = 0o100644
	modeExecutable = 0o100755
	modeSymlink    = 0o120000
	modeSubmodule  = 0o160000
	modeDir        = 0o040000
	modeTypeMask   = 0o170000
)

// indexEntry is one line of the index: what was staged, and what the file
// looked like then.
type indexEntry struct {
	path  string
	mode  uint32
	hash  plumbing.Hash
	stage uint8 // 0, or 1 to 3 in a conflict: base, ours, theirs

	changed, modified timestamp // ctime and mtime
	inode, size       uint32

	assumeValid, skipWorkTree, intentToAdd bool
}

// timestamp is a file time as the index keeps it.
type timestamp struct{ sec, nsec uint32 }

func stamp(t time.Time) timestamp {
	return timestamp{uint32(t.Unix()), uint32(t.Nanosecond())}
}

// index is the staging area.
type index struct {
	entries []indexEntry // by path, those of one path by stage
	written time.Time    // an entry modified as late as this may be stale
	trees   *cachedTree  // the trees that folders would be written as; nil: not known
}

// readIndex reads the index file. Its format is in git's
// Documentation/gitformat-index.txt; versions 2 to 4 are read, extensions that
// only speed git up are skipped. A repository without an index has an empty
// one.
func (r *repository) readIndex() (*index, error) {
	name := filepath.Join(r.gitDir, "index")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &index{}, nil
	}
	if err != nil {
		return nil, fault.From(err)
	}
	data, err := readWithin(name, maxIndex)
	if err != nil {
		return nil, fault.New(fault.GitError, "the index cannot be read: %w", err)
	}
	reader := &indexReader{data: data}
	entries, err := reader.read()
	if err != nil {
		return nil, err
	}
	return &index{entries: entries, written: info.ModTime(), trees: reader.trees}, nil
}

const maxIndex = 1 << 30

type indexReader struct {
	data    []byte
	text    string // data, for the paths to be parts of
	at      int
	version uint32
	last    string // the path before, of which version 4 keeps a part
	stage   uint8  // of the entry before
	trees   *cachedTree
}

const (
	indexHeader  = 12
	indexTrailer = 20 // the checksum
	entryFixed   = 62 // an entry up to its path
)

var errSplit = fault.New(fault.GitError, "the index is split in two files, which is not supported; git update-index --no-split-index joins them")

func corrupt(what string) error {
	return fault.New(fault.GitError, "the index is damaged (%s); git fsck says more, and removing .git/index and git reset makes it anew", what)
}

func (r *indexReader) read() ([]indexEntry, error) {
	if len(r.data) < indexHeader+indexTrailer || string(r.data[:4]) != "DIRC" {
		return nil, corrupt("no header")
	}
	r.version = binary.BigEndian.Uint32(r.data[4:])
	if r.version < 2 || r.version > 4 {
		return nil, fault.New(fault.GitError, "index version %d is not supported; git update-index --index-version 4 rewrites it", r.version)
	}
	count := int(binary.BigEndian.Uint32(r.data[8:]))
	if count > len(r.data)/entryFixed && r.version < 4 || count > len(r.data) {
		return nil, corrupt("too few entries")
	}
	r.data, r.at = r.data[:len(r.data)-indexTrailer], indexHeader
	if r.version < 4 {
		r.text = string(r.data)
	}
	entries := make([]indexEntry, 0, count)
	for range count {
		e, err := r.entry()
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, r.extensions()
}

func (r *indexReader) entry() (indexEntry, error) {
	start := r.at
	if len(r.data)-start < entryFixed {
		return indexEntry{}, corrupt("an entry is cut off")
	}
	field := func(i int) uint32 { return binary.BigEndian.Uint32(r.data[start+4*i:]) }
	e := indexEntry{
		changed: timestamp{field(0), field(1)}, modified: timestamp{field(2), field(3)},
		inode: field(5), mode: field(6), size: field(9),
	}
	copy(e.hash[:], r.data[start+40:])
	flags := binary.BigEndian.Uint16(r.data[start+60:])
	e.assumeValid = flags&0x8000 != 0
	e.stage = uint8(flags >> 12 & 3)
	r.at += entryFixed
	if flags&0x4000 != 0 {
		if len(r.data)-r.at < 2 {
			return indexEntry{}, corrupt("an entry is cut off")
		}
		extended := binary.BigEndian.Uint16(r.data[r.at:])
		e.skipWorkTree = extended&0x4000 != 0
		e.intentToAdd = extended&0x2000 != 0
		r.at += 2
	}
	var err error
	if e.path, err = r.path(start); err != nil {
		return indexEntry{}, err
	}
	return e, r.follows(e)
}

// follows checks an entry and its place behind the one before.
func (r *indexReader) follows(e indexEntry) error {
	if e.path == "" { // it stands for an entry of the other file
		return errSplit
	}
	known, same := 0, 0 // how much of the path the entry before has been checked for, and has
	for same < len(e.path) && same < len(r.last) && e.path[same] == r.last[same] {
		if e.path[same] == '/' {
			known = same + 1
		}
		same++
	}
	after := same == len(r.last) && same < len(e.path) || same < min(len(e.path), len(r.last)) && e.path[same] > r.last[same]
	if !after && (e.path != r.last || e.stage <= r.stage || r.stage == 0) {
		return corrupt("its entries are out of order")
	}
	r.last, r.stage = e.path, e.stage
	if rest := e.path[known:]; rest != "" && !safePath(strings.TrimSuffix(rest, "/")) {
		return corrupt("it holds the path " + fault.Quote(e.path))
	}
	return nil
}

// path reads the path of the entry that began at start, and the zero bytes
// that fill the entry up before version 4.
func (r *indexReader) path(start int) (string, error) {
	keep := 0
	if r.version == 4 {
		drop, ok := r.varint()
		if !ok || drop > len(r.last) {
			return "", corrupt("a shortened path")
		}
		keep = len(r.last) - drop
	}
	end := bytes.IndexByte(r.data[r.at:], 0)
	if end < 0 {
		return "", corrupt("a path without end")
	}
	from := r.at
	r.at += end + 1
	if r.version == 4 {
		return r.last[:keep] + string(r.data[from:from+end]), nil
	}
	length := r.at - 1 - start
	r.at = min(start+(length+8)&^7, len(r.data))
	return r.text[from : from+end], nil
}

// varint reads git's offset encoding.
func (r *indexReader) varint() (int, bool) {
	value := 0
	for i := 0; r.at < len(r.data) && i < 5; i++ {
		c := r.data[r.at]
		r.at++
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, true
		}
		value++
	}
	return 0, false
}

// extensions refuses those without which the entries mean something else:
// their names begin in lower case.
func (r *indexReader) extensions() error {
	const head = 8
	for len(r.data)-r.at >= head {
		name := string(r.data[r.at : r.at+4])
		size := int(binary.BigEndian.Uint32(r.data[r.at+4:]))
		switch {
		case name == "sdir": // folders stand for all that is in them; read by expand
		case name == "TREE" && size <= len(r.data)-r.at-head:
			r.trees = readCachedTrees(r.data[r.at+head : r.at+head+size])
		case name == "link":
			return errSplit
		case name[0] < 'A' || name[0] > 'Z':
			return fault.New(fault.GitError, "the index needs the extension %s, which is not supported; run git with run_command instead", fault.Quote(name))
		}
		if size > len(r.data)-r.at-head {
			return corrupt("an extension is cut off")
		}
		r.at += head + size
	}
	return nil
}

// safePath reports whether a path of the index or a tree leads to a place
// below the top, and not into .git.
func safePath(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if !safeName(name) {
			return false
		}
	}
	return true
}
