package git

import (
	"context"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// commitTable is a table of the commits that walks have come across, by number.
type commitTable struct {
	numbers map[plumbing.Hash]int // of those that are not in the commit-graph
	placed  []int32               // of those that are, by position, plus 1
	nodes   []node
	parents []int            // of all of them, one after the other
	paths   map[string]*seen // what is known of the history of paths
	told    map[plumbing.Hash]told
	turn    int // counts the walks limited to a path
}

type node struct {
	hash, tree plumbing.Hash
	date       int64
	position   int // in the commit-graph, -1 if it is in none or was not looked for
	first      int // its parents: from here on
	count      int
	known      bool // all but the hash
}

// seen is what is known of one path, by the number of the commit.
type seen struct {
	verdicts []verdict
	used     int   // the turn in which it was used last
	from     int   // where the last walk began
	shown    []int // the commits that it showed
	ended    bool  // there are no more
}

// verdict says what a commit did to a path.
type verdict int16

const (
	notLooked verdict = iota
	changes           // it is another than in each parent
	sameAs            // plus n: it is as in the parent n, whose history alone counts
)

func newCommitTable() *commitTable {
	return &commitTable{numbers: map[plumbing.Hash]int{}, paths: map[string]*seen{}, told: map[plumbing.Hash]told{}}
}

func (t *commitTable) add(h plumbing.Hash, position int) int {
	t.nodes = append(t.nodes, node{hash: h, position: position})
	return len(t.nodes) - 1
}

// on has the commits' positions be those in g.
func (t *commitTable) on(g *odb.Graph) {
	t.placed = make([]int32, g.Count())
	for n := range t.nodes {
		t.nodes[n].position = -1
		t.numbers[t.nodes[n].hash] = n
	}
}

// history reads commits into the table, from the commit-graph if they are in
// it.
type history struct {
	*commitTable
	repo  *repository
	graph *odb.Graph
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
	n, ok := y.numbers[h]
	if ok {
		y.nodes[n].position = position
	} else {
		n = y.add(h, position)
	}
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
	found, err := y.repo.objects.Of(plumbing.CommitObject, h)
	if err != nil {
		return err
	}
	c, ok := odb.ParseCommit(found)
	if !ok {
		return fault.New(fault.GitError, "the commit %s is damaged; git fsck says more", h)
	}
	first := len(y.parents)
	for _, p := range y.repo.objects.Parents(h, c.Parents) {
		y.parents = append(y.parents, y.number(p))
	}
	y.keep(n, c, first, -1)
	return nil
}

func (y *history) keep(n int, c odb.Commit, first, position int) {
	node := &y.nodes[n]
	node.tree, node.date, node.position = c.Tree, c.Date, position
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
	y.keep(n, c, first, position)
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
			v, err := w.path.verdict(n)
			if err != nil {
				return 0, false, err
			}
			if shown = v == changes; !shown && len(parents) > 0 {
				parents = parents[v-sameAs : v-sameAs+1]
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
	known   *seen
	bloom   odb.BloomKey
	entries []*odb.Entry                  // by commit: what it has at the path
	last    *odb.Entry                    // of entries
	below   []map[plumbing.Hash]odb.Entry // by depth and tree, since most commits leave most folders alone
}

const (
	mostPaths   = 16
	mostEntries = 1 << 14
)

func (y *history) at(path string) *pathHistory {
	p := &pathHistory{history: y, parts: strings.Split(path, "/"), bloom: odb.NewBloomKey(path)}
	p.below = make([]map[plumbing.Hash]odb.Entry, len(p.parts))
	y.turn++
	p.known = y.paths[path]
	if p.known == nil {
		y.forgetPath()
		p.known = &seen{}
		y.paths[path] = p.known
	}
	p.known.used = y.turn
	return p
}

// forgetPath makes room for another path.
func (t *commitTable) forgetPath() {
	if len(t.paths) < mostPaths {
		return
	}
	oldest := ""
	for path, s := range t.paths {
		if oldest == "" || s.used < t.paths[oldest].used {
			oldest = path
		}
	}
	delete(t.paths, oldest)
}

// verdict says what the commit of a number did.
func (p *pathHistory) verdict(n int) (verdict, error) {
	if n < len(p.known.verdicts) && p.known.verdicts[n] != notLooked {
		return p.known.verdicts[n], nil
	}
	v, err := p.look(n)
	if err != nil {
		return v, err
	}
	for len(p.known.verdicts) < len(p.nodes) {
		p.known.verdicts = append(p.known.verdicts, make([]verdict, len(p.nodes)-len(p.known.verdicts))...)
	}
	p.known.verdicts[n] = v
	return v, nil
}

func (p *pathHistory) look(n int) (verdict, error) {
	const mostParents = 1 << 14 // that a verdict has room for
	parents := p.parentsOf(n)
	if len(parents) == 0 {
		own, err := p.entry(n)
		if own.Mode != 0 || err != nil {
			return changes, err
		}
		return sameAs, nil
	}
	if at := p.nodes[n].position; at >= 0 && p.graph.Unchanged(at, p.bloom) {
		return sameAs, nil
	}
	own, err := p.entry(n)
	if err != nil {
		return changes, err
	}
	for i, parent := range parents[:min(len(parents), mostParents)] {
		if err := p.load(parent); err != nil {
			return changes, err
		}
		other, err := p.entry(parent)
		if err != nil {
			return changes, err
		}
		if own == other {
			return sameAs + verdict(i), nil
		}
	}
	return changes, nil
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
	e, err := p.repo.objects.LookUp(tree, p.parts[depth])
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
