package tools

import (
	"context"
	"errors"
	"slices"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/patch"
)

// patching is a patch that is being applied, in memory: the files as they were and as
// they are by now. What is to be done to the workspace follows from the two.
type patching struct {
	in      Input
	files   map[workspace.Path]*patched // by what a name leads to
	order   []*patched
	leaving map[workspace.Path]bool // names that some file of the patch gives up; false: from that part of it on
	results []patchedFile
	reads   []workspace.Path // of files that it could not be applied to
	failed  int
	notes   []string // what of it is not done, and why
}

// patched is one file.
type patched struct {
	path   workspace.Path // as it is named
	target workspace.Path // what is changed when it is: of a link what it leads to
	before *document.File // nil of what is no text
	opaque error          // why it is none
	link   bool           // the name is a symbolic link

	was   bool   // it was there
	is    bool   // it is there now
	text  string // or bytes: see patch_bytes.go
	bom   bool
	bytes bool     // it is one of bytes
	exec  bool     // it can be run
	like  *patched // of a copy: what its text came from
	from  *patched // it is that file under another name
	wrote bool     // something was made of it in this patch

	wasExec bool
}

func newPatching(in Input, files []patch.File) *patching {
	p := &patching{in: in, files: map[workspace.Path]*patched{}, leaving: map[workspace.Path]bool{}}
	for _, f := range files {
		if f.Operation != patch.Rename && f.Operation != patch.Delete {
			continue
		}
		if at, err := p.resolve(f.Old); err == nil {
			p.leaving[at] = p.leaving[at] || !f.InOrder
		}
	}
	return p
}

func (p *patching) resolve(name string) (workspace.Path, error) {
	if p.in.Limits.CodeLab {
		if err := checkCodeLabPath(name); err != nil {
			return workspace.Path{}, err
		}
	}
	at, err := p.in.Snapshot.Workspace().Resolve(name)
	if err == nil && at.IsRoot() {
		err = fault.New(fault.NotAFile, "%s is a workspace folder", fault.Quote(name))
	}
	if err != nil {
		return workspace.Path{}, err
	}
	return at.Target()
}

// open is the file of a name as it is by now.
func (p *patching) open(name string) (*patched, error) {
	target, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	path, err := p.in.Snapshot.Workspace().Resolve(name)
	if err != nil {
		return nil, err
	}
	if known := p.files[target]; known != nil {
		if known.path != path {
			return nil, fault.New(fault.InvalidPath, "%s and %s are the same file", fault.Quote(known.path.String()), fault.Quote(path.String())).
				WithHint("make the changes under one name")
		}
		return known, nil
	}
	f := &patched{path: path, target: target}
	if entry, err := path.Entry(); err == nil && entry != target {
		f.link = true
	}
	if err := p.load(f); err != nil {
		return nil, err
	}
	p.files[target] = f
	p.order = append(p.order, f)
	return f, nil
}

func (p *patching) load(f *patched) error {
	before, err := p.in.Snapshot.ReadIfExists(f.path, "")
	switch code := fault.CodeOf(err); {
	case err == nil:
		f.before, f.was, f.text, f.bom = before, before.Exists, before.Text, before.BOM
	case code == fault.BinaryFile, code == fault.EncodingError, code == fault.FileTooLarge:
		f.opaque, f.was = err, true
	default:
		return err
	}
	f.is = f.was
	if f.was {
		f.wasExec = f.isProgram()
		f.exec = f.wasExec
	}
	return nil
}

// apply makes one file of the patch. Only what is wrong with the whole patch is an
// error; what is wrong with the file is in its row.
func (p *patching) apply(ctx context.Context, f patch.File) error {
	f = p.guessed(f)
	row := patchedFile{Path: f.New, Operation: rowOperation(f.Operation)}
	if f.Operation == patch.Rename || f.Operation == patch.Copy {
		row.From = f.Old
	}
	err := p.applyFile(ctx, f, &row)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.failed++
		row.Error = p.blame(row, f, err)
		row.HunksApplied, row.Offset, row.Hunks = 0, 0, nil
	}
	p.results = append(p.results, row)
	return nil
}

func rowOperation(o patch.Operation) string {
	switch o {
	case patch.Change:
		return string(change.Overwrite)
	case patch.Rename:
		return string(change.Move)
	}
	return string(o)
}

// begin is the file that a part of the patch is for, if the part is one that can be made.
func (p *patching) begin(f patch.File) (*patched, error) {
	if err := checkModes(f); err != nil {
		return nil, err
	}
	if err := p.checkNotGits(f); err != nil {
		return nil, err
	}
	return p.open(p.existing(f))
}

