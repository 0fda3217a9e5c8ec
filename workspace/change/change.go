// Package change is what an agent wants to be different: change sets, how they
// look before they are made, and how they are made.
//
// Tools make a Set from a snapshot; the door shows its Preview, and after a yes
// hands it to a Committer. Nothing else in the program writes to the workspace.
//
// Commit takes Locks on the paths, in one order for all calls and programs, and holds them
// to its end. Each file is a step: a bufferStep has the editor change its buffer at exactly
// the planned version and reads it back; a diskStep writes a temporary file beside the old
// one, with its mode, owner and attributes, exchanges the names, and compares what it
// displaced with the plan. What is deleted or replaced gets a name that nobody knows, is
// compared entry by entry, and is removed when the whole set is made. How that is done in an
// open folder, without following links, is workspace/handle.
//
// Before anything is applied, each step's record is in the journal (workspace/journal):
// what is there, what is to be, the names of temporary files. The journal is synced while
// steps are staged; its end mark is not, so whoever finds none looks at the files: Recover,
// at each start, sweeps up after programs that were killed. Revert turns records back, from
// the newest to the oldest, into one Set, which is committed and journalled as any other.
// What a command changes is seen by an Observer, and its records are made afterwards.
package change

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// Operation says what happens to a file.
type Operation string

// The operations of this contract version.
const (
	Create    Operation = "create"
	Overwrite Operation = "overwrite"
	Unchanged Operation = "unchanged"

	CreateDirectory Operation = "create_directory"
	Delete          Operation = "delete"
	Move            Operation = "move"
	ChangeMode      Operation = "change_mode"
)

// File is one file of a Set: what it was in the snapshot and what it is to be.
type File struct {
	Before *document.File   // Exists is false where the file is new
	After  document.Content // the whole content to be
	// Target is Before.Path with every symbolic link followed: what is written.
	Target     workspace.Path
	CreateDirs bool
	Executable bool // of a new file: it can be run. What is there keeps its mode: see NewMode
	// Mode is what a new file's rights are at most, 0 for the usual ones.
	Mode fs.FileMode
	// Merged: the file had moved on since the agent read it, and After has both.
	Merged bool
	// LeftOut: the user did not want the change of this file. After is what it is.
	LeftOut bool
}

// New plans the change of before into after. The path's links are followed here
// once, so that policy, dialog and commit all speak of the same file.
func New(before *document.File, after document.Content) (File, error) {
	target, err := before.Path.Target()
	if err != nil {
		return File{}, err
	}
	name := fault.Quote(before.Path.String())
	switch {
	case before.Buffer != nil && before.Buffer.ReadOnly && before.Dirty:
		return File{}, fault.New(fault.PermissionDenied, "%s is read-only in the editor, and has unsaved changes there", name).
			WithHint("ask the user to save it, or to make it writable")
	case before.Dirty && before.Encoding == document.Binary:
		return File{}, fault.New(fault.ConcurrentModification, "%s has unsaved changes in the editor, so its bytes cannot be changed", name).
			WithHint("ask the user to save it, then change its new content")
	case before.Held:
		return File{}, fault.New(fault.ConcurrentModification, "%s has unsaved changes in an editor that cannot apply edits", name).
			WithHint("ask the user to save it, then read it again")
	case before.Lossy && !before.Dirty:
		return File{}, fault.New(fault.EncodingError, "the editor shows %s in an encoding that loses some of its characters; saving would lose them", name).
			WithHint("ask the user to reopen it with its real encoding")
	}
	if err := document.CheckText(after.Text); err != nil && after.Encoding != document.Binary && document.CheckText(before.Text) == nil {
		return File{}, err
	}
	if after.Encoding != document.UTF8 {
		if _, err := after.Encode(); err != nil {
			return File{}, err // better said before anyone is asked
		}
	}
	return File{Before: before, After: after, Target: target}, nil
}

// Path is the file's path as the agent named it.
func (f File) Path() workspace.Path { return f.Before.Path }

// Operation is what the change does to the file.
func (f File) Operation() Operation {
	switch {
	case f.LeftOut:
		return Unchanged
	case !f.Before.Exists:
		return Create
	case f.Before.Content == f.After:
		return Unchanged
	}
	return Overwrite
}

