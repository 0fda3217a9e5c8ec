package tracking_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/journal"
	"pillion/workspace/tracking"
	"pillion/workspace/watch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a workspace that is watched, as a sidecar has it.
type rig struct {
	machine.Folder
	docs *document.Store
	*tracking.Tracker
	committer *change.Committer
	told      chan []tracking.Change
	seen      chan []watch.Event
	before    []tracking.Change // what was wanted last
}

func newRig(t *testing.T, kernel bool) *rig {
	t.Setenv("HOME", t.TempDir())
	dir := machine.NewFolder(t)
	w, err := workspace.Open(workspace.Folder{Dir: dir.Dir})
	dir.Must(err)
	r := &rig{Folder: dir, docs: document.NewStore(w), told: make(chan []tracking.Change, 1000), seen: make(chan []watch.Event, 1000)}
	r.Tracker = tracking.New(r.docs, func(c []tracking.Change) { r.told <- c })
	r.Patient(time.Hour, time.Hour)
	r.committer = &change.Committer{Documents: r.docs, Making: r.Making}
	watcher := &watch.Watcher{}
	t.Cleanup(func() {
		r.Must(watcher.Close(), w.Close())
		r.Close()
	})
	if !kernel {
		return r
	}
	tree := watcher.Tree(watch.TreeOptions{Roots: func() []string { return []string{dir.Dir} }, Folders: w.WatchedFolders, Private: t.TempDir()})
	tree.Follow(func(events []watch.Event) {
		r.Follow(events)
		r.seen <- events
	})
	tree.Start()
	r.want("look again at everything", tracking.Change{Type: "changed", By: "outside"})
	return r
}

func (r *rig) path(name string) workspace.Path {
	p, err := r.docs.Workspace().Resolve(name)
	r.Must(err)
	return p
}

// want waits until all of these have been told, and wants nothing else told before.
func (r *rig) want(what string, want ...tracking.Change) {
	r.Helper()
	got := map[tracking.Change]bool{}
	deadline := time.After(time.Minute)
	for len(got) < len(want) {
		select {
		case changes := <-r.told:
			for _, c := range changes {
				if slices.Contains(r.before, c) && !slices.Contains(want, c) {
					continue // what is in a new folder may be told of twice, once it is watched
				}
				got[c] = true
				if !slices.Contains(want, c) {
					r.Fatalf("%s: told %+v, want %+v", what, changes, want)
				}
			}
		case <-deadline:
			r.Fatalf("%s: told only of %v, want %+v", what, got, want)
		}
	}
	r.before = want
}

func by(path, kind, who string) tracking.Change {
	return tracking.Change{Path: path, Type: kind, By: who}
}

// commit has an agent write a file.
func (r *rig) commit(name, text string) {
	r.Helper()
	f, err := r.docs.Snapshot(1<<20).ReadIfExists(r.path(name), "")
	r.Must(err)
	after := f.Content
	after.Text = text
	one, err := change.New(f, after)
	r.Must(err)
	one.CreateDirs = true
	_, err = r.committer.Commit(r.Context(), change.Only(one, "test"), journal.Origin{SessionID: "s1"})
	r.Must(err)
}

func (r *rig) tree(c change.TreeChange, err error) {
	r.Helper()
	r.Must(err)
	_, err = r.committer.Commit(r.Context(), change.Set{Tree: []change.TreeChange{c}}, journal.Origin{SessionID: "s1"})
	r.Must(err)
}

func TestWhoChangedIt(t *testing.T) {
	r := newRig(t, true)
	r.Write("a.txt", "one\n")
	r.want("a new file", by("a.txt", "created", "outside"))
	r.commit("a.txt", "two\n")
	r.want("an agent's edit", by("a.txt", "changed", "agent:s1"))
	r.commit("new/deep/b.txt", "b\n")
	r.want("an agent's new file, and its folders", by("new", "created", "agent:s1"), by("new/deep", "created", "agent:s1"), by("new/deep/b.txt", "created", "agent:s1"))
	r.Write("a.txt", "three\n")
	r.want("somebody else's edit of the same file", by("a.txt", "changed", "outside"))
	r.Must(os.Remove(r.Abs("a.txt")))
	r.want("its end", by("a.txt", "deleted", "outside"))

	snap := r.docs.Snapshot(1 << 20)
	r.tree(change.NewMove(snap, r.path("new/deep"), r.path("moved"), false))
	r.want("an agent's move", by("new/deep", "deleted", "agent:s1"), by("moved", "created", "agent:s1"), by("moved/b.txt", "created", "agent:s1"))
	r.tree(change.NewDirectory(r.docs.Snapshot(1<<20), r.path("made/here")))
	r.want("an agent's folders", by("made", "created", "agent:s1"), by("made/here", "created", "agent:s1"))
	r.tree(change.NewDelete(r.docs.Snapshot(1<<20), r.path("moved"), true))
	r.want("an agent's deletion", by("moved", "deleted", "agent:s1"))
	r.Write("moved", "a file of another's now")
	r.want("what comes there later", by("moved", "created", "outside"))
}

