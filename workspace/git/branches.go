package git

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
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
	r, err := openAt(root, dir)
	if err != nil {
		return BranchList{}, err
	}
	defer r.close()
	list := BranchList{Head: r.current()}
	for _, ref := range r.list("refs/heads/") {
		if err := ctx.Err(); err != nil {
			return BranchList{}, fault.From(err)
		}
		b := Branch{Name: strings.TrimPrefix(ref.name, "refs/heads/"), Hash: ref.hash.String()}
		if upstream, ok := r.tracked(b.Name); ok {
			b.Upstream = r.shortest(upstream)
		}
		list.Branches = append(list.Branches, b)
	}
	return list, nil
}

// openAt opens the repository that dir lies in.
func openAt(root, dir string) (*repository, error) {
	place, err := locate(root, dir)
	if err != nil {
		return nil, err
	}
	return discover(place)
}

func (r *repository) current() Head {
	var head Head
	text, _ := r.loose("HEAD")
	if target, symbolic := strings.CutPrefix(text, "ref:"); symbolic {
		head.Branch = shortReference(strings.TrimSpace(target))
	}
	if h, born := r.head(); born {
		head.Hash = h.String()
	}
	return head
}

// ref is a reference by its full name.
type ref struct {
	name string
	hash plumbing.Hash
}

// list is the references below prefix, such as refs/heads/, by name.
func (r *repository) list(prefix string) []ref {
	found := map[string]plumbing.Hash{}
	for name, h := range r.packed() {
		if strings.HasPrefix(name, prefix) {
			found[name] = h
		}
	}
	_ = filepath.WalkDir(filepath.Join(r.commonDir, filepath.FromSlash(prefix)), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return nil
		}
		rel, err := filepath.Rel(r.commonDir, path)
		if err != nil {
			return nil
		}
		name := filepath.ToSlash(rel)
		if h, ok := r.reference(name); ok {
			found[name] = h
		} else {
			delete(found, name) // its own file counts, though it is broken
		}
		return nil
	})
	refs := make([]ref, 0, len(found))
	for name, h := range found {
		refs = append(refs, ref{name, h})
	}
	slices.SortFunc(refs, func(a, b ref) int { return cmp.Compare(a.name, b.name) })
	return refs
}

// tracked is the full name of the reference that follows what a local branch
// was set to follow. It need not exist.
func (r *repository) tracked(branch string) (string, bool) {
	remote := r.config.get("branch." + branch + ".remote")
	merge := r.config.get("branch." + branch + ".merge")
	if remote == "" || merge == "" {
		return "", false
	}
	if remote == "." {
		return merge, true
	}
	name := r.config.trackingOf(remote, merge)
	return name, name != ""
}

// mapped is what a refspec's sides, each with at most one *, make of name.
func mapped(name, from, to string) (string, bool) {
	before, after, glob := strings.Cut(from, "*")
	if !glob {
		return to, name == from
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return strings.Replace(to, "*", name[len(before):len(name)-len(after)], 1), true
}

// shortReference is a reference's name as people write it.
func shortReference(name string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			return short
		}
	}
	return name
}
