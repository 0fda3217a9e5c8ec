package worktree

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
)

// IndexEntry is one line of the index: what was staged, and what the file
// looked like then.
type IndexEntry struct {
	path  string
	Mode  uint32
	Hash  plumbing.Hash
	stage uint8 // 0, or 1 to 3 in a conflict: base, ours, theirs

	changed, modified timestamp // ctime and mtime
	inode, size       uint32

	AssumeValid, skipWorkTree, IntentToAdd bool
}

// timestamp is a file time as the index keeps it.
type timestamp struct{ sec, nsec uint32 }

func stamp(t time.Time) timestamp {
	return timestamp{uint32(t.Unix()), uint32(t.Nanosecond())}
}

// index is the staging area.
type index struct {
	Entries []IndexEntry       // by path, those of one path by stage
	Written time.Time          // an entry modified as late as this may be stale
	sparse  bool               // some entries are folders, which stand for all that is in them
	trees   func() *cachedTree // the trees that folders would be written as; nil: not known
}

// ReadIndex reads the index file. Its format is in git's
// Documentation/gitformat-index.txt; versions 2 to 4 are read, extensions that
// only speed git up are skipped. A repository without an index has an empty
// one.
func (r *Checkout) ReadIndex() (*index, error) {
	name := filepath.Join(r.GitDir, "index")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &index{trees: noTrees}, nil
	}
	if err != nil {
		return nil, fault.From(err)
	}
	text, err := gitfile.ReadWithin(name, maxIndex)
	if err != nil {
		return nil, fault.New(fault.GitError, "the index cannot be read: %w", err)
	}
	reader := &indexReader{text: text, trees: noTrees}
	entries, err := reader.read()
	if err != nil {
		return nil, err
	}
	return &index{Entries: entries, Written: info.ModTime(), sparse: reader.sparse, trees: reader.trees}, nil
}

const maxIndex = 1 << 30

// indexReader reads an index out of the file's text.
type indexReader struct {
	text    []byte
	at      int
	version uint32
	names   strings.Builder // one piece of memory for all paths before version 4
	last    string          // the path before, of which version 4 keeps a part
	folder  int             // how much of it is the folder, with a slash at the end
	paths   int             // bytes of all paths, in version 4
	stage   uint8           // of the entry before
	sparse  bool            // see index, likewise trees
	trees   func() *cachedTree
	part    bool // of a split index, in which an entry without a path stands for one of the other part
}

const (
	indexHeader  = 12
	indexTrailer = 20 // the checksum
	entryFixed   = 62 // an entry up to its path
)

var errSplit = fault.New(fault.GitError, "the index is split in two files, which is not supported; git update-index --no-split-index joins them")

func corrupt(what string) error {
	return fault.New(fault.GitError, "the index is damaged (%s); git fsck says more; to recreate it, remove .git/index and run git reset", what)
}

func (r *indexReader) read() (entries []IndexEntry, err error) {
	count, err := r.begin()
	if err != nil {
		return nil, err
	}
	entries = make([]IndexEntry, count)
	for i := range entries {
		if err := r.entry(&entries[i]); err != nil {
			return nil, err
		}
	}
	return entries, r.extensions()
}

// IndexStaysInside says whether all entries of an index, or of one that is split in two files,
// lie in the work tree and outside of .git: git checks out what an index names wherever that
// is. What is not there is an empty one.
func IndexStaysInside(file string) bool {
	const most = 256 << 20
	text, err := gitfile.ReadWithin(file, most)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	r := &indexReader{text: text, trees: noTrees, part: true}
	count, err := r.begin()
	for range count {
		if err == nil {
			err = r.entry(&IndexEntry{})
		}
	}
	return err == nil
}

// begin reads the header and gives how many entries follow.
func (r *indexReader) begin() (count int, err error) {
	if len(r.text) < indexHeader+indexTrailer || string(r.text[:4]) != "DIRC" {
		return 0, corrupt("no header")
	}
	r.version = r.number(4)
	if r.version < 2 || r.version > 4 {
		return 0, fault.New(fault.GitError, "index version %d is not supported; git update-index --index-version 4 rewrites it", r.version)
	}
	count = int(r.number(8))
	if count > len(r.text)/entryFixed {
		return 0, corrupt("too few entries")
	}
	r.text, r.at = r.text[:len(r.text)-indexTrailer], indexHeader
	if r.version < 4 {
		r.names.Grow(max(0, len(r.text)-r.at-count*entryFixed))
	}
	return count, nil
}

