package git

import (
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// Blob reads a file's content out of a git folder.
func Blob(t *testing.T, gitDir, hash string) string {
	t.Helper()
	o := openObjects(gitDir)
	defer o.close()
	data, err := o.blob(plumbing.NewHash(hash), maxFile)
	if err != nil {
		t.Errorf("%s: %v", hash, err)
	}
	return string(data)
}
