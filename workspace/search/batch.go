package search

import (
	"context"

	"pillion/workspace"
)

// job is one file to search, or a failure of the walk.
type job struct {
	path     workspace.Path
	named    bool // a root of the search: it may be a link
	explicit bool // the one root of the search: reading it must not fail

	matches []Match
	err     error
}

// batch is some files that are searched one after the other, by one goroutine. Batches
// are started in any order and collected in the order of the walk.
type batch struct {
	jobs []job
	done chan struct{} // closed when they have been searched
}

const (
	// batchFiles is how many files a batch has: to hand one on costs as much as a file.
	batchFiles = 16
	// batchesAhead bounds what is searched in vain when there are matches enough.
	batchesAhead = 16
)

// queue hands batches to who searches them, and to who collects what they find.
type queue struct {
	work, order chan *batch
	next        *batch
}

func newQueue() *queue {
	return &queue{work: make(chan *batch), order: make(chan *batch, batchesAhead)}
}

func (q *queue) add(ctx context.Context, j job) error {
	if q.next == nil {
		q.next = &batch{jobs: make([]job, 0, batchFiles), done: make(chan struct{})}
	}
	q.next.jobs = append(q.next.jobs, j)
	if len(q.next.jobs) < batchFiles {
		return nil
	}
	return q.flush(ctx)
}

func (q *queue) flush(ctx context.Context) error {
	b := q.next
	q.next = nil
	select {
	case q.order <- b:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case q.work <- b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end hands on what is left.
func (q *queue) end(ctx context.Context) {
	if q.next != nil {
		_ = q.flush(ctx) // if it fails nobody waits for it
	}
	close(q.work)
	close(q.order)
}

// work searches batches until there are no more.
func (s *search) work(ctx context.Context, work <-chan *batch) {
	w := worker{search: s, find: s.wanted.finder(), limit: s.source.Limit()}
	defer w.close()
	for b := range work {
		for i := range b.jobs {
			if j := &b.jobs[i]; j.err == nil {
				w.run(ctx, j)
			}
		}
		close(b.done)
	}
}

// worker searches one file after the other.
type worker struct {
	search *search
	find   finder
	limit  int64
	reader *workspace.FileReader
	top    workspace.Path // of which it reads
}

func (w *worker) close() {
	if w.reader != nil {
		w.reader.Close()
	}
}

func (w *worker) run(ctx context.Context, j *job) {
	if j.err = ctx.Err(); j.err != nil {
		return
	}
	var text string
	if text, j.err = w.text(j); j.err == nil {
		j.matches, j.err = w.search.matches(ctx, w.find, j.path, text)
	}
}

// text is the text of a file, until the next one is read.
func (w *worker) text(j *job) (string, error) {
	if j.named || w.search.source.IsApart(j.path) {
		return w.search.source.ReadText(j.path)
	}
	if top := j.path.Top(); w.reader == nil || top != w.top {
		w.close()
		var err error
		if w.reader, err = top.NewReader(); err != nil {
			w.reader = nil
			return "", err
		}
		w.top = top
	}
	data, _, err := w.reader.Read(j.path, w.limit)
	if err != nil {
		return "", err
	}
	return w.search.source.Text(j.path, data)
}
