package git

import (
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"
)

// history is a table of the commits that a walk comes across, by number. They are read from the
// commit-graph if they are in it.
type history struct {
	repo    *repository
	graph   *odb.Graph
	numbers map[plumbing.Hash]int // of those that are not in the commit-graph
	placed  []int32               // of those that are, by position, plus 1
	nodes   []node
	parents []int // of all of them, one after the other
}

type node struct {
	hash, tree plumbing.Hash
	date       int64
	position   int // in the commit-graph, -1 if it is in none
	first      int // its parents: from here on
	count      int
	known      bool // all but the hash
}

func (y *history) add(h plumbing.Hash, position int) int {
	y.nodes = append(y.nodes, node{hash: h, position: position})
	return len(y.nodes) - 1
}

// number is that of the commit h, known or not.
func (y *history) number(h plumbing.Hash) int {
	if n, ok := y.numbers[h]; ok {
		return n
	}
	if at, ok := y.graph.Find(h); ok {
		return y.numberAt(at, h)
	}
	n := y.add(h, -1)
	y.numbers[h] = n
	return n
}

// numberAt is that of the commit h, which is in the commit-graph.
func (y *history) numberAt(position int, h plumbing.Hash) int {
	if n := y.placed[position]; n > 0 {
		return int(n - 1)
	}
	n := y.add(h, position)
	y.placed[position] = int32(n + 1)
	return n
}

// load makes the node of a number known.
func (y *history) load(n int) error {
	if y.nodes[n].known {
		return nil
	}
	h := y.nodes[n].hash
	if position := y.nodes[n].position; position >= 0 && y.fromGraph(n, position) == nil {
		return nil
	}
	found, err := y.repo.Objects.Of(plumbing.CommitObject, h)
	if err != nil {
		return err
	}
	c, ok := odb.ParseCommit(found)
	if !ok {
		return fault.New(fault.GitError, "the commit %s is damaged; git fsck says more", h)
	}
	first := len(y.parents)
	for _, p := range y.repo.Objects.Parents(h, c.Parents) {
		y.parents = append(y.parents, y.number(p))
	}
	y.keep(n, c, first)
	return nil
}

func (y *history) keep(n int, c odb.Commit, first int) {
	node := &y.nodes[n]
	node.tree, node.date = c.Tree, c.Date
	node.first, node.count, node.known = first, len(y.parents)-first, true
}

func (y *history) fromGraph(n, position int) error {
	c, parents, err := y.graph.Commit(position)
	if err != nil {
		return err
	}
	first := len(y.parents)
	for _, at := range parents {
		if at < len(y.placed) && y.placed[at] > 0 {
			y.parents = append(y.parents, int(y.placed[at]-1))
			continue
		}
		h, err := y.graph.Hash(at)
		if err != nil {
			y.parents = y.parents[:first]
			return err
		}
		y.parents = append(y.parents, y.numberAt(at, h))
	}
	y.keep(n, c, first)
	return nil
}

func (y *history) parentsOf(n int) []int {
	node := &y.nodes[n]
	return y.parents[node.first : node.first+node.count]
}

// historyWalk goes back from a commit in git's order: the youngest of those that wait
// first, among equals the one that waits longest. Limited to a path it keeps to
// the parents that have the path as it is, and stops at commits that changed it,
// as git does without further options ("history simplification").
type historyWalk struct {
	*history
	ctx    context.Context
	queue  queue
	queued []bool // by number
	path   *pathHistory
}

func newHistoryWalk(ctx context.Context, r *repository) *historyWalk {
	y := &history{repo: r, graph: &odb.Graph{}, numbers: map[plumbing.Hash]int{}}
	if r.trustsGraph() {
		y.graph = odb.OpenGraph(r.CommonDir)
		y.placed = make([]int32, y.graph.Count())
	}
	return &historyWalk{history: y, ctx: ctx}
}

func (w *historyWalk) push(n int) error {
	for len(w.queued) < len(w.nodes) {
		w.queued = append(w.queued, make([]bool, len(w.nodes)-len(w.queued)+1024)...)
	}
	if w.queued[n] {
		return nil
	}
	w.queued[n] = true
	if err := w.load(n); err != nil {
		return err
	}
	w.queue.push(w.nodes[n].date, n)
	return nil
}