func (p *patching) applyFile(ctx context.Context, f patch.File, row *patchedFile) error {
	row.Additions, row.Deletions = f.Count()
	old, err := p.begin(f)
	if err != nil {
		return err
	}
	row.Path = old.path.String()
	if f.Operation == patch.Rename || f.Operation == patch.Copy {
		row.From = row.Path
		to, err := p.open(f.New)
		if err != nil {
			return err
		}
		row.Path = to.path.String()
		return p.carry(ctx, f, old, to, row)
	}
	if f.Operation == patch.Create {
		return p.create(ctx, f, old, row)
	}
	if !old.is {
		return p.missing(old)
	}
	if f.Binary != nil {
		if err := p.asBytes(old); err != nil {
			return err
		}
	}
	text, err := p.patched(ctx, f, old, old.text, row)
	if err != nil {
		return err
	}
	if f.Operation == patch.Delete {
		return p.delete(f, old, text, row)
	}
	old.text, old.wrote = text, true
	if err := p.setMode(f, old, old.exec, row); err != nil {
		return err
	}
	switch {
	case len(f.Hunks) > 0 || f.Binary != nil:
	case row.Mode == "":
		row.Operation = string(change.Unchanged)
	default:
		row.Operation = string(change.ChangeMode)
	}
	return nil
}

// delete has a file go. What the patch leaves of its text must be nothing, unless it goes
// unseen.
func (p *patching) delete(f patch.File, old *patched, text string, row *patchedFile) error {
	if !f.Unseen && (text != "" || old.opaque != nil) {
		return fault.New(fault.PatchApplyFailed, "%s would be deleted, and has more lines than the patch takes away", fault.Quote(row.Path)).
			With("path", row.Path).WithHint("read it again; to delete it whatever it holds use delete_file")
	}
	if len(f.Hunks) == 0 {
		row.Deletions = document.LineCount(text)
	}
	old.is, old.text = false, ""
	return nil
}

// existing is the name of the file that a change is made in: where its first folder may
// be a prefix, it is one if only then there is such a file.
func (p *patching) existing(f patch.File) string {
	if f.Bare == "" || f.Operation == patch.Create || p.exists(f.Old) || !p.exists(f.Bare) {
		return f.Old
	}
	return f.Bare
}

// guessed is a file of the patch as what is there makes it.
func (p *patching) guessed(f patch.File) patch.File {
	if f.MayCreate() && !p.exists(p.existing(f)) {
		f.Operation = patch.Create
	}
	return f
}

func (p *patching) exists(name string) bool {
	target, err := p.resolve(name)
	return err == nil && (p.files[target] != nil || target.Exists() || p.in.Snapshot.Buffer(target) != nil)
}

func (p *patching) missing(f *patched) error {
	switch {
	case f.is:
		return fault.New(fault.PatchApplyFailed, "%s is made earlier in the patch", fault.Quote(f.path.String())).
			WithHint("make each file at once under the name that it is to have")
	case f.was:
		return fault.New(fault.FileNotFound, "%s is deleted or renamed earlier in the patch", fault.Quote(f.path.String())).
			WithHint("make one diff of each file, from what it is to what it is to be")
	}
	_, err := p.in.Snapshot.Read(f.path, "") // which knows similar names
	if err == nil {
		err = fault.New(fault.FileNotFound, "%s does not exist", fault.Quote(f.path.String()))
	}
	return err
}

// create makes a new file. One that an earlier file of the patch gives up is none.
func (p *patching) create(ctx context.Context, f patch.File, to *patched, row *patchedFile) error {
	if err := p.vacant(nil, to); err != nil {
		return err
	}
	text, err := p.patched(ctx, f, nil, "", row)
	if err != nil {
		return err
	}
	to.is, to.wrote, to.like, to.from, to.bom = true, true, nil, nil, false
	to.text, to.bytes = text, f.Binary != nil
	if to.before != nil && !to.was && !to.bytes {
		to.text, to.bom = to.before.Encoding.TakeMark(text)
	}
	return p.setMode(f, to, false, row)
}

// vacant: nothing is at a name, or goes. What comes there is old, nil of a new file.
func (p *patching) vacant(old, to *patched) error {
	if to.is && !(p.leaving[to.target] && !to.wrote) {
		err := fault.New(fault.FileExists, "%s is there already", fault.Quote(to.path.String()))
		if _, later := p.leaving[to.target]; later && !to.wrote {
			return err.WithHint("the parts of this form are made in their order; put the one first that takes %s away", fault.Quote(to.path.String()))
		}
		return err.WithHint("to change it give a patch with its lines as they are; to replace it as a whole use write_file")
	}
	if err := p.checkBytes(old, to); err != nil {
		return err
	}
	for dir := to.target.Dir(); !dir.IsRoot(); dir = dir.Dir() {
		info, err := dir.Lstat()
		if err == nil && !info.IsDir() {
			return fault.New(fault.FileExists, "%s is there, and is no folder", fault.Quote(dir.String())).WithHint("choose another name, or move it away first")
		}
		if err == nil {
			return nil
		}
	}
	return nil
}

