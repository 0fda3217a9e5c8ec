// Package patching makes of a patch and a snapshot what is to be done to the workspace,
// a change set, or a review from which hunks are chosen. Apply and NewReview are the
// entry points. Deliberately not here: reading patches (workspace/patch), what the agent
// is told, and what a session knows.
package patching

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// FileResult is what becomes of one file, in the wire form of apply_patch's results.
type FileResult struct {
	Path         string       `json:"path"`
	From         string       `json:"from,omitempty"` // of a rename or a copy
	Operation    string       `json:"operation"`
	HunksApplied int          `json:"hunks_applied"`
	Offset       int          `json:"offset"` // the largest of its hunks
	Additions    int          `json:"additions"`
	Deletions    int          `json:"deletions"`
	Mode         string       `json:"mode,omitempty"`   // the one that it gets, if that is another
	Binary       bool         `json:"binary,omitempty"` // its bytes are changed
	Hunks        []HunkResult `json:"hunks,omitempty"`  // those that are not where they should be, or not as they should
	Version      string       `json:"version,omitempty"`
	Saved        *bool        `json:"saved,omitempty"`
	Formatted    bool         `json:"formatted,omitempty"`
	Error        *fault.Error `json:"error,omitempty"`

	was, now string // the text or the bytes that it is made in, and those that come of it
	placed   []patch.Placed
}

// HunkResult is where a hunk is made.
type HunkResult struct {
	Hunk     int    `json:"hunk"` // from 1, in its file
	Line     int    `json:"line"` // in the file as it was
	Offset   int    `json:"offset"`
	Leniency string `json:"leniency,omitempty"`
}

// Apply applies a patch in memory. What is wrong with a file is in its result; an error is
// what is wrong with the whole.
func Apply(ctx context.Context, in Input, files []patch.File) (*Patch, error) {
	if err := checkCount(files, "apply it in parts"); err != nil {
		return nil, err
	}
	p := newPatch(in, files)
	for _, f := range files {
		f = p.guessed(f)
		row := newResult(f)
		err := p.applyFile(ctx, f, &row)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			p.Failed++
			row.Error = p.blame(row, f, err)
			row.HunksApplied, row.Offset, row.Hunks = 0, 0, nil
		}
		p.Results = append(p.Results, row)
	}
	return p, nil
}

func newResult(f patch.File) FileResult {
	row := FileResult{Path: f.New, Operation: string(f.Operation)}
	switch f.Operation {
	case patch.Change:
		row.Operation = string(change.Overwrite)
	case patch.Rename:
		row.Operation = string(change.Move)
	}
	if carries(f) {
		row.From = f.Old
	}
	return row
}

// carries: the file comes from another name.
func carries(f patch.File) bool { return f.Operation == patch.Rename || f.Operation == patch.Copy }

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
	text  string // or its bytes
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
		if _, target, err := p.resolve(f.Old); err == nil {
			p.leaving[target] = p.leaving[target] || !f.InOrder
		}
	}
	return p
}

// resolve is what a name of the patch is here, and what that leads to.
func (p *Patch) resolve(name string) (path, target workspace.Path, err error) {
	if err = p.in.CheckName(name); err != nil {
		return path, target, err
	}
	if path, err = p.in.Snapshot.Workspace().Resolve(name); err != nil {
		return path, target, err
	}
	if path.IsRoot() {
		return path, target, fault.New(fault.NotAFile, "%s is a workspace folder", fault.Quote(name))
	}
	target, err = path.Target()
	return path, target, err
}

