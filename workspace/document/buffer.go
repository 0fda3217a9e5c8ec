package document

import (
	"sync"

	"pillion/workspace"
)

// Buffer is a document that is open in the editor, at one version. It is
// immutable: a change makes a new one.
type Buffer struct {
	Path     workspace.Path // as the editor names it
	URI      string
	Version  int32
	Text     string
	Language string   // what the editor calls it, its languageId; empty: unknown
	Encoding Encoding // empty: unknown
	EOL      string   // "lf", "crlf" or empty
	BOM      bool
	ReadOnly bool
	Told     bool // the editor tells what LSP does not: see State

	hash         func() string  // the version of a file that holds the text as it stands
	file         workspace.Path // what Path led to at this version
	state        dirtiness
	stateVersion int32 // the version that state was said of
}

// hashOf is asked when the file is found to hold the text, and then again and again.
func hashOf(text string) func() string {
	return sync.OnceValue(func() string { return Version([]byte(text)) })
}

// dirtiness is what the editor said of a buffer, for LSP itself has no such flag,
// or what was seen: a buffer that had the text of the disk once is clean.
type dirtiness int

const (
	unsaid dirtiness = iota
	clean
	dirty
)

// State is what the editor tells of a buffer beside its text.
type State struct {
	Version  int32
	Dirty    bool
	Encoding string
	EOL      string
	BOM      bool
	ReadOnly bool
}

// eolName takes both the terms of EditorConfig and the characters themselves.
func eolName(s string) string {
	switch s {
	case "\r\n", "crlf", "CRLF":
		return "crlf"
	case "\n", "lf", "LF":
		return "lf"
	}
	return ""
}

// isDirty trusts "dirty" until something else is said, and "clean" for the very
// version that it was said of. Any other version, or no word at all, is judged by
// comparing with the disk.
func (b *Buffer) isDirty(sameAsDisk func() bool) bool {
	switch {
	case b.state == dirty:
		return true
	case b.state == clean && b.stateVersion == b.Version:
		return false
	}
	return !sameAsDisk()
}

func (b *Buffer) dirtyNow() bool { return b.isDirty(b.sameAsDisk) }

// IsOnDisk reports whether the file now holds the text of this version.
func (b *Buffer) IsOnDisk() bool { return b.sameAsDisk() }

func (b *Buffer) sameAsDisk() bool {
	data, _, err := b.Path.ReadFile(compareLimit)
	if err != nil {
		return false
	}
	c, err := Decode(data, b.Encoding)
	return err == nil && c.Same(b.Text)
}

// compareLimit bounds the file that is read to tell whether a buffer is saved;
// editors do not keep larger ones in sync.
const compareLimit = 64 << 20
