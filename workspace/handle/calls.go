package handle

import (
	"cmp"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// Calls is how the system is called by what changes a workspace. What fails in
// passing is tried again a few times.
type Calls struct {
	// fails, of a test, is asked before each call what it is to fail with: nothing, an
	// error, or errShort of a write. In use it is nil.
	Fails func(call string) error
	Pause time.Duration // before the first try again; 0: firstPause
	// blind, of a test: nobody tells who has a file open for writing.
	Blind bool
	// unsynced: the user does not want to wait for the disk.
	Unsynced bool
}

// ErrShort has a write take only a part.
var ErrShort = errors.New("short write")

// firstPause is doubled twice for each of the tries after the first: 85 ms in all.
const (
	firstPause = time.Millisecond
	Tries      = 5
)

// Try makes a call, and makes it again after a fault that passes.
func (c Calls) Try(call string, do func() error) error {
	pause := cmp.Or(c.Pause, firstPause)
	for n := 1; ; n++ {
		var err error
		if c.Fails != nil {
			err = c.Fails(call)
		}
		if err == nil {
			err = do()
		}
		if err == nil || !IsTransient(err) || n == Tries {
			return err
		}
		time.Sleep(pause)
		pause *= 4
	}
}

// IsTransient: the same call may well succeed in a moment.
func IsTransient(err error) bool {
	return errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EBUSY) || isShared(err)
}

// Write writes all of data, and goes on where the system took only a part.
func (c Calls) Write(f *os.File, data []byte) error {
	for len(data) > 0 {
		n := 0
		err := c.Try("write", func() (err error) {
			n, err = f.Write(data)
			return err
		})
		if errors.Is(err, ErrShort) {
			n, err = f.Write(data[:(len(data)+1)/2])
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrShortWrite
		}
		data = data[n:]
	}
	return nil
}

// Sync sees a file onto the disk. Only an interruption is tried again: after any other
// fault the system may have thrown away what it could not write.
func (c Calls) Sync(f *os.File) error {
	if c.Unsynced {
		return nil
	}
	return c.Try("sync", func() error {
		err := f.Sync()
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EBUSY) {
			return errors.Join(errors.New("not retried"), errors.New(err.Error()))
		}
		return err
	})
}
