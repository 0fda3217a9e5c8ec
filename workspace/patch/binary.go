package patch

import "github.com/bluekeyes/go-gitdiff/gitdiff"

// Binary is the change of a file that is no text.
type Binary struct {
	fragment     *gitdiff.BinaryFragment
	oldID, newID string
}

// IsWhole: the patch has the bytes, and does not only say that they differ.
func (b *Binary) IsWhole() bool { return b.fragment != nil }
