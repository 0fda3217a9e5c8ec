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
	mu     sync.Mutex // guards all below
	kernel *fsnotify.Watcher
	closed bool
	failed bool
	waits  map[*wait]bool
	done   chan struct{}
	trees  []*Tree
}

// wait is one that waits for changes in some folders.
type wait struct {
	signal chan<- struct{}
	// watched is, for each folder, the one that is watched in its place: itself,
	// or the nearest above it that is there.
	watched map[string]string
}

// Folders signals ch, without blocking, after each change in one of the folders,
// until stop is called. A folder that does not exist is waited for.
func (w *Watcher) Folders(ch chan<- struct{}, dirs []string) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.start() {
		return func() {}
	}
	one := &wait{ch, map[string]string{}}
	for _, dir := range dirs {
		one.watched[filepath.Clean(dir)] = ""
	}
	w.waits[one] = true
	w.follow(one)
	return func() { w.forget(one) }
}

// follow watches what now stands for each folder, and reports whether that is
// another than before. Watching a folder twice is watching it once, and anew when
// it was made anew.
func (w *Watcher) follow(one *wait) (changed bool) {
	for dir, before := range one.watched {
		now := existing(dir)
		for w.kernel.Add(now) == nil {
			next := existing(dir) // it may have been made, or have gone, before it was watched
			if next == now {
				break
			}
			now = next
		}
		one.watched[dir] = now
		if before != now {
			changed = true
			w.release(before)
		}
	}
	return changed
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

// release ends the watching of a folder that nobody waits for any more.
func (w *Watcher) release(dir string) {
	for one := range w.waits {
		for _, watched := range one.watched {
			if watched == dir {
				return
			}
		}
	}
	if dir != "" {
		w.kernel.Remove(dir) //nolint:errcheck // the folder may be gone
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

func (w *Watcher) deliver(kernel *fsnotify.Watcher, done chan struct{}) {
	defer close(done)
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
		case _, ok := <-kernel.Errors:
			if !ok {
				return
			}
			w.tell(fsnotify.Event{}) // an overflow, which names no folder
		}
	}
}

// tell signals those whom the event concerns: they look at what they wait for
// anyway, so it need not say more.
func (w *Watcher) tell(event fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for one := range w.waits {
		concerned := one.concerns(event.Name)
		if event.Name == "" || event.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) && one.rests(event.Name) {
			concerned = w.follow(one) || concerned
		}
		if !concerned {
			continue
		}
		select {
		case one.signal <- struct{}{}:
		default: // one signal is waiting already
		}
	}
}

// concerns: the name is one of the folders waited for, on the way to one, or in one. What
// is watched in place of a folder that is not there is nobody's concern by itself. No name
// is all.
func (one *wait) concerns(name string) bool {
	above := filepath.Dir(name)
	for dir, watched := range one.watched {
		if name == "" || name == watched || holds(name, dir) || above == watched && dir == watched {
			return true
		}
	}
	return false
}

// rests: with the name, what is watched for a folder may have become another. A
// neighbour that comes and goes, as temporary files do, is not on the way to any. A name
// in no folder that is known here may be anything.
func (one *wait) rests(name string) bool {
	above, known := filepath.Dir(name), false
	for dir, watched := range one.watched {
		if name == watched || holds(name, dir) {
			return true
		}
		known = known || watched == above
	}
	return !known
}

// holds: dir is name, or below it.
func holds(name, dir string) bool {
	rest, ok := strings.CutPrefix(dir, name)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

func (w *Watcher) forget(one *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || !w.waits[one] {
		return
	}
	delete(w.waits, one)
	for _, dir := range one.watched {
		w.release(dir)
	}
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
