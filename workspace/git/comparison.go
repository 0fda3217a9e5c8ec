package git

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// change is what became of one path.
type change struct {
	path, oldPath string // they differ in a rename
	old, new      side
	unmerged      bool // in conflict: old is then our side, as in git diff --ours
	score         int  // of a rename: how much of the file stayed, of maxScore
}

// comparison finds what differs between two states of a repository.
type comparison struct {
	ctx     context.Context
	repo    *repository
	prefix  string // the file or folder to look at, "" for all
	matched bool   // something lies at prefix, changed or not
	spent   int    // on what the objects say that there is: see spend
}

// staged is all that the index holds of one path: entry[0], or the sides of
// a conflict, base, ours and theirs, in entry[1:]. Those missing have no path.
type staged [4]indexEntry

func (s staged) merged() bool { return s[0].path != "" }

// any is the entry by which to look at the work tree.
func (s staged) any() indexEntry {
	for _, i := range []int{0, 2, 3} {
		if s[i].path != "" {
			return s[i]
		}
	}
	return s[1]
}

// stagedFiles is the index by path, below the comparison's prefix.
type stagedFiles struct {
	*index
	paths []string
	files map[string]*staged
}

func (c *comparison) index() (*stagedFiles, error) {
	read, err := c.repo.readIndex()
	if err != nil {
		return nil, err
	}
	s := &stagedFiles{index: read, files: make(map[string]*staged, len(read.entries))}
	c.repo.work.conversion.attributes.staged = read.attributes()
	for _, e := range read.entries {
		if e.mode == odb.ModeDir {
			if err := c.expand(s, e); err != nil {
				return nil, err
			}
			continue
		}
		if c.wants(e.path) {
			s.add(e)
		}
	}
	return s, nil
}

func (s *stagedFiles) add(e indexEntry) {
	known := s.files[e.path]
	if known == nil {
		known = &staged{}
		s.files[e.path] = known
		s.paths = append(s.paths, e.path)
	}
	known[e.stage] = e
}

// expand adds the files of a folder that a sparse index holds as one entry.
func (c *comparison) expand(s *stagedFiles, dir indexEntry) error {
	files := map[string]side{}
	if err := c.walk(dir.hash, strings.TrimSuffix(dir.path, "/"), files); err != nil {
		return err
	}
	for name, f := range files {
		s.add(indexEntry{path: name, mode: f.mode, hash: f.hash, skipWorkTree: true})
	}
	return nil
}

// wants reports whether name is the prefix or lies below it.
func (c *comparison) wants(name string) bool {
	if c.prefix == "" || name == c.prefix || strings.HasPrefix(name, c.prefix) && name[len(c.prefix)] == '/' {
		c.matched = true
		return true
	}
	return false
}

// leadsTo reports whether files below the folder dir may be wanted.
func (c *comparison) leadsTo(dir string) bool {
	return dir == "" || c.prefix == "" || dir == c.prefix ||
		strings.HasPrefix(dir, c.prefix+"/") || strings.HasPrefix(c.prefix, dir+"/")
}

// current is the work tree's side of an entry; that of the index, where git
// was told not to look or a sparse checkout leaves the file out.
func (c *comparison) current(index *stagedFiles, e indexEntry) (side, error) {
	asStaged := side{mode: e.mode, hash: e.hash}
	if e.assumeValid {
		return asStaged, nil
	}
	if e.skipWorkTree {
		info, err := c.repo.work.lstat(e.path)
		if err != nil || info == nil || !c.repo.config.bool("core.sparsecheckout", false) {
			return asStaged, err
		}
	}
	now, err := c.repo.work.side(c.ctx, e, index.written)
	if now.mode == odb.ModeSubmodule {
		switch c.repo.ignoredInSubmodule(e.path) {
		case "all":
			return asStaged, err
		case "dirty":
			now.dirty = false
		}
	}
	return now, err
}

// withCommit compares the index, or the work tree, with a commit.
func (c *comparison) withCommit(index *stagedFiles, o DiffOptions) ([]change, error) {
	files, err := c.base(o.Base)
	if err != nil {
		return nil, err
	}
	var changes []change
	for _, name := range index.paths {
		if err := c.ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		entry := index.files[name]
		old := files[name]
		delete(files, name)
		ch := change{path: name, oldPath: name, old: old}
		e := entry.any()
		switch {
		case !o.Staged:
			ch.new, err = c.current(index, e)
		case !entry.merged():
			ch.unmerged, ch.old = true, side{}
		case !e.intentToAdd:
			ch.new = side{mode: e.mode, hash: e.hash}
		}
		if err != nil {
			return nil, err
		}
		if ch.unmerged || !ch.old.same(ch.new) {
			changes = append(changes, ch)
		}
	}
	for name, old := range files {
		changes = append(changes, change{path: name, oldPath: name, old: old})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return changes, nil
}

// base lists the files of a commit: HEAD, which may not exist yet, if none is
// named.
func (c *comparison) base(revision string) (map[string]side, error) {
	files := map[string]side{}
	if _, born := c.repo.head(); revision == "" && !born {
		return files, nil
	}
	if revision == "" {
		revision = "HEAD"
	}
	commit, err := c.repo.commit(revision)
	if err != nil {
		return nil, err
	}
	return files, c.walk(commit.TreeHash, "", files)
}

// walk adds the wanted files of a tree, which lies at dir.
func (c *comparison) walk(tree plumbing.Hash, dir string, files map[string]side) error {
	if err := c.ctx.Err(); err != nil {
		return fault.From(err)
	}
	if !c.leadsTo(dir) {
		return nil
	}
	if err := c.spend(dir, eachFolder); err != nil {
		return err
	}
	entries, err := c.repo.objects.Tree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if e.Mode == filemode.Dir {
			if err := c.walk(e.Hash, name, files); err != nil {
				return err
			}
			continue
		}
		if c.wants(name) {
			if err := c.spend(name, eachFile); err != nil {
				return err
			}
			files[name] = side{mode: odb.Canonical(uint32(e.Mode)), hash: e.Hash}
		}
	}
	return nil
}
