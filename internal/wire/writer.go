package wire

import (
	"bufio"
	"io"
	"strconv"
	"sync"
	"time"
)

// frameCost is what a waiting frame costs beside its bytes.
const frameCost = 128

// writer queues frames; one goroutine writes them in order. Nothing that queues ever waits.
type writer struct {
	dst    *bufio.Writer
	budget int
	failed func(error) // called without the lock

	mu      sync.Mutex
	more    sync.Cond // signalled when the queue has become longer, or stopped is set
	queue   []*frame
	bytes   int  // waiting or being written
	idle    bool // nothing waits, and all has left the buffer
	stopped bool
	waiting progressIndex
	flow    flow          // of text
	held    []*frame      // text beyond it; see hold
	change  chan struct{} // closed when bytes shrank, for those who wait for it; nil if no one does
}

func newWriter(dst io.Writer, budget int, failed func(error)) *writer {
	w := &writer{dst: bufio.NewWriterSize(dst, 64<<10), budget: budget, failed: failed, waiting: progressIndex{}, flow: flow{room: flowBurst}, idle: true}
	w.more.L = &w.mu
	go w.run()
	return w
}

// push queues f.
func (w *writer) push(f *frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pushLocked(f)
}

func (w *writer) pushLocked(f *frame) error {
	if w.stopped {
		return ErrClosed
	}
	w.releaseLocked()
	w.queueLocked(f)
	return nil
}

func (w *writer) queueLocked(f *frame) {
	w.queue = append(w.queue, f)
	w.bytes += f.size() + frameCost
	w.idle = false
	w.more.Signal()
}

// load is how many bytes wait.
func (w *writer) load() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes
}

// run writes until the writer is stopped or the stream fails.
func (w *writer) run() {
	for {
		f, err := w.next()
		if err == nil && f == nil {
			return
		}
		size := 0
		if err == nil {
			size = f.size() + frameCost
			err = w.write(f)
		}
		if err != nil {
			w.stop()
			w.failed(err)
			return
		}
		w.mu.Lock()
		if !w.stopped {
			w.bytes -= size
		}
		w.wake()
		w.mu.Unlock()
	}
}

// next takes the first frame, and waits for one. It is nil when the writer has stopped.
func (w *writer) next() (*frame, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.stopped {
		if w.dst.Buffered() > 0 {
			w.mu.Unlock()
			err := w.dst.Flush()
			w.mu.Lock()
			if err != nil {
				return nil, err
			}
			continue
		}
		w.idle = true
		w.wake()
		w.more.Wait()
	}
	if w.stopped {
		return nil, nil
	}
	f := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	w.waiting.left(f)
	return f, nil
}

func (w *writer) write(f *frame) error {
	parts := f.parts
	if f.text != nil {
		parts = f.text.parts()
	}
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	head := append(w.dst.AvailableBuffer(), "Content-Length: "...)
	head = append(strconv.AppendInt(head, int64(length), 10), "\r\n\r\n"...)
	if _, err := w.dst.Write(head); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := w.dst.Write(part); err != nil {
			return err
		}
	}
	return nil
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
		if w.releaseLocked(); w.idle || w.stopped {
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
	w.stopped = true
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