// open is the file of a name as it is by now. What a copy comes from is only read.
func (p *Patch) open(name string, onlyRead bool) (*fileState, error) {
	path, target, err := p.resolve(name)
	if err == nil && !onlyRead {
		err = p.in.CheckPaths(path, target)
	}
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
	before, err := p.in.Snapshot.ReadIfExists(path, "")
	switch code := fault.CodeOf(err); {
	case err == nil:
		f.before, f.was, f.text, f.bom = before, before.Exists, before.Text, before.BOM
		f.wasExec = f.was && change.IsExecutable(before.Mode)
	case code == fault.BinaryFile, code == fault.EncodingError, code == fault.FileTooLarge:
		f.opaque, f.was = err, true
		info, err := target.Stat()
		f.wasExec = err == nil && change.IsExecutable(info.Mode())
	default:
		return nil, err
	}
	f.is, f.exec = f.was, f.wasExec
	p.files[target] = f
	p.order = append(p.order, f)
	return f, nil
}

// The modes of git that a file may have.
const (
	ModeFile, ModeProgram = "100644", "100755"
	modeFile, modeProgram = 0o100644, 0o100755
)

// begin is the file that a part of the patch is for, if the part is one that can be made:
// what is no file is refused, and modes that git does not keep.
func (p *Patch) begin(f patch.File) (*fileState, error) {
	name := fault.Quote(f.New)
	for _, mode := range []uint32{f.OldMode, f.NewMode} {
		switch mode & 0o170000 {
		case 0o120000:
			return nil, fault.New(fault.NotAFile, "%s is a symbolic link in the patch, which is not supported", name).
				WithHint("leave it out of the patch; delete_file and move_file accept links, and a command can create one")
		case 0o160000:
			return nil, fault.New(fault.NotAFile, "%s is a submodule in the patch, which is not supported", name).WithHint("leave it out of the patch")
		}
	}
	if f.NewMode != 0 && f.NewMode != modeFile && f.NewMode != modeProgram {
		return nil, fault.New(fault.PatchApplyFailed, "the patch wants the mode %o for %s, and a file has %s, or %s if it can be run", f.NewMode, name, ModeFile, ModeProgram).
			WithHint("use one of the two in the patch; other permissions are up to the user")
	}
	return p.open(p.existing(f), f.Operation == patch.Copy)
}

