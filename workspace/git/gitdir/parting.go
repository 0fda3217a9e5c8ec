package gitdir

import (
	"container/heap"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"
)

// Shortest is a reference's name as git shows it: without what is not needed to tell it
// from others.
func (r *Repository) Shortest(full string) string {
	prefixes := []string{"refs/heads/", "refs/remotes/", "refs/tags/", "refs/"}
	for _, prefix := range prefixes {
		short, ok := strings.CutPrefix(full, prefix)
		if !ok {
			continue
		}
		if remote, isHead := strings.CutSuffix(short, "/HEAD"); prefix == "refs/remotes/" && isHead && r.means(remote, full) {
			return remote
		}
		if r.means(short, full) {
			return short
		}
	}
	return full
}

// means reports whether a short name stands for no other reference.
func (r *Repository) means(short, full string) bool {
	for _, other := range []string{short, "refs/" + short, "refs/tags/" + short, "refs/heads/" + short, "refs/remotes/" + short, "refs/remotes/" + short + "/HEAD"} {
		if other == full {
			continue
		}
		if _, exists := r.Reference(other); exists {
			return false
		}
	}
	return true
}

// Beside are the commits that tip has and base has not, in no order.
func (r *Repository) Beside(ctx context.Context, tip, base plumbing.Hash) ([]*object.Commit, error) {
	p, err := r.parting(ctx, tip, base)
	return p.only(byUs), err
}

// Ahead counts them.
func (r *Repository) Ahead(ctx context.Context, tip, base plumbing.Hash) (int, error) {
	commits, err := r.Beside(ctx, tip, base)
	return len(commits), err
}

// Apart counts the commits that only one of the two reaches.
func (r *Repository) Apart(ctx context.Context, ours, theirs plumbing.Hash) (ahead, behind int, err error) {
	p, err := r.parting(ctx, ours, theirs)
	return len(p.only(byUs)), len(p.only(byThem)), err
}

// parting finds which commits only one of the two reaches, or one and others together.
func (r *Repository) parting(ctx context.Context, ours plumbing.Hash, theirs ...plumbing.Hash) (*parting, error) {
	p := &parting{objects: r.Objects, reached: map[plumbing.Hash]*passed{}}
	if slices.Contains(theirs, ours) {
		return p, nil
	}
	if err := p.reach(ours, byUs); err != nil {
		return p, err
	}
	for _, h := range theirs {
		if err := p.reach(h, byThem); err != nil {
			return p, err
		}
	}
	for more := enoughMore; more > 0 && len(p.queue) > 0; {
		if ctx.Err() != nil {
			return p, fault.From(ctx.Err())
		}
		if err := p.next(); err != nil {
			return p, err
		}
		if more--; p.open > 0 || len(p.queue) > 0 && !p.queue[0].commit.Committer.When.Before(p.last) {
			more = enoughMore
		}
	}
	p.settle()
	return p, nil
}

// only are the commits that nobody but the one reaches.
func (p *parting) only(by int) []*object.Commit {
	var out []*object.Commit
	for _, c := range p.reached {
		if c.by == by {
			out = append(out, c.commit)
		}
	}
	return out
}

// enoughMore is how many commits are looked at when all that is left is reached by both,
// and older: where dates are wrong they may lead to what was taken for one's own. Git
// looks at as many.
const enoughMore = 5

// parting walks back from two commits, the youngest first, until all that is left to
// visit is reached by both.
type parting struct {
	objects *odb.Objects
	reached map[plumbing.Hash]*passed
	queue   youngest
	open    int       // in the queue, and reached by one alone
	last    time.Time // the date of the last such commit that was visited
}

type passed struct {
	commit *object.Commit
	by     int
	queued bool
}

func (p *parting) reach(h plumbing.Hash, by int) error {
	c := p.reached[h]
	if c == nil {
		commit, err := p.objects.Commit(h)
		if err != nil {
			return err
		}
		c = &passed{commit: commit}
		p.reached[h] = c
	}
	if c.by|by == c.by {
		return nil
	}
	if c.queued && c.by != byUs|byThem {
		p.open--
	}
	c.by |= by
	if c.by != byUs|byThem {
		p.open++
	}
	if !c.queued {
		c.queued = true
		heap.Push(&p.queue, c)
	}
	return nil
}

func (p *parting) next() error {
	c, _ := heap.Pop(&p.queue).(*passed)
	c.queued = false
	if c.by != byUs|byThem {
		p.open--
		p.last = c.commit.Committer.When
	}
	for _, parent := range c.commit.ParentHashes {
		if err := p.reach(parent, c.by); err != nil {
			return err
		}
	}
	return nil
}

// settle has commits that both reach hand that on to those that have been visited
// before, which happens where dates are equal or wrong.
func (p *parting) settle() {
	for len(p.queue) > 0 {
		c := p.queue[len(p.queue)-1]
		p.queue = p.queue[:len(p.queue)-1]
		for _, h := range c.commit.ParentHashes {
			if parent := p.reached[h]; parent != nil && parent.by != byUs|byThem {
				parent.by = byUs | byThem
				p.queue = append(p.queue, parent)
			}
		}
	}
}

// youngest is a heap of commits.
type youngest []*passed

func (y youngest) Len() int { return len(y) }

func (y youngest) Less(i, j int) bool {
	return y[i].commit.Committer.When.After(y[j].commit.Committer.When)
}

func (y youngest) Swap(i, j int) { y[i], y[j] = y[j], y[i] }

func (y *youngest) Push(x any) { *y = append(*y, x.(*passed)) }

func (y *youngest) Pop() any {
	old := *y
	last := old[len(old)-1]
	*y = old[:len(old)-1]
	return last
}

const (
	byUs = 1 << iota
	byThem
)
