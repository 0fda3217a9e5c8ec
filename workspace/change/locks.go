package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
)

// Locks have those who change one path wait for each other: the calls of this
// program, and with a folder those of others that have the same folder. Who changes
// an entry shares the folders above it, so that nobody takes those away meanwhile.
//
// A lock has no file of its own but one of a fixed number, by the hash of the path:
// two paths may share one, and then wait although they need not. The zero value locks
// within the program alone.
type Locks struct {
	// Dir is where the files are, in the user's state folder; it is made when needed.
	Dir string

	stripes [stripes]stripe
}

const stripes = 256

// stripe is one lock, shared by many or held by one.
type stripe struct {
	mu      sync.Mutex // guards what follows
	sharing int
	held    bool
	freed   chan struct{} // closed when it is; nil as long as nobody waits
}

// wanted are stripes, and whether each is wanted for oneself.
type wanted map[byte]bool

func (w wanted) add(abs string) {
	w[stripeOf(abs)] = true
	for {
		above := filepath.Dir(abs)
		if above == abs {
			return
		}
		abs = above
		if s := stripeOf(abs); !w[s] {
			w[s] = false
		}
	}
}

func stripeOf(abs string) byte {
	sum := sha256.Sum256([]byte(abs))
	return sum[0]
}

// lock waits until nobody else changes the entries at these paths or below. The locks
// are taken in one order by all, so nobody waits in a circle.
func (l *Locks) lock(ctx context.Context, paths []workspace.Path) (unlock func(), err error) {
	want := wanted{}
	for _, p := range paths {
		want.add(p.Abs())
	}
	var undo []func()
	unlock = func() {
		for _, one := range slices.Backward(undo) {
			one()
		}
	}
	for i := range stripes {
		alone, ok := want[byte(i)]
		if !ok {
			continue
		}
		release, err := l.take(ctx, i, alone)
		if err != nil {
			unlock()
			if errors.Is(err, context.Canceled) {
				return nil, err
			}
			return nil, fault.New(fault.Timeout, "another call is changing the same files: %w", err).WithHint("try again; nothing was changed")
		}
		undo = append(undo, release)
	}
	return unlock, nil
}

func (l *Locks) take(ctx context.Context, i int, alone bool) (release func(), err error) {
	s := &l.stripes[i]
	if err := s.take(ctx, alone); err != nil {
		return nil, err
	}
	free, err := l.takeFile(ctx, i, alone)
	if err != nil {
		s.release()
		return nil, err
	}
	return func() {
		if free != nil {
			free()
		}
		s.release()
	}, nil
}

// takeFile gives nil where there can be no such lock: what is written is compared with
// the plan all the same.
func (l *Locks) takeFile(ctx context.Context, i int, alone bool) (free func(), err error) {
	if l.Dir == "" {
		return nil, nil
	}
	name := filepath.Join(l.Dir, hex.EncodeToString([]byte{byte(i)}))
	for isNew := false; ; {
		free, err = tryLock(name, alone)
		switch {
		case err == nil:
			return free, nil
		case errors.Is(err, fs.ErrNotExist) && !isNew && os.MkdirAll(l.Dir, 0o700) == nil:
			isNew = true
			continue
		case !errors.Is(err, errLocked):
			return nil, nil
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// errLocked is of a lock that another program has.
var errLocked = errors.New("it is locked")

// lockPause is between two tries at a lock that another program has.
const lockPause = 2 * time.Millisecond

func (s *stripe) take(ctx context.Context, alone bool) error {
	for {
		s.mu.Lock()
		if !s.held && (s.sharing == 0 || !alone) {
			s.held = alone
			if !alone {
				s.sharing++
			}
			s.mu.Unlock()
			return nil
		}
		if s.freed == nil {
			s.freed = make(chan struct{})
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *stripe) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		s.held = false
	} else {
		s.sharing--
	}
	if s.sharing == 0 && s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// paths are all entries that the set is about.
func (s Set) paths() []workspace.Path {
	var out []workspace.Path
	for _, f := range s.Files {
		out = append(out, f.Target)
	}
	for _, c := range s.Tree {
		out = append(out, c.Source)
		if !c.Target.IsZero() {
			out = append(out, c.Target)
		}
	}
	for _, x := range s.Restores {
		out = append(out, x.Path)
	}
	return append(out, s.Empty...)
}
