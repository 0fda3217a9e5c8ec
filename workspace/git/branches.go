package git

import (
	"context"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
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
// workspace's folder root, lies in. References that name no object are passed
// over, as git does.
func Branches(ctx context.Context, root, dir string) (BranchList, error) {
	_, r, err := at(root, dir)
	if err != nil {
		return BranchList{}, err
	}
	defer r.Close()
	list := BranchList{Head: r.current()}
	for _, ref := range r.List("refs/heads/") {
		if err := ctx.Err(); err != nil {
			return BranchList{}, fault.From(err)
		}
		b := Branch{Name: strings.TrimPrefix(ref.Name, "refs/heads/"), Hash: ref.Hash.String()}
		if upstream, ok := r.Tracked(b.Name); ok {
			b.Upstream = r.Shortest(upstream)
		}
		list.Branches = append(list.Branches, b)
	}
	return list, nil
}

func (r *repository) current() Head {
	var head Head
	text, _ := r.Loose("HEAD")
	target, _ := gitdir.SymbolicTarget(text)
	head.Branch = gitdir.ShortReference(target)
	if h, born := r.Head(); born {
		head.Hash = h.String()
	}
	return head
}
