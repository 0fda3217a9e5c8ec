package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// watching is a tree at work. Its goroutine alone uses what has no lock.
type watching struct {
	tree    *Tree
	kernel  *kernel
	barrier barrier
	mounts  *mounts
	budget  int
	done    chan struct{}
	ordered atomic.Bool                // somebody wants a rescan
	roots   atomic.Pointer[[]identity] // as they were when they were last looked through

	folders map[int32]string // what each watch stands for
	watches map[string]int32 // the other way round
	parents map[int32]string // the watches on the folders above roots
	out     []Event          // not told yet

	full    bool      // the budget or the system's limit is used up
	twice   string    // a folder that is there under two names
	gone    []string  // roots that are not there
	due     time.Time // of the next rescan; zero: none
	patient time.Duration
	lost    time.Time // when events were lost last
}

// identity is which folder a root is.
type identity struct {
	dir      string
	dev, ino uint64
}

func newWatching(t *Tree) (*watching, error) {
	k, err := newKernel(t.options.Private)
	if err != nil {
		return nil, err
	}
	return &watching{
		tree: t, kernel: k, mounts: openMounts(), budget: cmp.Or(t.options.Budget, share()), done: make(chan struct{}),
		folders: map[int32]string{}, watches: map[string]int32{}, parents: map[int32]string{}, barrier: newBarrier(k),
	}, nil
}

// run is the tree's goroutine.
func (w *watching) run() {
	defer close(w.done)
	w.scan()
	buffer := make([]byte, 64<<10)
	for n := 0; ; {
		if n > 0 && n < len(buffer)/2 { // of more the kernel might run out of room
			w.barrier.pause(gather)
		}
		n = 0
		w.kernel.readUntil(w.next())
		if w.tree.ctx.Err() != nil {
			return // asked now and not before: a wake until here was taken back
		}
		if w.ordered.Load() {
			w.soon(0)
			w.ordered.Store(false) // not before everybody can see that nothing is settled
		} else {
			var err error
			n, err = w.kernel.read(buffer)
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				w.broke(err)
				return
			}
			w.handle(buffer[:n])
		}
		w.flush()
		if !w.due.IsZero() && !time.Now().Before(w.due) {
			w.scan()
		}
	}
}

// next is when something is to be done though nothing happens.
func (w *watching) next() time.Time {
	if w.due.IsZero() && len(w.gone) > 0 {
		w.due = time.Now().Add(goneLook)
	}
	return w.due
}

// soon orders a rescan. Until it is done nothing is settled.
func (w *watching) soon(after time.Duration) {
	if at := time.Now().Add(after); w.due.IsZero() || at.Before(w.due) {
		w.due = at
	}
	state := w.tree.State()
	if state.Ready {
		state.Ready, state.Reason = false, lookingThrough
		w.tree.become(state)
	}
}

// rescan may be called by anybody.
func (w *watching) rescan() {
	w.ordered.Store(true)
	w.kernel.wake()
}

// close needs the tree's context to have ended.
func (w *watching) close() error {
	w.kernel.wake()
	<-w.done
	w.barrier.close()
	w.mounts.close()
	return w.kernel.close()
}

// broke ends the watching for good, which no system is known to do.
func (w *watching) broke(err error) {
	w.tree.become(State{Degraded: true, Reason: fmt.Sprintf("the system's watcher failed: %v", err)})
	w.barrier.close()
}

// scan looks through all folders: it watches those that are to be watched and no
// others, and says so to everyone.
func (w *watching) scan() {
	roots, dropped := w.look()
	if w.full && dropped { // what is dropped now took the places of others
		roots, _ = w.look()
	}
	if w.tree.ctx.Err() != nil {
		return
	}
	for _, root := range roots {
		w.out = append(w.out, Event{Dir: root.dir, Op: Lost})
	}
	w.watchParents()
	w.roots.Store(&roots)
	w.flush()
	w.tree.become(w.judge(roots))
}

// look gives the roots that are there, and whether it dropped any folder.
func (w *watching) look() (roots []identity, dropped bool) {
	w.due, w.full, w.twice, w.gone = time.Time{}, false, "", nil
	w.mounts.read()
	visited := map[string]bool{}
	for _, root := range w.tree.options.Roots() {
		id, err := identify(root)
		if err == nil {
			err = w.below(root, visited)
		}
		if err != nil || !visited[root] && !w.full {
			w.gone = append(w.gone, root)
			continue
		}
		roots = append(roots, id)
	}
	if w.tree.ctx.Err() != nil {
		return nil, false
	}
	unvisited := w.unvisited(visited)
	for _, dir := range unvisited {
		w.drop(dir)
	}
	return roots, len(unvisited) > 0
}

