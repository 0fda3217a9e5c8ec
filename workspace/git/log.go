package git

import (
	"context"
	"maps"
	"slices"
	"sync"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// LogOptions says which commits Log lists.
type LogOptions struct {
	Dir      string // absolute: a file or folder of the repository, which need not exist any more
	Limited  bool   // only the commits that changed Dir, unless it is the top of the repository
	Ref      string // where to begin; "" is HEAD
	Limit    int    // how many commits at most
	MaxBytes int64  // the longest text of all messages together; 0 is no limit
}

// History reads the history of repositories, and keeps what it learned of the
// last few: the names in packs, the commits, which of them changed the paths
// that were asked for, and what it told of them. No file stays open. What is kept holds for ever, since
// objects never change; that other objects count, as in a shallow clone that was
// deepened, is noticed. The zero History is ready, and nil keeps nothing.
type History struct {
	// mu guards kept.
	mu   sync.Mutex
	kept []*kept // the one used last comes first
}

// kept is what is known of one repository. Whoever uses it has taken it out.
type kept struct {
	commonDir string
	indexes   odb.PackIndexes
	commits   *commitTable
	graph     string // which commit-graph the commits' positions are in
	replaced  map[plumbing.Hash]plumbing.Hash
	shallow   map[plumbing.Hash]bool
	grafts    map[plumbing.Hash][]plumbing.Hash
}

const (
	mostKept    = 4
	mostCommits = 250_000 // kept of one repository, about 30 MB
)

// Log lists commits, as git log does.
//
// Failures are *fault.Error: GIT_NOT_INITIALIZED where there is no repository,
// GIT_ERROR for one that cannot be read or a reference that names no commit,
// FILE_NOT_FOUND for a path that is nowhere and has no commits, FILE_TOO_LARGE
// over MaxBytes.
func (h *History) Log(ctx context.Context, root string, o LogOptions) ([]LogCommit, error) {
	v, err := h.open(root, o.Dir)
	if err != nil {
		return nil, err
	}
	defer v.close()
	place, repo, known := v.place, v.repo, v.known
	start, err := known.start(repo, o.Ref)
	if err != nil {
		return nil, err
	}
	w := &historyWalk{history: &history{commitTable: known.commits, repo: repo, graph: &odb.Graph{}}, ctx: ctx}
	defer func() { w.graph.Close() }()
	path := ""
	if o.Limited {
		path = repo.prefix(place.dir)
	}
	if path != "" {
		w.path = w.at(path)
	}
	found, err := w.list(known, start, o)
	if err == nil && len(found) == 0 && path != "" && !place.exists {
		return nil, fault.New(fault.FileNotFound, "%s is not there, and no commit of this history ever changed it", fault.Quote(path))
	}
	return found, err
}

// visit is a repository that is open for one call.
type visit struct {
	*History
	place place
	repo  *repository
	known *kept
}

// open opens the repository that dir lies in, with what is known of it.
func (h *History) open(root, dir string) (*visit, error) {
	place, repo, err := at(root, dir)
	if err != nil {
		return nil, err
	}
	return &visit{h, place, repo, h.take(repo)}, nil
}

func (v *visit) close() {
	v.repo.close() // first: what is kept is another's at once
	v.keep(v.known, v.repo)
}

// list is the commits that a walk shows.
func (w *historyWalk) list(known *kept, start plumbing.Hash, o LogOptions) ([]LogCommit, error) {
	shown, ok := w.shownBefore(start, o.Limit)
	if !ok {
		var err error
		if shown, err = w.shown(known, start, o.Limit); err != nil {
			return nil, err
		}
	}
	found := make([]LogCommit, 0, len(shown))
	size := int64(0)
	packs := w.repo.objects.PacksSignature()
	for _, n := range shown {
		c, err := w.tell(w.nodes[n].hash, packs)
		if err != nil {
			return nil, err
		}
		size += int64(len(c.Subject) + len(c.Body))
		if o.MaxBytes > 0 && size > o.MaxBytes {
			return nil, fault.New(fault.FileTooLarge, "the messages of the first %d commits have more than %d bytes; ask for fewer", len(found)+1, o.MaxBytes)
		}
		found = append(found, c)
	}
	return found, nil
}

// shownBefore are what shown gives, where the last walk of the path has shown them.
func (w *historyWalk) shownBefore(start plumbing.Hash, limit int) ([]int, bool) {
	from, ok := w.numbers[start]
	if !ok || w.path == nil || w.path.known.from != from || !w.path.known.ended && len(w.path.known.shown) < limit {
		return nil, false
	}
	return w.path.known.shown[:min(limit, len(w.path.known.shown))], true
}

// shown are the numbers of the first commits that a walk shows. Those of a path are kept.
func (w *historyWalk) shown(known *kept, start plumbing.Hash, limit int) ([]int, error) {
	if w.repo.trustsGraph() {
		w.graph = odb.OpenGraph(w.repo.commonDir)
	}
	known.on(w.graph)
	from := w.number(start)
	w.numbers[start] = from
	if err := w.push(from); err != nil {
		return nil, err
	}
	var shown []int
	for len(shown) < limit {
		n, more, err := w.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		shown = append(shown, n)
	}
	if w.path != nil {
		w.path.known.from, w.path.known.shown, w.path.known.ended = from, shown, len(shown) < limit
	}
	return shown, nil
}

// told is a commit that was told of.
type told struct {
	commit LogCommit
	shared int    // hex digits of its hash, with other objects in packs
	packs  string // in which packs
}

// tell describes a commit, and keeps that, but for what other objects have a say in.
func (w *historyWalk) tell(h plumbing.Hash, packs string) (LogCommit, error) {
	const mostTold, longest = 1000, 4 << 10
	known, ok := w.told[h]
	if ok && known.packs == packs {
		c := known.commit
		c.Short = w.repo.shortWith(h, known.shared)
		return c, nil
	}
	shared := w.repo.objects.SharedInPacks(h)
	c, err := w.repo.describeWith(h, shared)
	if err == nil && len(c.Body) <= longest {
		if len(w.told) >= mostTold {
			clear(w.told)
		}
		w.told[h] = told{c, shared, packs}
	}
	return c, err
}

// describe reads a commit for people.
func (r *repository) describe(h plumbing.Hash) (LogCommit, error) {
	return r.describeWith(h, r.objects.SharedInPacks(h))
}

func (r *repository) describeWith(h plumbing.Hash, shared int) (LogCommit, error) {
	data, err := r.objects.Of(plumbing.CommitObject, h)
	if err != nil {
		return LogCommit{}, err
	}
	head, ok := odb.ParseCommit(data)
	if !ok {
		return LogCommit{}, fault.New(fault.GitError, "the commit %s is damaged; git fsck says more", h)
	}
	c := describe(data)
	c.Hash, c.Short, c.Parents = h.String(), r.shortWith(h, shared), []string{}
	for _, p := range r.objects.Parents(h, head.Parents) {
		c.Parents = append(c.Parents, p.String())
	}
	return c, nil
}

// start is the repository's start, which need not be read if it is known.
func (k *kept) start(r *repository, ref string) (plumbing.Hash, error) {
	if ref == "" {
		if h, born := r.head(); born {
			if n, ok := k.commits.numbers[h]; ok && k.commits.nodes[n].known {
				return h, nil
			}
			c, err := r.objects.Commit(h)
			if err != nil {
				return plumbing.ZeroHash, err
			}
			return c.Hash, nil
		}
	}
	return r.start(ref)
}

// start is the commit from which history is told.
func (r *repository) start(ref string) (plumbing.Hash, error) {
	if ref == "" {
		if _, born := r.head(); !born {
			return plumbing.ZeroHash, fault.New(fault.GitError, "the repository has no commit yet, at least not on what is checked out").
				WithHint("git.branch lists the branches; give one as ref")
		}
		ref = "HEAD"
	}
	c, err := r.commit(ref)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.Hash, nil
}

// trustsGraph reports whether the commit-graph tells what the commits tell:
// not where other parents count. Git does not look at it there either.
func (r *repository) trustsGraph() bool {
	o := r.objects
	return len(o.Replaced) == 0 && len(o.Grafts) == 0 && len(o.Shallow) == 0 && r.config.bool("core.commitgraph", true)
}

// take gets what is known of a repository, for this call alone, and lends it
// to the repository's objects.
func (h *History) take(r *repository) *kept {
	known := h.known(r.commonDir)
	o := r.objects
	if known == nil || !maps.Equal(known.replaced, o.Replaced) || !maps.Equal(known.shallow, o.Shallow) || !maps.EqualFunc(known.grafts, o.Grafts, slices.Equal) {
		known = &kept{commonDir: r.commonDir, commits: newCommitTable(), replaced: o.Replaced, shallow: o.Shallow, grafts: o.Grafts}
	}
	o.Lend(known.indexes)
	return known
}

// on has the commits' positions be those in g.
func (k *kept) on(g *odb.Graph) {
	if k.graph != g.Identity || len(k.commits.placed) != g.Count() {
		k.graph = g.Identity
		k.commits.on(g)
	}
}

func (h *History) known(commonDir string) *kept {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.kept, func(k *kept) bool { return k.commonDir == commonDir })
	if i < 0 {
		return nil
	}
	known := h.kept[i]
	h.kept = slices.Delete(h.kept, i, i+1)
	return known
}

// keep gives back what take took, with what was learned meanwhile.
func (h *History) keep(known *kept, r *repository) {
	if h == nil {
		return
	}
	known.indexes = r.objects.Indexes()
	if len(known.commits.nodes) > mostCommits {
		known.commits = newCommitTable()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = slices.DeleteFunc(h.kept, func(k *kept) bool { return k.commonDir == known.commonDir })
	h.kept = slices.Insert(h.kept, 0, known)
	h.kept = h.kept[:min(len(h.kept), mostKept)]
}
