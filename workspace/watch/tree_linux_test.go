package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
)

// forest is a tree of one root and one who follows it: he keeps the names of all
// entries as a file list would, and lists again what he is told of.
type forest struct {
	*Tree
	machine.Folder

	mu     sync.Mutex // guards all below
	listed map[string][]string
	states []State
	hold   chan struct{} // while it is there, the follower does not come back
}

func newForest(t *testing.T, budget int) *forest {
	f := &forest{Folder: machine.Folder{TB: t, Dir: filepath.Join(t.TempDir(), "root")}, listed: map[string][]string{}}
	f.Must(os.Mkdir(f.Dir, 0o755))
	w := &Watcher{}
	t.Cleanup(func() { f.Must(w.Close()) })
	f.Tree = w.Tree(TreeOptions{
		Roots: func() []string { return []string{f.Dir} }, Folders: walkNotIgnored, Private: t.TempDir(), Budget: budget,
		Changed: func(s State) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.states = append(f.states, s)
		},
	})
	f.Follow(f.told)
	return f
}

// walkNotIgnored ignores what is called so.
func walkNotIgnored(ctx context.Context, dir string, visit func(string) error) error {
	if filepath.Base(dir) == "ignored" {
		return nil
	}
	err := visit(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && ctx.Err() == nil {
			if err := walkNotIgnored(ctx, filepath.Join(dir, e.Name()), visit); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return err
}

// told lists again what has changed, and of a new folder all that is in it.
func (f *forest) told(events []Event) {
	f.mu.Lock()
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		<-hold
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var last Event // of which it was listed
	for _, e := range events {
		if e.Op != Lost && e.Op != Created && e.Op != Deleted {
			continue
		}
		if again := last == (Event{Dir: e.Dir, Name: e.Name}); again && !e.Folder {
			continue // it is in the list as it is now
		}
		last = Event{Dir: e.Dir, Name: e.Name}
		full := filepath.Join(e.Dir, e.Name)
		switch {
		case e.Op == Lost:
			f.forget(e.Dir)
			f.list(e.Dir)
		default:
			f.listOne(e.Dir)
			f.forget(full)
			if e.Folder && e.Op == Created {
				f.list(full)
			}
		}
	}
}

func (f *forest) forget(dir string) {
	maps.DeleteFunc(f.listed, func(d string, _ []string) bool { return d == dir || strings.HasPrefix(d, dir+"/") })
}

func (f *forest) listOne(dir string) []fs.DirEntry {
	entries, err := os.ReadDir(dir)
	if err != nil || filepath.Base(dir) == "ignored" {
		delete(f.listed, dir)
		return nil
	}
	f.listed[dir] = nil
	for _, e := range entries {
		f.listed[dir] = append(f.listed[dir], e.Name())
	}
	return entries
}

func (f *forest) list(dir string) {
	for _, e := range f.listOne(dir) {
		if e.IsDir() {
			f.list(filepath.Join(dir, e.Name()))
		}
	}
}

// truth is what there is, found by looking.
func (f *forest) truth() map[string][]string {
	other := &forest{listed: map[string][]string{}}
	other.list(f.Dir)
	return other.listed
}

func (f *forest) known() map[string][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.listed)
}

// ready waits until the tree can settle.
func (f *forest) ready() {
	f.Helper()
	f.until("it is ready", func() bool { return f.State().Ready })
}

func (f *forest) until(what string, is func() bool) {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("%s: not within a minute; the state is %+v", what, f.State())
		}
	}
}

// settled settles, and looks until that works: folders are looked through again
// now and then. From then on the follower knows the truth.
func (f *forest) settled() {
	f.Helper()
	var err error
	f.until("it settles", func() bool {
		ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
		defer cancel()
		err = f.Settle(ctx)
		return err == nil
	})
	if known, truth := f.known(), f.truth(); !maps.EqualFunc(known, truth, slices.Equal) {
		f.Fatalf("known: %v\n truth: %v", known, truth)
	}
}

func TestTreeTellsBeforeItSettles(t *testing.T) {
	f := newForest(t, 0)
	f.Write("before/a", "")
	if err := f.Settle(t.Context()); !errors.Is(err, ErrUnsettled) {
		t.Errorf("before the start: %v", err)
	}
	f.Start()
	f.Start()
	f.ready()
	f.settled()
	for i := range machine.Cases(40, 400) {
		f.Write(fmt.Sprintf("new%d/deep/deeper/a", i%20), "")
		f.Write(fmt.Sprintf("before/%d", i), "")
		f.settled()
	}
	if n := f.State().Watched; n != 2+3*20 {
		t.Errorf("%d folders are watched", n)
	}
}

