package git

import (
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/odb"
	"pillion/workspace/git/worktree"
)

// Blob reads a file's content out of a git folder.
func Blob(t *testing.T, gitDir, hash string) string {
	t.Helper()
	o := odb.Open(gitDir)
	defer o.Close()
	data, err := o.Blob(plumbing.NewHash(hash), odb.MaxFile)
	if err != nil {
		t.Errorf("%s: %v", hash, err)
	}
	return string(data)
}

// Spend has what a comparison may cost be less, so that little is enough for the tests.
func Spend(t *testing.T, most int) {
	usual := worktree.MostSpent
	t.Cleanup(func() { worktree.MostSpent = usual })
	worktree.MostSpent = most
}