// carry renames or copies. What a file held before the patch goes, as git has it: the
// order of the files in it says nothing. In the other form it is what the file holds by
// then.
func (p *patching) carry(ctx context.Context, f patch.File, old, to *patched, row *patchedFile) error {
	switch {
	case !old.was, f.InOrder && !old.is:
		return p.missing(old)
	case old == to:
		return errOwnName(to)
	case old.link:
		return fault.New(fault.NotAFile, "%s is a symbolic link", fault.Quote(old.path.String())).WithHint("use move_file, which moves the link itself")
	case to.link:
		return fault.New(fault.FileExists, "%s is a symbolic link", fault.Quote(to.path.String())).WithHint("choose another name")
	}
	if err := p.vacant(old, to); err != nil {
		return err
	}
	text, bytes, err := p.carriedFrom(f, old)
	if err == nil {
		text, err = p.patched(ctx, f, old, text, row)
	}
	if err != nil {
		return err
	}
	if f.Operation == patch.Rename && old.before != nil && old.before.Dirty && text != old.before.Text {
		return fault.New(fault.WorkTreeDirty, "%s has unsaved changes in the editor, which stay under that name, and so would the change", fault.Quote(old.path.String())).
			WithHint("ask the user to save it first")
	}
	to.is, to.wrote, to.text = true, true, text
	to.like, to.from = old, nil
	to.bytes, row.Binary = bytes, bytes
	to.bom = old.before != nil && old.before.BOM
	if f.Operation == patch.Rename {
		to.from = old
		if !old.wrote || f.InOrder {
			old.is = false
		}
	}
	if f.InOrder {
		p.fold(row)
	}
	return p.setMode(f, to, old.wasExec, row)
}

// fold takes what was made of a file before it was renamed into the row of that.
func (p *patching) fold(row *patchedFile) {
	isOf := func(r patchedFile) bool {
		return r.Path == row.From && r.Error == nil && r.Operation == string(change.Overwrite)
	}
	for _, r := range slices.Backward(p.results) {
		if !isOf(r) {
			continue
		}
		for i := range row.Hunks {
			row.Hunks[i].Hunk += r.HunksApplied
		}
		row.Hunks = append(r.Hunks, row.Hunks...)
		row.HunksApplied, row.Additions, row.Deletions = row.HunksApplied+r.HunksApplied, row.Additions+r.Additions, row.Deletions+r.Deletions
		if distance(r.Offset) > distance(row.Offset) {
			row.Offset = r.Offset
		}
	}
	p.results = slices.DeleteFunc(p.results, isOf)
}

// patched is a text with the hunks of a patch's file made in it.
func (p *patching) patched(ctx context.Context, f patch.File, file *patched, text string, row *patchedFile) (string, error) {
	switch {
	case f.Binary != nil:
		return p.patchedBytes(f, file, text, row)
	case len(f.Hunks) == 0:
		return text, nil
	case file != nil && file.opaque != nil:
		return "", file.opaque
	case file != nil && file.link && f.Operation == patch.Delete:
		return "", fault.New(fault.NotAFile, "%s is a symbolic link", fault.Quote(row.Path)).WithHint("use delete_file, which deletes the link itself")
	}
	if file != nil && file.bom {
		if err := unmark(f); err != nil {
			return "", err
		}
	}
	out, placed, err := patch.Apply(ctx, text, f.Hunks)
	if err != nil {
		return "", err
	}
	row.HunksApplied = len(placed)
	for i, at := range placed {
		if distance(at.Offset) > distance(row.Offset) {
			row.Offset = at.Offset
		}
		if f.Returns && at.Leniency == "" {
			at.Leniency = "the carriage returns at the ends of all of the patch's lines"
		}
		if at.Offset != 0 || at.Leniency != "" {
			row.Hunks = append(row.Hunks, patchedHunk{Hunk: i + 1, Line: at.Line, Offset: at.Offset, Leniency: at.Leniency})
		}
	}
	if size := int64(len(out)); size > p.in.Limits.WriteBytes && size > int64(len(text)) {
		return "", fault.New(fault.FileTooLarge, "%s would have %d bytes, over the limit of %d", fault.Quote(row.Path), size, p.in.Limits.WriteBytes)
	}
	return out, nil
}

func distance(n int) int { return max(n, -n) }

// blame is what is wrong with a file of the patch.
func (p *patching) blame(row patchedFile, f patch.File, err error) *fault.Error {
	var m *patch.Mismatch
	if !errors.As(err, &m) {
		return p.advised(f, fault.From(err))
	}
	name := row.From
	if name == "" {
		name = row.Path
	}
	if target, resolveErr := p.resolve(name); resolveErr == nil && p.files[target] != nil {
		p.reads = append(p.reads, p.files[target].path)
	}
	return mismatched(name, len(f.Hunks), m)
}
