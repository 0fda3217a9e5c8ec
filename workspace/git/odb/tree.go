package odb

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
)

// Entry is what a tree has at a path: mode 0 is nothing.
type Entry struct {
	Mode uint32
	Hash plumbing.Hash
}

var EmptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// LookUp finds one entry of a tree.
func (o *Objects) LookUp(tree plumbing.Hash, name string) (Entry, error) {
	if tree == EmptyTree {
		return Entry{}, nil
	}
	data, err := o.Of(plumbing.TreeObject, tree)
	if err != nil {
		return Entry{}, err
	}
	for len(data) > 0 {
		var e rawEntry
		if e, data, err = nextEntry(data); err != nil {
			return Entry{}, fault.New(fault.GitError, "the tree %s is damaged; git fsck says more", tree)
		}
		if string(e.name) == name {
			if e.mode != ModeDir {
				e.mode = Canonical(e.mode)
			}
			return Entry{e.mode, e.hash}, nil
		}
	}
	return Entry{}, nil
}

// At is what a tree has at a path below it; "" and "." are the tree itself.
func (o *Objects) At(tree plumbing.Hash, name string) (Entry, error) {
	at := Entry{ModeDir, tree}
	if name == "" || name == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if at.Mode != ModeDir {
			return Entry{}, nil
		}
		var err error
		if at, err = o.LookUp(at.Hash, part); err != nil || at.Mode == ModeAbsent {
			return Entry{}, err
		}
	}
	return at, nil
}

// Canonical maps the modes that old versions of git wrote, such as 100664.
func Canonical(mode uint32) uint32 {
	switch mode & ModeTypeMask {
	case ModeFile & ModeTypeMask:
		if mode&0o100 != 0 {
			return ModeExecutable
		}
		return ModeFile
	case ModeSymlink:
		return ModeSymlink
	}
	return ModeSubmodule
}

// The kinds of file that git tracks, as its modes, and the bits that tell them
// apart.
const (
	ModeAbsent     = 0
	ModeFile       = 0o100644
	ModeExecutable = 0o100755
	ModeSymlink    = 0o120000
	ModeSubmodule  = 0o160000
	ModeDir        = 0o040000
	ModeTypeMask   = 0o170000
)

// rawEntry is an entry of a tree; its name is a part of the tree's bytes.
type rawEntry struct {
	mode uint32
	name []byte
	hash plumbing.Hash
}

var errTree = errors.New("damaged tree")

// nextEntry takes the first entry off a tree's bytes.
func nextEntry(data []byte) (rawEntry, []byte, error) {
	var e rawEntry
	i := 0
	for ; i < len(data) && data[i] != ' '; i++ {
		if data[i] < '0' || data[i] > '7' || i > 6 {
			return e, nil, errTree
		}
		e.mode = e.mode<<3 | uint32(data[i]-'0')
	}
	if i == 0 || i >= len(data) {
		return e, nil, errTree
	}
	end := bytes.IndexByte(data[i+1:], 0)
	if end < 0 {
		return e, nil, errTree
	}
	e.name = data[i+1 : i+1+end]
	data = data[i+2+end:]
	if len(data) < hashSize {
		return e, nil, errTree
	}
	e.hash = plumbing.Hash(data[:hashSize])
	return e, data[hashSize:], nil
}