// watchParents notices a root that goes: its own watch lasts as long as anybody has
// the folder open, as we have.
func (w *watching) watchParents() {
	before := w.parents
	w.parents = map[int32]string{}
	for _, root := range w.tree.options.Roots() {
		if watch, err := w.kernel.parent(filepath.Dir(root)); err == nil {
			w.parents[watch] = filepath.Dir(root)
		}
	}
	for watch := range before {
		if w.parents[watch] == "" && w.folders[watch] == "" {
			w.kernel.remove(watch)
		}
	}
}

func (w *watching) unvisited(visited map[string]bool) []string {
	var out []string
	for dir := range w.watches {
		if !visited[dir] {
			out = append(out, dir)
		}
	}
	return out
}

// below watches dir and the folders below it, and notes those that it came upon.
func (w *watching) below(dir string, visited map[string]bool) error {
	err := w.tree.options.Folders(w.tree.ctx, dir, func(folder string) error {
		if w.full {
			return fs.SkipAll
		}
		if w.add(folder) {
			visited[folder] = true
		}
		return nil
	})
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// add watches one folder, and reports whether it is watched. One that is gone again,
// or is not ours to read, is not.
func (w *watching) add(dir string) bool {
	_, known := w.watches[dir]
	if !known && len(w.folders) >= w.budget {
		w.full = true
		return false
	}
	watch, err := w.kernel.add(dir)
	if err != nil {
		w.full = w.full || errors.Is(err, unix.ENOSPC)
		return false
	}
	if before := w.folders[watch]; before != "" && before != dir {
		delete(w.watches, before)
		if a, err := identify(before); err == nil {
			if b, err := identify(dir); err == nil && a.dev == b.dev && a.ino == b.ino {
				w.twice = dir
			}
		}
	}
	if before, known := w.watches[dir]; known && before != watch {
		w.release(before) // of another folder, that was here
	}
	w.folders[watch], w.watches[dir] = dir, watch
	w.tree.watched.Store(int64(len(w.folders)))
	return true
}

// drop ends the watching of one folder.
func (w *watching) drop(dir string) {
	if watch, known := w.watches[dir]; known {
		w.release(watch)
	}
}

func (w *watching) release(watch int32) {
	dir := w.folders[watch]
	delete(w.folders, watch)
	if w.watches[dir] == watch {
		delete(w.watches, dir)
	}
	w.kernel.remove(watch)
	w.tree.watched.Store(int64(len(w.folders)))
}

// dropAll ends the watching of dir and what is below it: it is elsewhere now.
func (w *watching) dropAll(dir string) {
	for folder := range w.watches {
		if folder == dir || strings.HasPrefix(folder, dir+"/") {
			w.drop(folder)
		}
	}
}

// judge says what the scan has come to.
func (w *watching) judge(roots []identity) State {
	s := State{Degraded: true}
	switch foreign := w.mounts.foreign(roots, w.watches); {
	case len(w.gone) > 0:
		s.Reason = fmt.Sprintf("the folder %s is not there", w.gone[0])
	case w.full:
		s.Reason = fmt.Sprintf("there are more folders than may be watched: %d of a system's limit of %d (fs.inotify.max_user_watches)", len(w.folders), systemLimit())
	case foreign != "":
		s.Reason = foreign
	case w.twice != "":
		s.Reason = fmt.Sprintf("the folder %s is there under two names", w.twice)
	case !w.due.IsZero():
		s.Degraded, s.Reason = false, lookingThrough
	case !w.kernel.canSettle() && w.tree.options.Private != "":
		s.Reason = "there is no place for a file of our own, with which events are waited for"
	default:
		s.Degraded, s.Ready = false, true
	}
	return s
}

func (w *watching) flush() {
	if len(w.out) > 0 {
		w.tree.tell(w.out)
		w.out = w.out[:0:0] // the followers keep what they were given
	}
}

// handle takes what the kernel has told, in its order.
func (w *watching) handle(buffer []byte) {
	for raw := range notices(buffer) {
		if above := w.parents[raw.watch]; above != "" && w.isRoot(filepath.Join(above, raw.name)) {
			w.soon(0)
		}
		switch dir, known := w.folders[raw.watch]; {
		case raw.mask&unix.IN_Q_OVERFLOW != 0:
			w.overflowed()
		case raw.watch == w.kernel.cookie:
			w.flush()
			w.barrier.passed()
		case !known: // one that was dropped
		case raw.mask&(unix.IN_IGNORED|unix.IN_UNMOUNT) != 0:
			w.ended(raw.watch, dir)
		case raw.name == "":
			if raw.mask&unix.IN_MOVE_SELF != 0 && w.isRoot(dir) {
				w.dropAll(dir)
				w.soon(0)
			}
		default:
			w.entry(dir, raw)
		}
	}
}

// ended: a folder that was watched is no more. A root may come back.
func (w *watching) ended(watch int32, dir string) {
	w.release(watch)
	switch {
	case w.isRoot(dir):
		w.soon(0)
	case w.full && len(w.folders) < w.budget*7/8:
		w.soon(rescanAtAll)
	}
}

func (w *watching) isRoot(dir string) bool {
	roots := w.roots.Load()
	return roots != nil && slices.ContainsFunc(*roots, func(r identity) bool { return r.dir == dir })
}

// overflowed: events were lost, nobody knows of which folder.
func (w *watching) overflowed() {
	now := time.Now()
	if now.Sub(w.lost) > 2*rescanAtAll {
		w.patient = rescanSoon
	}
	w.lost = now
	w.barrier.fail(w.tree.options.Private)
	w.soon(w.patient)
	w.patient = min(2*w.patient, rescanAtAll)
	w.tree.become(State{Degraded: true, Reason: "more changed at once than the system could report; scanning the folders again"})
}

// entry is a change of an entry of the folder dir.
func (w *watching) entry(dir string, raw notice) {
	e := Event{Dir: dir, Name: raw.name, Op: raw.op(), Folder: raw.mask&unix.IN_ISDIR != 0}
	full := filepath.Join(dir, raw.name)
	switch {
	case !e.Folder:
	case e.Op == Created || e.Op == Attributes:
		w.found(full)
	case raw.mask&unix.IN_MOVED_FROM != 0:
		w.dropAll(full)
	case e.Op == Deleted:
		w.drop(full)
	}
	if e.Op != Attributes && isRule(raw.name) {
		w.soon(rescanSoon)
	}
	if n := len(w.out); n == 0 || w.out[n-1] != e {
		w.out = append(w.out, e)
	}
}

// found watches a folder that came, unless that is done: a folder that was listed
// just after it was made is watched already, with all that is in it.
func (w *watching) found(dir string) {
	before, known := w.watches[dir]
	if known {
		if again, err := w.kernel.add(dir); err == nil && again == before {
			return
		}
		w.dropAll(dir)
	}
	w.below(dir, map[string]bool{}) //nolint:errcheck // a folder that cannot be listed is empty to everybody
	state := w.tree.State()
	if w.full && !state.Degraded || w.twice != "" && state.Ready {
		roots := w.roots.Load()
		w.tree.become(w.judge(*roots))
	}
}

// isRule: files of this name, and a repository's own folder, say what is ignored.
func isRule(name string) bool {
	return name == ".gitignore" || name == ".ignore" || name == ".rgignore" || name == ".git"
}

// settle is the barrier. A root that is another folder now, and a file system that
// was mounted since, are no events: both are looked at here.
func (w *watching) settle(ctx context.Context) error {
	roots := w.roots.Load()
	for _, root := range *roots {
		if now, err := identify(root.dir); err != nil || now != root {
			w.rescan()
			return unsettled(fmt.Sprintf("the folder %s was replaced", filepath.Base(root.dir)))
		}
	}
	if w.mounts.changed() {
		w.rescan()
		return unsettled("a file system was mounted or unmounted")
	}
	if err := w.barrier.wait(ctx); err != nil {
		return err
	}
	if w.ordered.Load() {
		return unsettled(lookingThrough)
	}
	if state := w.tree.State(); !state.Ready {
		return unsettled(state.Reason)
	}
	return nil
}

func identify(dir string) (identity, error) {
	var info unix.Stat_t
	err := unix.Stat(dir, &info)
	return identity{dir, info.Dev, info.Ino}, err //nolint:unconvert // of other types on other processors
}
