package change

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// Journal is where a Committer writes change sets down.
type Journal struct {
	Store *journal.Store

	Tell    func(problem string) // what the user should know; nil: nobody is told
	Changed func(JournalChanged) // after each set that was made or put back; nil: nobody is told
	// Note says in a clause what else comes of a change of the file with that name, "" for
	// nothing; nil: nobody says.
	Note func(name string) string

	mu     sync.Mutex // guards all below
	mode   JournalMode
	noSync bool
	told   bool
}

// JournalMode says what becomes of a change that cannot be written down.
type JournalMode string

// The modes, as in the settings.
const (
	JournalRequire JournalMode = "require" // it is not made
	JournalPrefer  JournalMode = "prefer"  // it is made, and the user is told
	JournalOff     JournalMode = "off"     // nothing is written down
)

// Configure takes another mode from now on. Without sync a crash of the machine, not
// of the program, may lose the last changes and what the journal has of them.
func (j *Journal) Configure(mode JournalMode, noSync bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mode, j.noSync, j.told = mode, noSync, false
}

// isUnsynced: nothing waits for the disk.
func (j *Journal) isUnsynced() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.noSync
}

func (j *Journal) current() JournalMode {
	if j == nil {
		return JournalOff
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.mode == "" {
		return JournalRequire
	}
	return j.mode
}

// written is a set in the journal; nil where it is in none.
type written struct {
	committer *Committer
	journal   *Journal
	pending   *journal.Pending
	origin    journal.Origin
	required  bool              // whatever the mode is, as long as there is a journal
	records   []*journal.Record // of each step, nil of those that change nothing
}

// write stages the steps after the set is written down, and while that is synced: both
// wait for the disk.
func (w *written) write(steps []step) (err error) {
	var synced chan error
	if w != nil {
		if err := w.begin(); err != nil {
			return err
		}
		synced = make(chan error, 1)
		if w.journal.isUnsynced() { // nothing waits for the disk
			synced <- w.sync()
		} else {
			go func() { synced <- w.sync() }()
		}
	}
	for _, st := range steps {
		if err = st.stage(); err != nil {
			break
		}
	}
	if w != nil {
		err = errors.Join(<-synced, err)
	}
	if err == nil && w != nil {
		err = w.fits(steps)
	}
	return unjoined(err)
}

// unjoined gives the one error that there is, or the first.
func unjoined(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()[0]
	}
	return err
}

func (c *Committer) records(steps []step, origin journal.Origin, required bool) (*written, error) {
	if c.Journal.current() == JournalOff {
		return nil, nil
	}
	w := &written{committer: c, journal: c.Journal, origin: origin, required: required, records: make([]*journal.Record, len(steps))}
	something := false
	for i, st := range steps {
		r, err := st.record()
		if err != nil {
			if why := st.stage(); why != nil { // which knows better what to say
				err = why
			}
			return nil, err
		}
		w.records[i] = r
		something = something || r != nil
	}
	if !something {
		return nil, nil
	}
	return w, nil
}

