package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"

	"pillion/internal/testrig/machine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a watcher and one who waits.
type rig struct {
	*Watcher
	machine.Folder
	signal chan struct{}
}

func newRig(t *testing.T) *rig {
	r := &rig{&Watcher{}, machine.Folder{TB: t, Dir: t.TempDir()}, make(chan struct{}, 1)}
	t.Cleanup(func() { r.Must(r.Close()) })
	return r
}

// wantSignal does something and wants it told.
func (r *rig) wantSignal(what string, does func()) {
	r.Helper()
	r.drain()
	does()
	r.wait(r.signal, what)
}

func (r *rig) wait(ch <-chan struct{}, what string) {
	r.Helper()
	select {
	case <-ch:
	case <-time.After(time.Minute):
		r.Fatalf("%s was not told", what)
	}
}

func wantSilence(t *testing.T, ch <-chan struct{}, of string) {
	t.Helper()
	select {
	case <-ch:
		t.Errorf("told of %s", of)
	default:
	}
}

// drain takes what is on its way. Events come in order, so all of it was told
// once a change that comes after it has been, to somebody whom nothing else concerns.
func (r *rig) drain() {
	r.Helper()
	mark, dir := make(chan struct{}, 1), r.TempDir()
	defer r.Folders(mark, []string{dir})()
	r.Must(os.WriteFile(filepath.Join(dir, "mark"), nil, 0o644))
	r.wait(mark, "the mark")
	select {
	case <-r.signal:
	default:
	}
}

func TestChangesAreTold(t *testing.T) {
	r := newRig(t)
	r.Write("a.txt", "one")
	defer r.Folders(r.signal, []string{r.Dir})()
	r.wantSignal("a write in place", func() { r.Write("a.txt", "two") })
	r.wantSignal("a new file", func() { r.Write("b.txt", "") })
	r.wantSignal("a rename over it", func() { r.Must(os.Rename(r.Abs("b.txt"), r.Abs("a.txt"))) })
	r.wantSignal("a removal", func() { r.Must(os.Remove(r.Abs("a.txt"))) })
}

func TestFolderThatComes(t *testing.T) {
	r := newRig(t)
	defer r.Folders(r.signal, []string{r.Abs("not/yet")})()
	r.wantSignal("the folder above it", func() { r.Must(os.Mkdir(r.Abs("not"), 0o755)) })
	r.wantSignal("the folder", func() { r.Must(os.Mkdir(r.Abs("not/yet"), 0o755)) })
	r.wantSignal("a file in it", func() { r.Write("not/yet/a.txt", "") })
}

// TestNeighbours of a folder that is not there are nobody's concern; what stands in its
// way is.
func TestNeighbours(t *testing.T) {
	r := newRig(t)
	defer r.Folders(r.signal, []string{r.Abs("not/yet")})()
	r.Write("no", "")
	r.Must(os.Rename(r.Abs("no"), r.Abs("note")))
	r.Must(os.Remove(r.Abs("note")))
	r.Must(os.Mkdir(r.Abs("mark"), 0o755))
	mark := make(chan struct{}, 1)
	defer r.Folders(mark, []string{r.Abs("mark")})()
	r.Write("mark/a.txt", "")
	r.wait(mark, "the mark")
	wantSilence(t, r.signal, "a neighbour")
	r.wantSignal("a file in its way", func() { r.Write("not", "") })
}

func TestFolderThatIsMadeAnew(t *testing.T) {
	r := newRig(t)
	r.Must(os.Mkdir(r.Abs("dir"), 0o755))
	defer r.Folders(r.signal, []string{r.Abs("dir")})()
	r.wantSignal("its removal", func() { r.Must(os.Remove(r.Abs("dir"))) })
	r.wantSignal("its return", func() { r.Must(os.Mkdir(r.Abs("dir"), 0o755)) })
	r.wantSignal("a file in it", func() { r.Write("dir/a.txt", "") })
}

func TestFolderThatIsReplaced(t *testing.T) {
	r := newRig(t)
	r.Must(os.Mkdir(r.Abs("dir"), 0o755))
	defer r.Folders(r.signal, []string{r.Abs("dir")})()
	r.wantSignal("its renaming", func() {
		r.Must(os.Rename(r.Abs("dir"), r.Abs("old")))
		r.Must(os.Mkdir(r.Abs("dir"), 0o755))
	})
	r.wantSignal("a file in the new one", func() { r.Write("dir/a.txt", "") })
}

func TestOneStopsAndAnotherGoesOn(t *testing.T) {
	r := newRig(t)
	other := make(chan struct{}, 1)
	stop := r.Folders(other, []string{r.Dir})
	defer r.Folders(r.signal, []string{r.Dir, r.Dir})()
	stop()
	stop() // again does nothing
	r.wantSignal("a change", func() { r.Write("a.txt", "") })
	wantSilence(t, other, "what comes after the end")
}

func TestOthersAreNotDisturbed(t *testing.T) {
	r := newRig(t)
	r.Must(os.Mkdir(r.Abs("mine"), 0o755))
	r.Must(os.Mkdir(r.Abs("theirs"), 0o755))
	theirs := make(chan struct{}, 1)
	defer r.Folders(theirs, []string{r.Abs("theirs")})()
	defer r.Folders(r.signal, []string{r.Abs("mine")})()
	r.wantSignal("a change", func() { r.Write("mine/a.txt", "") })
	wantSilence(t, theirs, "a folder that is none of theirs")
}

// TestOverflow: what was missed may be anything, anywhere.
func TestOverflow(t *testing.T) {
	r := newRig(t)
	defer r.Folders(r.signal, []string{r.Dir})()
	r.wantSignal("an overflow", func() { r.kernel.Errors <- fsnotify.ErrEventOverflow })
}

func TestNobodyWaitsAndNothingIsWatched(t *testing.T) {
	r := newRig(t)
	r.Must(os.Mkdir(r.Abs("dir"), 0o755))
	a, b := r.Folders(r.signal, []string{r.Dir, r.Abs("dir")}), r.Folders(r.signal, []string{r.Dir})
	if n := len(r.kernel.WatchList()); n != 2 {
		t.Errorf("%d folders are watched", n)
	}
	a()
	if list := r.kernel.WatchList(); len(list) != 1 || list[0] != r.Dir {
		t.Errorf("watched: %v", list)
	}
	b()
	if list := r.kernel.WatchList(); len(list) != 0 {
		t.Errorf("watched: %v", list)
	}
}

func TestClosed(t *testing.T) {
	r := newRig(t)
	stop := r.Folders(r.signal, []string{r.Dir})
	r.Must(r.Close())
	stop()
	r.Folders(r.signal, []string{r.Dir})()
	r.Must((&Watcher{}).Close()) // one that never watched
}

// TestNobodyWaitsForTheGathering: who asks for the barrier ends the pause, whether it has
// begun or is still to come.
func TestNobodyWaitsForTheGathering(t *testing.T) {
	kernel, err := fsnotify.NewWatcher()
	machine.Must(t, err)
	defer kernel.Close()
	for name, first := range map[string]bool{"before": true, "meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			b := newBarrier(kernel.Add, kernel.Remove, t.TempDir())
			defer b.close()
			if first {
				_, err := b.join()
				machine.Must(t, err)
			}
			over := make(chan struct{})
			go func() {
				b.pause(time.Hour)
				close(over)
			}()
			if !first {
				_, err := b.join()
				machine.Must(t, err)
			}
			select {
			case <-over:
			case <-time.After(time.Minute):
				t.Error("it goes on")
			}
		})
	}
}
