package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/way"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/journal"
	"pillion/workspace/layer"
)

// mostBrought is how many changes of one command are brought out of its layers. What has more is no edit of a project.
const mostBrought = 5000

// NotBrought is a path that a command changed in its layer and that is as it was, with why.
type NotBrought struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// layer puts layers over the workspace, where the call is to run in them.
func (p *pending) layer() func(*process.Confine) (func(context.Context, *Answer), error) {
	if !p.decision.Layer {
		return nil
	}
	return func(held *process.Confine) (func(context.Context, *Answer), error) {
		layers, remove, ok := p.settings.Sandbox.Layers(held.Writable)
		if !ok {
			return nil, fault.New(fault.ExecutionFailed, "the box cannot be made any more; nothing was run").WithHint("ask the user to choose the mode auto_edit, in which they are asked about commands")
		}
		held.Layers = layers
		b := &bringing{pending: p, layers: layers}
		if info, err := os.Lstat(layers[0].Changes); err == nil {
			b.began = layer.ChangedAt(info) // just now, by the clock of files
		}
		return func(ctx context.Context, a *Answer) {
			defer remove()
			if a != nil { // else the command did not run, or was stopped
				b.end(ctx, a)
			}
		}, nil
	}
}

// bringing makes what a command left in its layers one change of the workspace, but for what would have to be asked about.
type bringing struct {
	*pending
	layers []process.Layer
	began  int64 // as layer.ChangedAt

	set  change.Set
	left []NotBrought
}

func (b *bringing) end(ctx context.Context, a *Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.timeout())
	defer cancel()
	var err error
	for range maxReplans {
		if err = b.plan(ctx); err == nil && b.set.Changes() {
			b.outcomes, err = b.registry.Committer.Commit(ctx, b.set, b.origin())
			b.outcomes = slices.DeleteFunc(b.outcomes, func(o change.Outcome) bool { return o.Tree == nil && o.File.Before == nil }) // links
		}
		if !errors.Is(err, change.ErrMoved) {
			break
		}
	}
	if err != nil {
		reason := fault.From(err).Message
		for _, p := range b.setPaths() {
			b.left = append(b.left, NotBrought{p, reason})
		}
		if len(b.left) == 0 {
			b.left = []NotBrought{{".", reason}}
		}
	}
	if a.NotBrought = b.left; len(b.left) > 0 {
		const most = 10
		var names []string
		for _, one := range b.left[:min(most, len(b.left))] {
			names = append(names, fault.Quote(one.Path)+" ("+one.Reason+")")
		}
		if more := len(b.left) - most; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		a.Notes = append(a.Notes, "(nobody was asked about this command, and of what it changed these are as they were: "+strings.Join(names, ", ")+")")
		a.Summary += fmt.Sprintf("; %s as before", Count(len(b.left), "path"))
	}
}

func (b *bringing) setPaths() (out []string) {
	for _, f := range b.set.Files {
		out = append(out, f.Path().String())
	}
	for _, t := range b.set.Tree {
		out = append(out, t.Path.String())
	}
	return out
}

// found is a change with its place in the workspace.
type broughtChange struct {
	layer.Change
	layer process.Layer
	path  workspace.Path
}

func (b *bringing) plan(ctx context.Context) error {
	b.set, b.left, b.snapshot = change.Set{Label: b.tool.Title}, nil, b.takeSnapshot()
	var all []broughtChange
	for _, l := range b.layers {
		changes, err := layer.Changes(ctx, l.Folder, l.Changes, mostBrought-len(all))
		if errors.Is(err, layer.ErrTooMany) {
			return fault.New(fault.FileTooLarge, "it changed more than %d files", mostBrought)
		}
		if err != nil {
			return fault.New(fault.ExecutionFailed, "the layer cannot be read: %w", err)
		}
		for _, c := range changes {
			if at, inside := b.snapshot.Workspace().Place(filepath.Join(l.Folder, filepath.FromSlash(c.Rel))); inside {
				all = append(all, broughtChange{c, l, at})
			}
		}
	}
	written := make([]workspace.Path, 0, len(all))
	for _, c := range all {
		written = append(written, c.path)
	}
	b.guards = nil
	after := b.layoutWith(written...)
	skipped := ""
	for i, c := range all {
		if skipped != "" && strings.HasPrefix(c.path.Abs(), skipped) {
			continue
		}
		hasMore := i+1 < len(all) && strings.HasPrefix(all[i+1].path.Abs(), c.path.Abs()+"/")
		reason, err := b.why(c, after)
		if err == nil && reason == "" {
			err = b.add(c, hasMore)
		}
		if err != nil {
			reason = fault.From(err).Message
		}
		if reason != "" {
			b.left = append(b.left, NotBrought{c.path.String(), reason})
			if c.Is != nil && c.Is.IsDir() {
				skipped = c.path.Abs() + "/"
			}
		}
	}
	return nil
}

// why is why a change is not brought out: it would have to be asked about, or somebody else changed the same meanwhile.
func (b *bringing) why(c broughtChange, after layout) (string, error) {
	w := Written{Path: c.path, Abs: c.path.Abs(), New: c.Was == nil, Deleted: c.Is == nil, MadeLink: c.leadsAway()}
	if c.Is != nil && c.Is.Mode().IsRegular() && c.Was != nil && !c.path.IsIgnored(false) {
		w.MadeExecutable = c.Is.Mode()&0o111 != 0 && c.Was.Mode()&0o111 == 0
	}
	fact, err := b.factOf(resolveTouch(w.touch()), after)
	if err != nil {
		return "", err
	}
	if c.path.IsIgnored(false) { // what builds make
		fact.Executable = false
	}
	d := policy.Decide(policy.Request{Tool: b.tool.Name, Access: policy.Edit, Mode: policy.AutoEdit, Paths: []policy.PathFact{fact}, Rules: b.rules(site{})})
	if d.Verdict != policy.Run && len(d.OncePerSession) == 0 {
		return d.Why(), nil
	}
	if c.Was == nil {
		return "", nil
	}
	if b.isNewer(c.path) {
		return "somebody else changed it meanwhile", nil
	}
	return "", nil
}

