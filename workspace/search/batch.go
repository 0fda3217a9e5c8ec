package search

import (
	"context"

	"pillion/internal/fault"
	"pillion/workspace"
)

// job is one file to search, or a failure of the walk.
type job struct {
	path     workspace.Path // zero: there is only passed
	passed   int            // texts before it that cannot match
	known    verdict        // where it has a stamp: what the file is if it has that
	since    *kept          // of the list that it is in
	named    bool           // a root of the search: it may be a link
	explicit bool           // the one root of the search: reading it must not fail

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
			if j := &b.jobs[i]; j.err == nil && !j.path.IsZero() {
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
	if j.known.stamp != 0 && w.isKnown(j) {
		if j.known.kind == kindBinary {
			j.err = errBinary
		}
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
	if err := w.at(j.path.Top()); err != nil {
		return "", err
	}
	data, _, err := w.reader.Read(j.path, w.limit)
	if err != nil {
		return "", err
	}
	w.search.read.Add(int64(len(data)))
	return w.search.source.Text(j.path, data)
}

// at opens a workspace folder to read in.
func (w *worker) at(top workspace.Path) (err error) {
	if w.reader != nil && top == w.top {
		return nil
	}
	w.close()
	if w.reader, err = top.NewReader(); err != nil {
		w.reader = nil
	}
	w.top = top
	return err
}

// isKnown says that a file is still the one that the index knows.
func (w *worker) isKnown(j *job) bool {
	if w.at(j.path.Top()) != nil {
		return false
	}
	folder, name := j.path.Dir(), j.path.Base()
	_, turn := w.search.index.begin(folder, name)
	stamp, err := w.reader.Stamp(j.path)
	if err == nil && hashStamp(stamp) == j.known.stamp {
		w.search.index.confirm(folder, name, turn, j.since)
		return true
	}
	w.search.behind.Store(true)
	return false
}

// errBinary is what reading a binary file gives.
var errBinary = fault.New(fault.BinaryFile, "the file is binary")
