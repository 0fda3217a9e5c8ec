package git

import (
	"context"
	"path/filepath"

	"pillion/workspace/git/odb"
)

// submodule is the work tree's side of a submodule: the commit that is checked
// out in it, and whether it has changes of its own. One that is not checked
// out is as the index has it.
func (w *workTree) submodule(ctx context.Context, e indexEntry) (side, error) {
	asStaged := side{mode: odb.ModeSubmodule, hash: e.hash}
	top := filepath.Join(w.top, filepath.FromSlash(e.path))
	gitDir, err := gitDirOf(top)
	if err != nil || gitDir == "" {
		return asStaged, nil
	}
	sub, err := open(top, gitDir, top)
	if err != nil {
		return asStaged, err
	}
	defer sub.close()
	head, born := sub.head()
	if !born {
		return asStaged, nil
	}
	dirty, err := sub.dirty(ctx)
	return side{mode: odb.ModeSubmodule, hash: head, dirty: dirty}, err
}

// dirty reports whether tracked files differ from HEAD, in the index or the
// work tree. Untracked ones do not count.
func (r *repository) dirty(ctx context.Context) (bool, error) {
	for _, o := range []DiffOptions{{}, {Staged: true}} {
		changes, err := (&comparison{ctx: ctx, repo: r}).run(o)
		if err != nil || len(changes) > 0 {
			return len(changes) > 0, err
		}
	}
	return false, nil
}