// TestTreeFollowsAnything: whatever is done by several at once, all of it is known
// once it is over and the tree has settled.
func TestTreeFollowsAnything(t *testing.T) {
	f := newForest(t, 0)
	f.Start()
	f.ready()
	for round := range machine.Cases(50, 120) {
		var all sync.WaitGroup
		for worker := range 3 {
			random := rand.New(rand.NewPCG(uint64(round), uint64(worker)))
			all.Go(func() {
				for range 30 {
					f.anything(random)
				}
			})
		}
		all.Wait()
		f.settled()
	}
}

// anything may fail: another may have been faster.
func (f *forest) anything(random *rand.Rand) {
	name := func() string {
		depth, name := 1+random.IntN(4), f.Dir
		for range depth {
			name = filepath.Join(name, []string{"a", "b", "c", "d", "ignored"}[random.IntN(5)])
		}
		return name
	}
	switch random.IntN(8) {
	case 0, 1:
		os.MkdirAll(name(), 0o755)
	case 2, 3:
		os.Rename(name(), name())
	case 4:
		os.RemoveAll(name())
	default:
		os.WriteFile(name(), nil, 0o644)
	}
}

func TestTreeAfterAnOverflow(t *testing.T) {
	f := newForest(t, 0)
	f.Start()
	f.ready()
	hold := make(chan struct{})
	f.mu.Lock()
	f.hold = hold
	f.mu.Unlock()
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	f.Must(err)
	var n int
	fmt.Sscan(string(limit), &n)
	f.Write("first", "")
	waits := make(chan error, 1)
	for i := range n/2 + 5000 { // made and removed; some are read before the follower is held
		if i == 10 {
			go func() { waits <- f.Settle(t.Context()) }()
		}
		f.Must(os.Symlink("nowhere", f.Abs("x")))
		f.Must(os.Remove(f.Abs("x")))
	}
	f.Write("last/one", "")
	f.mu.Lock()
	f.hold = nil
	f.mu.Unlock()
	close(hold)
	<-waits // it may have been before the overflow or after it, but it comes back
	f.settled()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.ContainsFunc(f.states, func(s State) bool { return s.Degraded }) {
		t.Errorf("nobody was told of an overflow: %+v", f.states)
	}
}

// TestPlacesOfWhatIsGone: a look through the folders comes before the events that
// tell which are gone.
func TestPlacesOfWhatIsGone(t *testing.T) {
	f := newForest(t, 5)
	for i := range 8 {
		f.Write(fmt.Sprintf("%d/a", i), "")
	}
	w, err := newWatching(f.Tree)
	f.Must(err)
	defer func() {
		close(w.done) // nobody runs it
		f.Must(w.close())
	}()
	w.scan()
	if s := f.State(); !s.Degraded || s.Watched != 5 {
		t.Errorf("got %+v", s)
	}
	for i := range 6 {
		f.Must(os.RemoveAll(f.Abs(fmt.Sprint(i))))
	}
	w.scan()
	if s := f.State(); !s.Ready || s.Watched != 3 {
		t.Errorf("got %+v", s)
	}
}

func TestTreeWithinItsBudget(t *testing.T) {
	f := newForest(t, 5)
	for i := range 8 {
		f.Write(fmt.Sprintf("%d/a", i), "")
	}
	f.Start()
	f.until("it says so", func() bool { return f.State().Degraded })
	if s := f.State(); s.Ready || s.Watched != 5 || !strings.Contains(s.Reason, "more folders than may be watched") {
		t.Errorf("got %+v", s)
	}
	if err := f.Settle(t.Context()); !errors.Is(err, ErrUnsettled) {
		t.Errorf("settled: %v", err)
	}
	for i := range 6 {
		f.Must(os.RemoveAll(f.Abs(fmt.Sprint(i))))
	}
	f.Rescan()
	f.settled()
	for i := range 6 {
		f.Write(fmt.Sprintf("%d/a", i), "")
	}
	f.until("it says so again", func() bool { return f.State().Degraded })
}

func TestTreeWhoseRootGoesAndComes(t *testing.T) {
	f := newForest(t, 0)
	f.Write("a/b", "")
	held, err := os.Open(f.Dir) // as the workspace holds it: the kernel tells of no end
	f.Must(err)
	defer held.Close()
	f.Start()
	f.settled()
	f.Must(os.RemoveAll(f.Dir))
	f.until("it says so", func() bool { return f.State().Degraded })
	f.Must(os.Mkdir(f.Dir, 0o755))
	f.Write("c/d", "")
	f.settled()
	f.Must(os.Rename(f.Dir, f.Dir+"2"))
	f.Must(os.Mkdir(f.Dir, 0o755))
	f.Write("e/f", "")
	f.settled()
	f.Must(os.Rename(filepath.Dir(f.Dir), filepath.Dir(f.Dir)+"2")) // of which nobody is told
	defer os.RemoveAll(filepath.Dir(f.Dir) + "2")
	if err := f.Settle(t.Context()); !errors.Is(err, ErrUnsettled) {
		t.Errorf("settled: %v", err)
	}
}

