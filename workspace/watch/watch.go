// Package watch tells that files may have changed on disk.
//
// It makes things fast and never right: whoever is told looks for himself, and
// whoever is not told finds out by content hashes in the end. Today it watches
// the folders that waiting approvals rest on.
package watch

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher shares one kernel watcher among all that wait. The zero Watcher is
// ready; without a kernel watcher to be had it tells nothing.
type Watcher struct {
	mu      sync.Mutex // guards all below
	kernel  *fsnotify.Watcher
	failed  bool
	folders map[string]map[chan<- struct{}]int
	done    chan struct{}
}

// Folders signals ch, without blocking, after each change in one of the folders,
// until stop is called.
func (w *Watcher) Folders(ch chan<- struct{}, dirs []string) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.start() {
		return func() {}
	}
	var watched []string
	for _, dir := range dirs {
		if dir = existing(dir); w.add(dir) {
			w.folders[dir][ch]++
			watched = append(watched, dir)
		}
	}
	return sync.OnceFunc(func() { w.forget(ch, watched) })
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

// add reports false where the system's limit is reached.
func (w *Watcher) add(dir string) bool {
	if w.folders[dir] == nil {
		if w.kernel.Add(dir) != nil {
			return false
		}
		w.folders[dir] = map[chan<- struct{}]int{}
	}
	return true
}

func (w *Watcher) start() bool {
	if w.kernel != nil || w.failed {
		return w.kernel != nil
	}
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		w.failed = true
		return false
	}
	w.kernel, w.folders, w.done = kernel, map[string]map[chan<- struct{}]int{}, make(chan struct{})
	go w.deliver(kernel, w.done)
	return true
}

// deliver signals everyone on any event: those who wait look at what they wait
// for anyway, and an overflow names no folder.
func (w *Watcher) deliver(kernel *fsnotify.Watcher, done chan struct{}) {
	defer close(done)
	for {
		select {
		case _, ok := <-kernel.Events:
			if !ok {
				return
			}
		case _, ok := <-kernel.Errors:
			if !ok {
				return
			}
		}
		w.signal()
	}
}

func (w *Watcher) signal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, channels := range w.folders {
		for ch := range channels {
			select {
			case ch <- struct{}{}:
			default: // one signal is waiting already
			}
		}
	}
}

func (w *Watcher) forget(ch chan<- struct{}, dirs []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, dir := range dirs {
		channels := w.folders[dir]
		if channels == nil {
			continue // closed meanwhile
		}
		if channels[ch]--; channels[ch] <= 0 {
			delete(channels, ch)
		}
		if len(channels) == 0 {
			delete(w.folders, dir)
			w.kernel.Remove(dir) //nolint:errcheck // the folder may be gone
		}
	}
}

// Close ends the watching. Those who wait are told nothing more.
func (w *Watcher) Close() error {
	w.mu.Lock()
	kernel, done := w.kernel, w.done
	w.kernel, w.failed, w.folders = nil, true, nil
	w.mu.Unlock()
	if kernel == nil {
		return nil
	}
	err := kernel.Close()
	<-done
	return err
}