// number is the one at a place, which there must be.
func (r *indexReader) number(at int) uint32 {
	n := r.text[at : at+4]
	return uint32(n[0])<<24 | uint32(n[1])<<16 | uint32(n[2])<<8 | uint32(n[3])
}

func (r *indexReader) entry(e *IndexEntry) error {
	start := r.at
	if len(r.text)-start < entryFixed {
		return corrupt("an entry is cut off")
	}
	field := func(i int) uint32 { return r.number(start + 4*i) }
	e.changed, e.modified = timestamp{field(0), field(1)}, timestamp{field(2), field(3)}
	e.inode, e.Mode, e.size = field(5), field(6), field(9)
	copy(e.Hash[:], r.text[start+40:])
	r.sparse = r.sparse || e.Mode == odb.ModeDir
	flags := uint16(r.text[start+60])<<8 | uint16(r.text[start+61])
	e.AssumeValid = flags&0x8000 != 0
	e.stage = uint8(flags >> 12 & 3)
	r.at += entryFixed
	if flags&0x4000 != 0 {
		if len(r.text)-r.at < 2 {
			return corrupt("an entry is cut off")
		}
		extended := uint16(r.text[r.at]) << 8
		e.skipWorkTree = extended&0x4000 != 0
		e.IntentToAdd = extended&0x2000 != 0
		r.at += 2
	}
	var err error
	if e.path, err = r.path(start); err != nil {
		return err
	}
	return r.follows(e)
}

// follows checks an entry and its place behind the one before.
func (r *indexReader) follows(e *IndexEntry) error {
	switch {
	case e.path == "" && r.part:
		return nil
	case e.path == "": // it stands for an entry of the other file
		return errSplit
	}
	known := r.folder // how much of the path the entry before has been checked for
	if !strings.HasPrefix(e.path, r.last[:known]) {
		known = shared(e.path, r.last[:known])
	}
	if rest, last := e.path[known:], r.last[known:]; rest <= last && r.last != "" && (rest != last || e.stage <= r.stage || r.stage == 0) {
		return corrupt("its entries are out of order")
	}
	folder, ok := safeRest(e.path, known)
	if !ok {
		return corrupt("it holds the path " + fault.Quote(e.path))
	}
	r.last, r.folder, r.stage = e.path, folder, e.stage
	return nil
}

// safeRest is safePath for what follows the first known bytes of a path, which are a
// folder. It gives how long the folder is that the path leads to. A slash may end it.
func safeRest(path string, known int) (folder int, ok bool) {
	folder = known
	for at := known; at < len(path); at++ {
		switch path[at] {
		case 0:
			return folder, false
		case '/':
			if odb.Special(path[folder:at]) {
				return folder, false
			}
			folder = at + 1
		}
	}
	return folder, folder == len(path) && folder > known || !odb.Special(path[folder:])
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
	end := bytes.IndexByte(r.text[r.at:], 0)
	if end < 0 {
		return "", corrupt("a path without end")
	}
	path := r.text[r.at : r.at+end]
	r.at += end + 1
	if r.version == 4 {
		const most = 256 << 20 // a path can be made of the one before and a byte
		if r.paths += keep + end; r.paths > most {
			return "", corrupt("its paths are too long")
		}
		return r.last[:keep] + string(path), nil
	}
	length := r.at - 1 - start
	r.at = min(start+(length+8)&^7, len(r.text))
	from := r.names.Len()
	r.names.Write(path)
	return r.names.String()[from:], nil
}

// varint reads git's offset encoding.
func (r *indexReader) varint() (int, bool) {
	value := 0
	for i := 0; r.at < len(r.text) && i < 5; i++ {
		c := r.text[r.at]
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
	for len(r.text)-r.at >= head {
		name := string(r.text[r.at : r.at+4])
		size := int(r.number(r.at + 4))
		switch {
		case name == "sdir": // folders stand for all that is in them; read by expand
		case name == "TREE" && size <= len(r.text)-r.at-head:
			data := bytes.Clone(r.text[r.at+head : r.at+head+size])
			r.trees = sync.OnceValue(func() *cachedTree { return readCachedTrees(data) })
		case name == "link":
			return errSplit
		case name[0] < 'A' || name[0] > 'Z':
			return fault.New(fault.GitError, "the index needs the extension %s, which is not supported; run git with run_command instead", fault.Quote(name))
		}
		if size > len(r.text)-r.at-head {
			return corrupt("an extension is cut off")
		}
		r.at += head + size
	}
	return nil
}
