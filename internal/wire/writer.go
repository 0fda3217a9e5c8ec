package wire

import (
	"bufio"
	"io"
	"sync"
	"syscall"
	"time"
)

// frame is one message that waits to be written.
type frame struct {
	head   []byte   // header block and envelope, up to a large body
	body   [][]byte // large, not copied; may be nil
	length int      // of body
	tail   string
	text   *chunk // instead of head: progress text that can still grow
	held   bool   // it is not queued yet
	key    string // progress with the same key replaces it while it waits
}

func (f *frame) size() int {
	if f.text != nil {
		return f.text.size()
	}
	return len(f.head) + f.length + len(f.tail)
}

// frameCost is what a waiting frame costs beside its bytes.
const frameCost = 128

// writer queues frames and writes them in order. Nothing that queues ever
// waits: the frames are written by whoever finds that no one else does, in
// drain, which is run by a goroutine that may wait for the peer.
type writer struct {
	dst    *bufio.Writer
	try    tryWrite // to the same stream; nil where it cannot be had
	budget int
	failed func(error) // called from drain, without the lock
	space  []byte      // drain's, for the frame that it makes of text

	mu      sync.Mutex
	queue   []*frame
	first   int // index of the first waiting frame in queue
	bytes   int // waiting or being written
	active  bool
	stopped bool
	waiting progressIndex
	flow    flow          // of text
	held    []*frame      // text beyond it; see hold
	change  chan struct{} // closed when bytes shrank, for those who wait for it; nil if no one does
}

func newWriter(dst io.Writer, budget int, failed func(error)) *writer {
	w := &writer{dst: bufio.NewWriterSize(dst, 64<<10), budget: budget, failed: failed, waiting: progressIndex{}, flow: flow{room: flowBurst}}
	switch dst := dst.(type) {
	case interface{ TryWrite([]byte) (int, error) }:
		w.try = dst.TryWrite
	case syscall.Conn:
		w.try = TryWriter(dst)
	}
	return w
}

// tryWrite writes without waiting: as much as the system takes at once.
type tryWrite = func(p []byte) (int, error)

// push queues f. If lead is true nobody is writing and the caller must see to
// it that drain runs.
func (w *writer) push(f *frame) (lead bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pushLocked(f)
}

func (w *writer) pushLocked(f *frame) (lead bool, err error) {
	if w.stopped {
		return false, ErrClosed
	}
	w.queue = append(append(w.queue, w.held...), f)
	w.bytes += f.size() + frameCost
	w.bytes += w.releaseLocked()
	lead = !w.active
	w.active = true
	return lead, nil
}

// load is how many bytes wait.
func (w *writer) load() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes
}

// drainNow writes what can be written without waiting, if that is worth a try:
// one small frame, as most are. If it is not done then, drain must go on.
func (w *writer) drainNow() (done bool) {
	if w.try == nil {
		return false
	}
	f := w.popAlone()
	if f == nil {
		return false
	}
	n, err := w.try(f.head)
	if n < len(f.head) || err != nil {
		_, _ = w.dst.Write(f.head[n:]) // it has room for it; drain finds the error again
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes -= f.size() + frameCost
	if w.first < len(w.queue) || w.dst.Buffered() > 0 || w.stopped {
		return false
	}
	w.active = false
	w.wake()
	return true
}

// popAlone takes the only frame that waits, if it is small and nothing is left
// in the buffer.
func (w *writer) popAlone() *frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue)-w.first != 1 || w.dst.Buffered() > 0 {
		return nil
	}
	f := w.queue[w.first]
	if f.text != nil || f.size() > len(f.head) || len(f.head) > w.dst.Available() {
		return nil
	}
	w.popLocked()
	return f
}

// drain writes until nothing waits.
func (w *writer) drain() {
	for {
		f := w.pop()
		if f == nil {
			return
		}
		err := w.write(f)
		w.mu.Lock()
		w.bytes -= f.size() + frameCost
		w.mu.Unlock()
		if err != nil {
			w.stop()
			w.failed(err)
			return
		}
	}
}

// pop takes the first frame. Before it returns nil, everything has left the
// buffer and the writing goroutine's role is given up.
func (w *writer) pop() *frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.first == len(w.queue) {
		w.queue, w.first = w.queue[:0], 0
		w.wake()
		if w.stopped || w.dst.Buffered() == 0 {
			w.active = false
			return nil
		}
		w.mu.Unlock()
		err := w.dst.Flush()
		w.mu.Lock()
		if err != nil {
			w.stopLocked()
			w.mu.Unlock()
			w.failed(err)
			w.mu.Lock()
		}
	}
	return w.popLocked()
}

func (w *writer) popLocked() *frame {
	f := w.queue[w.first]
	w.queue[w.first] = nil
	w.first++
	if w.first == len(w.queue) {
		w.queue, w.first = w.queue[:0], 0
	}
	if w.first >= 1024 && w.first*2 >= len(w.queue) {
		w.queue = w.queue[:copy(w.queue, w.queue[w.first:])]
		w.first = 0
	}
	w.waiting.left(f)
	w.wake()
	return f
}

// mostSpace is the largest space that is kept for the next frame of text.
const mostSpace = 1 << 20

func (w *writer) write(f *frame) error {
	if f.text != nil {
		f = f.text.frame(w.space)
		if len(f.body) > 0 && cap(f.body[0]) <= mostSpace {
			w.space = f.body[0]
		}
	}
	if _, err := w.dst.Write(f.head); err != nil {
		return err
	}
	for _, piece := range f.body {
		if _, err := w.dst.Write(piece); err != nil {
			return err
		}
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
	w.stopLocked()
	w.active = false
	w.wake()
}

func (w *writer) stopLocked() {
	w.stopped = true
	w.queue, w.held, w.first, w.bytes = nil, nil, 0, 0
	w.waiting = progressIndex{}
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
