// Package worktree says how a repository's files, its index and its commits differ: Open, Status, Comparison, ChangesAt. Stored
// says which files it holds as they are. A Cache keeps what Status found out for as long as somebody tells of changes. Files are
// read below one folder and through no link, and converted as git add would, without running anything. It prints nothing, and
// knows no history.
//
// go-git does not do it, v5.19.3 measured on 10,000 files and 5,500 commits, its time to ours:
//
//	status                320 ms to 20 ms; the index alone 10.4 ms to 2.7 ms
//	trees of two commits  195 ms to 44 ms; renames are found without the score that git prints
//	ignore rules          11.8 ms to 1.8 ms, ten rules on 10,000 paths; it does not know [!a], [[:alpha:]] or a**b, and lets !d/x
//	                      bring back what d excludes
//	attributes            as fast, but it does not know [!a], [[:alpha:]], **a or the macro binary, takes "!text" for nothing, and
//	                      panics at "a/ text"
package worktree

import "pillion/workspace/git/gitdir"

// Checkout is a repository that is open with its work tree.
type Checkout struct {
	*gitdir.Repository
	Work *workTree
}

// Open opens the repository that dir, in the workspace's folder root, lies in.
func Open(root, dir string) (gitdir.Location, *Checkout, error) {
	p, err := gitdir.Locate(root, dir)
	if err != nil {
		return p, nil, err
	}
	r, err := openFound(p)
	return p, r, err
}

// openFound opens the repository that p lies in.
func openFound(p gitdir.Location) (*Checkout, error) {
	top, gitDir, base, err := gitdir.Discover(p)
	if err != nil {
		return nil, err
	}
	return openCheckout(top, gitDir, base)
}

// openCheckout opens the repository whose work tree is top. Of its files only those
// below base are read.
func openCheckout(top, gitDir, base string) (*Checkout, error) {
	opened, err := gitdir.Open(top, gitDir)
	if err != nil {
		return nil, err
	}
	r := &Checkout{Repository: opened, Work: newWorkTree(top, base)}
	r.Work.Conversion = conversion{config: r.Config, Attributes: newAttributes(r), objects: r.Objects}
	r.Work.fileMode = r.Config.Bool("core.filemode", true)
	r.Work.symlinks = r.Config.Bool("core.symlinks", true)
	return r, nil
}

// Close closes it, and its objects.
func (r *Checkout) Close() {
	r.Work.close()
	r.Objects.Close()
}
