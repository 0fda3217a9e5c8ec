package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// Recover looks after the change sets that a sidecar was killed in: temporary files go,
// what was displaced and not looked at comes back, and a set of which only a part was
// made is taken back. It tells what became of each, once. Sets of sidecars that live,
// and those of other workspaces, are left alone. Temporary files that could not be removed
// are tried again.
func (c *Committer) Recover(ctx context.Context) (told []string) {
	if c.Journal == nil {
		return nil
	}
	store := c.Journal.Store
	unlock, err := store.Alone("recover")
	if err != nil {
		return nil // there is no journal yet, or it cannot be read: Begin says so
	}
	defer unlock()
	entries, err := store.Interrupted()
	if err != nil {
		return []string{fmt.Sprintf("the interrupted changes cannot be checked: %v", err)}
	}
	for _, e := range entries {
		if !c.isHere(&e) {
			continue
		}
		if what := c.recover(ctx, e); what != "" {
			told = append(told, what)
		}
	}
	store.Tidy() //nolint:errcheck // the next start tries again
	return told
}

// made says what of a record was made when its sidecar was killed.
type made int

const (
	notMade made = iota
	wasMade
	unclear // what is there is neither from before nor from after
)

func (c *Committer) recover(ctx context.Context, e journal.Entry) string {
	left := &remains{}
	if e.State != journal.StatePending {
		return c.sweepAgain(e, left)
	}
	open, foreign := 0, 0
	var notes []string
	part := e
	part.Records = nil                          // those that were made
	for i := range slices.Backward(e.Records) { // a later one may have to give way to an earlier one
		m, note := c.recoverRecord(e, &e.Records[i], left)
		if note != "" {
			notes = append(notes, note)
		}
		switch m {
		case wasMade:
			part.Records = append(part.Records, e.Records[i])
		case notMade:
			open++
		default:
			foreign++
		}
	}
	slices.Reverse(part.Records)
	state, what := journal.StateInterrupted, "it was completed"
	switch {
	case len(part.Records) == 0 && foreign == 0:
		state, what = journal.StateUndone, "nothing was changed"
	case foreign > 0:
		what = "somebody has changed the files since; check them, and revert the change if you do not want it"
	case open > 0:
		if err := c.takeBackPart(ctx, part); err != nil {
			what = "only a part of it was made: " + fault.From(err).Message
			break
		}
		state, what = journal.StateUndone, "it was undone"
	}
	what = strings.Join(slices.Concat([]string{what}, notes, left.notes()), "; ")
	c.Journal.Store.Swept(e.ID, state, "Pillion was killed during the change: "+what, len(left.temps) > 0) //nolint:errcheck // then it is told again at the next start
	info := c.info(e)
	quoted := make([]string, 0, len(info.Paths))
	for _, p := range info.Paths {
		quoted = append(quoted, fault.Quote(p))
	}
	return fmt.Sprintf("Pillion was killed while %s changed %s: %s", fault.Quote(e.Agent), strings.Join(quoted, ", "), what)
}

// sweepAgain removes what could not be removed when its set ended, and says what still
// cannot.
func (c *Committer) sweepAgain(e journal.Entry, left *remains) string {
	var notes []string
	for i := range e.Records {
		r := &e.Records[i]
		s, temp, ok := c.sceneOf(e, r, left)
		if !ok {
			continue
		}
		note := ""
		switch Operation(r.Operation) {
		case Delete:
			note = s.sweepTree(temp, r.Before)
		case Move:
			note = s.sweepTree(temp, r.Over)
		case CreateDirectory, Restored:
			note = s.sweepTree(temp, r.After)
		default:
			note = s.sweepFiles(temp)
		}
		s.folder.Close()
		if note != "" {
			notes = append(notes, note)
		}
	}
	c.Journal.Store.Swept(e.ID, e.State, "", len(left.temps) > 0) //nolint:errcheck // then it is tried again at the next start
	return strings.Join(append(notes, left.notes()...), "; ")
}

