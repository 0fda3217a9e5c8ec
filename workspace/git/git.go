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
// Four rooms stand below: gitfile reads files that a stranger may have laid out, odb objects, gitdir settings, references and
// revisions, worktree the index and the files, and how they differ. Each says what go-git would take for the same; here
// (v5.19.3, on 10,000 files and 5,500 commits, its time to ours):
//
//	log of ten commits           12.6 ms to 0.4 ms
//	log of a path                167 s to 60 ms: it compares whole trees
//	show                         167 ms to 0.2 ms
package git

import (
	"context"

	"pillion/workspace/git/worktree"
)

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
func Diff(ctx context.Context, root string, o worktree.DiffOptions) (DiffResult, error) {
	return DiffCached(ctx, nil, root, o)
}

// DiffCached is Diff, with what c keeps: of the work tree only that is looked at
// which is known to differ. Who asks for a second time has a first look kept.
func DiffCached(ctx context.Context, c *worktree.Cache, root string, o worktree.DiffOptions) (DiffResult, error) {
	repo, changes, err := worktree.ChangesAt(ctx, root, o, c)
	if err != nil {
		return DiffResult{}, err
	}
	defer repo.Close()
	return (&printer{ctx: ctx, repo: repo, context: o.Context, limit: o.MaxBytes}).print(changes)
}
