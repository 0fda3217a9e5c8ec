//go:build unix

package wire

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// output writes to a pipe or socket without Go's poller, which would wake us each
// time that the peer has taken something out. Only while it is full is it polled.
type output struct {
	name  string
	stays *os.File // the process's standard output, which is not closed before; nil for others

	mu     sync.Mutex
	fd     int      // -1 when it is closed
	polled *os.File // the same pipe, while a write waits for room in it
}

// newOutput gives what writes to f's pipe or socket, and takes f over. It is nil for all
// other files.
func newOutput(f *os.File) *output {
	if !isStream(f) {
		return nil
	}
	fd, err := copyOf(f)
	if err != nil {
		return nil
	}
	if f == os.Stdout { // its number must not become another file's, into which somebody prints
		return &output{name: f.Name(), stays: f, fd: fd}
	}
	_ = f.Close() // else the poller, if it knows f, would go on to wake us
	return &output{name: f.Name(), fd: fd}
}

// TryWrite writes what there is room for.
func (o *output) TryWrite(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fd < 0 {
		return 0, os.ErrClosed
	}
	return writeSome(o.fd, p)
}

// Write waits until the peer has made room for all of p. One goroutine writes at a time.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.TryWrite(p)
	if err != nil || n == len(p) {
		return n, err
	}
	f, err := o.poll()
	if err != nil {
		return n, err
	}
	defer o.leave(f)
	rest, err := f.Write(p[n:])
	return n + rest, err
}

func (o *output) poll() (*os.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fd < 0 {
		return nil, os.ErrClosed
	}
	fd, err := unix.FcntlInt(uintptr(o.fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	o.polled = os.NewFile(uintptr(fd), o.name)
	return o.polled, nil
}

func (o *output) leave(f *os.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.polled = nil
	_ = f.Close()
}

// Close interrupts a Write.
func (o *output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fd < 0 {
		return os.ErrClosed
	}
	if o.polled != nil {
		_ = o.polled.Close()
	}
	err := unix.Close(o.fd)
	o.fd = -1
	if o.stays != nil {
		err = errors.Join(err, o.stays.Close())
	}
	return err
}
