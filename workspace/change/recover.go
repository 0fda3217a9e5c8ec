package change

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/journal"
)

// Recover looks after the change sets that a sidecar was killed in: temporary files go,
// what was displaced and not looked at comes back, and a set of which only a part was
// made is taken back. It tells what became of each, once. Sets of sidecars that live,
// and those of other workspaces, are left alone.
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
		told = append(told, c.recover(ctx, e))
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
	open, foreign := 0, 0
	var notes []string
	part := e
	part.Records = nil                          // those that were made
	for i := range slices.Backward(e.Records) { // a later one may have to give way to an earlier one
		m, note := c.recoverRecord(e, &e.Records[i])
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
	what = strings.Join(append([]string{what}, notes...), "; ")
	c.Journal.Store.Mark(e.ID, state, "Pillion was killed during the change: "+what, nil, nil) //nolint:errcheck // then it is told again at the next start
	info := c.info(e)
	quoted := make([]string, 0, len(info.Paths))
	for _, p := range info.Paths {
		quoted = append(quoted, fault.Quote(p))
	}
	return fmt.Sprintf("Pillion was killed while %s changed %s: %s", fault.Quote(e.Agent), strings.Join(quoted, ", "), what)
}

// takeBackPart puts back what of a set was made.
func (c *Committer) takeBackPart(ctx context.Context, e journal.Entry) error {
	e.State = journal.StateInterrupted
	plan, err := c.planReversal([]journal.Entry{e}, nil)
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
func (c *Committer) recoverRecord(e journal.Entry, r *journal.Record) (m made, note string) {
	p, err := c.Documents.Workspace().Known(r.Path)
	if err != nil {
		return unclear, ""
	}
	f, _, err := c.system().openFolder(p.Dir(), false)
	if err != nil {
		return reached(sighting{}, r), "" // its folder is not there
	}
	defer f.close()
	s := scene{committer: c, entry: e, record: r, folder: f, name: p.Base()}
	temp := ""
	if r.Temp != "" && filepath.Dir(r.Temp) == p.Dir().Abs() {
		temp = filepath.Base(r.Temp)
	}
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
		if temp != "" {
			note = s.sweep(temp)
			s.sweep(temp + ".old") // where names cannot be exchanged
		}
		m = reached(s.look(s.name), r)
	}
	if m == notMade {
		for i := len(r.MadeFolders) - 1; i >= 0; i-- {
			removeEmpty(c, r.MadeFolders[i])
		}
	}
	return m, note
}

func removeEmpty(c *Committer, abs string) {
	if dir, err := c.Documents.Workspace().Resolve(abs); err == nil && !dir.IsRoot() {
		if info, err := dir.Lstat(); err == nil && info.IsDir() {
			dir.Root().Remove(dir.Rel()) //nolint:errcheck // not empty: somebody uses it
		}
	}
}

// reached compares what is there with what was and what was to be.
func reached(s sighting, r *journal.Record) made {
	switch {
	case isState(s, r.After):
		return wasMade
	case isState(s, r.Before), r.Before != nil && r.Before.Unsaved && r.After.Unsaved:
		return notMade // of unsaved text the editor knows, and nobody else
	}
	return unclear
}

func isState(s sighting, st *journal.State) bool {
	if st == nil {
		return s.info == nil
	}
	switch {
	case s.info == nil:
		return false
	case st.Type == journal.TypeDirectory:
		return s.info.IsDir()
	}
	return s.version != "" && strings.HasPrefix(st.Hash, s.version)
}

// scene is the folder in which a file was being replaced.
type scene struct {
	committer *Committer
	entry     journal.Entry
	record    *journal.Record
	folder    folder
	name      string
}

func (s scene) look(name string) sighting {
	limit := int64(maxReadBack)
	for _, st := range []*journal.State{s.record.Before, s.record.After} {
		if st != nil {
			limit = max(limit, st.Size)
		}
	}
	return s.folder.look(name, limit, false, content{})
}

// sweep removes a temporary file that is ours. One that holds what somebody else wrote
// was displaced a moment before the end: it takes its place again, unless somebody has
// written there since; then it goes into the journal.
func (s scene) sweep(temp string) string {
	lies := s.look(temp)
	switch {
	case lies.info == nil:
		return ""
	case !lies.info.Mode().IsRegular():
		return fmt.Sprintf("%s was left, because it is not Pillion's", fault.Quote(s.place(temp)))
	case isState(lies, s.record.Before), isState(lies, s.record.After), s.isBegun(temp, s.record.After):
		s.folder.root.Remove(temp) //nolint:errcheck // nothing is left to try
		return ""
	}
	now := s.look(s.name)
	if now.info == nil && s.folder.give(temp, s.name) == nil {
		return "the text that somebody else wrote at that moment is in the file"
	}
	if isState(now, s.record.Before) || isState(now, s.record.After) {
		if err := s.folder.exchange(temp, s.name, anything); err == nil {
			if came := s.look(temp); isState(came, s.record.Before) || isState(came, s.record.After) {
				s.folder.root.Remove(temp) //nolint:errcheck // it is in the journal
				return "the text that somebody else wrote at that moment is in the file"
			} // somebody has written there this moment: that goes into the journal
		}
	}
	p, err := s.committer.Journal.Store.Begin(journal.Origin{
		CallID: "kept-" + s.entry.ID, Agent: "Pillion", Tool: "recovery", Title: "Text that somebody else wrote while Pillion was killed",
	}, []journal.Record{{Operation: "kept", Name: s.record.Name, Path: s.record.Path, Before: &journal.State{Type: journal.TypeFile, Path: filepath.Join(filepath.Dir(s.record.Path), temp)}}})
	if err != nil {
		return fmt.Sprintf("the text that somebody else wrote at that moment is in %s", fault.Quote(s.place(temp)))
	}
	p.Done(nil)                //nolint:errcheck // what is kept is kept
	s.folder.root.Remove(temp) //nolint:errcheck // see above
	return "the text that somebody else wrote at that moment is in the journal"
}

func (s scene) place(temp string) string {
	return filepath.Join(filepath.Dir(s.record.Path), temp)
}

// isBegun reports whether a file is the beginning of what was to be written.
func (s scene) isBegun(temp string, st *journal.State) bool {
	_, file, _ := s.folder.openRegular(temp)
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