// takeBackPart puts back what of a set was made.
func (c *Committer) takeBackPart(ctx context.Context, e journal.Entry) error {
	e.State = journal.StateInterrupted
	plan, err := c.planReversal([]journal.Entry{e}, map[string]bool{})
	defer plan.close()
	if err != nil {
		return err
	}
	if r := plan.result(); len(r.Conflicts) > 0 {
		return conflict("%s: %s", fault.Quote(r.Conflicts[0]), r.Reasons[r.Conflicts[0]])
	}
	if !plan.set.Changes() {
		return nil
	}
	_, err = c.Commit(ctx, plan.set, journal.Origin{
		CallID: "recovery-" + e.ID, Agent: "Pillion", Tool: "recovery", Title: "Undo interrupted changes", Reverts: e.ID,
	})
	return err
}

// recoverRecord sweeps what a record left, and says whether it was made.
func (c *Committer) recoverRecord(e journal.Entry, r *journal.Record, left *remains) (m made, note string) {
	if _, err := c.Documents.Workspace().Known(r.Path); err != nil {
		return unclear, ""
	}
	s, temp, ok := c.sceneOf(e, r, left)
	if !ok {
		return reached(handle.Sighting{}, r), ""
	}
	defer s.folder.Close()
	switch Operation(r.Operation) {
	case Delete:
		m, note = s.recoverDelete(temp)
	case Move:
		m, note = s.recoverMove(temp)
	case ChangeMode:
		m = s.recoverMode()
	case CreateDirectory, Restored:
		note = s.sweepTree(temp, r.After)
		if m = wasMade; s.seen(s.name, r.After) == nil || s.stillStands() {
			m = notMade
		}
	default:
		note = s.sweepFiles(temp)
		m = reached(s.sightingOf(s.name), r)
	}
	if m == notMade {
		for i := len(r.MadeFolders) - 1; i >= 0; i-- {
			removeEmpty(c, r.MadeFolders[i], left)
		}
	}
	return m, note
}

// sceneOf enters the folder of a record, and gives the name of its temporary file. It is
// not ok where there is no folder, or none that can be entered.
func (c *Committer) sceneOf(e journal.Entry, r *journal.Record, left *remains) (s scene, temp string, ok bool) {
	p, err := c.Documents.Workspace().Known(r.Path)
	if err != nil {
		return s, "", false
	}
	if r.Temp != "" && filepath.Dir(r.Temp) == p.Dir().Abs() {
		temp = filepath.Base(r.Temp)
	}
	f, _, err := c.system().OpenFolder(p.Dir(), false)
	if err != nil {
		if temp != "" && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			left.temp(p.Dir().Join(temp), err)
		}
		return s, temp, false
	}
	return scene{committer: c, entry: e, record: r, folder: f, at: p.Dir(), name: p.Base(), left: left}, temp, true
}

func removeEmpty(c *Committer, abs string, left *remains) {
	if dir, err := c.Documents.Workspace().Resolve(abs); err == nil && !dir.IsRoot() {
		if info, err := dir.Lstat(); err == nil && info.IsDir() {
			left.folder(dir, c.calls.RemoveAt(dir.Root(), filepath.FromSlash(dir.Rel())))
		}
	}
}

// reached compares what is there with what was and what was to be.
func reached(s handle.Sighting, r *journal.Record) made {
	switch {
	case isState(s, r.After):
		return wasMade
	case isState(s, r.Before), r.Before != nil && r.Before.Unsaved && r.After.Unsaved:
		return notMade // of unsaved text the editor knows, and nobody else
	}
	return unclear
}

func isState(s handle.Sighting, st *journal.State) bool {
	if st == nil {
		return s.Info == nil
	}
	switch {
	case s.Info == nil:
		return false
	case st.Type == journal.TypeDirectory:
		return s.Info.IsDir()
	}
	return s.Version != "" && strings.HasPrefix(st.Hash, s.Version)
}

// scene is the folder in which a file was being replaced.
type scene struct {
	committer *Committer
	entry     journal.Entry
	record    *journal.Record
	folder    handle.Folder
	at        workspace.Path // the same
	name      string
	left      *remains
}

