package change

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// act is one thing that happens. The user's act of a commit happens in the midst of it.
type act struct {
	Kind  string
	File  int
	Human string // what the user does meanwhile, "" nothing
	Phase int    // after how many phases of the commit
}

var (
	humanActs = []string{"type", "open", "close", "save", "save in place", "save by rename", "git checkout"}
	agentActs = []string{"agent replaces", "agent replaces both", "agent adds", "agent deletes", "agent moves", "crash", "revert the last", "revert the session", "revert the revert"}
)

func acts() *rapid.Generator[[]act] {
	meanwhile := append([]string{"", ""}, humanActs...)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
		kinds := rapid.SampledFrom([][]string{humanActs, agentActs}).Draw(t, "who")
		return act{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), File: rapid.IntRange(0, 1).Draw(t, "file"),
			Human: rapid.SampledFrom(meanwhile).Draw(t, "meanwhile"), Phase: rapid.IntRange(0, 3).Draw(t, "phase"),
		}
	}), 1, 25)
}

// TestNothingThatAHumanMadeIsLost: whatever happens in whatever order, every text that
// the user wrote is on disk, in a buffer or in the journal, unless they removed it.
func TestNothingThatAHumanMadeIsLost(t *testing.T) {
	machine.Rapid(t, 12, 200)
	rapid.Check(t, func(rt *rapid.T) {
		if lost := play(t, acts().Draw(rt, "acts"), whole); lost != "" {
			rt.Fatal(lost)
		}
	})
}

// TestWhatHappensSeldom: acts that only many random cases would come to.
func TestWhatHappensSeldom(t *testing.T) {
	for name, acts := range map[string][]act{
		"a revert of a move, while others write":     {{Kind: "agent moves"}, {Kind: "revert the session", File: 1, Human: "save in place", Phase: 2}},
		"a revert of a revert that others overtook":  {{Kind: "agent moves", File: 1}, {Kind: "revert the session"}, {Kind: "save in place", File: 1}, {Kind: "revert the revert", Human: "save in place", Phase: 2}},
		"a revert that is planned again":             {{Kind: "agent adds"}, {Kind: "agent replaces", File: 1}, {Kind: "revert the session", File: 1, Human: "save in place", Phase: 1}},
		"a revert of what has been typed into since": {{Kind: "agent deletes"}, {Kind: "agent replaces"}, {Kind: "open"}, {Kind: "type"}, {Kind: "revert the last"}, {Kind: "revert the session"}},
		"moves and edits that are put back and again": {
			{Kind: "agent moves"},
			{Kind: "agent adds"},
			{Kind: "agent replaces"},
			{Kind: "revert the last"},
			{Kind: "revert the revert", Human: "git checkout"},
			{Kind: "agent adds", File: 1, Human: "open", Phase: 2},
			{Kind: "revert the session"},
			{Kind: "git checkout", File: 1},
			{Kind: "crash", Human: "open"},
			{Kind: "agent moves", File: 1},
			{Kind: "revert the session", File: 1, Human: "save", Phase: 3},
			{Kind: "type"},
			{Kind: "revert the revert"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if lost := play(t, acts, whole); lost != "" {
				t.Fatal(lost)
			}
		})
	}
}

// TestThePropertyCanFail: without a journal, and without the comparison before the
// swap, the same acts lose something.
func TestThePropertyCanFail(t *testing.T) {
	for name, broken := range map[string]breakage{"without a journal": noJournal, "without the comparison": noComparison} {
		t.Run(name, func(t *testing.T) {
			made := []act{{Kind: "agent replaces", File: 1, Human: "save in place"}, {Kind: "agent deletes"}, {Kind: "agent replaces", Human: "save in place", Phase: 1}}
			if lost := play(t, made, broken); lost == "" {
				t.Error("nothing was lost")
			}
		})
	}
}

type breakage int

const (
	whole breakage = iota
	noJournal
	noComparison
)

// world is a workspace with two files, an editor, and a user who leaves marks.
type world struct {
	*bench
	broken breakage
	kept   string // the journal's folder
	marks  int
	owed   map[string]bool // marks that must be somewhere
	safe   map[string]bool // those of them that the journal has
	calls  int
	last   string // the last revert
	set    *Set   // that is being committed
	story  []string
}

