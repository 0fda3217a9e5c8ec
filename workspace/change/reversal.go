package change

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// reversal is the plan of a revert. It goes through the records from the newest to
// the oldest, on what is there now and on what the steps planned so far make of it.
type reversal struct {
	committer *Committer
	snap      *document.Snapshot
	contents  map[string]*journal.Content // by entry

	texts    map[workspace.Path]*text // files on disk or in buffers, under the names that they have now
	modes    map[workspace.Path]fs.FileMode
	moves    []renaming           // in the order in which they are to be made
	gone     []workspace.Path     // under the names that they have now
	restored map[string]*restored // what comes out of the journal, by its absolute name to be
	emptied  []string             // folders that agents made, to go if nothing is in them
	folders  []workspace.Path     // those that were themselves what was asked for

	set     Set
	preview []FilePreview
	callID  string // of the revert, once it is made
	done    []undoing
	fates   map[string]reversedFile // by path as tools print it
	order   []string                // of fates
	blocked map[string]bool         // absolute names at which older changes are left alone
}

type renaming struct{ from, to workspace.Path }

// text is a file with a text, and what is to be made of it.
type text struct {
	file *document.File
	now  document.Content
}

// restored is a file, folder or link that is made anew.
type restored struct {
	path  workspace.Path
	state journal.State
	data  []byte // of a file that is not too large
	from  undoing
}

// undoing is one record of one entry.
type undoing struct {
	entry  journal.Entry
	record journal.Record
}

// reversedFile is what becomes of one path.
type reversedFile struct {
	merged   bool
	conflict string // why it is left alone
}

func (c *Committer) planReversal(entries []journal.Entry, blocked map[string]bool) (*reversal, error) {
	r := &reversal{
		committer: c, snap: c.Documents.Snapshot(maxReadBack), contents: map[string]*journal.Content{},
		texts: map[workspace.Path]*text{}, modes: map[workspace.Path]fs.FileMode{}, restored: map[string]*restored{},
		fates: map[string]reversedFile{}, blocked: blocked,
	}
	for _, run := range runs(entries) {
		r.undo(run)
	}
	return r, r.compile()
}

func (r *reversal) close() {
	for _, c := range r.contents {
		c.Close()
	}
}

// runs lists the records from the newest to the oldest. Changes of one file in which
// each begins where the one before ended are one run: what lies between is gone anyway.
func runs(entries []journal.Entry) [][]undoing {
	var all []undoing
	for _, e := range entries {
		for _, rec := range slices.Backward(e.Records) {
			if !e.Reverted[rec.Path] {
				all = append(all, undoing{e, rec})
			}
		}
	}
	var out [][]undoing
	taken := map[int]bool{}
	for i, u := range all {
		if taken[i] {
			continue
		}
		run := []undoing{u}
		for j := i + 1; j < len(all) && u.record.Operation == string(Overwrite); j++ {
			older := all[j].record
			if touches(older, u.record.Path) && !continues(older, run[len(run)-1].record) {
				break
			}
			if older.Path == u.record.Path {
				run = append(run, all[j])
				taken[j] = true
			}
		}
		out = append(out, run)
	}
	return out
}

func touches(r journal.Record, name string) bool {
	return isIn(r.Path, name) || r.To != "" && isIn(r.To, name)
}

// continues: newer begins with what older left.
func continues(older, newer journal.Record) bool {
	return older.Path == newer.Path && older.Operation == string(Overwrite) && older.After != nil && newer.Before != nil &&
		older.After.Hash == newer.Before.Hash && older.After.Unsaved == newer.Before.Unsaved
}

// undo plans to put back a run of changes of one path, or leaves it with a reason.
func (r *reversal) undo(run []undoing) {
	newest, oldest := run[0], run[len(run)-1]
	name := r.committer.nameOf(newest.record.Path, newest.record.Name)
	if r.blocked[newest.record.Path] {
		return
	}
	merged, err := r.undoRecord(newest, oldest)
	if err != nil {
		r.blocked[newest.record.Path] = true
		r.settle(name, reversedFile{conflict: fault.From(err).Message})
		return
	}
	r.settle(name, reversedFile{merged: merged})
	r.done = append(r.done, run...)
}

// entries are those of which something is put back, the newest first.
func (r *reversal) entries() (out []journal.Entry) {
	for _, d := range r.done {
		if !slices.ContainsFunc(out, func(e journal.Entry) bool { return e.ID == d.entry.ID }) {
			out = append(out, d.entry)
		}
	}
	return out
}

