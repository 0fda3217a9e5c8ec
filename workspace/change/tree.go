package change

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// TreeChange is a change of what there is, and not of what is in it: a folder is
// made, or an entry deleted or moved, with all below it, or a file gets another mode. A
// symbolic link is itself the entry; nothing is done to what it leads to.
type TreeChange struct {
	Operation Operation // CreateDirectory, Delete, Move, ChangeMode, or Unchanged where there is nothing to do
	Path      workspace.Path
	To        workspace.Path // of a move; both as the agent named them
	// Source and Target are the same with the links on the way followed.
	Source, Target workspace.Path
	Recursive      bool        // a folder may hold something
	Overwrite      bool        // a file at Target is replaced
	Mode           fs.FileMode // of a ChangeMode: what the file is to have
	Entries        int         // files that the folder held
	// Was is what stood at Source, and Over what stood at Target.
	Was, Over workspace.Tree
	// Text is a single file's text, nil where it has none that could be shown.
	Text     *document.File
	TooLarge bool // it may have one, and more than is shown
	// Open are the files below Source that are open in the editor, and the one at Target.
	Open []*document.File
	// Missing are the folders that have to be made, outermost first; of a new folder
	// itself among them.
	Missing []workspace.Path
	// LeftOut: the user did not want it. The operation is Unchanged.
	LeftOut bool
}

// NewDirectory plans the folder p, with the folders above it.
func NewDirectory(snap *document.Snapshot, p workspace.Path) (TreeChange, error) {
	target, err := p.Target()
	if err != nil {
		return TreeChange{}, err
	}
	c := TreeChange{Operation: CreateDirectory, Path: p, Source: target}
	if c.Missing, err = missing(snap, target); err != nil {
		return c, err
	}
	if len(c.Missing) == 0 {
		c.Operation = Unchanged
	}
	return c, nil
}

// missing are the folders of dir that are not there.
func missing(snap *document.Snapshot, dir workspace.Path) (out []workspace.Path, err error) {
	for ; ; dir = dir.Dir() {
		switch info, err := dir.Lstat(); {
		case err == nil && info.IsDir():
			slices.Reverse(out)
			return out, nil
		case err == nil:
			return nil, fault.New(fault.FileExists, "%s exists and is not a folder", fault.Quote(dir.String())).
				WithHint("choose another name, or move it away first")
		case fault.CodeOf(err) != fault.FileNotFound || dir.IsRoot():
			return nil, err
		}
		if _, err = snap.Tree(dir); err != nil { // so that the plan is made again when it appears
			return nil, err
		}
		out = append(out, dir)
	}
}

// NewDelete plans that the entry p goes.
func NewDelete(snap *document.Snapshot, p workspace.Path, recursive bool) (TreeChange, error) {
	c := TreeChange{Operation: Delete, Path: p, Recursive: recursive}
	if err := c.look(snap); err != nil {
		return c, err
	}
	if len(c.Was.Nodes) > 1 && !recursive {
		return c, fault.New(fault.NotAFile, "%s is a folder with %d files", fault.Quote(p.String()), c.Entries).
			With("entries", c.Entries).WithHint("set recursive to delete it with its contents")
	}
	for _, n := range c.Was.Nodes {
		if kept := fs.ModeDir | fs.ModeSymlink; !n.Mode.IsRegular() && n.Mode&kept == 0 {
			return c, fault.New(fault.NotAFile, "%s is %s, which could not be restored", fault.Quote(c.Path.Join(n.Rel).String()), kindOf(n.Mode)).
				WithHint("ask the user to remove it")
		}
	}
	return c, nil
}

// NewMove plans that the entry from becomes to.
func NewMove(snap *document.Snapshot, from, to workspace.Path, overwrite bool) (TreeChange, error) {
	return newMove(snap, from, to, overwrite, nil)
}

