package patching

import (
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/document"
	"pillion/workspace/patch"
)

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

// patchedBytes are what a patch makes of a file's bytes; file is nil of a new one.
func (p *Patch) patchedBytes(f patch.File, file *fileState, was string, row *FileResult) (string, error) {
	row.Binary = true
	out, err := f.Binary.Apply(row.Path, []byte(was), file == nil, p.in.WriteBytes)
	return string(out), err
}

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