func (r *reversal) settle(name string, f reversedFile) {
	was, known := r.fates[name]
	if !known {
		r.order = append(r.order, name)
	}
	f.merged = f.merged || was.merged
	if was.conflict != "" {
		f.conflict = was.conflict
	}
	r.fates[name] = f
}

func (r *reversal) result() Reverted {
	out := Reverted{Reverted: []string{}, Merged: []string{}, Conflicts: []string{}, Reasons: map[string]string{}, CallID: r.callID, Preview: r.preview}
	for _, name := range r.order {
		switch f := r.fates[name]; {
		case f.conflict != "":
			out.Conflicts = append(out.Conflicts, name)
			out.Reasons[name] = f.conflict
		case f.merged:
			out.Merged = append(out.Merged, name)
		default:
			out.Reverted = append(out.Reverted, name)
		}
	}
	return out
}

func (r *reversal) undoRecord(newest, oldest undoing) (merged bool, err error) {
	p, err := r.committer.Documents.Workspace().Known(newest.record.Path)
	if err != nil {
		return false, err
	}
	if err := r.checkWay(p); err != nil {
		return false, err
	}
	switch Operation(newest.record.Operation) {
	case Overwrite:
		return r.undoText(p, newest, oldest)
	case Create, Restored:
		return false, r.undoCreate(p, newest)
	case Delete:
		return false, r.undoDelete(p, newest, newest.record.Before)
	case Move:
		return false, r.undoMove(p, newest)
	case CreateDirectory:
		return false, r.undoMake(p, newest)
	case ChangeMode:
		return false, r.undoMode(p, newest)
	}
	return false, conflict("there is nothing to revert: `pillion journal show` shows what was recorded")
}

// checkWay fails where something else is in place of a folder that holds p: what is put back
// would go where a link leads.
func (r *reversal) checkWay(p workspace.Path) error {
	for dir := p.Dir(); len(r.moves) == 0 && !dir.IsRoot() && r.restored[dir.Abs()] == nil; dir = dir.Dir() {
		if info, err := dir.Lstat(); err == nil && !info.IsDir() {
			return conflict("%s is no folder any more; revert that first", fault.Quote(dir.String()))
		}
	}
	return nil
}

func conflict(format string, args ...any) error {
	return fault.New(fault.ConcurrentModification, format, args...)
}

// now finds what is at a path after the steps planned so far: something that comes out
// of the journal, or an entry that has another name still. Neither is nothing.
func (r *reversal) now(p workspace.Path) (*restored, workspace.Path) {
	if one := r.restored[p.Abs()]; one != nil {
		return one, workspace.Path{}
	}
	abs := p.Abs()
	for _, m := range slices.Backward(r.moves) {
		switch {
		case isIn(m.to.Abs(), abs):
			rel, _ := filepath.Rel(m.to.Abs(), abs) //nolint:errcheck // isIn
			abs = filepath.Join(m.from.Abs(), rel)
		case isIn(m.from.Abs(), abs):
			return nil, workspace.Path{}
		}
	}
	at, err := r.committer.Documents.Workspace().Known(abs)
	if err != nil || slices.ContainsFunc(r.gone, func(g workspace.Path) bool { return isIn(g.Abs(), at.Abs()) }) {
		return nil, workspace.Path{}
	}
	if !at.Exists() && r.snap.Buffer(at) == nil {
		return nil, workspace.Path{}
	}
	return nil, at
}

// undoText puts a text back, or the change out of what others made of it.
func (r *reversal) undoText(p workspace.Path, newest, oldest undoing) (merged bool, err error) {
	ours, err := r.content(newest, newest.record.After)
	if err != nil {
		return false, err
	}
	before, err := r.content(oldest, oldest.record.Before)
	if err != nil {
		return false, err
	}
	one, at := r.now(p)
	switch {
	case one != nil:
		enc := document.Encoding(one.state.Encoding)
		if ours.Encoding == document.Binary || enc == document.Binary {
			enc = ours.Encoding
		}
		now, err := document.Decode(one.data, enc)
		if err != nil {
			return false, err
		}
		back, merged, err := unmake(now, ours, before, false)
		if err == nil {
			one.data, err = back.Encode()
		}
		return merged, err
	case at.IsZero():
		return false, conflict("it no longer exists")
	case typeAt(at) == journal.TypeSymlink: // whatever it leads to is no agent's change
		return false, conflict("a link is in its place")
	}
	t, err := r.text(at, ours.Encoding)
	if err != nil {
		return false, err
	}
	back, merged, err := unmake(t.now, ours, before, t.file.Source == document.FromBuffer)
	if err != nil {
		return false, err
	}
	if t.file.Source == document.FromBuffer && (back.Encoding != t.file.Encoding || back.BOM != t.file.BOM) {
		return false, conflict("it is open in the editor, which would save it as %s", t.file.Encoding)
	}
	t.now = back
	return merged, nil
}

