package watch

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// barrier waits for all events so far: it writes to a file of our own, the cookie, in a
// folder that the same fsnotify.Watcher watches, and waits until it is told of that. Only
// one write is on its way at a time, so that no event is taken for another's; who comes
// meanwhile shares the next.
type barrier struct {
	watch   func(dir string) error // has the cookie's folder watched
	forget  func(dir string) error // or no longer
	private string
	hurry   chan struct{} // somebody waits

	mu      sync.Mutex   // guards all below
	cookie  *os.File     // nil: there is none
	written []chan error // of those who wait for the write that is on its way
	left    int          // writes until it is over for them
	next    []chan error // of those who came since
	closed  bool
}

func newBarrier(watch, forget func(string) error, private string) *barrier {
	b := &barrier{watch: watch, forget: forget, private: private, hurry: make(chan struct{}, 1)}
	b.open()
	return b
}

// pause is the time in which events gather, unless somebody waits for them.
func (b *barrier) pause(most time.Duration) {
	select {
	case <-time.After(most):
	case <-b.hurry:
	}
}

// works: there is a place for the cookie.
func (b *barrier) works() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cookie != nil
}

// is reports whether an event is the cookie's.
func (b *barrier) is(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cookie != nil && name == b.cookie.Name()
}

// inside reports whether an event is of the cookie's folder.
func (b *barrier) inside(name string) bool { return b.private != "" && holds(b.private, name) }

func (b *barrier) wait(ctx context.Context) error {
	came, err := b.join()
	if err != nil {
		return err
	}
	select {
	case err := <-came:
		return err
	case <-ctx.Done():
		return unsettled("the events of others take too long")
	}
}

func (b *barrier) join() (<-chan error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.cookie == nil {
		return nil, ErrUnsettled
	}
	came := make(chan error, 1)
	b.next = append(b.next, came)
	if b.written == nil {
		b.begin()
	}
	return came, nil
}

// begin writes for those who have come. It needs b.mu, as what follows does. Where the system may
// tell of one folder before another it writes again: the second time all that was there at the
// first is over.
func (b *barrier) begin() {
	b.written, b.next, b.left = b.next, nil, rounds
	if b.written != nil {
		b.write()
	}
}

func (b *barrier) write() {
	_, err := b.cookie.WriteAt([]byte{1}, 0)
	select {
	case b.hurry <- struct{}{}:
	default: // it is known
	}
	if err != nil {
		b.settle(unsettled(err.Error()))
	}
}

// settle tells those who wait for the write that is on its way.
func (b *barrier) settle(err error) {
	for _, came := range b.written {
		came <- err
	}
	b.written = nil
}

// passed: the write that was on its way has come back.
func (b *barrier) passed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.written == nil {
		return
	}
	if b.left--; b.left > 0 {
		b.write()
		return
	}
	b.settle(nil)
	b.begin()
}

// fail tells all who wait that they wait in vain: what they wait for may be lost. The
// cookie is made anew, for the old one could still be told of.
func (b *barrier) fail() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveUp()
	if b.cookie != nil {
		b.forget(filepath.Dir(b.cookie.Name())) //nolint:errcheck // its end is all that is wanted
	}
	b.remove()
	b.open()
}

// close is fail for good.
func (b *barrier) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.giveUp()
	b.remove()
}

func (b *barrier) giveUp() {
	b.settle(ErrUnsettled)
	b.written, b.next = b.next, nil
	b.settle(ErrUnsettled)
}

// open makes the cookie, in a folder that no other program writes to.
func (b *barrier) open() {
	if b.private == "" || os.MkdirAll(b.private, 0o700) != nil {
		return
	}
	dir, err := os.MkdirTemp(b.private, "settle-*")
	if err != nil {
		return
	}
	cookie, err := os.OpenFile(filepath.Join(dir, "cookie"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = b.watch(dir)
	}
	if err != nil {
		os.RemoveAll(dir) //nolint:errcheck // it is empty
		return
	}
	b.cookie = cookie
}

// remove leaves nothing of the cookie behind.
func (b *barrier) remove() {
	if b.cookie == nil {
		return
	}
	dir := filepath.Dir(b.cookie.Name())
	b.cookie.Close()
	os.RemoveAll(dir) //nolint:errcheck // it is in a folder of ours
	b.cookie = nil
}
