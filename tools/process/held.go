package process

import (
	"os"
	"os/exec"
	"sync"
)

// Held starts commands that read, such as git, and holds them as far as this system can: see heldStarter.run. The zero value is
// ready.
type Held struct {
	mu      sync.Mutex   // guards all below
	reads   *heldStarter // of commands that write nowhere; nil: none was started
	drafts  *heldStarter // of those that write below scratch
	scratch string       // "": there is none yet
	closed  bool
}

type heldStarter struct {
	orders chan heldOrder
	ended  chan struct{} // closed at the end
}

type heldOrder struct {
	cmd     *exec.Cmd
	started chan error
}

// Start starts a command. With writes it may write below Scratch.
func (h *Held) Start(cmd *exec.Cmd, writes bool) error {
	s, err := h.starter(writes)
	if err != nil {
		return err
	}
	o := heldOrder{cmd, make(chan error, 1)}
	select {
	case s.orders <- o:
		return <-o.started
	case <-s.ended:
		return ErrClosed
	}
}

// next is the order that comes next; false: there comes none.
func (s *heldStarter) next() (heldOrder, bool) {
	select {
	case o := <-s.orders:
		return o, true
	case <-s.ended:
		return heldOrder{}, false
	}
}

func (h *Held) starter(writes bool) (*heldStarter, error) {
	scratch := ""
	if writes {
		var err error
		if scratch, err = h.Scratch(); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	s := &h.reads
	if writes {
		s = &h.drafts
	}
	if *s == nil {
		*s = &heldStarter{make(chan heldOrder), make(chan struct{})}
		go (*s).run(scratch)
	}
	return *s, nil
}

// Scratch is a folder for what is thrown away.
func (h *Held) Scratch() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scratch != "" || h.closed {
		return h.scratch, nil
	}
	dir, err := os.MkdirTemp("", "pillion-scratch-")
	h.scratch = dir
	return dir, err
}

// Close ends what was started, on Linux, and removes the folder. Nothing is started any more.
func (h *Held) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, s := range []*heldStarter{h.reads, h.drafts} {
		if s != nil {
			close(s.ended)
		}
	}
	h.reads, h.drafts = nil, nil
	if h.scratch == "" {
		return nil
	}
	return os.RemoveAll(h.scratch)
}