// newMove is NewMove in a set by which these entries will have gone before.
func newMove(snap *document.Snapshot, from, to workspace.Path, overwrite bool, gone []workspace.Path) (TreeChange, error) {
	c := TreeChange{Operation: Move, Path: from, To: to, Overwrite: overwrite}
	err := c.look(snap)
	if err != nil {
		return c, err
	}
	if c.Target, err = to.Entry(); err != nil {
		return c, err
	}
	name := fault.Quote(to.String())
	switch {
	case c.Target == c.Source:
		c.Operation = Unchanged
		return c, nil
	case c.Target.IsRoot():
		return c, fault.New(fault.FileExists, "%s is a workspace folder", name).WithHint("name a path in it")
	case c.Target.IsIn(c.Source):
		return c, fault.New(fault.InvalidPath, "%s is in %s, which cannot be moved into itself", name, fault.Quote(from.String()))
	}
	if !slices.Contains(gone, c.Target) {
		if c.Over, err = snap.Tree(c.Target); err != nil {
			return c, err
		}
		if err := c.checkOver(name); err != nil {
			return c, err
		}
	}
	if c.Missing, err = missing(snap, c.Target.Dir()); err != nil {
		return c, err
	}
	c.Open = append(c.Open, snap.Below(c.Target)...)
	return c, c.checkHeld()
}

func (c TreeChange) checkOver(name string) error {
	over := c.Over.Top().Mode
	switch {
	case !c.Over.Exists():
		return nil
	case over.IsDir():
		return fault.New(fault.FileExists, "%s is a folder", name).
			WithHint("name a path in it, such as %s, or delete it first", fault.Quote(path.Join(c.To.String(), c.Path.Base())))
	case !c.Overwrite:
		return fault.New(fault.FileExists, "%s already exists", name).WithHint("choose another name, or set overwrite to replace it")
	case c.Was.Top().Mode.IsDir():
		return fault.New(fault.FileExists, "%s is a file, and a folder cannot replace it", name).WithHint("delete it first")
	case !over.IsRegular() && over&fs.ModeSymlink == 0:
		return fault.New(fault.NotAFile, "%s is %s, which could not be restored", name, kindOf(over)).WithHint("ask the user to remove it")
	}
	return nil
}

// look finds what stands at Path.
func (c *TreeChange) look(snap *document.Snapshot) (err error) {
	if c.Path.IsRoot() {
		return fault.New(fault.PermissionDenied, "%s is a workspace folder itself", fault.Quote(c.Path.String())).WithHint("name its contents")
	}
	if c.Source, err = c.Path.Entry(); err != nil {
		return err
	}
	if c.Was, err = snap.Tree(c.Source); err != nil {
		return err
	}
	if !c.Was.Exists() {
		_, err := c.Source.Lstat()
		if err == nil {
			err = moved(c.name())
		}
		return err
	}
	c.Entries = c.Was.Files()
	if c.Was.Top().Mode.IsRegular() {
		c.Text, err = snap.ReadIfExists(c.Source, "") // what is no text is shown by its name
		c.TooLarge = fault.CodeOf(err) == fault.FileTooLarge
	}
	c.Open = snap.Below(c.Source)
	return c.checkHeld()
}

