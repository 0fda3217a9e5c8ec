package change

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/git"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// What is copied: so many files, together and each of so many bytes. What a repository holds
// is not; with that there may be more. Tests alone set them, and when a file is settled.
var (
	mostFiles         = 2000
	mostBytes   int64 = 64 << 20
	mostOne     int64 = 16 << 20
	mostTracked       = 50_000
	settled           = workspace.FileStamp.Settled
)

// baseline is what was in the workspace at the last look, but for what is ignored. Lists
// say what to look at: of a folder that is in the same list nothing has changed.
type baseline struct {
	copies *journal.Copies
	stored map[string]*git.Stored         // by the workspace folder: what its repository holds
	lists  map[string]*workspace.Contents // likewise
	rules  map[string]string              // likewise: what says from afar what is ignored
	files  map[workspace.Path]*held
	most   int   // files
	copied int   // files of these that are copied, and how many bytes
	size   int64 // they have
}

// held is a file as it was, or a symbolic link.
type held struct {
	stamp   workspace.FileStamp
	taken   time.Time // just before the stamp
	link    string    // where it leads, if it is one
	content source    // of a file
	why     string    // there is none
}

// source is what is in a file: a journal.Copy or a git.Blob. Two that are equal are the same.
type source interface {
	Open() (io.ReadCloser, error)
	Read() ([]byte, error)
}

func (b *baseline) forget() {
	b.close()
	b.lists, b.rules, b.files = map[string]*workspace.Contents{}, map[string]string{}, map[workspace.Path]*held{}
	b.stored, b.most, b.copied, b.size = map[string]*git.Stored{}, mostFiles, 0, 0
	if b.copies != nil {
		b.copies.Clear() //nolint:errcheck // then it is longer than it need be
	}
}

// close closes the repositories, which are opened again when they are needed.
func (b *baseline) close() {
	for _, s := range b.stored {
		s.Close()
	}
}

// findings are what a look found different.
type findings struct {
	all      []difference
	unasked  bool // nobody asks for differences
	ignoring bool // other things may be ignored now: what is in no list may have been there
}

// difference is one path. What was not there, or is not, is nil.
type difference struct {
	path    workspace.Path
	was, is *held
	made    []string // folders on the way to it that are new, outermost first
}

var (
	errManyCopies  = errors.New("too much to copy")
	errManyChanges = errors.New("too many changes")
)

// look brings the baseline up to date and gives what is different now. At first, before a
// command, there need not be any yet, and what is different is not its doing.
func (b *baseline) look(ctx context.Context, c *Committer, first bool) (out findings, err error) {
	if b.copies == nil {
		if b.copies, err = c.Journal.Store.Copies(); err != nil {
			return out, err
		}
	}
	roots := c.Documents.Workspace().Roots()
	isNew := len(b.lists) != len(roots) || slices.ContainsFunc(roots, func(p workspace.Path) bool { return b.lists[p.Abs()] == nil })
	if isNew && !first {
		return out, errors.New("other folders are open now")
	}
	if first && (isNew || b.copies.Size() > 2*mostBytes) {
		b.forget()
	}
	for _, s := range b.stored {
		s.Within(ctx)
	}
	out.unasked = first
	lists, err := b.list(ctx, c, roots)
	for i := 0; err == nil && i < len(roots); i++ {
		if list := lists[i]; b.lists[roots[i].Abs()] != list {
			err = b.compare(ctx, c, &out, roots[i], list)
		}
	}
	slices.SortFunc(out.all, func(x, y difference) int { return strings.Compare(x.path.Abs(), y.path.Abs()) })
	return out, err
}

