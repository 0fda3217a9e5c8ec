package worktree

import (
	"context"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"
)

// Difference is what became of one path.
type Difference struct {
	Path, OldPath string // they differ in a rename
	Old, New      Side
	Unmerged      bool // in conflict: old is then our side, as in git diff --ours
	Score         int  // of a rename: how much of the file stayed, of maxScore
}

// Comparison finds what differs between two states of a repository.
type Comparison struct {
	Ctx     context.Context
	Repo    *Checkout
	Prefix  string // the file or folder to look at, "" for all
	matched bool   // something lies at prefix, changed or not
	spent   int    // on what the objects say that there is: see spend
}

// staged is all that the index holds of one path: entry[0], or the sides of
// a conflict, base, ours and theirs, in entry[1:]. Those missing have no path.
type staged [4]IndexEntry

func (s staged) Merged() bool { return s[0].path != "" }

// Any is the entry by which to look at the work tree.
func (s staged) Any() IndexEntry {
	for _, i := range []int{0, 2, 3} {
		if s[i].path != "" {
			return s[i]
		}
	}
	return s[1]
}

// StagedFiles is the index by path, below the comparison's prefix.
type StagedFiles struct {
	*index
	Paths []string
	Files map[string]*staged
}

func (c *Comparison) Index() (*StagedFiles, error) {
	read, err := c.Repo.ReadIndex()
	if err != nil {
		return nil, err
	}
	s := &StagedFiles{index: read, Files: make(map[string]*staged, len(read.Entries))}
	c.Repo.Work.Conversion.Attributes.staged = read.attributes()
	for _, e := range read.Entries {
		if e.Mode == odb.ModeDir {
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

func (s *StagedFiles) add(e IndexEntry) {
	known := s.Files[e.path]
	if known == nil {
		known = &staged{}
		s.Files[e.path] = known
		s.Paths = append(s.Paths, e.path)
	}
	known[e.stage] = e
}

// expand adds the files of a folder that a sparse index holds as one entry.
func (c *Comparison) expand(s *StagedFiles, dir IndexEntry) error {
	files := map[string]Side{}
	if err := c.walk(dir.Hash, strings.TrimSuffix(dir.path, "/"), files); err != nil {
		return err
	}
	for name, f := range files {
		s.add(IndexEntry{path: name, Mode: f.Mode, Hash: f.Hash, skipWorkTree: true})
	}
	return nil
}

// wants reports whether name is the prefix or lies below it.
func (c *Comparison) wants(name string) bool {
	if c.Prefix == "" || name == c.Prefix || strings.HasPrefix(name, c.Prefix) && name[len(c.Prefix)] == '/' {
		c.matched = true
		return true
	}
	return false
}

// leadsTo reports whether files below the folder dir may be wanted.
func (c *Comparison) leadsTo(dir string) bool {
	return dir == "" || c.Prefix == "" || dir == c.Prefix ||
		strings.HasPrefix(dir, c.Prefix+"/") || strings.HasPrefix(c.Prefix, dir+"/")
}

// Current is the work tree's side of an entry; that of the index, where git
// was told not to look or a sparse checkout leaves the file out.
func (c *Comparison) Current(index *StagedFiles, e IndexEntry) (Side, error) {
	asStaged := Side{Mode: e.Mode, Hash: e.Hash}
	if e.AssumeValid {
		return asStaged, nil
	}
	if e.skipWorkTree {
		info, err := c.Repo.Work.Lstat(e.path)
		if err != nil || info == nil || !c.Repo.Config.Bool("core.sparsecheckout", false) {
			return asStaged, err
		}
	}
	now, err := c.Repo.Work.side(c.Ctx, e, index.Written)
	if now.Mode == odb.ModeSubmodule {
		switch c.Repo.ignoredInSubmodule(e.path) {
		case "all":
			return asStaged, err
		case "dirty":
			now.Dirty = false
		}
	}
	return now, err
}

// Base lists the files of a commit: HEAD, which may not exist yet, if none is
// named.
func (c *Comparison) Base(revision string) (map[string]Side, error) {
	files := map[string]Side{}
	if _, born := c.Repo.Head(); revision == "" && !born {
		return files, nil
	}
	if revision == "" {
		revision = "HEAD"
	}
	commit, err := c.Repo.Commit(revision)
	if err != nil {
		return nil, err
	}
	return files, c.walk(commit.TreeHash, "", files)
}

// walk adds the wanted files of a tree, which lies at dir.
func (c *Comparison) walk(tree plumbing.Hash, dir string, files map[string]Side) error {
	if err := c.Ctx.Err(); err != nil {
		return fault.From(err)
	}
	if !c.leadsTo(dir) {
		return nil
	}
	if err := c.spend(dir, eachFolder); err != nil {
		return err
	}
	entries, err := c.Repo.Objects.Tree(tree)
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
			files[name] = Side{Mode: odb.Canonical(uint32(e.Mode)), Hash: e.Hash}
		}
	}
	return nil
}

// Committed is the file as the last commit has it.
func (c *Comparison) Committed(name string) (Side, error) {
	h, born := c.Repo.Head()
	if !born {
		return Side{}, nil
	}
	commit, err := c.Repo.Objects.Commit(h)
	if err != nil {
		return Side{}, err
	}
	at := namedEntry{odb.ModeDir, commit.TreeHash}
	for step := range strings.SplitSeq(name, "/") {
		entries, err := c.entries(at.tree())
		if err != nil {
			return Side{}, err
		}
		at = entries[step]
	}
	return at.file(), nil
}

// Content tells what a commit holds of a file apart.
func (s Side) Content() string {
	if s.Absent() {
		return ""
	}
	return modeText(s.Mode) + " " + s.Hash.String()
}

func modeText(mode uint32) string {
	switch mode {
	case odb.ModeExecutable:
		return "100755"
	case odb.ModeSymlink:
		return "120000"
	case odb.ModeSubmodule:
		return "160000"
	}
	return "100644"
}

// DiffOptions says what Diff compares. With neither Staged nor Base it is the
// work tree with the index.
type DiffOptions struct {
	Dir      string // absolute: the folder or file to look at, which need not exist any more
	Staged   bool   // compare the index instead of the work tree
	Base     string // compare with this commit instead of the index or HEAD
	Context  int    // lines of context around a change
	MaxBytes int64  // the longest diff to return; 0 is no limit
}