// flat is the records that there are.
func (w *written) flat() []journal.Record {
	var out []journal.Record
	for _, r := range w.records {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out
}

func (w *written) begin() (err error) {
	w.pending, err = w.journal.Store.Write(w.origin, w.flat())
	return w.allow(err)
}

func (w *written) sync() error {
	if w.pending == nil {
		return nil
	}
	err := w.pending.Sync()
	if err != nil {
		w.pending = nil
	}
	return w.allow(err)
}

// allow turns a failure of the journal into that of the change, unless the user wants
// changes all the same.
func (w *written) allow(err error) error {
	if err == nil {
		return nil
	}
	w.pending = nil
	if errors.Is(err, journal.ErrSource) { // nothing was wrong with it a moment ago
		return moved(fault.Quote(w.flat()[0].Name))
	}
	if w.journal.current() == JournalPrefer && !w.required {
		w.journal.reportOnce("changes by agents are not recorded in the journal and cannot be reverted: %v", err)
		return nil
	}
	return fault.New(fault.ExecutionFailed, "nothing was changed: %w", err).
		WithHint("tell the user: every change must be recorded in the journal before it is made (%s); see the settings journal.maxBytes and journal.mode", w.journal.Store.Dir())
}

func (j *Journal) reportOnce(format string, args ...any) {
	j.mu.Lock()
	told := j.told
	j.told = true
	j.mu.Unlock()
	if !told {
		j.report(fmt.Sprintf(format, args...))
	}
}

func (j *Journal) report(problem string) {
	if j != nil && j.Tell != nil {
		j.Tell(problem)
	}
}

// fits: what the journal has read from disk itself is what the plan rests on.
func (w *written) fits(steps []step) error {
	for i, r := range w.records {
		if r == nil || r.Before == nil || r.Before.Unsaved || w.pending == nil {
			continue
		}
		var version string
		switch st := steps[i].(type) {
		case *diskStep:
			version = st.file.Before.DiskVersion
		case *bufferStep:
			version = st.file.Before.DiskVersion
		case *deleteStep:
			version = st.change.Was.Top().Version
		default:
			continue
		}
		if !strings.HasPrefix(r.Before.Hash, version) {
			return moved(fault.Quote(r.Name))
		}
	}
	return nil
}

// note has the temporary files that could not be removed looked after at the next start.
func (w *written) note(left *remains) {
	if w != nil && w.pending != nil {
		w.pending.Unswept = len(left.temps) > 0
	}
}

// failed notes that the set was not made, and gives back why.
func (w *written) failed(why error) error {
	if w == nil || w.pending == nil {
		return why
	}
	var half *halfMade
	end := w.pending.Undone
	if errors.As(why, &half) {
		end = w.pending.Interrupted
	}
	end(why.Error()) //nolint:errcheck // what has no end is looked into at the next start
	return why
}

// backup makes copies of what is not there any more. Without one the journal has it.
func (w *written) backup(outcomes []Outcome) {
	if w == nil || w.pending == nil {
		return
	}
	for i, r := range w.records {
		if r == nil {
			continue
		}
		name, was := r.Path, r.Before
		switch Operation(r.Operation) {
		case Move:
			name, was = r.To, r.Over
		case ChangeMode:
			was = nil // its bytes stay
		}
		if was == nil {
			continue
		}
		if at, err := w.pending.Backup(name, was); err == nil {
			outcomes[i].Backup = at
		}
	}
}

// became is implemented by steps after which something else may stand there than was
// to be.
type became interface{ became() *journal.State }

// done notes that the set was made, and what stands there now.
func (w *written) done(steps []step, outcomes []Outcome) {
	if w == nil || w.pending == nil {
		return
	}
	for i, r := range w.records {
		if r == nil {
			continue
		}
		if b, ok := steps[i].(became); ok {
			r.After = b.became()
		}
		r.Additions, r.Deletions = diff.Count(outcomes[i].hunks())
	}
	all := w.flat()
	w.pending.Done(all) //nolint:errcheck // what has no end is looked into at the next start
	var lines [][]LineRange
	var merged []bool
	for i, r := range w.records {
		if r != nil {
			lines, merged = append(lines, w.marks(outcomes[i])), append(merged, outcomes[i].File.Merged)
		}
	}
	w.committer.notifyChanged(journal.Entry{Origin: w.origin, ID: w.pending.ID, Time: w.pending.Time, Records: all, State: journal.StateDone}, lines, merged)
}

// marks are the lines that an agent wrote. What the user puts back is nobody's.
func (w *written) marks(o Outcome) []LineRange {
	if w.origin.Reverts != "" {
		return nil
	}
	return changedLines(o.Hunks)
}

func (d *diskStep) record() (*journal.Record, error) {
	if err := d.file.Before.DiskFault; err != nil {
		return nil, err
	}
	if err := d.encode(); err != nil {
		return nil, err
	}
	folder := d.file.Target.Dir()
	r := &journal.Record{
		Operation: string(d.file.Operation()),
		Name:      d.file.Path().String(),
		Path:      d.file.Target.Abs(),
		After:     &journal.State{Type: journal.TypeFile, Data: d.data, Encoding: string(d.file.After.Encoding)},
		Temp:      filepath.Join(folder.Abs(), d.named),
	}
	d.kept = r.After
	if d.creates() {
		if d.file.CreateDirs {
			r.MadeFolders = toMake(folder)
		}
		return r, nil
	}
	r.Before = d.file.diskState()
	return r, nil
}

// diskState is the file as it is on disk. Its bytes are read again where they cannot
// be told from the text.
func (f File) diskState() *journal.State {
	st := &journal.State{Type: journal.TypeFile, Mode: f.Before.Mode, Encoding: string(f.Before.Encoding)}
	was := f.Before.Content
	was.Text = f.Before.OnDisk(was.Text)
	data, err := was.View()
	if err == nil && (f.isExact() || document.Version(data) == f.Before.DiskVersion) {
		st.Data, st.Version = data, f.Before.DiskVersion
		return st
	}
	st.Path = f.Target.Abs()
	return st
}

// isExact: UTF-8 is read as it stands, and the text is the disk's.
func (f File) isExact() bool {
	return f.Before.Source == document.FromDisk && f.Before.Encoding == document.UTF8 && f.Before.Version == f.Before.DiskVersion
}

func (b *bufferStep) record() (*journal.Record, error) {
	after, err := b.file.After.View()
	if err != nil {
		return nil, err
	}
	r := &journal.Record{
		Operation: string(b.file.Operation()),
		Name:      b.file.Path().String(),
		Path:      b.file.Target.Abs(),
		After:     &journal.State{Type: journal.TypeFile, Data: after, Encoding: string(b.file.After.Encoding), Unsaved: b.file.Before.Dirty},
	}
	if !b.file.Before.Dirty && b.file.Before.DiskVersion != document.Absent && b.file.Before.DiskFault == nil {
		r.Before = b.file.diskState()
		return r, nil
	}
	r.Before = &journal.State{Type: journal.TypeFile, Data: bytesOf(b.file.Before.Content), Mode: b.file.Before.Mode, Encoding: string(b.file.Before.Encoding), Unsaved: true}
	r.Buffer = r.Before
	return r, nil
}

func (b *bufferStep) became() *journal.State {
	_, data := b.left()
	return &journal.State{Type: journal.TypeFile, Data: data, Encoding: string(b.file.After.Encoding), Unsaved: !b.isSaved()}
}

// toMake are the folders of dir that are not there, outermost first.
func toMake(dir workspace.Path) (out []string) {
	for ; !dir.IsRoot() && !dir.Exists(); dir = dir.Dir() {
		out = append(out, dir.Abs())
	}
	slices.Reverse(out)
	return out
}
