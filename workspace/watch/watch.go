// Package watch tells that files may have changed on disk.
//
// It makes things fast and never right: whoever is told looks for himself, and
// whoever is not told finds out by content hashes in the end. Folders watches the
// few that waiting approvals rest on; a Tree watches a whole workspace, and has a barrier,
// Settle. fsnotify reports to both, on every system. On Linux the barrier is exact: an
// inotify instance keeps one order for all that it watches. kqueue and Windows promise no
// order between folders, so the barrier is passed twice there; it has never been run on
// them. What fsnotify can get wrong is said at type watching.
//
// A Tree has one goroutine. A new folder is watched first and listed then, so what is made
// in it is either listed or reported. Settle writes a cookie into a folder of our own that
// is watched too, and returns when that has come back. It refuses, with a reason, where
// that proves nothing: during a look through the folders, after an overflow (they are
// looked through again), over the budget (a quarter of the system's limit), on file systems
// that others may change, and when a root is another folder now. After a burst events
// gather for 5 ms unless somebody settles. Writes through a hard link elsewhere or a memory
// map are not seen, so contents are never taken from here.
package watch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// gather is how long, once something was told, what comes next is left to gather: an edit is
// half a dozen events, and each would wake us while it is being made.
const gather = 5 * time.Millisecond

// Watcher shares one kernel watcher among all that wait. The zero Watcher is
// ready; without a kernel watcher to be had it tells nothing.
type Watcher struct {
	mu      sync.Mutex // guards all below
	kernel  *fsnotify.Watcher
	closed  bool
	failed  bool
	waits   map[*wait]bool
	watched map[string]bool // what is watched for them
	done    chan struct{}
	trees   []*Tree
}

// wait is one that waits for changes in some folders.
type wait struct {
	signal chan<- struct{}
	dirs   []string
}

// Folders signals ch, without blocking, after each change in one of the folders,
// until stop is called. A folder that does not exist is waited for.
func (w *Watcher) Folders(ch chan<- struct{}, dirs []string) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.start() {
		return func() {}
	}
	one := &wait{signal: ch}
	for _, dir := range dirs {
		one.dirs = append(one.dirs, filepath.Clean(dir))
	}
	w.waits[one] = true
	w.renew()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waits[one] {
			delete(w.waits, one)
			w.renew()
		}
	}
}

// renew watches what now stands for the folders that are waited for, and nothing else.
// Watching a folder twice is watching it once, and anew when it was made anew.
func (w *Watcher) renew() {
	before := w.watched
	w.watched = map[string]bool{}
	for one := range w.waits {
		for _, dir := range one.dirs {
			now := existing(dir)
			for w.kernel.Add(now) == nil {
				next := existing(dir) // it may have been made, or have gone, before it was watched
				if next == now {
					break
				}
				now = next
			}
			w.watched[now] = true
		}
	}
	for dir := range before {
		if !w.watched[dir] {
			w.kernel.Remove(dir) //nolint:errcheck // the folder may be gone
		}
	}
}

// existing is dir or the nearest folder above it that is there.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func (w *Watcher) start() bool {
	if w.kernel != nil || w.closed || w.failed {
		return w.kernel != nil
	}
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		w.failed = true
		return false
	}
	w.kernel, w.waits, w.done = kernel, map[*wait]bool{}, make(chan struct{})
	go w.deliver(kernel, w.done)
	return true
}

// deliver takes errors by themselves: while fsnotify has one to report it does nothing that it is
// asked for, and what follows an event asks.
func (w *Watcher) deliver(kernel *fsnotify.Watcher, done chan struct{}) {
	defer close(done)
	lost := make(chan struct{}, 1)
	var taking sync.WaitGroup
	defer taking.Wait()
	taking.Go(func() {
		for range kernel.Errors {
			select {
			case lost <- struct{}{}:
			default: // one is waiting already
			}
		}
	})
	var paused time.Time
	for {
		select {
		case event, ok := <-kernel.Events:
			if !ok {
				return
			}
			w.tell(event)
			if time.Since(paused) > gather {
				time.Sleep(gather)
				paused = time.Now()
			}
		case <-lost:
			w.tell(fsnotify.Event{}) // as of an overflow, which names no folder
		}
	}
}

// tell signals those whom the event concerns: they look at what they wait for
// anyway, so it need not say more. It concerns them if it is in one of their folders, or is
// one, or leads to one, so that another folder may stand for it now; a neighbour of what
// stands for a folder that is not there does not. One in no folder that is watched, as after
// an overflow, may be anything.
func (w *Watcher) tell(event fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	above := filepath.Dir(event.Name)
	unknown := !w.watched[event.Name] && !w.watched[above]
	var concerned []*wait
	moved := false
	for one := range w.waits {
		leads := unknown || slices.ContainsFunc(one.dirs, func(dir string) bool { return holds(event.Name, dir) })
		moved = moved || leads && (unknown || event.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename))
		if leads || slices.Contains(one.dirs, above) {
			concerned = append(concerned, one)
		}
	}
	if moved {
		w.renew()
	}
	for _, one := range concerned {
		select {
		case one.signal <- struct{}{}:
		default: // one signal is waiting already
		}
	}
}

// holds: dir is name, or below it.
func holds(name, dir string) bool {
	rest, ok := strings.CutPrefix(dir, name)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// Close ends the watching. Those who wait are told nothing more.
func (w *Watcher) Close() error {
	w.mu.Lock()
	kernel, done, trees := w.kernel, w.done, w.trees
	w.kernel, w.closed, w.waits, w.trees = nil, true, nil, nil
	w.mu.Unlock()
	var errs []error
	for _, t := range trees {
		errs = append(errs, t.close())
	}
	if kernel != nil {
		errs = append(errs, kernel.Close())
		<-done
	}
	return errors.Join(errs...)
}
