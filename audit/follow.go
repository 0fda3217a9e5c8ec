package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// followEvery is how often the end of the log is looked at.
const followEvery = 200 * time.Millisecond

// Follow gives the lines after the one with this number, and each that is written until ctx
// ends, also by other sidecars. There need be no log yet.
func Follow(ctx context.Context, dir string, after int64, visit func(Entry)) error {
	again := time.NewTicker(followEvery)
	defer again.Stop()
	f := follower{dir: dir, after: after, visit: visit}
	defer f.close()
	for {
		if err := f.catchUp(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

// follower reads on where it stopped.
type follower struct {
	dir   string
	after int64
	visit func(Entry)

	file *os.File // nil: not opened yet
	in   *bufio.Reader
	part []byte // of a line that is not whole yet
}

// catchUp reads to the end of the newest file. When that is another one, the rest of the
// older ones is read too; it is opened before, so that nothing is in neither.
func (f *follower) catchUp() error {
	if err := f.readOn(); err != nil || !f.isOld() {
		return err
	}
	newest, err := open(f.dir, current, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return nil // there is none yet
	}
	if err != nil {
		return err
	}
	f.close()
	f.file, f.in = newest, bufio.NewReader(newest)
	if err := Read(f.dir, func(e Entry) bool { f.show(e); return true }); err != nil {
		return err
	}
	return f.readOn()
}

// show skips what was shown.
func (f *follower) show(e Entry) {
	if e.N > f.after {
		f.after = e.N
		f.visit(e)
	}
}

func (f *follower) isOld() bool {
	if f.file == nil {
		return true
	}
	mine, err := f.file.Stat()
	now, gone := os.Stat(filepath.Join(f.dir, current))
	return err != nil || gone == nil && !os.SameFile(mine, now)
}

func (f *follower) readOn() error {
	if f.file == nil {
		return nil
	}
	for {
		raw, err := f.in.ReadBytes('\n')
		f.part = append(f.part, raw...)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var e Entry
		if json.Unmarshal(f.part, &e) == nil {
			f.show(e)
		}
		f.part = f.part[:0]
	}
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
	f.file, f.part = nil, nil
}