// leadsAway says whether it is a link that leads out of its folder, or to what has no place there.
func (c broughtChange) leadsAway() bool {
	if c.Is == nil || c.Is.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	to := way.Resolve(way.Join(filepath.Dir(c.path.Abs()), c.Link))
	below, err := filepath.Rel(c.layer.Folder, to)
	return filepath.IsAbs(c.Link) || err != nil || !filepath.IsLocal(below) || policy.Effect(filepath.ToSlash(below)) != "" || policy.Secret(filepath.ToSlash(below))
}

// isNewer says whether something at the path changed since the command began.
func (b *bringing) isNewer(p workspace.Path) bool {
	info, err := p.Lstat()
	if err != nil {
		return false // the plan finds out
	}
	if !info.IsDir() {
		return layer.ChangedAt(info) > b.began
	}
	tree, err := b.snapshot.Tree(p)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(tree.Nodes, func(n workspace.Node) bool {
		info, err := p.Join(n.Rel).Lstat()
		return err == nil && layer.ChangedAt(info) > b.began
	})
}

// add plans one change.
func (b *bringing) add(c broughtChange, hasMore bool) error {
	was := func(kind fs.FileMode) bool { return c.Was != nil && c.Was.Mode().Type() == kind }
	switch kind := fs.FileMode(0); {
	case c.Is == nil:
		return b.delete(c)
	case c.Is.IsDir():
		if c.Was != nil {
			return fault.New(fault.NotAFile, "it became a folder")
		}
		if hasMore {
			return nil // made with what is in it
		}
		made, err := change.NewDirectory(b.snapshot, c.path)
		b.addTree(made, err)
		return err
	case c.Is.Mode()&fs.ModeSymlink != 0:
		if c.Was != nil {
			if was(fs.ModeDir) {
				return fault.New(fault.NotAFile, "it became a link")
			}
			if err := b.delete(c); err != nil {
				return err
			}
		}
		b.set.Restores = append(b.set.Restores, change.Restore{Path: c.path, State: journal.State{Type: journal.TypeSymlink, Link: c.Link, Mode: c.Is.Mode()}})
		return nil
	case !c.Is.Mode().IsRegular():
		return fault.New(fault.NotAFile, "it is no file")
	case c.Was != nil && !was(kind):
		return fault.New(fault.NotAFile, "it became a file")
	}
	return b.write(c)
}

func (b *bringing) addTree(t change.TreeChange, err error) {
	if err == nil && t.Operation != change.Unchanged {
		b.set.Tree = append(b.set.Tree, t)
	}
}

func (b *bringing) delete(c broughtChange) error {
	gone, err := change.NewDelete(b.snapshot, c.path, true)
	b.addTree(gone, err)
	return err
}

// write plans the content of a file, which the user may have typed into meanwhile, and its mode.
func (b *bringing) write(c broughtChange) error {
	if limit := b.snapshot.Limit(); c.Is.Size() > limit {
		return fault.New(fault.FileTooLarge, "it has more than %s bytes", Grouped(int(limit)))
	}
	file, err := layer.Open(c.layer.Changes, c.Rel)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, c.Is.Size()+1))
	if err != nil {
		return err
	}
	f, err := b.fileOf(c.path, data)
	if err != nil {
		return err
	}
	f.CreateDirs = true
	if f.Executable = c.Is.Mode()&0o100 != 0; f.Operation() != change.Unchanged {
		b.set.Files = append(b.set.Files, f)
	}
	if c.Was != nil && change.IsExecutable(c.Was.Mode()) != change.IsExecutable(c.Is.Mode()) {
		mode, err := change.NewMode(b.snapshot, c.path, change.IsExecutable(c.Is.Mode()))
		b.addTree(mode, err)
		return err
	}
	return nil
}

func (b *bringing) fileOf(p workspace.Path, data []byte) (change.File, error) {
	before, err := b.snapshot.ReadIfExists(p, "")
	if err == nil {
		if after, err := document.Decode(bytes.Clone(data), before.Encoding); err == nil {
			return b.merged(before, after)
		}
	}
	if before, err = b.snapshot.ReadIfExists(p, document.Binary); err != nil {
		return change.File{}, err
	}
	after := document.Content{Text: string(data), Encoding: document.Binary}
	if !before.Exists {
		if text, err := document.Decode(data, ""); err == nil {
			after = text
		}
	}
	return change.New(before, after)
}

// merged is what a command made of the file on disk, with what the user has not saved.
func (b *bringing) merged(before *document.File, after document.Content) (change.File, error) {
	if !before.Dirty {
		return change.New(before, after)
	}
	data, _, err := before.Path.ReadFile(b.snapshot.Limit())
	if err != nil {
		return change.File{}, err
	}
	disk, err := document.Decode(data, before.Encoding)
	if err != nil {
		return change.File{}, err
	}
	text, ok := change.Merge(disk.Text, before.Text, after.Text)
	if !ok {
		return change.File{}, fault.New(fault.ConcurrentModification, "it has unsaved text in the same places")
	}
	after.Text = text
	f, err := change.New(before, after)
	f.Merged = true
	return f, err
}
