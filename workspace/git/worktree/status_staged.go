package worktree

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"
)

// staged compares HEAD's tree with the index.
func (s *status) staged() ([]Difference, error) {
	var tree *plumbing.Hash
	if h, born := s.Repo.Head(); born {
		commit, err := s.Repo.Objects.Commit(h)
		if err != nil {
			return nil, err
		}
		tree = &commit.TreeHash
	}
	d, err := s.against(tree)
	return d.changes, err
}

// against compares a tree, if there is one, with the index, both in one order, and looks
// into no folder of which the index says that it is the tree's.
func (s *status) against(tree *plumbing.Hash) (*stagedDiff, error) {
	lo, hi := s.within()
	s.matched = lo < hi
	d := &stagedDiff{status: s}
	if tree == nil {
		d.added(lo, hi)
		return d, nil
	}
	root, dir, err := s.treeAt(*tree)
	switch {
	case err != nil:
	case root.Mode == filemode.Dir:
		err = d.tree(root.Hash, dir, s.index.trees().folder(s.Prefix), lo, hi)
	case root.Mode != filemode.Empty:
		end := d.past(dir, lo, hi) // what is in a folder of its name is not it
		err = d.entry(dir, Side{Mode: odb.Canonical(uint32(root.Mode)), Hash: root.Hash}, lo, end)
		d.added(end, hi)
	default:
		d.added(lo, hi)
	}
	return d, err
}

// treeAt is what HEAD has at the prefix: a folder, whose name ends in a slash, or a file.
func (s *status) treeAt(tree plumbing.Hash) (object.TreeEntry, string, error) {
	at := object.TreeEntry{Mode: filemode.Dir, Hash: tree}
	if s.Prefix == "" {
		return at, "", nil
	}
	for name := range strings.SplitSeq(s.Prefix, "/") {
		if at.Mode != filemode.Dir {
			return object.TreeEntry{}, "", nil
		}
		entries, err := s.Repo.Objects.Tree(at.Hash)
		if err != nil {
			return at, "", err
		}
		i := slices.IndexFunc(entries, func(e object.TreeEntry) bool { return e.Name == name })
		if i < 0 {
			return object.TreeEntry{}, "", nil
		}
		at = entries[i]
	}
	s.matched = true
	if at.Mode == filemode.Dir {
		return at, s.Prefix + "/", nil
	}
	return at, s.Prefix, nil
}

// folder is the folder that prefix leads to.
func (t *cachedTree) folder(prefix string) *cachedTree {
	if prefix == "" {
		return t
	}
	for name := range strings.SplitSeq(prefix, "/") {
		t = t.at(name)
	}
	return t
}

// stagedDiff gathers the changes between a tree and a part of the index.
type stagedDiff struct {
	*status
	changes   []Difference
	conflicts []Difference // without new
}

// tree compares the tree h, which is the folder dir, with the entries lo to hi.
func (d *stagedDiff) tree(h plumbing.Hash, dir string, cached *cachedTree, lo, hi int) error {
	if cached.is(h, hi-lo) {
		return nil
	}
	if err := d.Ctx.Err(); err != nil {
		return fault.From(err)
	}
	if err := d.spend(dir, eachFolder); err != nil {
		return err
	}
	entries, err := d.Repo.Objects.Tree(h)
	if err != nil {
		return err
	}
	for _, e := range entries {
		key := dir + e.Name
		if e.Mode == filemode.Dir {
			key += "/"
		}
		from := d.upTo(key, lo, hi)
		d.added(lo, from)
		lo = d.past(key, from, hi)
		if e.Mode == filemode.Dir {
			err = d.tree(e.Hash, key, cached.at(e.Name), from, lo)
		} else {
			err = d.entry(key, Side{Mode: odb.Canonical(uint32(e.Mode)), Hash: e.Hash}, from, lo)
		}
		if err != nil {
			return err
		}
	}
	d.added(lo, hi)
	return nil
}

// upTo is where entries that are, or lie in, key begin.
func (d *stagedDiff) upTo(key string, lo, hi int) int {
	for lo < hi && d.index.Entries[lo].path < key {
		lo++
	}
	return lo
}

// past is where they end.
func (d *stagedDiff) past(key string, lo, hi int) int {
	if !strings.HasSuffix(key, "/") {
		for lo < hi && d.index.Entries[lo].path == key {
			lo++
		}
		return lo
	}
	n, _ := slices.BinarySearchFunc(d.index.Entries[lo:hi], key[:len(key)-1]+"0", func(e IndexEntry, key string) int { return cmp.Compare(e.path, key) })
	return lo + n
}

// entry compares one file of HEAD with what the index has of it.
func (d *stagedDiff) entry(path string, old Side, lo, hi int) error {
	c := Difference{Path: path, OldPath: path, Old: old}
	if lo < hi {
		e := d.index.Entries[lo]
		if e.stage != 0 {
			d.conflicts = append(d.conflicts, c)
			return nil
		}
		if !e.IntentToAdd {
			c.New = Side{Mode: e.Mode, Hash: e.Hash}
		}
	}
	if c.Old.Same(c.New) {
		return nil
	}
	d.changes = append(d.changes, c)
	return d.spend(path, eachFile)
}

// added are entries that HEAD has not.
func (d *stagedDiff) added(lo, hi int) {
	for i, e := range d.index.Entries[lo:hi] {
		switch {
		case e.stage != 0 && (i == 0 || d.index.Entries[lo+i-1].path != e.path):
			d.conflicts = append(d.conflicts, Difference{Path: e.path, OldPath: e.path})
		case e.stage == 0 && !e.IntentToAdd:
			d.changes = append(d.changes, Difference{Path: e.path, OldPath: e.path, New: Side{Mode: e.Mode, Hash: e.Hash}})
		}
	}
}
