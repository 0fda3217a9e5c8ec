package wire

import (
	"bufio"
	"io"
	"sync"
	"time"
)

// frame is one message that waits to be written.
type frame struct {
	head []byte // header block and envelope, up to a large body
	body []byte // large, not copied; may be nil
	tail string
	text *chunk // instead of head: progress text that can still grow
	held bool   // it is not queued yet
	key  string // progress with the same key replaces it while it waits
}

func (f *frame) size() int {
	if f.text != nil {
		return f.text.size()
	}
	return len(f.head) + len(f.body) + len(f.tail)
}

// frameCost is what a waiting frame costs beside its bytes.
const frameCost = 128

// writer queues frames, which a goroutine of its own writes in order. Nothing that queues
// ever waits.
type writer struct {
	dst    *bufio.Writer
	budget int
	failed func(error) // called without the lock

	mu      sync.Mutex
	more    *sync.Cond // of mu: something waits, or it was stopped
	queue   []*frame
	bytes   int  // waiting or being written
	active  bool // something waits or is being written
	stopped bool
	waiting progressIndex
	flow    flow          // of text
	held    []*frame      // text beyond it; see hold
	change  chan struct{} // closed when bytes shrank, for those who wait for it; nil if no one does
}

func newWriter(dst io.Writer, budget int, failed func(error)) *writer {
	w := &writer{dst: bufio.NewWriterSize(dst, 64<<10), budget: budget, failed: failed, waiting: progressIndex{}, flow: flow{room: flowBurst}}
	w.more = sync.NewCond(&w.mu)
	go w.run()
	return w
}

func (w *writer) push(f *frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pushLocked(f)
}

func (w *writer) pushLocked(f *frame) error {
	if w.stopped {
		return ErrClosed
	}
	w.queueLocked(f)
	return nil
}

// queueLocked queues what was held, and then f unless that is nil.
func (w *writer) queueLocked(f *frame) {
	w.queue = append(w.queue, w.held...)
	w.bytes += w.releaseLocked()
	if f != nil {
		w.queue = append(w.queue, f)
		w.bytes += f.size() + frameCost
	}
	w.active = true
	w.more.Signal()
}

// load is how many bytes wait.
func (w *writer) load() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes
}

// run writes until it is stopped.
func (w *writer) run() {
	for {
		f := w.next()
		if f == nil {
			return
		}
		err := w.write(f)
		w.mu.Lock()
		w.bytes -= f.size() + frameCost
		last := len(w.queue) == 0
		w.wake()
		w.mu.Unlock()
		if err == nil && last {
			err = w.dst.Flush()
		}
		if err != nil {
			w.stop()
			w.failed(err)
			return
		}
	}
}

// next waits for a frame, and gives nil when the writer was stopped.
func (w *writer) next() *frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.stopped {
		w.active = false
		w.wake()
		w.more.Wait()
	}
	if w.stopped {
		return nil
	}
	f := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	w.waiting.left(f)
	return f
}

func (w *writer) write(f *frame) error {
	if f.text != nil {
		f = f.text.frame()
	}
	if _, err := w.dst.Write(f.head); err != nil {
		return err
	}
	if _, err := w.dst.Write(f.body); err != nil {
		return err
	}
	_, err := w.dst.WriteString(f.tail)
	return err
}

func (w *writer) wake() {
	if w.change != nil {
		close(w.change)
		w.change = nil
	}
}

// changedLocked is closed when less waits than now, or nothing will be written
// again.
func (w *writer) changedLocked() <-chan struct{} {
	if w.change == nil {
		w.change = make(chan struct{})
	}
	return w.change
}

// flush waits until everything queued has been written, at most for limit.
func (w *writer) flush(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		w.mu.Lock()
		if !w.active {
			w.mu.Unlock()
			return
		}
		change := w.changedLocked()
		w.mu.Unlock()
		select {
		case <-change:
		case <-timer.C:
			return
		}
	}
}

// stop drops what waits; what is pushed from now on is refused.
func (w *writer) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped, w.active = true, false
	w.queue, w.held, w.bytes = nil, nil, 0
	w.waiting = progressIndex{}
	w.more.Signal()
	w.wake()
}

// watch returns what waits and a channel that is closed when that has changed.
func (w *writer) watch() (load int, change <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return 0, nil, ErrClosed
	}
	return w.bytes, w.changedLocked(), nil
}
