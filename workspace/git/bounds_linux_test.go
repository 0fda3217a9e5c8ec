package git_test

import (
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// Some files of /proc say that they are empty, and have no end.
func TestAConfigurationWithoutEnd(t *testing.T) {
	r := newRig(t)
	r.write("a", "one\n")
	r.commit()
	r.git("config", "core.excludesFile", "/proc/self/pagemap")
	r.git("config", "core.attributesFile", "/proc/self/pagemap")
	if got, err := r.status(git.StatusOptions{}); err != nil || len(got.Files) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	r.git("config", "include.path", "/proc/self/pagemap")
	if _, err := r.diff(git.DiffOptions{}); err != nil && fault.CodeOf(err) != fault.GitError {
		t.Error(err)
	}
}