// remove removes a temporary file.
func (s scene) remove(temp string) { s.left.temp(s.at.Join(temp), s.folder.RemoveOne(temp)) }

// sweepFiles removes the temporary file of a file that was being replaced, and the one
// that is made where names cannot be exchanged.
func (s scene) sweepFiles(temp string) string {
	if temp == "" {
		return ""
	}
	note := s.sweep(temp)
	s.sweep(temp + ".old")
	return note
}

func (s scene) sightingOf(name string) handle.Sighting {
	limit := int64(maxReadBack)
	for _, st := range []*journal.State{s.record.Before, s.record.After} {
		if st != nil {
			limit = max(limit, st.Size)
		}
	}
	return s.folder.Look(name, limit, false, handle.Content{})
}

// sweep removes a temporary file that is ours. One that holds what somebody else wrote
// was displaced a moment before the end: it takes its place again, unless somebody has
// written there since; then it goes into the journal.
func (s scene) sweep(temp string) string {
	lies := s.sightingOf(temp)
	switch {
	case lies.Info == nil:
		return ""
	case !lies.Info.Mode().IsRegular():
		return fmt.Sprintf("%s was left, because it is not Pillion's", fault.Quote(s.place(s.folder.RenameVisible(temp, s.name))))
	case isState(lies, s.record.Before), isState(lies, s.record.After), s.isBegun(temp, s.record.After):
		s.remove(temp)
		return ""
	}
	now := s.sightingOf(s.name)
	if now.Info == nil && s.folder.Rename(temp, s.name) == nil {
		return "the text that somebody else wrote at that moment is in the file"
	}
	if isState(now, s.record.Before) || isState(now, s.record.After) {
		if err := s.folder.Exchange(temp, s.name, handle.Anything); err == nil {
			if came := s.sightingOf(temp); isState(came, s.record.Before) || isState(came, s.record.After) {
				s.remove(temp) // it is in the journal
				return "the text that somebody else wrote at that moment is in the file"
			} // somebody has written there this moment: that goes into the journal
		}
	}
	p, err := s.committer.Journal.Store.Begin(journal.Origin{
		CallID: "kept-" + s.entry.ID, Agent: "Pillion", Tool: "recovery", Title: "Text that somebody else wrote while Pillion was killed",
	}, []journal.Record{{Operation: "kept", Name: s.record.Name, Path: s.record.Path, Before: &journal.State{Type: journal.TypeFile, Path: filepath.Join(filepath.Dir(s.record.Path), temp)}}})
	if err != nil {
		return fmt.Sprintf("the text that somebody else wrote at that moment is in %s", fault.Quote(s.place(s.folder.RenameVisible(temp, s.name))))
	}
	p.Done(nil) //nolint:errcheck // what is kept is kept
	s.remove(temp)
	return "the text that somebody else wrote at that moment is in the journal"
}

func (s scene) place(temp string) string {
	return filepath.Join(filepath.Dir(s.record.Path), temp)
}

// isBegun reports whether a file is the beginning of what was to be written.
func (s scene) isBegun(temp string, st *journal.State) bool {
	_, file, _ := s.folder.OpenRegular(temp)
	if file == nil || st == nil {
		return false
	}
	defer file.Close()
	content, err := s.committer.Journal.Store.Content(s.entry)
	if err != nil {
		return false
	}
	defer content.Close()
	w := &comparing{with: file}
	err = content.WriteTo(w, st)
	more := make([]byte, 1)
	n, _ := file.Read(more) //nolint:errcheck // then there is no more
	return (err == nil || w.ended) && !w.differs && n == 0
}

// comparing is a writer of what should be in a file, as far as the file goes.
type comparing struct {
	with           io.Reader
	differs, ended bool
}

func (c *comparing) Write(p []byte) (int, error) {
	have := make([]byte, len(p))
	n, err := io.ReadFull(c.with, have)
	if string(have[:n]) != string(p[:n]) {
		c.differs = true
		return 0, io.ErrUnexpectedEOF
	}
	if err != nil {
		c.ended = true
		return 0, io.ErrUnexpectedEOF
	}
	return len(p), nil
}
