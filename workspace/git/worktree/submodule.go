package worktree

import (
	"context"
	"path/filepath"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/odb"
)

// submodule is the work tree's side of a submodule: the commit that is checked
// out in it, and whether it has changes of its own. One that is not checked
// out is as the index has it.
func (w *workTree) submodule(ctx context.Context, e IndexEntry) (Side, error) {
	asStaged := Side{Mode: odb.ModeSubmodule, Hash: e.Hash}
	top := filepath.Join(w.top, filepath.FromSlash(e.path))
	gitDir, err := gitdir.GitDirOf(top)
	if err != nil || gitDir == "" {
		return asStaged, nil
	}
	sub, err := openCheckout(top, gitDir, top)
	if err != nil {
		return asStaged, err
	}
	defer sub.Close()
	head, born := sub.Head()
	if !born {
		return asStaged, nil
	}
	dirty, err := sub.dirty(ctx)
	return Side{Mode: odb.ModeSubmodule, Hash: head, Dirty: dirty}, err
}

// dirty reports whether tracked files differ from HEAD, in the index or the
// work tree. Untracked ones do not count.
func (r *Checkout) dirty(ctx context.Context) (bool, error) {
	for _, o := range []DiffOptions{{}, {Staged: true}} {
		changes, err := (&Comparison{Ctx: ctx, Repo: r}).run(o)
		if err != nil || len(changes) > 0 {
			return len(changes) > 0, err
		}
	}
	return false, nil
}
