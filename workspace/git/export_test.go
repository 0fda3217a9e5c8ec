package git

import (
	"testing"

	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
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

// Keeps says what is kept of the repository at top: the same value as long as it has
// not been looked at anew, nil if nothing is.
func (c *Cache) Keeps(top string) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.kept[top]; k != nil && !k.spoilt && k.index != nil {
		return k.index
	}
	return nil
}

// Spend has what a comparison may cost be less, so that little is enough for the tests.
func Spend(t *testing.T, most int) {
	usual := mostSpent
	t.Cleanup(func() { mostSpent = usual })
	mostSpent = most
}