// checkHeld refuses to take away what has unsaved changes that nobody could keep.
func (c TreeChange) checkHeld() error {
	for _, f := range c.Open {
		if f.Held {
			return fault.New(fault.ConcurrentModification, "%s has unsaved changes in an editor that does not show its text", fault.Quote(f.Path.String())).
				WithHint("ask the user to save or close it")
		}
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

func (c TreeChange) name() string { return fault.Quote(c.Path.String()) }

// IsDir reports whether a folder is deleted or moved.
func (c TreeChange) IsDir() bool { return c.Was.Top().Mode.IsDir() }

// Unsaved are the open files in it whose text is not on disk.
func (c TreeChange) Unsaved() []*document.File {
	return slices.DeleteFunc(slices.Clone(c.Open), func(f *document.File) bool { return !f.Dirty })
}

func (c TreeChange) preview() FilePreview {
	p := FilePreview{Path: c.Path.String(), URI: c.Path.URI(), Operation: c.Operation, Hunks: []HunkPreview{}}
	p.OpenInEditor, p.Dirty = len(c.Open) > 0, len(c.Unsaved()) > 0
	if header := c.whole(); header != "" {
		p.Hunks = []HunkPreview{WholeHunk(header)}
		p.Hunks[0].ID = "1"
	}
	if c.Operation == Move {
		p.To = c.To.String()
	}
	switch {
	case c.IsDir():
		entries := c.Entries
		p.Entries, p.Diff = &entries, c.names()
	case c.Text != nil:
		p.Language, p.Size, p.Before = language.Of("", c.Path.Base(), c.Text.Text), int(c.Was.Size()), c.Text.Text
	}
	switch {
	case c.Operation == ChangeMode:
		p.Whole = c.about()
		p.Diff = "diff --git " + GitName("a/"+p.Path) + " " + GitName("b/"+p.Path) + "\n" + c.ModeLines()
	case c.Operation == Move && !c.IsDir():
		p.Diff = fmt.Sprintf("diff --git %s %s\nsimilarity index 100%%\nrename from %s\nrename to %s\n", GitName("a/"+p.Path), GitName("b/"+p.To), GitName(p.Path), GitName(p.To))
	case c.Operation == Delete && !c.IsDir():
		p.Diff = c.deletion(&p)
	}
	return p
}

// deletion is the text that goes, in git's format.
func (c TreeChange) deletion(p *FilePreview) string {
	out := "diff --git " + GitName("a/"+p.Path) + " " + GitName("b/"+p.Path) + "\ndeleted file mode " + gitMode(c.Was.Top().Mode) + "\n"
	switch hunks := c.lost(); {
	case c.about() != "":
		p.Whole = c.about()
		return out + "Binary files " + GitName("a/"+p.Path) + " and /dev/null differ\n"
	case len(hunks) > 0:
		_, p.Deletions = diff.Count(hunks)
		return out + "--- " + GitName("a/"+p.Path) + "\n+++ /dev/null\n" + diff.Unified(withMarks(hunks, c.Text.Content, document.Content{}))
	}
	return out
}

// lost are the lines of a text that is deleted.
func (c TreeChange) lost() []diff.Hunk {
	if c.Operation != Delete || c.Text == nil || c.about() != "" {
		return nil
	}
	return diff.Hunks(c.Text.Text, "", contextLines)
}

// hunks are the lines that it changed, those of a deleted file among them.
func (o Outcome) hunks() []diff.Hunk {
	if o.Tree != nil {
		return o.Tree.lost()
	}
	return o.Hunks
}

func gitMode(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "120000"
	case IsExecutable(mode):
		return "100755"
	}
	return "100644"
}

// names lists what the folder holds.
func (c TreeChange) names() string {
	var out strings.Builder
	for i, n := range c.Was.Nodes[1:] {
		if i == maxNames {
			fmt.Fprintf(&out, "… and %d more\n", len(c.Was.Nodes)-1-i)
			break
		}
		name := fault.Quote(path.Join(c.Path.String(), n.Rel))
		if n.Mode.IsDir() {
			name += "/"
		}
		out.WriteString(name + "\n")
	}
	return out.String()
}

// maxNames bounds a folder's names in a preview.
const maxNames = 200

// sameAs reports whether a yes to c is one to d: it is the same that goes or moves. A
// file's bytes may be others when it is only moved.
func (c TreeChange) sameAs(d TreeChange) bool {
	if c.Operation != d.Operation || c.Source != d.Source || c.Target != d.Target || c.Mode != d.Mode || len(c.Was.Nodes) != len(d.Was.Nodes) ||
		len(c.Unsaved()) != len(d.Unsaved()) || len(c.Missing) != len(d.Missing) || c.Over.Exists() || d.Over.Exists() {
		return false
	}
	for i, n := range c.Was.Nodes {
		m := d.Was.Nodes[i]
		if n.Rel != m.Rel || n.Mode != m.Mode || n.Link != m.Link || c.Operation != Move && n.State() != m.State() {
			return false
		}
	}
	return true
}
