package change

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// trees is a bench with plans for whole entries.
type trees struct{ *bench }

func newTrees(t *testing.T) trees { return trees{newBench(t)} }

func (b trees) entry(name string) workspace.Path {
	b.Helper()
	p, err := b.Documents.Workspace().ResolveEntry(name)
	b.Must(err)
	return p
}

func (b trees) remove(name string) TreeChange {
	b.Helper()
	c, err := NewDelete(b.Documents.Snapshot(limit), b.entry(name), true)
	b.Must(err)
	return c
}

func (b trees) move(from, to string) TreeChange {
	b.Helper()
	c, err := NewMove(b.Documents.Snapshot(limit), b.entry(from), b.entry(to), true)
	b.Must(err)
	return c
}

func (b trees) mkdir(name string) TreeChange {
	b.Helper()
	c, err := NewDirectory(b.Documents.Snapshot(limit), b.entry(name))
	b.Must(err)
	return c
}

func (b trees) mode(name string, executable bool) TreeChange {
	b.Helper()
	c, err := NewMode(b.Documents.Snapshot(limit), b.entry(name), executable)
	b.Must(err)
	return c
}

func (b trees) make(changes ...TreeChange) error {
	return b.commitSet(Set{Tree: changes, Label: "a test"})
}

// all is what is in the workspace: every name, and every text. What can be run has a star.
func (b trees) all() string {
	b.Helper()
	tree, err := b.Documents.Workspace().Roots()[0].Tree()
	b.Must(err)
	var out []string
	for _, n := range tree.Nodes[1:] {
		switch {
		case n.Mode.IsRegular() && IsExecutable(n.Mode):
			out = append(out, n.Rel+"*="+b.onDisk(n.Rel))
		case n.Mode.IsRegular():
			out = append(out, n.Rel+"="+b.onDisk(n.Rel))
		case n.Link != "":
			out = append(out, n.Rel+"->"+n.Link)
		default:
			out = append(out, n.Rel+"/")
		}
	}
	return strings.Join(out, " ")
}

func (b trees) wantAll(want string) {
	b.Helper()
	if got := b.all(); got != want {
		b.Errorf("there is\n\t%s\nwant\n\t%s", got, want)
	}
}

// TestASetThatFailsIsTakenBackWhole has the last of many changes fail, for a reason that shows
// only when it is made.
func TestASetThatFailsIsTakenBackWhole(t *testing.T) {
	b := newTrees(t)
	for name, text := range map[string]string{"edited": "e", "gone/a": "a", "gone/sub/b": "b", "moved/c": "c", "over": "o", "replaced": "r", "last": "l"} {
		b.Write(name, text)
	}
	b.Link("edited", "link")
	before := b.all()
	edited, err := os.Stat(b.Abs("edited"))
	b.Must(err)
	edit := b.plan("edited", "changed")
	set := Set{
		Files: []File{edit, b.plan("made/new", "n")},
		Tree:  []TreeChange{b.remove("gone"), b.remove("link"), b.mkdir("x/y"), b.move("moved", "deep/down/moved"), b.move("over", "replaced"), b.remove("last")},
	}
	b.Write("last", "somebody's")
	if err := b.commitSet(set); !errors.Is(err, ErrMoved) {
		t.Errorf("made although the last had changed: %v", err)
	}
	b.wantAll(strings.ReplaceAll(before, "last=l", "last=somebody's"))
	if now, _ := os.Stat(b.Abs("edited")); !os.SameFile(edited, now) {
		t.Error("it was written anew instead of put back")
	}

	set.Tree[len(set.Tree)-1] = b.remove("last")
	b.Must(b.commitSet(set))
	b.wantAll("deep/ deep/down/ deep/down/moved/ deep/down/moved/c=c edited=changed made/ made/new=n replaced=o x/ x/y/")
}

