package layer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/way"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// Layer is a layer over a folder of the workspace.
type Layer struct {
	Folder  string // absolute
	Changes string // what overlayfs wrote to
}

// Left is a path that is as it was, with why.
type Left struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Bringing makes what a command left in layers one change of the workspace.
type Bringing struct {
	Layers []Layer
	Began  int64 // when the layers were made, as Made gives it
	Label  string
	// Judge says why a change is not made, "" where it is. It is told of all changes first.
	Judge func(all []Placed) func(Placed) (why string, err error)
	// Base gives what a file had that the layer changed since, where that is known: what somebody else changed meanwhile is then
	// merged. Nil: it is not known.
	Base func(Placed) *Base
	// IsBuilt says of a folder that builds make it: what is in it is brought in bulk, and not journalled.
	IsBuilt func(workspace.Path) bool
	// Stood gives the inode that a folder had when the layers were made, 0 if there was none, and whether it had an entry. Nil:
	// it is not known.
	Stood func(folder, name string) (inode uint64, had bool)
}

// Base is what a file had, and its mode.
type Base struct {
	Data []byte
	Mode fs.FileMode
}

// Placed is a change with its place in the workspace.
type Placed struct {
	Change
	Path  workspace.Path
	layer Layer
}

// most is how many changes of one command are looked at. What has more is no edit of a project.
const most = 5000

// Set is the change of the workspace as it is in a snapshot, and what is left out: what Judge is against, what somebody else
// changed since the layers were made, what does not go with unsaved text, and what is neither file, folder nor link.
func (b Bringing) Set(ctx context.Context, snapshot *document.Snapshot) (change.Set, []Left, error) {
	p := planning{snapshot: snapshot, began: b.Began, stood: b.Stood, moved: map[workspace.Path]bool{}, set: change.Set{Label: b.Label, OnlyRecorded: true}}
	all, err := b.placed(ctx, snapshot.Workspace())
	if err != nil {
		return p.set, nil, err
	}
	judge := b.Judge(all)
	inLeft := ""
	for i, c := range all {
		if inLeft != "" && strings.HasPrefix(c.Path.Abs(), inLeft) {
			continue
		}
		reason, err := judge(c)
		if p.base = nil; b.Base != nil {
			p.base = b.Base(c)
		}
		gone := p.base != nil && (c.Was == nil || !c.Was.Mode().IsRegular())
		if err == nil && reason == "" && (p.isNewer(c) && p.base == nil || p.isOthers(c.Path) || gone) {
			reason = changedMeanwhile
		}
		switch {
		case err != nil || reason != "":
		case c.Built:
			p.addBuilt(c)
		default:
			err = p.add(c, i+1 < len(all) && !all[i+1].Built && strings.HasPrefix(all[i+1].Path.Abs(), c.Path.Abs()+"/"))
		}
		if err != nil {
			reason = fault.From(err).Message
		}
		if reason == "" {
			continue
		}
		p.left = append(p.left, Left{c.Path.String(), reason})
		if c.Is != nil && c.Is.IsDir() {
			inLeft = c.Path.Abs() + "/"
		}
	}
	return p.set, p.left, nil
}

func (b Bringing) placed(ctx context.Context, in *workspace.Workspace) (all []Placed, err error) {
	for _, l := range b.Layers {
		place := func(rel string) (workspace.Path, bool) {
			return in.Place(filepath.Join(l.Folder, filepath.FromSlash(rel)))
		}
		changes, err := Changes(ctx, l.Folder, l.Changes, most, func(rel string) bool {
			at, inside := place(rel)
			return inside && b.IsBuilt != nil && b.IsBuilt(at)
		})
		if errors.Is(err, ErrTooMany) {
			return nil, fault.New(fault.FileTooLarge, "it changed more than %s files", strconv.Itoa(most))
		}
		if err != nil {
			return nil, fault.New(fault.ExecutionFailed, "the layer cannot be read: %w", err)
		}
		for _, c := range changes {
			if at, inside := place(c.Rel); inside {
				all = append(all, Placed{c, at, l})
			}
		}
	}
	return all, nil
}

// Leads is where a link leads, in the layer's folder; false: out of it, or it cannot be told, as the layer may have another link
// before a "..".
func (c Placed) Leads() (below string, inside bool) {
	named := false
	for name := range strings.SplitSeq(c.Link, "/") {
		if name == ".." && named {
			return "", false
		}
		named = named || name != "" && name != "." && name != ".."
	}
	below, err := filepath.Rel(c.layer.Folder, way.Resolve(way.Join(filepath.Dir(c.Path.Abs()), c.Link)))
	return filepath.ToSlash(below), err == nil && filepath.IsLocal(below) && !filepath.IsAbs(c.Link)
}

const changedMeanwhile = "somebody else changed it meanwhile"

type planning struct {
	snapshot *document.Snapshot
	base     *Base // what the file had that is planned; nil: what it has on disk
	began    int64
	stood    func(folder, name string) (inode uint64, had bool)
	moved    map[workspace.Path]bool // folders, as far as was looked
	set      change.Set
	left     []Left
}

// isOthers says whether somebody else made an entry since the layers were made, or took it away, or put another folder on the way to it.
func (p *planning) isOthers(at workspace.Path) bool {
	if p.stood == nil {
		return false
	}
	_, had := p.stood(at.Dir().Abs(), at.Base())
	return had != at.Exists() || p.isMoved(at.Dir())
}

// isMoved says whether a folder is not the one that it was, or lies in such a one.
func (p *planning) isMoved(dir workspace.Path) bool {
	moved, known := p.moved[dir]
	if !known {
		inode, _ := p.stood(dir.Abs(), "")
		moved = inodeOf(dir.Lstat()) != inode || !dir.IsRoot() && p.isMoved(dir.Dir())
		p.moved[dir] = moved
	}
	return moved
}

