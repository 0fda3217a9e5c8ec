package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/fault"
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
	machine.Must(t, err)
	defer os.RemoveAll(dir)
	w := &world{
		bench: &bench{Folder: machine.Folder{TB: t, Dir: filepath.Join(dir, "work")}}, broken: broken, kept: filepath.Join(dir, "journal"),
		owed: map[string]bool{}, safe: map[string]bool{},
	}
	w.Must(os.Mkdir(w.Dir, 0o755))
	w.start()
	defer func() { w.end() }()
	for _, name := range names {
		w.Write(name, "committed\n"+w.mark()+"middle\n"+untouched)
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
	space, err := workspace.Open(workspace.Folder{Dir: w.Dir})
	w.Must(err)
	store, err := journal.Open(w.kept, journal.Options{NoSync: true})
	w.Must(err)
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
		w.Write(name, disk+w.mark())
	case "save by rename":
		w.Write(name+".new", disk+w.mark())
		w.Must(os.Rename(w.Abs(name+".new"), w.Abs(name)))
	case "git checkout":
		w.release(disk)
		w.Write(name, "committed\nmiddle\n"+untouched)
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
	filepath.WalkDir(w.Dir, func(name string, e os.DirEntry, err error) error { //nolint:errcheck // what is not seen is missed
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
	for _, e := range w.entries() {
		for _, r := range e.Records {
			for _, st := range []*journal.State{r.Before, r.After, r.Over, r.Buffer} {
				if st == nil || len(st.Chunks) == 0 {
					continue
				}
				text := w.content(e, st)
				for m := range w.owed {
					w.safe[m] = w.safe[m] || strings.Contains(text, m)
				}
			}
		}
	}
}

// life is one file while a user types in an editor, other programs write to
// disk and an agent makes changes, in any order. Everyone only adds lines, each
// of them once, so that nothing of anybody's may ever be missing.
type life struct {
	*bench
	rt  *rapid.T
	doc *openDocument // nil when it is closed

	lines int
	added []string // what must be in the editor or on disk
	made  []string // the agent's, of changes that were reported as made
	// The disk as the editor last read or wrote it: it saves over nothing else.
	known string
}

const lifeFile = "a.txt"

func TestNothingOfAnybodysIsEverMissing(t *testing.T) {
	machine.Rapid(t, 12, 200)
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{bench: newBenchIn(t, dir), rt: rt}
		l.editor.plugin = rapid.Bool().Draw(rt, "the editor has a plugin")
		l.Write(lifeFile, "first\nlast\n")
		l.editor.onEdit = func(_ *openDocument, e BufferEdit) (BufferResult, error) { return l.edit(e), nil }
		rt.Repeat(map[string]func(*rapid.T){
			"open":    func(*rapid.T) { l.open() },
			"close":   func(*rapid.T) { l.close() },
			"type":    func(*rapid.T) { l.typeLine() },
			"save":    func(*rapid.T) { l.save() },
			"outside": func(*rapid.T) { l.outside() },
			"reload":  func(*rapid.T) { l.reload() },
			"agent":   func(rt *rapid.T) { l.agent(rt) },
			"":        func(*rapid.T) { l.check() },
		})
	})
}

func (l *life) line(who string) string {
	l.lines++
	return fmt.Sprintf("%s %d\n", who, l.lines)
}

func (l *life) open() {
	if l.doc == nil {
		l.doc = l.show(lifeFile)
		l.known = l.doc.text
	}
}

// close is what a careful human does: only what is saved is closed.
func (l *life) close() {
	if l.doc != nil && !l.doc.dirty {
		l.doc.close()
		l.doc = nil
	}
}

func (l *life) typeLine() {
	if l.doc == nil {
		return
	}
	line := l.line("human")
	l.added = append(l.added, line)
	l.doc.set(l.doc.text + line)
}

// save refuses where the disk is newer, as editors do.
func (l *life) save() {
	if l.doc != nil && l.doc.dirty && l.onDisk(lifeFile) == l.known {
		l.doc.save()
		l.known = l.doc.text
	}
}

func (l *life) outside() {
	line := l.line("outside")
	l.added = append(l.added, line)
	l.Write(lifeFile, line+l.onDisk(lifeFile))
}

// reload is what editors do with a clean buffer whose file changed.
func (l *life) reload() {
	if l.doc == nil || l.doc.dirty || l.onDisk(lifeFile) == l.doc.text {
		return
	}
	l.doc.version++
	l.doc.text = l.onDisk(lifeFile)
	l.known = l.doc.text
	l.editor.store.Change(l.doc.path, l.doc.version, l.doc.text)
	l.doc.tellState()
}

func (l *life) edit(e BufferEdit) BufferResult {
	save := e.Save && l.onDisk(lifeFile) == l.known
	e.Save = save && l.editor.plugin
	r := l.doc.edit(e)
	if e.Save && r.Applied {
		l.known = l.doc.text
	}
	if !l.editor.plugin {
		r = stockAnswer(e)
	}
	return r
}

// agent plans, lets somebody act, and commits, planning again where that is asked
// for, as the door does.
func (l *life) agent(rt *rapid.T) {
	line := l.line("agent")
	between := rapid.SampledFrom([]func(){func() {}, func() {}, l.typeLine, l.save, l.outside, l.reload, l.open, l.close}).Draw(rt, "between")
	top := rapid.Bool().Draw(rt, "at the top")
	for range 3 {
		before, err := l.Documents.Snapshot(limit).Read(l.path(lifeFile), "")
		if err != nil {
			rt.Fatal(err)
		}
		after := before.Content
		if after.Text += line; top {
			after.Text = line + before.Text
		}
		f, err := New(before, after)
		if err != nil {
			rt.Fatal(err)
		}
		between()
		between = func() {}
		_, err = l.commit(f)
		switch {
		case err == nil:
			l.made = append(l.made, line)
			return
		case !errors.Is(err, ErrMoved):
			if fault.CodeOf(err) != fault.ConcurrentModification {
				rt.Fatal(err)
			}
			return
		}
	}
}

func (l *life) check() {
	disk, buffer := l.onDisk(lifeFile), ""
	if l.doc != nil {
		buffer = l.doc.text
	}
	for _, line := range slices.Concat(l.added, l.made) {
		inDisk, inBuffer := strings.Count(disk, line), strings.Count(buffer, line)
		if inDisk == 0 && inBuffer == 0 {
			l.rt.Fatalf("%q is lost; on disk %q, in the editor %q", line, disk, buffer)
		}
		if inDisk > 1 || inBuffer > 1 {
			l.rt.Fatalf("%q was made twice; on disk %q, in the editor %q", line, disk, buffer)
		}
	}
	entries, err := os.ReadDir(l.Dir)
	if err != nil || len(entries) != 1 {
		l.rt.Fatalf("left behind: %v, %v", entries, err)
	}
}
