package watch

import (
	"context"
	"sync"
	"time"
)

// barrier waits for all events so far. The kernel keeps one order for all that an
// instance watches: a write to a file of ours comes after what was there before.
// Only one write is on its way at a time, so that no event is taken for another's;
// who comes meanwhile shares the next.
type barrier struct {
	mu     sync.Mutex    // guards all below
	kernel *kernel       // its mark alone
	hurry  chan struct{} // somebody waits
	now    *turn         // its write is on its way
	next   *turn
	closed bool
}

// turn is one write, and those who wait for it.
type turn struct {
	done chan struct{}
	err  error // once done
}

func newBarrier(k *kernel) barrier { return barrier{kernel: k, hurry: make(chan struct{}, 1)} }

// pause is the time in which events gather, unless somebody waits for them.
func (b *barrier) pause(most time.Duration) {
	select {
	case <-time.After(most):
	case <-b.hurry:
	}
}

func newTurn() *turn { return &turn{done: make(chan struct{})} }

func (t *turn) end(err error) {
	if t != nil {
		t.err = err
		close(t.done)
	}
}

func (b *barrier) wait(ctx context.Context) error {
	mine, err := b.join()
	if err != nil {
		return err
	}
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return unsettled("the events of others take too long")
	}
}

func (b *barrier) join() (*turn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed || b.kernel.mark == nil:
		return nil, ErrUnsettled
	case b.now == nil:
		if err := b.write(); err != nil {
			return nil, unsettled(err.Error())
		}
		b.now = newTurn()
		return b.now, nil
	case b.next == nil:
		b.next = newTurn()
	}
	return b.next, nil
}

// write needs b.mu.
func (b *barrier) write() error {
	_, err := b.kernel.mark.WriteAt([]byte{1}, 0)
	select {
	case b.hurry <- struct{}{}:
	default: // it is known
	}
	return err
}

// passed: the write that was on its way has come back.
func (b *barrier) passed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil {
		return
	}
	b.now.end(nil)
	b.now, b.next = b.next, nil
	if b.now == nil {
		return
	}
	if err := b.write(); err != nil {
		b.now.end(unsettled(err.Error()))
		b.now = nil
	}
}

// fail tells all who wait that they wait in vain: what they wait for may be lost.
// The mark is made anew, for an old one could still be told of.
func (b *barrier) fail(private string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveUp()
	b.kernel.openMark(private)
}

// close is fail for good.
func (b *barrier) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.giveUp()
}

func (b *barrier) giveUp() {
	b.now.end(ErrUnsettled)
	b.next.end(ErrUnsettled)
	b.now, b.next = nil, nil
}