// list lists the workspace folders, unless there is too much in them together. One that
// may have very much in it is not listed whole.
func (b *baseline) list(ctx context.Context, c *Committer, roots []workspace.Path) (out []*workspace.Contents, err error) {
	files := 0
	for _, root := range roots {
		if b.lists[root.Abs()] == nil {
			b.stored[root.Abs()] = c.Git.NewStored(root.Abs())
			b.stored[root.Abs()].Within(ctx)
			if _, watched := c.Observer.Told(ctx); watched && b.stored[root.Abs()].Open() == nil {
				b.most = mostTracked // else each look would be at all of them
			}
			if _, err := root.List(ctx, workspace.WalkOptions{}, false, 2*b.most); err != nil {
				return nil, err
			}
		}
		list, err := c.Observer.List(ctx, root, workspace.WalkOptions{}, true)
		if err != nil {
			return nil, err
		}
		out = append(out, list)
		err = list.Walk(func(_ *workspace.Contents, e *workspace.Listed) error {
			if !e.Type.IsDir() {
				files++
			}
			if files > b.most {
				return workspace.ErrTooMany
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *baseline) compare(ctx context.Context, c *Committer, out *findings, root workspace.Path, list *workspace.Contents) error {
	reader, err := root.NewReader()
	if err != nil {
		return err
	}
	defer reader.Close()
	l := &looking{baseline: b, workspace: c.Documents.Workspace(), reader: reader, old: b.lists[root.Abs()], found: out, seen: map[workspace.Path]bool{}}
	if err := l.folder(ctx, list); err != nil {
		return err
	}
	for p := range b.files {
		if p.Top() == root && !l.seen[p] {
			if err := l.file(p, nil); err != nil {
				return err
			}
		}
	}
	rules := root.RulesAround() + list.Facts().RulesWithin()
	out.ignoring = out.ignoring || rules != b.rules[root.Abs()]
	b.lists[root.Abs()], b.rules[root.Abs()] = list, rules
	return nil
}

// looking is one look at a workspace folder.
type looking struct {
	*baseline
	workspace *workspace.Workspace
	reader    *workspace.FileReader
	old       *workspace.Contents // of the whole workspace folder; nil: there was none
	found     *findings
	seen      map[workspace.Path]bool
}

// folder looks at what is in a folder. What is in the same list as before is as it was.
func (l *looking) folder(ctx context.Context, c *workspace.Contents) error {
	old, _ := l.before(c.Folder)
	for i := range c.Entries {
		e := &c.Entries[i]
		switch p := c.Folder.Join(e.Name); {
		case e.Below != nil:
			if err := l.folder(ctx, e.Below); err != nil {
				return err
			}
		case e.Type.IsDir() || workspace.IsTemp(e.Name):
		default:
			if l.seen[p] = true; old != c {
				if err := l.file(p, e); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// before is the list of a folder as it was; false: there was none.
func (l *looking) before(dir workspace.Path) (*workspace.Contents, bool) {
	if l.old == nil {
		return nil, false
	}
	return l.old.Find(dir)
}

// file looks at a file, or a link. What is in no list any more is nil.
func (l *looking) file(p workspace.Path, listed *workspace.Listed) error {
	if p.Top().HasOthers() {
		if place, ok := l.workspace.Place(p.Abs()); !ok || place != p {
			return nil // it is of a workspace folder within this one
		}
	}
	d := difference{path: p, was: l.files[p]}
	d.is = l.take(p, listed, d.was)
	l.put(p, nil)
	if listed != nil {
		l.put(p, d.is)
	}
	switch {
	case l.copied > mostFiles, l.size > mostBytes:
		return errManyCopies
	case l.found.unasked, d.isNone():
		return nil
	}
	for dir := p.Dir(); d.was == nil && !dir.IsRoot(); dir = dir.Dir() {
		if _, there := l.before(dir); there {
			break
		}
		d.made = slices.Insert(d.made, 0, dir.Abs())
	}
	if l.found.all = append(l.found.all, d); len(l.found.all) > mostFiles {
		return errManyChanges
	}
	return nil
}

// put has is in the place of what was there, nil for nothing.
func (b *baseline) put(p workspace.Path, is *held) {
	if was := b.files[p]; was.isCopied() {
		b.copied, b.size = b.copied-1, b.size-was.stamp.Size
	}
	if is.isCopied() {
		b.copied, b.size = b.copied+1, b.size+is.stamp.Size
	}
	if b.files[p] = is; is == nil {
		delete(b.files, p)
	}
}

// take looks at an entry, and copies it unless it is as it was. What is in no list any more
// may be ignored now. Neither a file nor a link is nothing.
func (l *looking) take(p workspace.Path, listed *workspace.Listed, was *held) *held {
	var kind fs.FileMode
	if listed != nil {
		kind = listed.Type
	} else {
		at, err := p.Entry()
		if err == nil && at != p {
			return nil // a link is on the way to it
		}
		var info fs.FileInfo
		if err == nil {
			info, err = p.Lstat()
		}
		switch {
		case fault.CodeOf(err) == fault.PermissionDenied:
			return &held{why: "(it cannot be seen)"}
		case err != nil:
			return nil
		}
		kind = info.Mode().Type()
	}
	switch kind {
	case fs.ModeSymlink:
		if link, err := p.Root().Readlink(filepath.FromSlash(p.Rel())); err == nil {
			return &held{link: link}
		}
	case 0:
		taken := time.Now()
		stamp, err := l.reader.Stamp(p)
		if err != nil {
			return nil
		}
		if was != nil && was.stamp == stamp && stamp.Settled(was.taken) {
			return was
		}
		is := &held{stamp: stamp, taken: taken}
		l.copy(p, was, is)
		return is
	}
	return nil
}

func (l *looking) copy(p workspace.Path, was, is *held) {
	for range handle.Tries {
		switch {
		case is.stamp.Names > 1:
			is.why = "(it has other names)"
			return
		case is.stamp.Size > mostOne:
			is.why = "(it is too large)"
			return
		}
		if l.isStored(p, was, is) {
			return
		}
		data, stamp, err := l.reader.Read(p, mostOne)
		switch {
		case err != nil:
		case was.holds(data):
			is.content = was.content
		default:
			is.content, err = l.copies.Add(data)
		}
		if err != nil {
			is.why = "(it could not be copied)"
			return
		}
		if is.stamp, err = l.reader.Stamp(p); err == nil && is.stamp == stamp {
			return
		}
	}
	is.why = "(it keeps changing)"
}

// isStored: a repository holds the content.
func (l *looking) isStored(p workspace.Path, was, is *held) bool {
	blob, ok := l.stored[p.Top().Abs()].Find(p.Rel(), is.stamp.Size, func(at time.Time) bool { return settled(is.stamp, at) })
	if !ok {
		return false
	}
	is.content = blob
	if was.hasContent() && was.content != is.content {
		if data, err := is.content.Read(); err == nil && was.holds(data) {
			is.content = was.content
		}
	}
	return true
}

// holds: this is what is in it.
func (h *held) holds(data []byte) bool {
	if !h.hasContent() {
		return false
	}
	old, err := h.content.Read()
	return err == nil && bytes.Equal(old, data)
}

func (h *held) hasContent() bool { return h != nil && h.why == "" && h.link == "" }

// isCopied: no repository holds it.
func (h *held) isCopied() bool {
	if !h.hasContent() {
		return false
	}
	_, ok := h.content.(journal.Copy)
	return ok
}

// isNone: nothing is different.
func (d difference) isNone() bool {
	if d.was == nil || d.is == nil {
		return d.was == d.is
	}
	if d.was.why != "" || d.is.why != "" {
		return d.was.stamp == d.is.stamp
	}
	return d.was.link == d.is.link && d.was.content == d.is.content && d.was.stamp.Mode == d.is.stamp.Mode
}

// why it cannot be put into the journal, "" if it can.
func (d difference) why() string {
	for _, h := range []*held{d.was, d.is} {
		if h != nil && h.why != "" {
			return h.why
		}
		if h.hasContent() && !h.isCopied() {
			if _, err := h.content.Read(); err != nil {
				return "(its repository does not have any more what was in it)"
			}
		}
	}
	return ""
}

// isRule: it says what is ignored.
func (d difference) isRule() bool {
	return strings.HasSuffix(d.path.Base(), "ignore")
}

// state is how the journal has it; nil of nothing.
func (h *held) state() *journal.State {
	switch {
	case h == nil:
		return nil
	case h.link != "":
		return &journal.State{Type: journal.TypeSymlink, Link: h.link}
	}
	return &journal.State{Type: journal.TypeFile, Mode: fs.FileMode(h.stamp.Mode), Open: h.content.Open, Size: h.stamp.Size, Encoding: string(document.Binary)}
}

// hunks are the lines that differ, if both are text; then their states say so.
func (d difference) hunks(before, after *journal.State) []diff.Hunk {
	var texts [2]document.Content
	for i, h := range []*held{d.was, d.is} {
		if !h.hasContent() {
			continue
		}
		data, err := h.content.Read()
		if err == nil {
			texts[i], err = document.Decode(data, "")
		}
		if err != nil {
			return nil
		}
	}
	if before != nil && after != nil && texts[0].Encoding != texts[1].Encoding {
		return nil
	}
	for i, st := range []*journal.State{before, after} {
		if st != nil && st.Type == journal.TypeFile {
			st.Encoding = string(texts[i].Encoding)
		}
	}
	return diff.Hunks(texts[0].Text, texts[1].Text, contextLines)
}
