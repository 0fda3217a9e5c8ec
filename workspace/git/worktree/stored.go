package worktree

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
)

// Stored finds what of the files in a folder the folder's repository holds byte for byte, so
// that it need not be copied. It opens the repository when it is first asked for something,
// and again after Close. Not for several goroutines at once.
type Stored struct {
	folder   string
	checkout *Checkout
	index    *index
	err      error // why there is none
}

// NewStored is about the folder with this absolute name.
func NewStored(folder string) *Stored { return &Stored{folder: folder} }

// Open says why there is no repository that can be read, if there is none.
func (s *Stored) Open() error {
	if s.checkout == nil && s.err == nil {
		s.err = s.open()
	}
	return s.err
}

func (s *Stored) open() error {
	_, c, err := Open(s.folder, s.folder)
	if err != nil {
		return err
	}
	index, err := c.ReadIndex()
	if err != nil {
		c.Close()
		return err
	}
	c.Work.Conversion.Attributes.staged = index.attributes()
	s.checkout, s.index = c, index
	return nil
}

// Close gives back what is open.
func (s *Stored) Close() {
	if s.checkout != nil {
		s.checkout.Close()
	}
	*s = Stored{folder: s.folder}
}

// Blob is what the repository holds of a file. Those of the same content are equal.
type Blob struct {
	in   *Stored
	hash plumbing.Hash
}

// Find gives what is in a file of this size and time. It is false where the index does not
// vouch for that, or the file may differ from what is stored.
func (s *Stored) Find(name string, size int64, modified time.Time) (Blob, bool) {
	none := Blob{}
	if s.Open() != nil || size == 0 {
		return none, false
	}
	entries, path := s.index.Entries, s.checkout.Work.Strip+filepath.ToSlash(name)
	at, found := slices.BinarySearchFunc(entries, path, func(e IndexEntry, path string) int { return strings.Compare(e.path, path) })
	if !found {
		return none, false
	}
	e := entries[at]
	if e.stage != 0 || e.IntentToAdd || e.Mode&odb.ModeTypeMask != odb.ModeFile&odb.ModeTypeMask {
		return none, false
	}
	info, err := s.checkout.Work.Lstat(e.path)
	if err != nil || info == nil || info.Size() != size || !info.ModTime().Equal(modified) || !unchanged(e, info, s.index.Written) {
		return none, false
	}
	return Blob{s, e.Hash}, s.isStoredAsItIs(e, size)
}

// isStoredAsItIs: git may have written another file than it stores. What it does to line
// ends makes that longer.
func (s *Stored) isStoredAsItIs(e IndexEntry, size int64) bool {
	attributes := s.checkout.Work.Conversion.Attributes.Of(e.path)
	for _, name := range []string{"filter", "ident", "working-tree-encoding"} {
		if value := attributes[name]; value != "" && value != AttrUnset && value != AttrUnspecified {
			return false
		}
	}
	_, isReplaced := s.checkout.Objects.Replaced[e.Hash]
	_, err := s.checkout.Objects.Blob(e.Hash, size-1) // of which nothing is read, as it has size bytes
	return errors.Is(err, gitfile.ErrBig) && !isReplaced
}

// Read gives the content. It fails where the repository has lost it since.
func (b Blob) Read() ([]byte, error) {
	if err := b.in.Open(); err != nil {
		return nil, err
	}
	data, err := b.in.checkout.Objects.Blob(b.hash, odb.MaxFile)
	if err == nil && plumbing.ComputeHash(plumbing.BlobObject, data) != b.hash {
		err = fault.New(fault.GitError, "the object %s is damaged; git fsck says more", b.hash)
	}
	return data, err
}

// Open is Read.
func (b Blob) Open() (io.ReadCloser, error) {
	data, err := b.Read()
	return io.NopCloser(bytes.NewReader(data)), err
}
