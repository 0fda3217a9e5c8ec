package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a watcher and one who waits.
type rig struct {
	*Watcher
	t      *testing.T
	dir    string
	signal chan struct{}
}

func newRig(t *testing.T) *rig {
	r := &rig{&Watcher{}, t, t.TempDir(), make(chan struct{}, 1)}
	t.Cleanup(func() { r.must(r.Close()) })
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) abs(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) write(name, text string) {
	r.t.Helper()
	r.must(os.WriteFile(r.abs(name), []byte(text), 0o644))
}

// wantSignal does something and wants it told.
func (r *rig) wantSignal(what string, does func()) {
	r.t.Helper()
	r.drain()
	does()
	r.wait(r.signal, what)
}

func (r *rig) wait(ch <-chan struct{}, what string) {
	r.t.Helper()
	select {
	case <-ch:
	case <-time.After(time.Minute):
		r.t.Fatalf("%s was not told", what)
	}
}

// drain takes what is on its way. Events come in order, so all of it was told
// once a change that comes after it has been, to somebody whom nothing else concerns.
func (r *rig) drain() {
	r.t.Helper()
	mark, dir := make(chan struct{}, 1), r.t.TempDir()
	defer r.Folders(mark, []string{dir})()
	r.must(os.WriteFile(filepath.Join(dir, "mark"), nil, 0o644))
	r.wait(mark, "the mark")
	select {
	case <-r.signal:
	default:
	}
}

func TestChangesAreTold(t *testing.T) {
	r := newRig(t)
	r.write("a.txt", "one")
	defer r.Folders(r.signal, []string{r.dir})()
	r.wantSignal("a write in place", func() { r.write("a.txt", "two") })
	r.wantSignal("a new file", func() { r.write("b.txt", "") })
	r.wantSignal("a rename over it", func() { r.must(os.Rename(r.abs("b.txt"), r.abs("a.txt"))) })
	r.wantSignal("a removal", func() { r.must(os.Remove(r.abs("a.txt"))) })
}

func TestFolderThatComes(t *testing.T) {
	r := newRig(t)
	defer r.Folders(r.signal, []string{r.abs("not/yet")})()
	r.wantSignal("the folder above it", func() { r.must(os.Mkdir(r.abs("not"), 0o755)) })
	r.wantSignal("the folder", func() { r.must(os.Mkdir(r.abs("not/yet"), 0o755)) })
	r.wantSignal("a file in it", func() { r.write("not/yet/a.txt", "") })
}

// TestNeighbours of a folder that is not there are nobody's concern; what stands in its
// way is.
func TestNeighbours(t *testing.T) {
	r := newRig(t)
	defer r.Folders(r.signal, []string{r.abs("not/yet")})()
	r.write("no", "")
	r.must(os.Rename(r.abs("no"), r.abs("note")))
	r.must(os.Remove(r.abs("note")))
	r.must(os.Mkdir(r.abs("mark"), 0o755))
	mark := make(chan struct{}, 1)
	defer r.Folders(mark, []string{r.abs("mark")})()
	r.write("mark/a.txt", "")
	r.wait(mark, "the mark")
	select {
	case <-r.signal:
		t.Error("told of a neighbour")
	default:
	}
	r.wantSignal("a file in its way", func() { r.write("not", "") })
}

func TestFolderThatIsMadeAnew(t *testing.T) {
	r := newRig(t)
	r.must(os.Mkdir(r.abs("dir"), 0o755))
	defer r.Folders(r.signal, []string{r.abs("dir")})()
	r.wantSignal("its removal", func() { r.must(os.Remove(r.abs("dir"))) })
	r.wantSignal("its return", func() { r.must(os.Mkdir(r.abs("dir"), 0o755)) })
	r.wantSignal("a file in it", func() { r.write("dir/a.txt", "") })
}

func TestFolderThatIsReplaced(t *testing.T) {
	r := newRig(t)
	r.must(os.Mkdir(r.abs("dir"), 0o755))
	defer r.Folders(r.signal, []string{r.abs("dir")})()
	r.wantSignal("its renaming", func() {
		r.must(os.Rename(r.abs("dir"), r.abs("old")))
		r.must(os.Mkdir(r.abs("dir"), 0o755))
	})
	r.wantSignal("a file in the new one", func() { r.write("dir/a.txt", "") })
}

func TestOneStopsAndAnotherGoesOn(t *testing.T) {
	r := newRig(t)
	other := make(chan struct{}, 1)
	stop := r.Folders(other, []string{r.dir})
	defer r.Folders(r.signal, []string{r.dir, r.dir})()
	stop()
	stop() // again does nothing
	r.wantSignal("a change", func() { r.write("a.txt", "") })
	select {
	case <-other:
		t.Error("told after the end")
	default:
	}
}

func TestOthersAreNotDisturbed(t *testing.T) {
	r := newRig(t)
	r.must(os.Mkdir(r.abs("mine"), 0o755))
	r.must(os.Mkdir(r.abs("theirs"), 0o755))
	theirs := make(chan struct{}, 1)
	defer r.Folders(theirs, []string{r.abs("theirs")})()
	defer r.Folders(r.signal, []string{r.abs("mine")})()
	r.wantSignal("a change", func() { r.write("mine/a.txt", "") })
	select {
	case <-theirs:
		t.Error("told of a folder that is none of theirs")
	default:
	}
}

// TestOverflow: what was missed may be anything, anywhere.
func TestOverflow(t *testing.T) {
	r := newRig(t)
	defer r.Folders(r.signal, []string{r.dir})()
	r.wantSignal("an overflow", func() { r.kernel.Errors <- fsnotify.ErrEventOverflow })
}

func TestNobodyWaitsAndNothingIsWatched(t *testing.T) {
	r := newRig(t)
	r.must(os.Mkdir(r.abs("dir"), 0o755))
	a, b := r.Folders(r.signal, []string{r.dir, r.abs("dir")}), r.Folders(r.signal, []string{r.dir})
	if n := len(r.kernel.WatchList()); n != 2 {
		t.Errorf("%d folders are watched", n)
	}
	a()
	if list := r.kernel.WatchList(); len(list) != 1 || list[0] != r.dir {
		t.Errorf("watched: %v", list)
	}
	b()
	if list := r.kernel.WatchList(); len(list) != 0 {
		t.Errorf("watched: %v", list)
	}
}

func TestClosed(t *testing.T) {
	r := newRig(t)
	stop := r.Folders(r.signal, []string{r.dir})
	r.must(r.Close())
	stop()
	r.Folders(r.signal, []string{r.dir})()
	r.must((&Watcher{}).Close()) // one that never watched
}
