package wire

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// frameCost is what a waiting frame costs beside its bytes.
const frameCost = 128

// frame is one message that waits to be written.
type frame struct {
	bytes  []byte
	text   *chunk   // instead of bytes: progress text that can still grow
	paused bool     // it waits for the flow
	keys   []string // by which writer.waiting has it, until it is written
}

func newFrame(parts ...[]byte) *frame {
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	head := fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", length)
	return &frame{bytes: slices.Concat(append([][]byte{head}, parts...)...)}
}

func (f *frame) size() int {
	if c := f.text; c != nil {
		return frameCost + len(c.text) + len(c.token) + len(c.stream)
	}
	return frameCost + len(f.bytes)
}

// writer queues frames; one goroutine writes them in order. Nothing that queues ever waits.
type writer struct {
	dst    io.Writer
	budget int
	failed func(error) // called without the lock

	mu      sync.Mutex
	queue   []*frame
	bytes   int // waiting or being written
	stopped bool
	waiting map[string]*frame // progress that waits: by token and key what can be replaced, by token and stream what can grow, and by token alone the text that came last
	flow    flow              // of text
	change  chan struct{}     // closed when something was queued or written, for those who wait for it; nil if no one does
}

func newWriter(dst io.Writer, budget int, failed func(error)) *writer {
	w := &writer{dst: dst, budget: budget, failed: failed, waiting: map[string]*frame{}, flow: flow{room: flowBurst}}
	go w.run()
	return w
}

// push queues f.
func (w *writer) push(f *frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return ErrClosed
	}
	w.pushLocked(f)
	return nil
}

func (w *writer) pushLocked(f *frame) {
	w.queue = append(w.queue, f)
	w.bytes += f.size()
	w.wakeLocked()
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
		f := w.next()
		if f == nil {
			return
		}
		size := f.size() // nothing is added any more
		if f.text != nil {
			f.bytes = f.text.frame().bytes
		}
		if _, err := w.dst.Write(f.bytes); err != nil {
			w.stop()
			w.failed(err)
			return
		}
		w.mu.Lock()
		if !w.stopped {
			w.bytes -= size
		}
		w.wakeLocked()
		w.mu.Unlock()
	}
}

// next takes the first frame, and waits for one. It is nil when the writer has stopped.
func (w *writer) next() *frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.stopped && (len(w.queue) == 0 || w.pausesLocked(w.queue[0])) {
		var pause <-chan time.Time
		if len(w.queue) > 0 {
			pause = time.After(flowPause)
		}
		change := w.changedLocked()
		w.mu.Unlock()
		select {
		case <-change:
		case <-pause:
		}
		w.mu.Lock()
	}
	if w.stopped {
		return nil
	}
	f := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	for _, key := range f.keys {
		if w.waiting[key] == f {
			delete(w.waiting, key)
		}
	}
	return f
}

func (w *writer) wakeLocked() {
	if w.change != nil {
		close(w.change)
		w.change = nil
	}
}

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
		load, change, err := w.watch()
		if err != nil || load == 0 {
			return
		}
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
	w.queue, w.bytes = nil, 0
	clear(w.waiting)
	w.wakeLocked()
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