func TestTreeWithManyFolders(t *testing.T) {
	f := newForest(t, 0)
	const folders = 300
	for i := range folders {
		f.Must(os.MkdirAll(f.Abs(fmt.Sprintf("%d/%d/ignored/no", i%40, i)), 0o755))
	}
	f.Start()
	f.settled()
	if n := f.State().Watched; n != folders+41 {
		t.Errorf("%d are watched", n)
	}
	f.Must(os.Rename(f.Abs("1"), f.Abs("new")))
	f.settled()
	f.Write("new/1/a", "")
	f.settled()
}

// TestTreeWithNewRules: which folders are ignored may change with any of these.
func TestTreeWithNewRules(t *testing.T) {
	f := newForest(t, 0)
	for _, name := range []string{"a", "b", "c"} {
		f.Must(os.Mkdir(f.Abs(name), 0o755))
	}
	f.Start()
	f.settled()
	for _, name := range []string{"a/.gitignore", "b/.ignore", "c/.git"} {
		before := f.scans()
		f.Write(name, "")
		f.until(name+" has it look again", func() bool { return f.scans() > before })
		f.settled()
	}
}

// scans is how often the tree was ready anew.
func (f *forest) scans() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.states {
		if s.Ready {
			n++
		}
	}
	return n
}

func TestTreeThatIsClosed(t *testing.T) {
	f := newForest(t, 0)
	f.Start()
	f.ready()
	waits := make(chan error, 8)
	for range cap(waits) {
		go func() {
			for f.Settle(context.Background()) == nil {
			}
			waits <- nil
		}()
	}
	f.Must(f.close())
	for range cap(waits) {
		<-waits
	}
	f.Start()
	f.Rescan()
	if err := f.Settle(t.Context()); !errors.Is(err, ErrUnsettled) {
		t.Errorf("settled: %v", err)
	}
}

// TestTheEndComesAtAnyMoment: also just as the tree goes back to waiting.
func TestTheEndComesAtAnyMoment(t *testing.T) {
	root, private := t.TempDir(), t.TempDir()
	for range machine.Cases(40, 400) {
		w := &Watcher{}
		lookedThrough(w, root, private)
		machine.Must(t, w.Close())
	}
}

// lookedThrough is a tree that has just said what it found, and is about to wait.
func lookedThrough(w *Watcher, root, private string) *Tree {
	said := make(chan struct{}, 1)
	tree := w.Tree(TreeOptions{
		Roots: func() []string { return []string{root} }, Folders: walkNotIgnored, Private: private,
		Changed: func(State) {
			select {
			case said <- struct{}{}:
			default:
			}
		},
	})
	tree.Start()
	<-said
	return tree
}

func TestWhereNothingSettles(t *testing.T) {
	m := &mounts{types: []mount{{"/", "ext4"}, {"/home", "nfs4"}, {"/home/me/fast", "ext4"}, {"/src/vendor", "fuse.sshfs"}, {"/src/over", "nfs"}, {"/src/over", "tmpfs"}}}
	for _, one := range []struct {
		root, watched string
		foreign       bool
	}{
		{"/src", "/src/a", false},
		{"/src", "/src/vendor", true},
		{"/home/me/app", "/home/me/app/a", true},
		{"/home/me/fast/app", "/home/me/fast/app/a", false},
		{"/homes", "/homes/a", false},
		{"/src/over/a", "/src/over/a/b", false},
	} {
		if got := m.foreign([]identity{{dir: one.root}}, map[string]identity{one.watched: {}}); got != "" != one.foreign {
			t.Errorf("%s, with %s watched: %q", one.root, one.watched, got)
		}
	}
	if got := unescape(`/a\040b\134c`); got != `/a b\c` {
		t.Errorf("got %s", got)
	}
}

func TestNoPlaceForTheMark(t *testing.T) {
	f := newForest(t, 0)
	f.options.Private = f.Abs("file/below")
	f.Write("file", "")
	f.Start()
	f.until("it says so", func() bool { return f.State().Degraded })
	if err := f.Settle(t.Context()); !errors.Is(err, ErrUnsettled) {
		t.Errorf("settled: %v", err)
	}
}

func BenchmarkSettle(b *testing.B) {
	w := &Watcher{}
	defer w.Close()
	tree := lookedThrough(w, b.TempDir(), b.TempDir())
	for b.Loop() {
		if err := tree.Settle(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