func play(t *testing.T, all []act, broken breakage) (lost string) {
	dir, err := os.MkdirTemp("", "pillion-property-*")
	must(t, err)
	defer os.RemoveAll(dir)
	w := &world{
		bench: &bench{t: t, dir: filepath.Join(dir, "work")}, broken: broken, kept: filepath.Join(dir, "journal"),
		owed: map[string]bool{}, safe: map[string]bool{},
	}
	w.must(os.Mkdir(w.dir, 0o755))
	w.start()
	defer func() { w.end() }()
	for _, name := range names {
		w.write(name, "committed\n"+w.mark()+"middle\n"+untouched)
	}
	for _, a := range all {
		w.story = append(w.story, fmt.Sprintf("%+v", a))
		w.do(a)
		if lost := w.lost(); lost != "" {
			return lost + "\nafter\n" + strings.Join(w.story, "\n")
		}
	}
	w.readJournal() // all of it comes back
	return ""
}

var names = []string{"a.txt", "b.txt"}

// untouched is so long that the journal keeps what agents write as deltas.
var untouched = strings.Repeat("a line that stays as it is\n", 200) + "end\n"

// start brings a sidecar to life, over the editor that is there.
func (w *world) start() {
	space, err := workspace.Open(workspace.Folder{Dir: w.dir})
	w.must(err)
	store, err := journal.Open(w.kept, journal.Options{NoSync: true})
	w.must(err)
	docs := document.NewStore(space)
	if w.editor == nil {
		w.editor = &editor{plugin: true}
	}
	w.editor.store = docs
	kept := &Journal{Store: store}
	kept.Configure(JournalRequire, true)
	if w.broken == noJournal {
		kept.Configure(JournalOff, true)
	}
	w.Committer = &Committer{Documents: docs, Editor: w.editor, Journal: kept}
	for _, d := range w.editor.documents {
		d.path = w.path(d.path.Rel())
		docs.Open(d.path, d.path.URI(), d.version, d.text)
		d.tellState()
	}
	w.Recover(context.Background())
}

func (w *world) end() {
	w.Journal.Store.Close()         //nolint:errcheck // what it has is written
	w.Documents.Workspace().Close() //nolint:errcheck // likewise
}

func (w *world) mark() string {
	w.marks++
	m := fmt.Sprintf("<human %d>", w.marks)
	w.owed[m] = true
	return m + "\n"
}

// release: the user removes what they had made from one place.
func (w *world) release(text string) {
	for m := range w.owed {
		if strings.Contains(text, m) {
			delete(w.owed, m)
		}
	}
}

func (w *world) document(name string) *openDocument {
	return w.editor.documents[w.path(name).URI()]
}

func (w *world) do(a act) {
	switch name := names[a.File]; a.Kind {
	case "agent replaces":
		w.commit(a, func(s *Set) { w.replace(s, name) })
	case "agent replaces both":
		w.commit(a, func(s *Set) { w.replace(s, names...) })
	case "agent adds":
		w.commit(a, func(s *Set) {
			if f, err := w.tryPlan(name, w.textOf(name)+fmt.Sprintf("agent adds %d\n", w.calls)); err == nil {
				s.Files = []File{f}
			}
		})
	case "agent deletes":
		w.commit(a, func(s *Set) {
			if c, err := NewDelete(w.Documents.Snapshot(limit), w.path(name), true); err == nil {
				s.Tree = []TreeChange{c}
			}
		})
	case "agent moves":
		w.commit(a, func(s *Set) {
			if c, err := NewMove(w.Documents.Snapshot(limit), w.path(name), w.path(names[1-a.File]), true); err == nil {
				s.Tree = []TreeChange{c}
			}
		})
	case "crash":
		w.crash(a)
	case "revert the last":
		w.revert(a, Selection{CallID: fmt.Sprint(w.calls)})
	case "revert the session":
		w.revert(a, Selection{SessionID: "ada"})
	case "revert the revert":
		if w.last != "" {
			w.revert(a, Selection{CallID: w.last})
		}
	default:
		w.human(a.Kind, name)
	}
}

func (w *world) textOf(name string) string {
	f, err := w.Documents.Snapshot(limit).ReadIfExists(w.path(name), "")
	if err != nil {
		return ""
	}
	return f.Text
}

func (w *world) replace(s *Set, all ...string) {
	for _, name := range all {
		if f, err := w.tryPlan(name, fmt.Sprintf("committed\nagent %d\n", w.calls)+untouched); err == nil {
			s.Files = append(s.Files, f)
		}
	}
}

// commit makes a set, while the user does something.
func (w *world) commit(a act, plan func(*Set)) {
	w.calls++
	s := Set{Label: "agent"}
	plan(&s)
	w.set = &s
	w.meanwhile(a)
	_, err := w.Commit(context.Background(), s, journal.Origin{CallID: fmt.Sprint(w.calls), SessionID: "ada"})
	w.between, w.set = nil, nil
	w.note(err)
}

func (w *world) note(err error) {
	if err != nil {
		w.story = append(w.story, "  "+err.Error())
	}
}