func (p *Patch) applyFile(ctx context.Context, f patch.File, row *FileResult) error {
	row.Additions, row.Deletions = f.Count()
	old, err := p.begin(f)
	if err != nil {
		return err
	}
	if carries(f) {
		row.From = old.path.String()
		to, err := p.open(f.New, false)
		if err != nil {
			return err
		}
		row.Path = to.path.String()
		return p.carry(ctx, f, old, to, row)
	}
	row.Path = old.path.String()
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
	_, target, err := p.resolve(name)
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
	row.was, row.now = text, text
	switch {
	case f.Binary != nil:
		row.Binary = true
		out, err := f.Binary.Apply(row.Path, []byte(text), file == nil, p.in.WriteBytes)
		row.now = string(out)
		return row.now, err
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
	row.now, row.placed, row.HunksApplied = out, placed, len(placed)
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
	if _, target, resolveErr := p.resolve(name); resolveErr == nil && p.files[target] != nil {
		p.Reads = append(p.Reads, p.files[target].path)
	}
	return mismatched(name, len(f.Hunks), m)
}

// setMode has a file be one that can be run or not: as the patch says, else as what it
// comes from.
func (p *Patch) setMode(f patch.File, to *fileState, like bool, row *FileResult) error {
	exec := like
	if f.NewMode != 0 {
		exec = f.NewMode&0o100 != 0
	}
	isNew := f.Operation == patch.Create || f.Operation == patch.Copy
	switch {
	case exec == like && !(exec && isNew):
	case !change.HasModes:
		p.Notes = append(p.Notes, fmt.Sprintf("the mode %o of %s is skipped: this system has no modes", f.NewMode, fault.Quote(row.Path)))
		exec = like
	case to.link:
		return fault.New(fault.NotAFile, "%s is a symbolic link, which has no mode of its own", fault.Quote(row.Path)).WithHint("name its target")
	case exec:
		row.Mode = ModeProgram
	case like:
		row.Mode = ModeFile
	}
	to.exec = exec
	return nil
}

// asBytes has a file be held as its bytes, whatever they are.
func (p *Patch) asBytes(f *fileState) error {
	switch {
	case f.isBytes():
		return nil
	case f.wrote:
		return fault.New(fault.PatchApplyFailed, "the patch changes %s both as text and as binary", fault.Quote(f.path.String())).WithHint("make one diff of the file")
	}
	before, err := p.bytesOf(f)
	if err == nil {
		f.before, f.opaque, f.text, f.bom = before, nil, before.Text, false
	}
	return err
}

// bytesOf are the bytes that a file had before the patch.
func (p *Patch) bytesOf(f *fileState) (*document.File, error) {
	before, err := p.in.Snapshot.ReadIfExists(f.path, document.Binary)
	if err == nil && before.Dirty {
		err = fault.New(fault.ConcurrentModification, "%s has unsaved changes in the editor, so its bytes cannot be changed", fault.Quote(f.path.String())).
			WithHint("ask the user to save it, then make the patch for its new content")
	}
	return before, err
}

// carriedFrom is what a file that is renamed or copied held before the patch: its bytes
// where the patch changes those, or it is no text.
func (p *Patch) carriedFrom(f patch.File, old *fileState) (text string, bytes bool, err error) {
	if f.InOrder {
		return old.text, old.isBytes(), nil
	}
	if f.Binary == nil && (f.Operation != patch.Copy || old.opaque == nil) {
		return old.textBefore(), old.isBytes(), nil
	}
	before, err := p.bytesOf(old)
	if err == nil && f.Operation == patch.Rename && !old.wrote {
		err = p.asBytes(old)
	}
	if err != nil {
		return "", true, err
	}
	return before.Text, true, nil
}

// isBytes: it is held as its bytes.
func (f *fileState) isBytes() bool { return f.before != nil && f.before.Encoding == document.Binary }

// checkBytes refuses what would need the bytes of a file that is no text: it can be moved
// to a name that nothing has, and to one such name alone.
func (p *Patch) checkBytes(old, to *fileState) error {
	if to.was && (to.opaque != nil || to.isBytes()) {
		return errBytesInTheWay(to)
	}
	if old == nil || old.opaque == nil {
		return nil
	}
	if to.was || slices.ContainsFunc(p.order, func(f *fileState) bool { return f.from == old }) {
		return errBytesInTheWay(old)
	}
	return nil
}

func errBytesInTheWay(f *fileState) error {
	code := fault.BinaryFile
	if f.opaque != nil {
		code = fault.CodeOf(f.opaque)
	}
	return fault.New(code, "%s is not readable text, and the patch swaps it with another file", fault.Quote(f.path.String())).
		WithHint("leave it out of the patch and use move_file, each time to a free name")
}

// unmark takes the byte order mark off the first line of a file in hunks: the text of a
// file that has one is held without. The file keeps it, so that a patch which takes it
// away is refused.
func unmark(f patch.File) error {
	for i, h := range f.Hunks {
		if h.OldStart > 1 && !h.Unnumbered {
			return nil
		}
		old, now := h.Old(), h.New()
		if len(old) > 0 && strings.HasPrefix(old[0], mark) && f.Operation != patch.Delete && (len(now) == 0 || !strings.HasPrefix(now[0], mark)) {
			return fault.New(fault.PatchApplyFailed, "the patch removes the byte order mark of %s, which stays", fault.Quote(f.Old)).
				With("path", f.Old).With("hunk", i+1).WithHint("keep the mark in the new line, or leave it out of both; to remove it, use a program with run_command")
		}
		for j := range h.Lines {
			f.Hunks[i].Lines[j].Text = strings.TrimPrefix(h.Lines[j].Text, mark)
		}
	}
	return nil
}

const mark = "\ufeff"

func errOwnName(f *fileState) error {
	return fault.New(fault.InvalidPath, "it is renamed to itself, %s", fault.Quote(f.path.String())).WithHint("leave the rename out of the patch")
}
