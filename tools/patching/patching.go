// Package patching makes of a patch and a snapshot what is to be done to the workspace,
// a change set, or a review from which hunks are chosen. Apply and NewReview are the
// entry points. Deliberately not here: reading patches (workspace/patch), what the agent
// is told, and what a session knows.
package patching

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

// MostFiles bounds a patch.
const MostFiles = 1000

// Input is what a patch is laid on.
type Input struct {
	Snapshot   *document.Snapshot
	WriteBytes int64 // what a file may have afterwards
	MakesDirs  bool  // folders are made for new files
	// CheckName refuses a name as the patch has it, CheckPaths what would be changed, and
	// CheckReadable a file of which a review would show lines. All say why.
	CheckName     func(name string) error
	CheckPaths    func(paths ...workspace.Path) error
	CheckReadable func(path workspace.Path) error
}

// Patch is a patch that is applied in memory: the files as they were and as they are by
// now. What is to be done to the workspace follows from the two.
type Patch struct {
	Results []FileResult
	Failed  int              // of them
	Reads   []workspace.Path // of files that it could not be applied to
	Notes   []string         // what of it is not done, and why

	in      Input
	files   map[workspace.Path]*fileState // by what a name leads to
	order   []*fileState
	leaving map[workspace.Path]bool // names that some file of the patch gives up; false: from that part of it on
	moved   map[*fileState]*fileState
}

