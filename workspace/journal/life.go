package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// life is a program's sign of life: a locked file beside its segments. The system
// unlocks it however the program ends. One that ended well removes it, so what is
// there and can be locked is of a program that did not.
type life struct{ lock *flock.Flock }

const lifeSuffix = ".live"

// turnstile is held for moments, by those who begin a life and those who look at others'.
func turnstile(dir string) (unlock func(), err error) {
	return alone(dir, "lock")
}

// Alone waits until no other program does what the name stands for, and keeps it so.
// It fails where there is no journal yet.
func (s *Store) Alone(name string) (unlock func(), err error) {
	if _, err := os.Stat(s.dir); err != nil {
		return nil, err
	}
	return alone(s.dir, name)
}

func alone(dir, name string) (unlock func(), err error) {
	lock := flock.New(filepath.Join(dir, "."+name), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return func() { lock.Close() }, nil //nolint:errcheck // closing unlocks
}

func begin(dir, writer string) (*life, error) {
	unlock, err := turnstile(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	lock := flock.New(filepath.Join(dir, writer+lifeSuffix), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = errors.New("another program writes under this name")
	}
	if err != nil {
		return nil, err
	}
	return &life{lock}, nil
}

func (l *life) isRemoved() bool {
	_, err := os.Lstat(l.lock.Path())
	return errors.Is(err, fs.ErrNotExist)
}

// end takes the sign away, unless there is something left to repair.
func (l *life) end(clean bool) error {
	if clean {
		os.Remove(l.lock.Path()) //nolint:errcheck // then it is found to be clean
	}
	return l.lock.Close()
}

// lives lists the programs that have a sign here: true of those that live.
func lives(dir string) (map[string]bool, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+lifeSuffix))
	if err != nil || len(names) == 0 {
		return nil, err
	}
	unlock, err := turnstile(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	out := map[string]bool{}
	for _, name := range names {
		writer := strings.TrimSuffix(filepath.Base(name), lifeSuffix)
		if _, err := os.Stat(name); err != nil {
			continue // it ended this moment
		}
		lock := flock.New(name, flock.SetPermissions(0o600))
		gone, err := lock.TryLock()
		out[writer] = err != nil || !gone
		lock.Close() //nolint:errcheck // closing unlocks
	}
	return out, nil
}
