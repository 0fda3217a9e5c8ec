package git

import (
	"context"
	"encoding/json"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"
)

// LogOptions says which commits Log lists.
type LogOptions struct {
	Dir      string // absolute: a file or folder of the repository, which need not exist any more
	Limited  bool   // only the commits that changed Dir, unless it is the top of the repository
	Ref      string // where to begin; "" is HEAD
	Limit    int    // how many commits at most
	MaxBytes int64  // of all commits as JSON: names, parents and escapes count as well; 0 is no limit
}

// Log lists commits, as git log does.
//
// Failures are *fault.Error: GIT_NOT_INITIALIZED where there is no repository,
// GIT_ERROR for one that cannot be read or a reference that names no commit,
// FILE_NOT_FOUND for a path that is nowhere and has no commits, FILE_TOO_LARGE
// over MaxBytes.
func Log(ctx context.Context, root string, o LogOptions) ([]LogCommit, error) {
	place, repo, err := at(root, o.Dir)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	start, err := repo.start(o.Ref)
	if err != nil {
		return nil, err
	}
	w := newHistoryWalk(ctx, repo)
	defer w.graph.Close()
	path := ""
	if o.Limited {
		path = repo.Prefix(place.Dir)
	}
	if path != "" {
		w.path = newPathHistory(w.history, path)
	}
	found, err := w.list(start, o)
	if err == nil && len(found) == 0 && path != "" && !place.Exists {
		return nil, fault.New(fault.FileNotFound, "%s is not there, and no commit of this history ever changed it", fault.Quote(path))
	}
	return found, err
}

// list is the commits that a walk shows.
func (w *historyWalk) list(start plumbing.Hash, o LogOptions) ([]LogCommit, error) {
	if err := w.push(w.number(start)); err != nil {
		return nil, err
	}
	found := []LogCommit{}
	size := int64(0)
	for len(found) < o.Limit {
		n, more, err := w.next()
		if err != nil || !more {
			return found, err
		}
		c, err := w.repo.describe(w.nodes[n].hash)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		if size += int64(len(text)); o.MaxBytes > 0 && size > o.MaxBytes {
			return nil, fault.New(fault.FileTooLarge, "what there is to say of the first %d commits has more than %d bytes; ask for fewer", len(found)+1, o.MaxBytes)
		}
		found = append(found, c)
	}
	return found, nil
}

// describe reads a commit for people.
func (r *repository) describe(h plumbing.Hash) (LogCommit, error) {
	data, err := r.Objects.Of(plumbing.CommitObject, h)
	if err != nil {
		return LogCommit{}, err
	}
	head, ok := odb.ParseCommit(data)
	if !ok {
		return LogCommit{}, fault.New(fault.GitError, "the commit %s is damaged; git fsck says more", h)
	}
	c := describe(data)
	c.Hash, c.Short, c.Parents = h.String(), r.Short(h), []string{}
	for _, p := range r.Objects.Parents(h, head.Parents) {
		c.Parents = append(c.Parents, p.String())
	}
	return c, nil
}

// start is the commit from which history is told.
func (r *repository) start(ref string) (plumbing.Hash, error) {
	if ref == "" {
		if _, born := r.Head(); !born {
			return plumbing.ZeroHash, fault.New(fault.GitError, "the repository has no commit yet, at least not on what is checked out").
				WithHint("git.branch lists the branches; give one as ref")
		}
		ref = "HEAD"
	}
	c, err := r.Commit(ref)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.Hash, nil
}

// trustsGraph reports whether the commit-graph tells what the commits tell:
// not where other parents count. Git does not look at it there either.
func (r *repository) trustsGraph() bool {
	o := r.Objects
	return len(o.Replaced) == 0 && len(o.Grafts) == 0 && len(o.Shallow) == 0 && r.Config.Bool("core.commitgraph", true)
}
