// Package git reads repositories: Diff, Status, Log, Show, Branches.
//
// It runs nothing, and so nothing that a repository can configure: no hooks,
// clean or process filters, textconv, external diffs, fsmonitor, pagers or
// aliases. A file with a clean filter is compared as it is on disk, save for Git LFS, whose
// filter is a hash that is computed here. Not read at all, with an
// error that says so: SHA-256 and reftable repositories, split indexes,
// repositories whose work tree is elsewhere (core.worktree). The environment's
// GIT_DIR and GIT_INDEX_FILE are not looked at.
//
// For the tools that write it says what a write would do (NewDraft, Switch,
// NewPush), which the user's own git then does. Where there is none,
// builtin.go makes commits, and makes and deletes branches, by go-git, which stores objects, encodes commits, trees and the
// index and moves references; what would change
// files or speak to a remote needs git (NeedsGit).
//
// Reading is our own, and objects are read in odb, because go-git reads wrongly or takes more than twice the
// time (v5.19.3, on 10,000 files and 5,500 commits, its time to ours):
//
//	log of ten commits         12.6 ms to 0.36 ms; of a path 167 s to 20 ms, and of 10 commits it finds 2
//	show                       167 ms to 0.2 ms
//	status                     320 ms to 20 ms; the index alone 10.4 ms to 0.7 ms
//	trees of two commits       195 ms to 38 ms
//	commits ahead and behind   17 ms to 0.9 ms, of 100
//	revisions                  HEAD~300 22 ms to 2 ms; it takes main@{upstream} for main
//	1,000 of 10,000 packed references   1.1 s to 4.6 ms: it reads packed-refs for each. All of them fail for one empty file
//	configuration              as fast, but it fails at a byte order mark, "[section] key = value", "[a.b]" and what is no
//	                           UTF-8, and joins continued lines wrongly
//	ignore rules               11.8 ms to 1.8 ms; it does not know [!a], [[:alpha:]] or a**b, and lets !d/x bring back what d excludes
//	attributes                 as fast, but it does not know [!a], [[:alpha:]], **a or the macro binary, takes "!text" for
//	                           nothing, and panics at "a/ text"
package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
)

// DiffOptions says what Diff compares. With neither Staged nor Base it is the
// work tree with the index.
type DiffOptions struct {
	Dir      string // absolute: the folder or file to look at, which need not exist any more
	Staged   bool   // compare the index instead of the work tree
	Base     string // compare with this commit instead of the index or HEAD
	Context  int    // lines of context around a change
	MaxBytes int64  // the longest diff to return; 0 is no limit
}

// FileChange is what happened to one file.
type FileChange struct {
	Path      string `json:"path"` // relative to the top of the repository
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Binary    bool   `json:"binary,omitempty"`
	Status    string `json:"status"` // git's letter: A, D, M, R, T (type changed) or U (unmerged)
	OldPath   string `json:"-"`      // what a renamed file was called, else ""
}

// DiffResult is a diff in git's format, whose paths are relative to Top, and
// its numbers.
type DiffResult struct {
	Diff         string
	FilesChanged int
	Additions    int
	Deletions    int
	Files        []FileChange
	Top          string // absolute: the folder of the repository's work tree
}

// Diff compares two states of the repository that o.Dir lies in. The
// repository may begin below root, the workspace's absolute folder, or above
// it; only files inside o.Dir are read and shown.
//
// Failures are *fault.Error: GIT_NOT_INITIALIZED where there is no repository,
// GIT_ERROR for one that cannot be read or a base that names no commit,
// FILE_NOT_FOUND for a path that neither side knows, FILE_TOO_LARGE over
// MaxBytes, with the numbers of each file in its details.
func Diff(ctx context.Context, root string, o DiffOptions) (DiffResult, error) {
	return compareAt(ctx, root, o, nil)
}

func compareAt(ctx context.Context, root string, o DiffOptions, c *Cache) (DiffResult, error) {
	place, err := locate(root, o.Dir)
	if err != nil {
		return DiffResult{}, err
	}
	repo, err := discover(place)
	if err != nil {
		return DiffResult{}, err
	}
	defer repo.close()

	s := &status{comparison: comparison{ctx: ctx, repo: repo, prefix: repo.prefix(place.dir)}, whole: place.dir == place.root || place.dir == repo.top}
	if err := c.recall(s, place); err != nil {
		return DiffResult{}, err
	}
	s.whole = false
	changes, err := s.compare(o)
	if err != nil {
		return DiffResult{}, err
	}
	if len(changes) == 0 && !s.matched && !place.exists {
		return DiffResult{}, fault.New(fault.FileNotFound,
			"%s is neither in the work tree nor in what it would be compared with", fault.Quote(s.prefix))
	}
	return (&printer{ctx: ctx, repo: repo, context: o.Context, limit: o.MaxBytes}).print(changes)
}

// place is a folder or file of the workspace, with the symbolic links on the
// way to it resolved.
type place struct {
	root, dir string
	exists    bool
}

// locate resolves dir inside root. dir itself may be a link, since git tracks
// links, or be gone.
func locate(root, dir string) (place, error) {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return place{}, fault.From(err)
	}
	p := place{root: resolved, dir: resolved, exists: true}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return place{}, fault.New(fault.PathOutsideWorkspace, "%s is outside the workspace; give a path inside it", fault.Quote(dir))
	}
	if rel == "." {
		return p, nil
	}
	p.dir = filepath.Join(resolved, rel)
	if plainFolders(resolved, filepath.Dir(rel)) {
		p.exists = gitfile.Exists(p.dir)
		return p, nil
	}
	p.dir, p.exists = resolveParent(p.dir)
	if !inside(resolved, p.dir) {
		return place{}, fault.New(fault.PathOutsideWorkspace, "%s leads out of the workspace; give a path inside it", fault.Quote(rel))
	}
	return p, nil
}

// plainFolders reports whether no link is on the way from dir to the folder rel in it.
func plainFolders(dir, rel string) bool {
	if rel == "." {
		return true
	}
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		dir = filepath.Join(dir, name)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// resolveParent resolves the links in the path of name, but not name itself.
func resolveParent(name string) (resolved string, exists bool) {
	parent, base := filepath.Dir(name), filepath.Base(name)
	if at, err := filepath.EvalSymlinks(parent); err == nil {
		at = filepath.Join(at, base)
		return at, gitfile.Exists(at)
	}
	if parent == name {
		return name, false
	}
	parent, _ = resolveParent(parent)
	return filepath.Join(parent, base), false
}

// inside reports whether name is dir or lies in it; both are clean.
func inside(dir, name string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
