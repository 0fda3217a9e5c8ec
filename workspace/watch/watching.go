package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watching is a tree at work. Its goroutine alone uses what has no lock.
//
// fsnotify names an event by the path under which its folder was added. A folder that is
// renamed while it is added keeps its old path there, and adding it again changes
// nothing. So each folder is known here by what it is (its device and inode) as well: one
// that is there under another path is removed first, and what comes by a new name is
// always added anew, and looked through after that.
type watching struct {
	tree    *Tree
	kernel  *fsnotify.Watcher
	barrier *barrier
	mounts  *mounts
	budget  int
	done    chan struct{}
	wake    chan struct{}              // somebody wants a rescan
	ordered atomic.Bool                // and nothing is settled until it is done
	roots   atomic.Pointer[[]identity] // as they were when they were last looked through

	folders map[string]identity // those that are watched
	paths   map[folderID]string // the other way round
	parents map[string]bool     // the folders above roots
	out     []Event             // not told yet
	errs    []error             // of fsnotify, that came while it was asked for something

	full    bool      // the budget or the system's limit is used up
	twice   string    // a folder that is there under two names
	gone    []string  // roots that are not there
	due     time.Time // of the next rescan; zero: none
	patient time.Duration
	lost    time.Time // when events were lost last
}

// identity is which folder a path is.
type identity struct {
	dir string
	id  folderID
}

func newWatching(t *Tree) (*watching, error) {
	kernel, err := fsnotify.NewBufferedWatcher(atOnce)
	if err != nil {
		return nil, fmt.Errorf("the system gives no more watchers: %w", err)
	}
	w := &watching{
		tree: t, kernel: kernel, mounts: openMounts(), budget: cmp.Or(t.options.Budget, share()),
		done: make(chan struct{}), wake: make(chan struct{}, 1),
		folders: map[string]identity{}, paths: map[folderID]string{}, parents: map[string]bool{},
	}
	w.barrier = newBarrier(
		func(dir string) error { return w.ask(kernel.Add, dir) }, func(dir string) error { return w.ask(kernel.Remove, dir) }, t.options.Private)
	return w, nil
}

// atOnce is how many events can be taken in one go.
const atOnce = 1024

// run is the tree's goroutine.
func (w *watching) run() {
	defer close(w.done)
	w.scan()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		w.sleepUntil(timer)
		select {
		case e, ok := <-w.kernel.Events:
			if !ok {
				return
			}
			w.handle(e)
			w.heed()
			w.drain()
		case err, ok := <-w.kernel.Errors:
			if !ok {
				return
			}
			w.errs = append(w.errs, err)
		case <-w.wake:
		case <-timer.C:
		case <-w.tree.ctx.Done():
			return
		}
		w.heed()
		if w.ordered.Load() {
			w.soon(0)
			w.ordered.Store(false) // not before everybody can see that nothing is settled
		}
		w.flush()
		if !w.due.IsZero() && !time.Now().Before(w.due) {
			w.scan()
		}
	}
}

// ask asks fsnotify for something. It may have an error to report first, and does nothing
// else until somebody takes it.
func (w *watching) ask(do func(dir string) error, dir string) error {
	done := make(chan error, 1)
	go func() { done <- do(dir) }()
	for {
		select {
		case err := <-done:
			return err
		case err := <-w.kernel.Errors:
			w.errs = append(w.errs, err)
		}
	}
}

// heed takes the errors in, before any event that came after them.
func (w *watching) heed() {
	errs := w.errs
	w.errs = nil
	for _, err := range errs {
		if err != nil && !errors.Is(err, syscall.EINVAL) { // that is a watch which had ended by itself
			w.failed(err)
		}
	}
}

// drain takes what has come by now, and after a pause what has come meanwhile: events come
// in bursts, and each would have the followers look.
func (w *watching) drain() {
	for paused := false; ; {
		select {
		case e, ok := <-w.kernel.Events:
			if !ok {
				return
			}
			w.handle(e)
			w.heed()
			continue
		default:
		}
		if paused {
			return
		}
		w.flush()
		w.barrier.pause(gather)
		paused = true
	}
}

// sleepUntil has the timer go off when something is to be done though nothing happens.
func (w *watching) sleepUntil(timer *time.Timer) {
	if w.due.IsZero() && len(w.gone) > 0 {
		w.due = time.Now().Add(goneLook)
	}
	if w.due.IsZero() {
		timer.Stop()
		return
	}
	timer.Reset(time.Until(w.due))
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
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close needs the tree's context to have ended.
func (w *watching) close() error {
	<-w.done
	w.barrier.close()
	w.mounts.close()
	return w.kernel.Close()
}

// failed: fsnotify reports that events were lost, or what else went wrong: then nobody
// knows what was lost.
func (w *watching) failed(err error) {
	now := time.Now()
	if now.Sub(w.lost) > 2*rescanAtAll {
		w.patient = rescanSoon
	}
	w.lost = now
	w.barrier.fail()
	w.soon(w.patient)
	w.patient = min(2*w.patient, rescanAtAll)
	reason := "more changed at once than the system could report"
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		reason = "the system's watcher failed: " + err.Error()
	}
	w.tree.become(State{Degraded: true, Reason: reason + "; scanning the folders again"})
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
	for dir := range maps.Clone(w.folders) {
		if !visited[dir] {
			w.drop(dir)
			dropped = true
		}
	}
	return roots, dropped
}

