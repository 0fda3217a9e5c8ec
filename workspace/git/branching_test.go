package git_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pillion/workspace/git"
)

// history makes a branch of commits in a row, each at its time.
func (r *rig) history(branch string, times ...int) {
	r.Helper()
	var in strings.Builder
	for i, at := range times {
		fmt.Fprintf(&in, "commit refs/heads/%s\nmark :%d\ncommitter A <a@example.org> %d +0000\ndata <<END\n%s %d\n\nbody\nEND\n", branch, i+1, at, branch, i+1)
		if i > 0 {
			fmt.Fprintf(&in, "from :%d\n", i)
		}
		in.WriteString("\n")
	}
	_, err := r.try(in.String(), "fast-import", "--quiet")
	r.must(err)
}

// TestCommitsOfOneDate: what is in another branch is found there, also where dates do
// not tell which commit came first.
func TestCommitsOfOneDate(t *testing.T) {
	const at = 1_700_000_000
	for name, times := range map[string][]int{
		"one date": {at, at, at, at}, "a clock that is late": {at, at, at - 3600, at - 7200}, "in order": {at, at + 1, at + 2, at + 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.history("main", times...)
			for i := range 3 {
				r.git("branch", fmt.Sprint("old", i), fmt.Sprint("main~", i+1))
			}
			for i := range 3 {
				if got, err := reader.Delete(context.Background(), r.root, r.top, fmt.Sprint("old", i)); err != nil || got.Beyond == "" {
					t.Errorf("old%d: %+v, %v", i, got, err)
				}
			}
			r.git("branch", "more", "main")
			r.git("update-ref", "refs/heads/main", "main~1")
			if _, err := reader.Delete(context.Background(), r.root, r.top, "more"); err == nil || !strings.Contains(err.Error(), "1 commit is not in HEAD") {
				t.Errorf("a branch that has more: %v", err)
			}
		})
	}
}

// TestNewsOfAPush: what the remote gets is named, the youngest first.
func TestNewsOfAPush(t *testing.T) {
	const at = 1_700_000_000
	r := newRig(t)
	r.history("main", slices.Repeat([]int{at}, 25)...)
	r.git("remote", "add", "origin", "https://example.org/kettle.git")
	for ahead, want := range map[int]string{0: "", 2: "main 25, main 24", 24: "main 25, main 24, main 23"} {
		r.git("update-ref", "refs/remotes/origin/main", fmt.Sprint("main~", ahead))
		push, err := reader.NewPush(context.Background(), r.root, git.PushOptions{Dir: r.top})
		r.must(err)
		var got []string
		for i, n := range push.News {
			got = append(got, n.Subject)
			if n.Hash != strings.TrimSpace(r.git("rev-parse", fmt.Sprint("main~", i))) {
				t.Errorf("%d ahead: %+v", ahead, n)
			}
		}
		if said := strings.Join(got[:min(3, len(got))], ", "); push.Ahead != ahead || len(got) != min(ahead, 20) || said != want {
			t.Errorf("%d ahead: %d, %d of them: %s", ahead, push.Ahead, len(got), said)
		}
	}
}
