package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// asFault checks the code of an error and that its words say want.
func asFault(t *testing.T, err error, code fault.Code, want ...string) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		t.Fatalf("got %#v, want %s", err, code)
	}
	for _, words := range want {
		if !strings.Contains(f.Message+"\n"+f.Hint, words) {
			t.Errorf("%q does not stand in %q, hint %q", words, f.Message, f.Hint)
		}
	}
	return f
}

func TestNoRepository(t *testing.T) {
	dir := t.TempDir()
	_, err := reader.Diff(context.Background(), dir, git.DiffOptions{Dir: dir})
	asFault(t, err, fault.GitNotInitialized, "no git repository", "git init")

	r := newRig(t)
	parent := filepath.Dir(r.Dir)
	_, err = reader.Diff(context.Background(), parent, git.DiffOptions{Dir: parent})
	asFault(t, err, fault.GitNotInitialized, "repositories below: "+filepath.Base(r.Dir))

	r.git("clone", "-q", "--bare", ".", "bare")
	r.Must(os.Rename(r.Abs("bare"), filepath.Join(parent, "bare")))
	bare := filepath.Join(parent, "bare")
	for _, dir := range []string{bare, filepath.Join(bare, "refs")} {
		_, err = reader.Diff(context.Background(), dir, git.DiffOptions{Dir: dir})
		asFault(t, err, fault.GitNotInitialized, "without a work tree", "clone")
	}

	r.Must(os.RemoveAll(r.Abs(".git/objects"))) // what is left is none
	_, err = r.diff(git.DiffOptions{})
	asFault(t, err, fault.GitNotInitialized)
}

func TestBadBase(t *testing.T) {
	r := newRig(t)
	_, err := r.diff(git.DiffOptions{Base: "HEAD"})
	asFault(t, err, fault.GitError, "HEAD names no commit", "no commit yet")

	r.Write("a", "1\n")
	r.commit()
	r.git("branch", "topic")
	r.git("tag", "v1")
	blob := strings.TrimSpace(r.git("rev-parse", "HEAD:a"))
	for base, words := range map[string]string{
		"nonsense":               "branches and tags here: main, topic, v1",
		"HEAD~1":                 "HEAD~1 names no commit",
		"HEAD^2":                 "names no commit",
		"HEAD^{tree}":            "names no commit",
		"main..topic":            "range",
		"../../etc/passwd":       "range",
		"refs/heads":             "names no commit",
		"-x":                     "names no commit",
		"ab\ncd":                 `"ab\ncd" names no commit`,
		"a\u202eb":               `"a\u202eb" names no commit`,
		blob:                     "names no commit",
		strings.Repeat("ab", 20): "names no commit",
	} {
		_, err := r.diff(git.DiffOptions{Base: base})
		asFault(t, err, fault.GitError, words)
	}
}

func TestUnknownPath(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	_, err := r.diff(git.DiffOptions{Dir: r.Abs("no/such")})
	asFault(t, err, fault.FileNotFound, "no/such")
	_, err = r.diff(git.DiffOptions{Dir: filepath.Dir(r.Dir)})
	asFault(t, err, fault.PathOutsideWorkspace)
	r.Link(filepath.Dir(r.Dir), "out")
	_, err = r.diff(git.DiffOptions{Dir: r.Abs("out/x")})
	asFault(t, err, fault.PathOutsideWorkspace)
	if _, err = r.diff(git.DiffOptions{Dir: r.Abs("out")}); err != nil {
		t.Errorf("the link itself: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	r := newRig(t)
	r.Write("a", "")
	r.Write("b", "")
	r.commit()
	r.Write("a", numbered(1000))
	r.Write("b", "1\n2\n")
	whole := r.same(git.DiffOptions{Context: 3})
	size := int64(len(whole.Diff))
	if got, err := r.diff(git.DiffOptions{Context: 3, MaxBytes: size}); err != nil || got.Diff != whole.Diff {
		t.Errorf("at the limit: %v", err)
	}
	_, err := r.diff(git.DiffOptions{Context: 3, MaxBytes: size - 1})
	f := asFault(t, err, fault.FileTooLarge, "give a path")
	files, _ := f.Details["files"].([]git.FileChange)
	if len(files) != 2 || files[0] != (git.FileChange{Path: "a", Additions: 1000, Status: "M"}) || files[1].Additions != 2 ||
		f.Details["additions"] != 1002 || f.Details["size"] != size {
		t.Errorf("details %+v", f.Details)
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root reads every file: what is left to check is that it does")
	}
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	r.Write("a", "2\n")
	r.Must(os.Chmod(r.Abs("a"), 0o000))
	_, err := r.diff(git.DiffOptions{})
	if os.Geteuid() == 0 {
		r.Must(err)
		return
	}
	asFault(t, err, fault.GitError, "a")
}

func TestCancelled(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := reader.Diff(ctx, r.Dir, git.DiffOptions{Dir: r.Dir})
	asFault(t, err, fault.Cancelled)
}