// watchParents notices a root that goes: its own watch lasts as long as anybody has
// the folder open, as we have.
func (w *watching) watchParents() {
	before := w.parents
	w.parents = map[string]bool{}
	for _, root := range w.tree.options.Roots() {
		if above := filepath.Dir(root); w.ask(w.kernel.Add, above) == nil {
			w.parents[above] = true
		}
	}
	for above := range before {
		if _, watched := w.folders[above]; !watched && !w.parents[above] {
			w.ask(w.kernel.Remove, above) //nolint:errcheck // it may be gone
		}
	}
}

// judge says what the scan has come to.
func (w *watching) judge(roots []identity) State {
	s := State{Degraded: true}
	switch foreign := w.mounts.foreign(roots, w.folders); {
	case len(w.gone) > 0:
		s.Reason = fmt.Sprintf("the folder %s is not there", w.gone[0])
	case w.full:
		s.Reason = fmt.Sprintf("there are more folders than may be watched: %d of %s", len(w.folders), limitWords())
	case foreign != "":
		s.Reason = foreign
	case w.twice != "":
		s.Reason = fmt.Sprintf("the folder %s is there under two names", w.twice)
	case !w.due.IsZero():
		s.Degraded, s.Reason = false, lookingThrough
	case !w.barrier.works() && w.tree.options.Private != "":
		s.Reason = "there is no place for a file of our own, with which events are waited for"
	default:
		s.Degraded, s.Ready = false, true
	}
	return s
}

func (w *watching) flush() {
	if len(w.out) > 0 {
		w.tree.notify(w.out)
		w.out = w.out[:0:0] // the followers keep what they were given
	}
}

// handle takes one event, in the order in which fsnotify gives them.
func (w *watching) handle(e fsnotify.Event) {
	dir, name := filepath.Split(e.Name)
	dir = filepath.Clean(dir)
	_, watched := w.folders[dir]
	switch {
	case e.Name == "": // of a folder that was dropped
	case w.barrier.inside(e.Name):
		if e.Has(fsnotify.Write) && w.barrier.is(e.Name) {
			w.flush()
			w.barrier.passed()
		}
	case w.isRoot(e.Name) && !e.Has(fsnotify.Chmod|fsnotify.Write):
		if e.Has(fsnotify.Rename) {
			w.dropAll(e.Name)
		}
		w.soon(0)
	case watched:
		w.entry(dir, name, e)
	}
}

func (w *watching) isRoot(dir string) bool {
	roots := w.roots.Load()
	return roots != nil && slices.ContainsFunc(*roots, func(r identity) bool { return r.dir == dir })
}

// entry is a change of an entry of the folder dir. What came or went is looked at as it is
// now: fsnotify may tell of a folder by a name that another has by then.
func (w *watching) entry(dir, name string, e fsnotify.Event) {
	event := Event{Dir: dir, Name: name, Op: opOf(e)}
	switch event.Op {
	case Created, Deleted:
		_, event.Folder = w.folders[e.Name]
		w.dropAll(e.Name)
		info, err := os.Lstat(e.Name)
		if err != nil {
			event.Op = Deleted
			w.makeRoom()
			break
		}
		if event.Op, event.Folder = Created, info.IsDir(); event.Folder {
			w.found(e.Name)
		}
	case Attributes:
		info, err := os.Lstat(e.Name)
		event.Folder = err == nil && info.IsDir()
		if _, known := w.folders[e.Name]; event.Folder && !known {
			w.found(e.Name)
		}
	}
	if event.Op != Attributes && isRule(name) {
		w.soon(rescanSoon)
	}
	if n := len(w.out); n == 0 || w.out[n-1] != event {
		w.out = append(w.out, event)
	}
}

func opOf(e fsnotify.Event) Op {
	switch {
	case e.Has(fsnotify.Create):
		return Created
	case e.Has(fsnotify.Remove | fsnotify.Rename):
		return Deleted
	case e.Has(fsnotify.Write):
		return Changed
	}
	return Attributes
}

// makeRoom: folders that found no place may have one now.
func (w *watching) makeRoom() {
	if w.full && len(w.folders) < w.budget*7/8 {
		w.soon(rescanAtAll)
	}
}

// found watches a folder that came, and all below it.
func (w *watching) found(dir string) {
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
	now, err := identify(dir)
	if err != nil {
		return false
	}
	known, watched := w.folders[dir]
	if watched && known != now {
		w.drop(dir) // of another folder, that was here
		watched = false
	}
	if other := w.paths[now.id]; other != "" && other != dir {
		if there, err := identify(other); err == nil && there.id == now.id {
			w.twice = dir
		}
		w.drop(other) // it has moved, and is known by its old path
	}
	if !watched && len(w.folders) >= w.budget {
		w.full = true
		return false
	}
	if err := w.ask(w.kernel.Add, dir); err != nil {
		w.full = w.full || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE)
		return false
	}
	w.folders[dir], w.paths[now.id] = now, dir
	w.tree.watched.Store(int64(len(w.folders)))
	return true
}

// drop ends the watching of one folder.
func (w *watching) drop(dir string) {
	known, watched := w.folders[dir]
	if !watched {
		return
	}
	delete(w.folders, dir)
	if w.paths[known.id] == dir {
		delete(w.paths, known.id)
	}
	if !w.parents[dir] {
		w.ask(w.kernel.Remove, dir) //nolint:errcheck // it may be gone
	}
	w.tree.watched.Store(int64(len(w.folders)))
}

// dropAll ends the watching of dir and what is below it: it is elsewhere now.
func (w *watching) dropAll(dir string) {
	for folder := range w.folders {
		if holds(dir, folder) {
			w.drop(folder)
		}
	}
}
