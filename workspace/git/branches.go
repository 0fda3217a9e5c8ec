package git

import (
	"context"
	"strings"
)

// Head is what is checked out.
type Head struct {
	Branch string // "" when detached
	Hash   string // "" before the first commit
}

// Branch is a local branch.
type Branch struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"`
	Upstream string `json:"upstream,omitempty"` // such as origin/main, whether or not it exists
}

// BranchList is what git branch lists, by name.
type BranchList struct {
	Head     Head
	Branches []Branch
}

// Branches lists the local branches of the repository that dir, inside the
// workspace's folder root, lies in.
func (g *Reader) Branches(ctx context.Context, root, dir string) (BranchList, error) {
	r, err := g.open(ctx, root, dir)
	if err != nil {
		return BranchList{}, err
	}
	if r == nil {
		return builtinBranches(root, dir)
	}
	list := BranchList{}
	if list.Head.Branch, err = r.branch(); err != nil {
		return list, err
	}
	if list.Head.Hash, err = r.head(); err != nil {
		return list, err
	}
	out, err := r.output("for-each-ref", "--format=%(refname:lstrip=2)%00%(objectname)%00%(upstream:short)", "refs/heads/")
	for line := range strings.Lines(out) {
		if part := strings.Split(strings.TrimSuffix(line, "\n"), "\x00"); len(part) == 3 {
			list.Branches = append(list.Branches, Branch{part[0], part[1], part[2]})
		}
	}
	return list, err
}