// text is the file at a path under which it is there now: its bytes where those were
// changed, and else in the encoding in which it was, where no editor has it.
func (r *reversal) text(at workspace.Path, like document.Encoding) (*text, error) {
	t, enc := r.texts[at], document.Encoding("")
	if like == document.Binary || r.snap.Buffer(at) == nil {
		enc = like
	}
	if t != nil && (t.now.Encoding == document.Binary) == (enc == document.Binary) {
		return t, nil
	}
	if t != nil {
		return t, t.recode(r.snap, at, like)
	}
	f, err := r.snap.Read(at, enc)
	if undecodable := fault.CodeOf(err); undecodable == fault.EncodingError || undecodable == fault.BinaryFile {
		f, err = r.snap.Read(at, "")
	}
	if err != nil {
		return nil, err
	}
	t = &text{file: f, now: f.Content}
	r.texts[at] = t
	return t, nil
}

// recode has what was a text be bytes, or the other way round: different changes made the
// file the one and the other.
func (t *text) recode(snap *document.Snapshot, at workspace.Path, like document.Encoding) error {
	data, err := t.now.Encode()
	if err != nil {
		return err
	}
	if t.now, err = document.Decode(data, like); err == nil && like == document.Binary {
		t.file, err = snap.Read(at, like)
	}
	return err
}

// unmake takes the change from before to ours out of now, which an editor may show.
func unmake(now, ours, before document.Content, shown bool) (document.Content, bool, error) {
	if ours.Encoding == document.Binary {
		switch now.Text {
		case ours.Text:
			return before, false, nil
		case before.Text:
			return now, false, nil
		}
		return now, false, conflict("it has changed since, and binary content cannot be merged")
	}
	if !shown && now.Text == ours.Text { // to the byte, also where nothing now tells how lines ended
		return before, false, nil
	}
	if !strings.Contains(now.Text, "\r") { // an editor shows all line ends alike
		ours.Text, before.Text = document.PlainLineEnds(ours.Text), document.PlainLineEnds(before.Text)
	}
	switch {
	case now.Text == ours.Text:
		return before, false, nil
	case now.Text == before.Text:
		return now, false, nil
	}
	text, ok := Merge(ours.Text, before.Text, now.Text)
	if !ok {
		return now, false, conflict("the same lines have changed since")
	}
	now.Text = text
	return now, true, nil
}

// content is the text of a state in the journal.
func (r *reversal) content(u undoing, st *journal.State) (document.Content, error) {
	if st == nil {
		return document.Content{}, conflict("the journal does not say what was there")
	}
	data, err := r.bytes(u, st)
	if err != nil {
		return document.Content{}, err
	}
	return document.Decode(data, document.Encoding(st.Encoding))
}

func (r *reversal) bytes(u undoing, st *journal.State) ([]byte, error) {
	open := r.contents[u.entry.ID]
	if open == nil {
		var err error
		if open, err = r.committer.Journal.Store.Content(u.entry); err != nil {
			return nil, conflict("%v", err)
		}
		r.contents[u.entry.ID] = open
	}
	data, err := open.Read(st)
	if err != nil {
		return nil, conflict("%v", err)
	}
	return data, nil
}

// compile makes the set of what is planned.
func (r *reversal) compile() error {
	r.set.Label = "Pillion: revert"
	for _, t := range r.texts {
		f, err := New(t.file, t.now)
		if err != nil {
			return err
		}
		if f.Operation() != Unchanged {
			r.set.Files = append(r.set.Files, f)
		}
	}
	slices.SortFunc(r.set.Files, func(a, b File) int { return strings.Compare(a.Target.Abs(), b.Target.Abs()) })
	err := r.compileTree()
	r.checkFolders()
	return err
}
