package patch

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // it is how git names a content
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pillion/internal/fault"
)

// Binary is the change of a file that is no text.
type Binary struct {
	fragment     *gitdiff.BinaryFragment
	oldID, newID string // as git names contents
}

// Apply makes the bytes that the patch leads to of those that it was made for, of none for
// a new file. Both are known by their hashes. More than limit bytes are not made.
func (b *Binary) Apply(name string, was []byte, isNew bool, limit int64) ([]byte, error) {
	name = fault.Quote(name)
	if b.fragment == nil {
		return nil, fault.New(fault.BinaryFile, "the patch says that %s differs, but not how", name).WithHint("make it with git diff --binary")
	}
	if !isID(b.oldID) || !isID(b.newID) || len(b.oldID) != len(b.newID) {
		return nil, fault.New(fault.PatchApplyFailed, "the patch does not fully say which bytes of %s it was made for: its line \"index\" has %s and %s",
			name, fault.Quote(clip(b.oldID)), fault.Quote(clip(b.newID))).WithHint("make it with git diff --binary, which writes hashes in full")
	}
	if is := idOf(was, len(b.oldID)); !isNew && !strings.EqualFold(is, b.oldID) {
		err := fault.New(fault.PatchApplyFailed, "%s does not have the bytes that the patch was made for, with the hash %s", name, b.oldID)
		if strings.EqualFold(is, b.newID) {
			return nil, err.WithHint("it has the result of the patch: it may have been applied before")
		}
		return nil, err.WithHint("a binary patch applies only to the exact bytes that it was made for; make it again with git diff --binary")
	}
	if strings.Trim(b.newID, "0") == "" { // the file goes
		return nil, nil
	}
	out, err := b.made(was, limit)
	if err != nil && strings.Contains(err.Error(), " byte limit") {
		return nil, fault.New(fault.FileTooLarge, "the patch makes %s larger than the limit of %d bytes", name, limit).WithHint("ask the user to apply it with git apply")
	}
	why := ""
	if err != nil {
		why = strings.TrimPrefix(err.Error(), "gitdiff: ")
	} else if is := idOf(out, len(b.newID)); !strings.EqualFold(is, b.newID) {
		why = fmt.Sprintf("its result has the hash %s instead of %s", is, b.newID)
	}
	if why != "" {
		return nil, fault.New(fault.PatchApplyFailed, "the patch of the bytes of %s is damaged: %s", name, fault.Escape(why)).
			WithHint("give it exactly as git diff --binary writes it")
	}
	return out, nil
}

// made is what the patch makes of any bytes.
func (b *Binary) made(was []byte, limit int64) ([]byte, error) {
	var out bytes.Buffer
	err := gitdiff.NewBinaryApplier(&out, bytes.NewReader(was), gitdiff.WithMaxBinaryFragmentBytes(limit)).ApplyFragment(b.fragment)
	return out.Bytes(), err
}

func isID(s string) bool {
	data, err := hex.DecodeString(s)
	return err == nil && (len(data) == sha1.Size || len(data) == sha256.Size)
}

// idOf is git's name of a content, of so many digits.
func idOf(data []byte, digits int) string {
	var h hash.Hash = sha1.New() //nolint:gosec // see above
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
