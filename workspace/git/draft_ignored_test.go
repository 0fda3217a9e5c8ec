package git_test

import (
	"context"
	"os/exec"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// TestADraftTakesNoIgnoredFile: what git add would refuse is refused before anybody is asked.
func TestADraftTakesNoIgnoredFile(t *testing.T) {
	r := newRig(t)
	r.write(".gitignore", "*.log\n!kept.log\n/build/\n/top\ncache\n")
	r.write("sub/.gitignore", "!*.log\nsecret\n")
	r.write("build/.gitignore", "!*\n") // which does not count: its folder is passed over
	r.write(".git/info/exclude", "mine\n")
	r.write("tracked.log", "1\n")
	r.git("add", "-f", "tracked.log")
	r.commit()
	seen := map[bool]int{}
	for _, name := range []string{
		"a.txt", "x.log", "kept.log", "tracked.log", "build/a", "top", "sub/top", "sub/x.log", "sub/secret", "sub/deep/secret",
		"sub/build/x", "deep/er/x.log", "cache/a", "sub/cache/a", "cachet", "mine", "sub/mine", "deep/kept.log",
	} {
		r.write(name, "2\n")
		add := exec.CommandContext(t.Context(), "git", "add", "--dry-run", "--", name)
		add.Dir = r.top
		refused := add.Run() != nil
		seen[refused]++
		_, err := reader.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.top, Files: []string{r.path(name)}})
		if refused {
			asFault(t, err, fault.GitError, "git ignores "+name)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if seen[true] < 5 || seen[false] < 5 {
		t.Errorf("git refused %d and took %d", seen[true], seen[false])
	}
}