// next is the number of the next commit to be shown.
func (w *historyWalk) next() (n int, more bool, err error) {
	for len(w.queue.waiting) > 0 {
		if err := w.ctx.Err(); err != nil {
			return 0, false, fault.From(err)
		}
		n := w.queue.pop()
		parents, shown := w.parentsOf(n), true
		if w.path != nil {
			same, err := w.path.sameAs(n)
			if err != nil {
				return 0, false, err
			}
			if shown = same == none; !shown && len(parents) > 0 {
				parents = parents[same : same+1]
			}
		}
		for _, p := range parents {
			if err := w.push(p); err != nil {
				return 0, false, err
			}
		}
		if shown {
			return n, true, nil
		}
	}
	return 0, false, nil
}

// queue is a heap of commits that wait.
type queue struct {
	waiting []waiting
	turn    int
}

type waiting struct {
	date   int64
	turn   int
	number int
}

func (a waiting) before(b waiting) bool {
	return a.date > b.date || a.date == b.date && a.turn < b.turn
}

func (q *queue) push(date int64, n int) {
	q.turn++
	q.waiting = append(q.waiting, waiting{date, q.turn, n})
	for i := len(q.waiting) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.waiting[i].before(q.waiting[up]) {
			break
		}
		q.waiting[i], q.waiting[up] = q.waiting[up], q.waiting[i]
		i = up
	}
}

func (q *queue) pop() int {
	top := q.waiting[0].number
	last := len(q.waiting) - 1
	q.waiting[0] = q.waiting[last]
	q.waiting = q.waiting[:last]
	for i := 0; ; {
		least := i
		for _, down := range []int{2*i + 1, 2*i + 2} {
			if down < last && q.waiting[down].before(q.waiting[least]) {
				least = down
			}
		}
		if least == i {
			return top
		}
		q.waiting[i], q.waiting[least] = q.waiting[least], q.waiting[i]
		i = least
	}
}

// pathHistory says which commits changed a path.
type pathHistory struct {
	*history
	parts   []string
	entries []*odb.Entry                  // by commit: what it has at the path
	last    *odb.Entry                    // of entries
	below   []map[plumbing.Hash]odb.Entry // by depth and tree, since most commits leave most folders alone
}

const mostEntries = 1 << 14

func newPathHistory(y *history, path string) *pathHistory {
	p := &pathHistory{history: y, parts: strings.Split(path, "/")}
	p.below = make([]map[plumbing.Hash]odb.Entry, len(p.parts))
	return p
}

// none is no parent: the commit changed the path.
const none = -1

// sameAs is the parent, by its place among them, that has the path as the commit of a number has it, whose history alone
// counts. A first commit without the path is as the parent that it has not.
func (p *pathHistory) sameAs(n int) (int, error) {
	own, err := p.entry(n)
	if err != nil {
		return none, err
	}
	parents := p.parentsOf(n)
	if len(parents) == 0 && own.Mode == odb.ModeAbsent {
		return 0, nil
	}
	for i, parent := range parents {
		if err := p.load(parent); err != nil {
			return none, err
		}
		other, err := p.entry(parent)
		if err != nil {
			return none, err
		}
		if own == other {
			return i, nil
		}
	}
	return none, nil
}

// entry is what the commit of a number has at the path.
func (p *pathHistory) entry(n int) (odb.Entry, error) {
	if n < len(p.entries) && p.entries[n] != nil {
		return *p.entries[n], nil
	}
	e, err := p.under(p.nodes[n].tree, 0)
	if err != nil {
		return e, err
	}
	if len(p.entries) < len(p.nodes) {
		p.entries = append(p.entries, make([]*odb.Entry, len(p.nodes)-len(p.entries)+1024)...)
	}
	if p.last == nil || *p.last != e { // most commits have what the one before has
		p.last = &e
	}
	p.entries[n] = p.last
	return e, nil
}

// under follows the path's parts from depth on, below tree.
func (p *pathHistory) under(tree plumbing.Hash, depth int) (odb.Entry, error) {
	if e, ok := p.below[depth][tree]; ok {
		return e, nil
	}
	e, err := p.repo.Objects.LookUp(tree, p.parts[depth])
	if err != nil {
		return e, err
	}
	if depth < len(p.parts)-1 {
		if e.Mode != odb.ModeDir {
			e = odb.Entry{}
		} else if e, err = p.under(e.Hash, depth+1); err != nil {
			return e, err
		}
	}
	if e.Hash == odb.EmptyTree {
		e = odb.Entry{} // a folder without files is none
	}
	if depth > 0 {
		if p.below[depth] == nil || len(p.below[depth]) >= mostEntries {
			p.below[depth] = map[plumbing.Hash]odb.Entry{}
		}
		p.below[depth][tree] = e
	}
	return e, nil
}