// TestATreeThatChangedAfterTheQuestion: nothing of it goes, whatever the change.
func TestATreeThatChangedAfterTheQuestion(t *testing.T) {
	for name, happens := range map[string]func(b trees){
		"a file is written, to the same length": func(b trees) { b.Write("dir/sub/file", "eno") },
		"a file appears":                        func(b trees) { b.Write("dir/sub/new", "") },
		"a file goes":                           func(b trees) { b.Remove("dir/sub/file") },
		"a folder appears":                      func(b trees) { b.Must(os.Mkdir(b.Abs("dir/sub/x"), 0o755)) },
		"a file gets another mode":              func(b trees) { b.Must(os.Chmod(b.Abs("dir/sub/file"), 0o600)) },
		"a link leads elsewhere": func(b trees) {
			b.Remove("dir/link")
			b.Link("there", "dir/link")
		},
		"a file of that name is another one": func(b trees) {
			b.Write("new", "one")
			b.Must(os.Rename(b.Abs("new"), b.Abs("dir/sub/file")))
		},
		"it is a link now": func(b trees) {
			b.Must(os.Rename(b.Abs("dir"), b.Abs("elsewhere")))
			b.Link("elsewhere", "dir")
		},
		"the way to it is a link now": func(b trees) {
			b.Must(os.Rename(b.Abs("dir"), b.Abs("elsewhere")))
			b.Write("dir", "")
		},
		"the user opens a file of it": func(b trees) { b.show("dir/sub/file") },
	} {
		t.Run(name, func(t *testing.T) {
			for _, plan := range []func(b trees) TreeChange{
				func(b trees) TreeChange { return b.remove("dir") },
				func(b trees) TreeChange { return b.move("dir", "other") },
			} {
				b := newTrees(t)
				b.Write("dir/sub/file", "one")
				b.Link("here", "dir/link")
				c := plan(b)
				happens(b)
				before := b.all()
				if err := b.make(c); !errors.Is(err, ErrMoved) {
					t.Errorf("%s: %v", c.Operation, err)
				}
				b.wantAll(before)
			}
		})
	}
}

// TestAFileThatSomebodyWritesTo is not taken out of its hands.
func TestAFileThatSomebodyWritesTo(t *testing.T) {
	b := newTrees(t)
	b.Write("dir/log", "line\n")
	f, err := os.OpenFile(b.Abs("dir/log"), os.O_WRONLY|os.O_APPEND, 0)
	b.Must(err)
	defer f.Close()
	if !canSeeWriters(t, f) {
		t.Skip("not run: this file system gives no leases, so nobody knows who writes")
	}
	if err := b.make(b.remove("dir")); fault.CodeOf(err) != fault.ConcurrentModification || !strings.Contains(err.Error(), "open for writing") {
		t.Errorf("deleted with %v", err)
	}
	b.wantAll("dir/ dir/log=line\n")
	b.Must(f.Close())
	b.Must(b.make(b.remove("dir")))
	b.wantAll("")
}

func canSeeWriters(t *testing.T, f *os.File) bool {
	t.Helper()
	other, err := os.Open(f.Name())
	machine.Must(t, err)
	defer other.Close()
	has, _ := handle.HasWriters(other)
	return has
}

// TestUnsavedTextOfWhatGoes stays in the editor, and is in the journal.
func TestUnsavedTextOfWhatGoes(t *testing.T) {
	b := newTrees(t)
	b.Write("a.txt", "saved a\n")
	b.Write("dir/b.txt", "saved b\n")
	b.Write("dir/c.txt", "saved c\n")
	for _, name := range []string{"a.txt", "dir/b.txt"} {
		b.show(name).set("typed in " + name + "\n")
	}
	b.Must(b.make(b.remove("a.txt"), b.remove("dir")))
	b.wantAll("")
	if got := len(b.Documents.Dirty()); got != 2 {
		t.Errorf("%d buffers are unsaved, want 2", got)
	}
	var kept []string
	last := b.entries()[0]
	for _, r := range last.Records {
		for _, st := range []*journal.State{r.Before, r.Buffer} {
			for _, one := range append([]journal.Child{{State: *st}}, st.Children...) {
				if one.Type == journal.TypeFile {
					kept = append(kept, b.content(last, &one.State))
				}
			}
		}
	}
	if got := strings.Join(kept, ""); got != "saved a\ntyped in a.txt\nsaved b\nsaved c\ntyped in dir/b.txt\n" {
		t.Errorf("the journal has %q", got)
	}
}

// TestOneNameForTwo: the names of one file are exchanged for one.
func TestOneNameForTwo(t *testing.T) {
	b := newTrees(t)
	b.Write("a", "one")
	b.Must(os.Link(b.Abs("a"), b.Abs("b")))
	b.Must(b.make(b.move("a", "b")))
	b.wantAll("b=one")
}

