package gateway

import (
	"context"
	"slices"
	"sync"
)

// outgoing is a frame on its way out. One that is kept is sent again after a connection
// broke, until it is known that it arrived.
type outgoing struct {
	data []byte
	kept bool
}

// outbox is what goes out over the connections of a session, in order. A frame that was
// written counts as arrived once the gateway has answered a ping that was sent after it:
// that a write succeeds says nothing.
type outbox struct {
	wake  chan struct{} // signalled when there is something to write
	wrote chan struct{} // signalled when something was written

	mu      sync.Mutex // guards all below
	up      bool       // there is a connection
	pending []outgoing // not written yet
	begun   []outgoing // kept ones that were written, or are just being, and may not have arrived
	written int        // how many of begun were written
	bytes   int
	room    chan struct{} // closed when there is room again; nil while there is
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), wrote: make(chan struct{}, 1)}
}

// maxOutgoing is the bytes from which on nothing more is read from a gateway that does not
// take what it asked for.
const maxOutgoing = 8 << 20

// push queues a frame. What is not kept goes over the present connection or not at all.
func (o *outbox) push(data []byte, kept bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !kept && !o.up {
		return
	}
	o.pending = append(o.pending, outgoing{data, kept})
	o.count(len(data))
	signal(o.wake)
}

// count needs the lock.
func (o *outbox) count(n int) {
	o.bytes += n
	switch full := o.bytes > maxOutgoing; {
	case full && o.room == nil:
		o.room = make(chan struct{})
	case !full && o.room != nil:
		close(o.room)
		o.room = nil
	}
}

// waitForRoom waits while too much is waiting to be written.
func (o *outbox) waitForRoom(ctx context.Context) error {
	o.mu.Lock()
	room := o.room
	o.mu.Unlock()
	if room == nil {
		return nil
	}
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isUp says whether there is a connection.
func (o *outbox) isUp() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.up
}

// open says that there is a connection now.
func (o *outbox) open() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.up = true
}

// next takes the frame that is to be written next.
func (o *outbox) next() (outgoing, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 {
		return outgoing{}, false
	}
	f := o.pending[0]
	o.pending = o.pending[1:]
	if f.kept {
		o.begun = append(o.begun, f)
	} else {
		o.count(-len(f.data))
	}
	return f, true
}

// done says that what next gave was written.
func (o *outbox) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written = len(o.begun)
	signal(o.wrote)
}

// unconfirmed is how many kept frames were written of which nobody knows that they arrived.
func (o *outbox) unconfirmed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.written
}

// confirm says that the first n of them have arrived.
func (o *outbox) confirm(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.begun[:n] {
		o.count(-len(f.data))
	}
	o.begun = slices.Delete(o.begun, 0, n)
	o.written -= n
}

// close says that the connection has ended. In order, by the gateway's own word, is one
// that it has read to the end; else what may not have arrived is sent again.
func (o *outbox) close(inOrder bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.up = false
	var again []outgoing
	for i, f := range slices.Concat(o.begun, o.pending) {
		if f.kept && !(inOrder && i < o.written) {
			again = append(again, f)
		} else {
			o.count(-len(f.data))
		}
	}
	o.pending, o.begun, o.written = again, nil, 0
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