// addBuilt plans what is moved in.
func (p *planning) addBuilt(c Placed) {
	one := change.Bulk{Path: c.Path, Gone: c.Is == nil, Was: c.Was}
	if c.Is != nil {
		one.From, one.Mode = filepath.Join(c.layer.Changes, filepath.FromSlash(c.Rel)), c.Is.Mode()
	}
	p.set.Bulk = append(p.set.Bulk, one)
}

// isNewer says whether something that is changed was changed by others since the layers were made.
func (p *planning) isNewer(c Placed) bool {
	at := c.Path
	switch {
	case c.Was == nil || c.Built && c.Was.IsDir():
		return false // a built one goes if nothing is in it
	case !c.Was.IsDir():
		info := at.Standing()
		return info != nil && ChangedAt(info) > p.began
	}
	tree, err := p.snapshot.Tree(at)
	return err != nil || slices.ContainsFunc(tree.Nodes, func(n workspace.Node) bool {
		info, err := at.Join(n.Rel).Lstat()
		return err == nil && ChangedAt(info) > p.began
	})
}

// add plans one change; hasMore says that the next is in it.
func (p *planning) add(c Placed, hasMore bool) error {
	if p.base != nil && (c.Is == nil || !c.Is.Mode().IsRegular()) {
		if now, _, err := c.Path.ReadFile(p.snapshot.Limit()); err != nil || !bytes.Equal(now, p.base.Data) {
			return fault.New(fault.ConcurrentModification, changedMeanwhile)
		}
	}
	switch {
	case c.Is == nil:
		return p.delete(c.Path)
	case c.Was != nil && c.Was.IsDir() != c.Is.IsDir():
		return fault.New(fault.NotAFile, "it was a folder and is none any more, or the other way round")
	case c.Is.IsDir() && hasMore:
		return nil // it is made with what is in it
	case c.Is.IsDir():
		made, err := change.NewDirectory(p.snapshot, c.Path)
		return p.tree(made, err)
	case c.Is.Mode()&fs.ModeSymlink != 0:
		if c.Was != nil {
			if err := p.delete(c.Path); err != nil {
				return err
			}
		}
		p.set.Restores = append(p.set.Restores, change.Restore{Path: c.Path, State: journal.State{Type: journal.TypeSymlink, Link: c.Link, Mode: c.Is.Mode()}})
		return nil
	case !c.Is.Mode().IsRegular(), c.Was != nil && !c.Was.Mode().IsRegular():
		return fault.New(fault.NotAFile, "it is no file, or was none")
	}
	return p.write(c)
}

func (p *planning) tree(t change.TreeChange, err error) error {
	if err == nil && t.Operation != change.Unchanged {
		p.set.Tree = append(p.set.Tree, t)
	}
	return err
}

func (p *planning) delete(at workspace.Path) error {
	gone, err := change.NewDelete(p.snapshot, at, true)
	return p.tree(gone, err)
}

// write plans the content of a file, and its mode.
func (p *planning) write(c Placed) error {
	if limit := p.snapshot.Limit(); c.Is.Size() > limit {
		return fault.New(fault.FileTooLarge, "it has more than %s bytes", strconv.FormatInt(limit, 10))
	}
	file, err := Open(c.layer.Changes, c.Rel)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, c.Is.Size()+1))
	if err != nil {
		return err
	}
	f, err := p.content(c.Path, data)
	if err != nil {
		return err
	}
	executable := change.IsExecutable(c.Is.Mode())
	if f.CreateDirs, f.Executable, f.Mode = true, executable, c.Is.Mode().Perm(); f.Operation() != change.Unchanged {
		p.set.Files = append(p.set.Files, f)
	}
	if c.Was == nil || change.IsExecutable(c.Was.Mode()) == executable || p.base != nil && change.IsExecutable(p.base.Mode) == executable {
		return nil
	}
	mode, err := change.NewMode(p.snapshot, c.Path, executable)
	return p.tree(mode, err)
}

// content is what a command made of a file on disk, with what the user has not saved.
func (p *planning) content(at workspace.Path, data []byte) (change.File, error) {
	before, err := p.snapshot.ReadIfExists(at, "")
	if err == nil {
		if after, err := document.Decode(bytes.Clone(data), before.Encoding); err == nil {
			return p.merged(before, after)
		}
	}
	if before, err = p.snapshot.ReadIfExists(at, document.Binary); err != nil {
		return change.File{}, err
	}
	if p.base != nil && before.Text != string(p.base.Data) {
		return change.File{}, fault.New(fault.ConcurrentModification, changedMeanwhile)
	}
	after := document.Content{Text: string(data), Encoding: document.Binary}
	if !before.Exists {
		if text, err := document.Decode(data, ""); err == nil {
			after = text
		}
	}
	return change.New(before, after)
}

func (p *planning) merged(before *document.File, after document.Content) (change.File, error) {
	var data []byte
	why := "it has changed in the same places"
	if p.base != nil {
		data = p.base.Data
	} else {
		if !before.Dirty {
			return change.New(before, after)
		}
		var err error
		if data, _, err = before.Path.ReadFile(p.snapshot.Limit()); err != nil {
			return change.File{}, err
		}
		why = "it has unsaved text in the same places"
	}
	base, err := document.Decode(data, before.Encoding)
	if err != nil {
		return change.File{}, err
	}
	if base.Text == before.Text {
		return change.New(before, after)
	}
	text, ok := change.Merge(base.Text, before.Text, after.Text)
	if !ok {
		return change.File{}, fault.New(fault.ConcurrentModification, "%s", why)
	}
	after.Text = text
	f, err := change.New(before, after)
	f.Merged = true
	return f, err
}
