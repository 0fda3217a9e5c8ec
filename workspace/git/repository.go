package git

import (
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/worktree"
)

// repository is what the tools ask about.
type repository struct{ *worktree.Checkout }

// at opens the repository that dir, in the workspace's folder root, lies in.
func at(root, dir string) (gitdir.Location, *repository, error) {
	p, r, err := worktree.Open(root, dir)
	if err != nil {
		return p, nil, err
	}
	return p, &repository{r}, nil
}