// meanwhile has the user do something after so many phases of the next commit.
func (w *world) meanwhile(a act) {
	if a.Human == "" {
		return
	}
	if a.Phase == 0 {
		w.human(a.Human, names[a.File])
		w.blind()
		return
	}
	left := a.Phase
	w.between = func(string) {
		if left--; left == 0 {
			w.human(a.Human, names[a.File])
			w.blind()
		}
	}
}

// blind has the commit take what is there now for what it was planned on.
func (w *world) blind() {
	if w.broken != noComparison || w.set == nil {
		return
	}
	for _, f := range w.set.Files {
		if data, err := os.ReadFile(f.Target.Abs()); err == nil {
			f.Before.DiskVersion = document.Version(data)
		}
	}
}

// crash ends the sidecar in the midst of a commit, and starts another one.
func (w *world) crash(a act) {
	w.calls++
	s := Set{Label: "agent"}
	w.replace(&s, names...)
	ended, left := make(chan struct{}), a.Phase
	w.between = func(string) {
		if left--; left <= 0 {
			close(ended)
			select {} // it does nothing any more
		}
	}
	old, call := w.Committer, fmt.Sprint(w.calls)
	go func() {
		if _, err := old.Commit(context.Background(), s, journal.Origin{CallID: call, SessionID: "ada"}); err != nil || left > 0 {
			close(ended)
		}
	}()
	<-ended
	old.Journal.Store.Close() //nolint:errcheck // as the system does
	if a.Human != "" {
		w.human(a.Human, names[a.File])
	}
	w.start()
}

func (w *world) revert(a act, sel Selection) {
	w.calls++
	w.meanwhile(a)
	r, err := w.Revert(context.Background(), sel, journal.Origin{CallID: fmt.Sprintf("revert-%d", w.calls)}, false)
	w.between = nil
	if w.note(err); err == nil && r.CallID != "" {
		w.last = r.CallID
	}
}

// human does one thing as people and their programs do it.
func (w *world) human(what, name string) {
	d, disk := w.document(name), w.onDisk(name)
	if disk == "<absent>" {
		disk = ""
	}
	switch what {
	case "type":
		if d != nil {
			d.set(d.text + w.mark())
		}
	case "open":
		switch {
		case d == nil && w.onDisk(name) != "<absent>":
			w.editor.open(w.path(name), disk)
		case d != nil && !d.dirty: // the editor sees that it changed
			d.set(disk)
			d.dirty = false
			d.tellState()
		}
	case "close":
		if d != nil && !d.dirty {
			d.close()
		}
	case "save":
		if d != nil && d.dirty {
			if disk != "" {
				w.releaseBut(disk, d.text)
			}
			d.save()
		}
	case "save in place":
		w.write(name, disk+w.mark())
	case "save by rename":
		w.write(name+".new", disk+w.mark())
		w.must(os.Rename(w.abs(name+".new"), w.abs(name)))
	case "git checkout":
		w.release(disk)
		w.write(name, "committed\nmiddle\n"+untouched)
	}
}

// releaseBut: an editor writes its text over another.
func (w *world) releaseBut(over, text string) {
	for m := range w.owed {
		if strings.Contains(over, m) && !strings.Contains(text, m) {
			delete(w.owed, m)
		}
	}
}

// lost names what the user made and is nowhere.
func (w *world) lost() string {
	var there strings.Builder
	left := ""
	filepath.WalkDir(w.dir, func(name string, e os.DirEntry, err error) error { //nolint:errcheck // what is not seen is missed
		if err == nil && e.Type().IsRegular() {
			data, _ := os.ReadFile(name) //nolint:errcheck // likewise
			there.Write(data)
			if strings.HasPrefix(e.Name(), ".pillion-") {
				left = e.Name()
			}
		}
		return nil
	})
	for _, d := range w.editor.documents {
		there.WriteString(d.text)
	}
	if left != "" {
		return left + " is left behind"
	}
	var missing []string
	for m := range w.owed {
		if !w.safe[m] && !strings.Contains(there.String(), m) {
			missing = append(missing, m)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	w.readJournal()
	for _, m := range missing {
		if !w.safe[m] {
			return m + " is nowhere"
		}
	}
	return ""
}

func (w *world) readJournal() {
	entries, err := w.Journal.Store.Entries(journal.Query{})
	w.must(err)
	for _, e := range entries {
		c, err := w.Journal.Store.Content(e)
		w.must(err)
		for _, r := range e.Records {
			for _, st := range []*journal.State{r.Before, r.After, r.Over, r.Buffer} {
				if st == nil || len(st.Chunks) == 0 {
					continue
				}
				data, err := c.Read(st)
				w.must(err)
				for m := range w.owed {
					w.safe[m] = w.safe[m] || strings.Contains(string(data), m)
				}
			}
		}
		c.Close()
	}
}