// Apply applies a patch in memory. What is wrong with a file is in its result; an error is
// what is wrong with the whole.
func Apply(ctx context.Context, in Input, files []patch.File) (*Patch, error) {
	if err := checkCount(files, "apply it in parts"); err != nil {
		return nil, err
	}
	p := newPatch(in, files)
	for _, f := range files {
		if err := p.apply(ctx, f); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func checkCount(files []patch.File, hint string) error {
	if len(files) <= MostFiles {
		return nil
	}
	return fault.New(fault.FileTooLarge, "the patch changes %d files, over the limit of %d", len(files), MostFiles).WithHint("%s", hint)
}

// Existing are the files that were there before.
func (p *Patch) Existing() (out []workspace.Path) {
	for _, f := range p.order {
		if f.was {
			out = append(out, f.path)
		}
	}
	return out
}

// Targets are what the names of the patch lead to.
func (p *Patch) Targets() (out []workspace.Path) {
	for _, f := range p.order {
		out = append(out, f.target)
	}
	return out
}

// Unsaved are the files with unsaved changes in the editor.
func (p *Patch) Unsaved() (out []string) {
	for _, f := range p.order {
		if f.before != nil && f.before.Dirty {
			out = append(out, f.path.String())
		}
	}
	return out
}

// fileState is one file.
type fileState struct {
	path   workspace.Path // as it is named
	target workspace.Path // what is changed when it is: of a link what it leads to
	before *document.File // nil of what is no text
	opaque error          // why it is none
	link   bool           // the name is a symbolic link

	was   bool   // it was there
	is    bool   // it is there now
	text  string // or bytes: see patch_bytes.go
	bom   bool
	bytes bool       // it is one of bytes
	exec  bool       // it can be run
	like  *fileState // of a copy: what its text came from
	from  *fileState // it is that file under another name
	wrote bool       // something was made of it in this patch

	wasExec bool
}

func newPatch(in Input, files []patch.File) *Patch {
	p := &Patch{in: in, files: map[workspace.Path]*fileState{}, leaving: map[workspace.Path]bool{}}
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

func (p *Patch) resolve(name string) (workspace.Path, error) {
	if err := p.in.CheckName(name); err != nil {
		return workspace.Path{}, err
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
func (p *Patch) open(name string) (*fileState, error) {
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
	f := &fileState{path: path, target: target}
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

func (p *Patch) load(f *fileState) error {
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

// apply makes one file of the patch. What is wrong with the file is in its result.
func (p *Patch) apply(ctx context.Context, f patch.File) error {
	f = p.guessed(f)
	row := FileResult{Path: f.New, Operation: rowOperation(f.Operation)}
	if f.Operation == patch.Rename || f.Operation == patch.Copy {
		row.From = f.Old
	}
	err := p.applyFile(ctx, f, &row)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.Failed++
		row.Error = p.blame(row, f, err)
		row.HunksApplied, row.Offset, row.Hunks = 0, 0, nil
	}
	p.Results = append(p.Results, row)
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
func (p *Patch) begin(f patch.File) (*fileState, error) {
	if err := checkModes(f); err != nil {
		return nil, err
	}
	if err := p.checkPaths(f); err != nil {
		return nil, err
	}
	return p.open(p.existing(f))
}

func (p *Patch) applyFile(ctx context.Context, f patch.File, row *FileResult) error {
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
func (p *Patch) delete(f patch.File, old *fileState, text string, row *FileResult) error {
	if !f.Unseen && (text != "" || old.opaque != nil) {
		return fault.New(fault.PatchApplyFailed, "%s would be deleted, but has more lines than the patch removes", fault.Quote(row.Path)).
			With("path", row.Path).WithHint("read it again; to delete it regardless of its content use delete_file")
	}
	if len(f.Hunks) == 0 {
		row.Deletions = document.LineCount(text)
	}
	old.is, old.text = false, ""
	return nil
}

// existing is the name of the file that a change is made in: where its first folder may
// be a prefix, it is one if only then there is such a file.
func (p *Patch) existing(f patch.File) string {
	if f.Bare == "" || f.Operation == patch.Create || p.exists(f.Old) || !p.exists(f.Bare) {
		return f.Old
	}
	return f.Bare
}

// guessed is a file of the patch as what is there makes it.
func (p *Patch) guessed(f patch.File) patch.File {
	if f.MayCreate() && !p.exists(p.existing(f)) {
		f.Operation = patch.Create
	}
	return f
}

func (p *Patch) exists(name string) bool {
	target, err := p.resolve(name)
	return err == nil && (p.files[target] != nil || target.Exists() || p.in.Snapshot.Buffer(target) != nil)
}

func (p *Patch) missing(f *fileState) error {
	switch {
	case f.is:
		return fault.New(fault.PatchApplyFailed, "%s is created earlier in the patch", fault.Quote(f.path.String())).
			WithHint("create each file under its final name")
	case f.was:
		return fault.New(fault.FileNotFound, "%s is deleted or renamed earlier in the patch", fault.Quote(f.path.String())).
			WithHint("make one diff per file, from its current to its final text")
	}
	_, err := p.in.Snapshot.Read(f.path, "") // which knows similar names
	if err == nil {
		err = fault.New(fault.FileNotFound, "%s does not exist", fault.Quote(f.path.String()))
	}
	return err
}

// create makes a new file. One that an earlier file of the patch gives up is none.
func (p *Patch) create(ctx context.Context, f patch.File, to *fileState, row *FileResult) error {
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
func (p *Patch) vacant(old, to *fileState) error {
	if to.is && !(p.leaving[to.target] && !to.wrote) {
		err := fault.New(fault.FileExists, "%s already exists", fault.Quote(to.path.String()))
		if _, later := p.leaving[to.target]; later && !to.wrote {
			return err.WithHint("the parts of this form apply in order; put the part that removes %s first", fault.Quote(to.path.String()))
		}
		return err.WithHint("to change it give a patch with its current lines; to replace it use write_file")
	}
	if err := p.checkBytes(old, to); err != nil {
		return err
	}
	for dir := to.target.Dir(); !dir.IsRoot(); dir = dir.Dir() {
		info, err := dir.Lstat()
		if err == nil && !info.IsDir() {
			return fault.New(fault.FileExists, "%s exists and is not a folder", fault.Quote(dir.String())).WithHint("choose another name, or move it away first")
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
func (p *Patch) carry(ctx context.Context, f patch.File, old, to *fileState, row *FileResult) error {
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
		return fault.New(fault.WorkTreeDirty, "%s has unsaved changes in the editor, which would stay under the old name with this change", fault.Quote(old.path.String())).
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
func (p *Patch) fold(row *FileResult) {
	isOf := func(r FileResult) bool {
		return r.Path == row.From && r.Error == nil && r.Operation == string(change.Overwrite)
	}
	for _, r := range slices.Backward(p.Results) {
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
	p.Results = slices.DeleteFunc(p.Results, isOf)
}

// patched is a text with the hunks of a patch's file made in it.
func (p *Patch) patched(ctx context.Context, f patch.File, file *fileState, text string, row *FileResult) (string, error) {
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
			at.Leniency = "the carriage returns at the line ends of the patch"
		}
		if at.Offset != 0 || at.Leniency != "" {
			row.Hunks = append(row.Hunks, HunkResult{Hunk: i + 1, Line: at.Line, Offset: at.Offset, Leniency: at.Leniency})
		}
	}
	if size := int64(len(out)); size > p.in.WriteBytes && size > int64(len(text)) {
		return "", fault.New(fault.FileTooLarge, "%s would have %d bytes, over the limit of %d", fault.Quote(row.Path), size, p.in.WriteBytes)
	}
	return out, nil
}

func distance(n int) int { return max(n, -n) }

// blame is what is wrong with a file of the patch.
func (p *Patch) blame(row FileResult, f patch.File, err error) *fault.Error {
	var m *patch.Mismatch
	if !errors.As(err, &m) {
		return p.advised(f, fault.From(err))
	}
	name := row.From
	if name == "" {
		name = row.Path
	}
	if target, resolveErr := p.resolve(name); resolveErr == nil && p.files[target] != nil {
		p.Reads = append(p.Reads, p.files[target].path)
	}
	return mismatched(name, len(f.Hunks), m)
}
