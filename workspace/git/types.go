package git

import (
	"context"

	"pillion/workspace/git/worktree"
)

// What the work tree's room answers with.
type (
	Cache         = worktree.Cache
	Change        = worktree.Change
	DiffOptions   = worktree.DiffOptions
	FileStatus    = worktree.FileStatus
	State         = worktree.State
	StatusOptions = worktree.StatusOptions
	StatusResult  = worktree.StatusResult
)

// The states of a file. The empty one is unchanged.
const (
	Modified    = worktree.Modified
	Added       = worktree.Added
	Deleted     = worktree.Deleted
	Renamed     = worktree.Renamed
	TypeChanged = worktree.TypeChanged
	Untracked   = worktree.Untracked
	Conflicted  = worktree.Conflicted
)

// NewCache makes a Cache: see there.
func NewCache(settle func(context.Context) error) *Cache { return worktree.NewCache(settle) }

// Status says what is staged, changed and untracked: see worktree.Status.
func Status(ctx context.Context, root string, o StatusOptions) (StatusResult, error) {
	return worktree.Status(ctx, root, o)
}