// newMode is the mode that a new file gets, but for what the system takes off it.
func (f File) newMode() fs.FileMode {
	mode := fs.FileMode(0o666)
	if f.Executable {
		mode = 0o777
	}
	if f.Mode != 0 {
		mode &= f.Mode
	}
	return mode
}

// IsBinary: it is no text, neither before nor after, and has no lines to compare.
func (f File) IsBinary() bool {
	return f.Before.Encoding == document.Binary || f.After.Encoding == document.Binary
}

// Hunks are the change as lines, with three lines of context.
func (f File) Hunks() []diff.Hunk {
	if f.IsBinary() {
		return nil
	}
	return diff.Hunks(f.Before.Text, f.After.Text, contextLines)
}

const contextLines = 3

// Diff is the change in git's format.
func (f File) Diff(hunks []diff.Hunk) string {
	if f.LeftOut || len(hunks) == 0 && f.Before.Exists && !f.IsBinary() {
		return ""
	}
	name := f.Path().String()
	var out strings.Builder
	out.WriteString("diff --git " + GitName("a/"+name) + " " + GitName("b/"+name) + "\n")
	from := GitName("a/" + name)
	if !f.Before.Exists {
		out.WriteString("new file mode " + gitMode(f.newMode()) + "\n")
		from = "/dev/null"
	}
	if f.IsBinary() {
		return out.String() + binaryDiffer(from, GitName("b/"+name))
	}
	if len(hunks) == 0 {
		return out.String()
	}
	out.WriteString("--- " + from + "\n+++ " + GitName("b/"+name) + "\n")
	out.WriteString(diff.Unified(withMarks(hunks, f.Before.Content, f.After)))
	return out.String()
}

func binaryDiffer(from, to string) string { return "Binary files " + from + " and " + to + " differ\n" }

// MovedDiff is the change of a file that is moved as well, in git's format.
func (f File) MovedDiff(hunks []diff.Hunk, to workspace.Path) string {
	old, now := f.Path().String(), to.String()
	out := "diff --git " + GitName("a/"+old) + " " + GitName("b/"+now) + "\nrename from " + GitName(old) + "\nrename to " + GitName(now) + "\n"
	if f.IsBinary() {
		return out + binaryDiffer(GitName("a/"+old), GitName("b/"+now))
	}
	if len(hunks) == 0 {
		return out
	}
	return out + "--- " + GitName("a/"+old) + "\n+++ " + GitName("b/"+now) + "\n" + diff.Unified(withMarks(hunks, f.Before.Content, f.After))
}

// GitName is a name as git writes it in a diff: quoted where it has characters that
// need it.
func GitName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) && utf8.ValidString(name) {
		return name
	}
	var out strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case strings.IndexByte(gitEscaped, c) >= 0:
			out.WriteString(`\` + string(gitLetters[strings.IndexByte(gitEscaped, c)]))
		case c < ' ' || c == 0x7f || c >= 0x80 && !utf8.ValidString(name):
			fmt.Fprintf(&out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
	return `"` + out.String() + `"`
}

const (
	gitEscaped = "\\\"\n\t\r\a\b\v\f"
	gitLetters = `\"ntrabvf`
)

// Set is a change of one or several files that is made as a whole or not at all.
type Set struct {
	Files []File
	Tree  []TreeChange // made after the files, in their order
	// Of a revert alone: what comes out of the journal, and then the folders that go if
	// they are empty.
	Restores []Restore
	Empty    []workspace.Path
	Label    string // what the editor calls its undo step
	// Bulk is made beside the set, by MoveIn.
	Bulk []Bulk
	// OnlyRecorded: it is not made where the journal cannot hold it, whatever is set. Nobody was asked.
	OnlyRecorded bool
	// Backup has a readable copy made of what is replaced or goes.
	Backup bool
}

// Changes reports whether the set would change anything.
func (s Set) Changes() bool {
	return len(s.Restores)+len(s.Empty) > 0 || slices.ContainsFunc(s.Files, func(f File) bool { return f.Operation() != Unchanged }) ||
		slices.ContainsFunc(s.Tree, func(c TreeChange) bool { return c.Operation != Unchanged })
}

// Only is the set's single file, for tools that change one.
func Only(f File, label string) Set { return Set{Files: []File{f}, Label: label} }