func TestTheEditorsChanges(t *testing.T) {
	r := newRig(t, true)
	r.Write("a.txt", "one\n")
	r.want("a new file", by("a.txt", "created", "outside"))
	p := r.path("a.txt")
	r.docs.Open(p, p.URI(), 1, "one\n")
	r.docs.Change(p, 2, "typed\n")
	r.Write("a.txt", "typed\n")
	r.docs.Saved(p)
	r.Saved(p)
	r.want("what was typed is saved", by("a.txt", "changed", "editor"))

	r.Write("a.txt", "formatted\n") // the editor formats as it saves, and says so a little later
	r.docs.Change(p, 3, "formatted\n")
	r.docs.Saved(p)
	r.Saved(p)
	r.want("what was formatted is saved", by("a.txt", "changed", "editor"))

	r.Patient(time.Millisecond, time.Hour)
	for len(r.seen) > 0 {
		<-r.seen
	}
	r.Write("a.txt", "checked out\n")
	<-r.seen                             // no editor is faster
	r.docs.Change(p, 4, "checked out\n") // the editor reloads it
	r.want("another's change that the editor reloads", by("a.txt", "changed", "outside"))
}

func TestIgnoredFilesAreNobodysBusiness(t *testing.T) {
	r := newRig(t, true)
	r.Write(".gitignore", "*.o\nbuild/\n")
	r.want("new rules", by(".gitignore", "created", "outside"), tracking.Change{Type: "changed", By: "outside"})
	r.Write("a.o", "")
	r.Write("build/x", "")
	r.Must(os.MkdirAll(r.Abs(".git/objects"), 0o755))
	r.want("a repository changes what is ignored", tracking.Change{Type: "changed", By: "outside"})
	r.Write("a.c", "")
	r.want("a file that counts", by("a.c", "created", "outside"))
}

func TestALotAtOnceIsTold(t *testing.T) {
	r := newRig(t, false)
	var events []watch.Event
	for i := range 300 {
		name := fmt.Sprint("f", i)
		r.Write(name, "")
		events = append(events, watch.Event{Dir: r.Dir, Name: name, Op: watch.Created})
	}
	r.Follow(events)
	changes := <-r.told
	if last := changes[len(changes)-1]; len(changes) != 201 || last != (tracking.Change{Type: "changed", By: "outside"}) {
		t.Errorf("%d at once, the last is %+v", len(changes), last)
	}
}

// TestWhatTheEditorWatches stands in where folders cannot be watched.
func TestWhatTheEditorWatches(t *testing.T) {
	r := newRig(t, false)
	r.Write("a.txt", "one")
	r.Write(".git/x", "")
	r.Changed([]string{r.path("a.txt").URI(), "file://" + r.Abs(".git/x"), "file:///elsewhere/x", "nonsense"})
	r.want("what it says", by("a.txt", "changed", "outside"))
	r.commit("a.txt", "two")
	r.Changed([]string{r.path("a.txt").URI()})
	r.want("an agent's edit", by("a.txt", "changed", "agent:s1"))
	r.Close()
	r.Changed([]string{r.path("a.txt").URI()})
	if len(r.told) > 0 {
		t.Error("told after the end")
	}
}

// TestWhatIsSeenWhileItIsMade is told when it is known what stands there.
func TestWhatIsSeenWhileItIsMade(t *testing.T) {
	r := newRig(t, false)
	r.Write("a.txt", "one")
	f, err := r.docs.Snapshot(1<<20).Read(r.path("a.txt"), "")
	r.Must(err)
	after := f.Content
	after.Text = "two"
	one, err := change.New(f, after)
	r.Must(err)
	synctest.Test(t, func(t *testing.T) {
		told := make(chan []tracking.Change, 9)
		tracker := tracking.New(r.docs, func(c []tracking.Change) { told <- c })
		defer tracker.Close()
		made := tracker.Making(journal.Origin{SessionID: "s1"}, change.Only(one, "test"))
		tracker.Changed([]string{r.path("a.txt").URI()})
		time.Sleep(time.Second) // the bubble's clock
		if len(told) > 0 {
			t.Errorf("told before it was made: %+v", <-told)
		}
		made(nil) // nothing of it was made
		time.Sleep(time.Second)
		if got := <-told; len(got) != 1 || got[0] != by("a.txt", "changed", "outside") {
			t.Errorf("%+v", got)
		}
	})
}
