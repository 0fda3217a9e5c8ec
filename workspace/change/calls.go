package change

import (
	"cmp"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// calls is how the system is called by what changes a workspace. What fails in
// passing is tried again a few times.
type calls struct {
	// fails, of a test, is asked before each call what it is to fail with: nothing, an
	// error, or errShort of a write. In use it is nil.
	fails func(call string) error
	pause time.Duration // before the first try again; 0: firstPause
	// blind, of a test: nobody tells who has a file open for writing.
	blind bool
	// unsynced: the user does not want to wait for the disk.
	unsynced bool
}

// errShort has a write take only a part.
var errShort = errors.New("short write")

// firstPause is doubled twice for each of the tries after the first: 85 ms in all.
const (
	firstPause = time.Millisecond
	tries      = 5
)

// try makes a call, and makes it again after a fault that passes.
func (c calls) try(call string, do func() error) error {
	pause := cmp.Or(c.pause, firstPause)
	for n := 1; ; n++ {
		var err error
		if c.fails != nil {
			err = c.fails(call)
		}
		if err == nil {
			err = do()
		}
		if err == nil || !isTransient(err) || n == tries {
			return err
		}
		time.Sleep(pause)
		pause *= 4
	}
}

// isTransient: the same call may well succeed in a moment.
func isTransient(err error) bool {
	return errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EBUSY) || isShared(err)
}

// write writes all of data, and goes on where the system took only a part.
func (c calls) write(f *os.File, data []byte) error {
	for len(data) > 0 {
		n := 0
		err := c.try("write", func() (err error) {
			n, err = f.Write(data)
			return err
		})
		if errors.Is(err, errShort) {
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

// sync sees a file onto the disk. Only an interruption is tried again: after any other
// fault the system may have thrown away what it could not write.
func (c calls) sync(f *os.File) error {
	if c.unsynced {
		return nil
	}
	return c.try("sync", func() error {
		err := f.Sync()
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EBUSY) {
			return errors.Join(errors.New("not retried"), errors.New(err.Error()))
		}
		return err
	})
}