// TestWhoFinishesWritingIsHeard: who had the file open, and wrote to it when it was
// set aside already, has not written for nobody.
func TestWhoFinishesWritingIsHeard(t *testing.T) {
	for _, into := range []string{"file", "dir/file"} {
		b := newTrees(t)
		b.Write(into, "before")
		top, _, _ := strings.Cut(into, "/")
		set := Set{Tree: []TreeChange{b.remove(top)}, Label: "a test"}
		human, err := os.OpenFile(b.Abs(into), os.O_WRONLY, 0)
		b.Must(err)
		ended := make(chan error, 1)
		go func() { ended <- b.commitSet(set) }()
		for aside := false; !aside; {
			left, err := filepath.Glob(b.Abs(".pillion-*"))
			b.Must(err)
			aside = len(left) > 0
			select {
			case err := <-ended: // too late to be heard, and nothing was done
				ended <- err
				aside = true
			default:
			}
		}
		_, err = human.WriteString("typed!")
		b.Must(err)
		b.Must(human.Close())
		if err := <-ended; fault.CodeOf(err) != fault.ConcurrentModification {
			t.Errorf("%s: %v", into, err)
		}
		b.want(into, "typed!")
	}
}

// TestOnlyWhatWasPlannedIsRemoved: a shell may stand in a folder that is going.
func TestOnlyWhatWasPlannedIsRemoved(t *testing.T) {
	b := newTrees(t)
	for _, name := range []string{"dir/a", "dir/sub/b", "dir/sub/c", "dir/locked/d", "dir/other/e"} {
		b.Write(name, "text:"+name)
	}
	b.Link("nowhere", "dir/link")
	b.Must(os.Chmod(b.Abs("dir/locked"), 0o500))
	var told []string
	b.Journal.Tell = func(problem string) { told = append(told, problem) }
	f, _, err := handle.Calls{}.OpenFolder(b.entry("dir").Dir(), false)
	b.Must(err)
	defer f.Close()
	plan := b.remove("dir")
	b.Must(f.SetAside("dir", "aside", plan.Was))
	b.Write("aside/sub/new", "typed")
	b.Write("aside/sub/b", "more_text:dir/sub/b")
	b.Write("dir", "another")
	left, why := &remains{}, f.RemoveTree("aside", plan.Was)
	if !errors.Is(why, handle.ErrWritten) {
		t.Errorf("removed with %v", why)
	}
	b.nameVisibly(f, plan.Source.Dir(), "aside", plan.Source, why, left)
	if want := []string{"dir.kept1/sub/b", "dir.kept1/sub/new"}; !slices.Equal(left.entries, want) {
		t.Errorf("told that %q remain", left.entries)
	}
	if got, want := b.all(), "dir.kept1/ dir.kept1/sub/ dir.kept1/sub/b=more_text:dir/sub/b dir.kept1/sub/new=typed dir=another"; !sameNames(got, want) {
		t.Errorf("left is %s", got)
	}
	if len(told) != 1 || !strings.Contains(told[0], "dir.kept1") {
		t.Errorf("told: %q", told)
	}
}

// TestWhatIsWrittenIntoAFileThatWasReplaced by a move is told under the name that it has.
func TestWhatIsWrittenIntoAFileThatWasReplaced(t *testing.T) {
	b := newTrees(t)
	b.Write("from/a", "moved")
	b.Write("to/b", "replaced")
	var told []string
	b.Journal.Tell = func(problem string) { told = append(told, problem) }
	b.between = func(phase string) {
		if phase != "applied" {
			return
		}
		temps, err := filepath.Glob(b.Abs("from/.pillion-*"))
		if b.Must(err); len(temps) != 1 {
			t.Fatalf("set aside is %q", temps)
		}
		b.Must(os.WriteFile(temps[0], []byte("more"), 0o644))
	}
	b.Must(b.make(b.move("from/a", "to/b")))
	if got, want := b.all(), "from/ from/b=more to/ to/b=moved"; !sameNames(got, want) {
		t.Errorf("there is %s, want %s", got, want)
	}
	if len(told) != 1 || !strings.Contains(told[0], "to/b") || !strings.HasSuffix(told[0], " in from/b") {
		t.Errorf("told: %q", told)
	}
}

func sameNames(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.SplitSeq(a, " ")), slices.Sorted(strings.SplitSeq(b, " ")))
}
