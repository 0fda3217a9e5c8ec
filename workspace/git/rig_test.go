package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/workspace/git"
	"pillion/workspace/git/program"
)

// The tests hold the package against the real git, which must be installed.
// Both see no configuration but the test repository's.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "pillion-git-home")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"),
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": os.TempDir(),
		"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.com",
		"LC_ALL": "C",
	} {
		os.Setenv(name, value)
	}
	program.ListWithin, program.Within = 2*time.Second, 2*time.Second // of a FIFO nobody reads
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

var reader = &git.Reader{}

// numbered is a text of so many lines.
func numbered(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "line%d()\n", i+1)
	}
	return out.String()
}

// rig is a repository to try things on.
type rig struct {
	machine.Folder
	root string // the workspace: the repository's folder unless a test says otherwise
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := rigAt(machine.NewFolder(t))
	r.git("init", "-q", "-b", "main")
	return r
}

func rigAt(f machine.Folder) *rig { return &rig{f, f.Dir} }

// beside is a rig for a folder that is yet to be made, apart from the repository.
func (r *rig) beside(name string) *rig {
	return rigAt(machine.Folder{TB: r.TB, Dir: filepath.Join(r.TempDir(), name)})
}

// linked is a work tree of the repository's in another folder, with a new branch.
func (r *rig) linked(branch string) *rig {
	r.Helper()
	other := r.beside("linked")
	r.git("worktree", "add", "-q", "-b", branch, other.Dir)
	return other
}

// clone is a clone of the repository, made with more arguments.
func (r *rig) clone(more ...string) *rig {
	r.Helper()
	other := r.beside("clone")
	r.git(append(append([]string{"clone", "-q"}, more...), r.Dir, other.Dir)...)
	return other
}

// inner is a rig for a repository inside the work tree.
func (r *rig) inner(name string) *rig {
	return &rig{machine.Folder{TB: r.TB, Dir: r.Abs(name)}, r.root}
}

// git runs the real git in the repository and fails the test if it fails.
func (r *rig) git(args ...string) string {
	r.Helper()
	out, err := r.try("", args...)
	if err != nil {
		r.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r *rig) try(stdin string, args ...string) (string, error) {
	r.Helper()
	command := exec.Command("git", args...)
	command.Dir = r.Dir
	command.Stdin = strings.NewReader(stdin)
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out) + string(exit.Stderr), err
	}
	if err != nil {
		r.Fatalf("these tests compare with the real git: %v", err)
	}
	return string(out), nil
}

// commitOf makes a commit of what it is given, word for word, and has main be that.
func (r *rig) commitOf(text string) (hash string) {
	r.Helper()
	hash, err := r.try(text, "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	r.Must(err)
	hash = strings.TrimSpace(hash)
	r.git("update-ref", "refs/heads/main", hash)
	return hash
}

// commit commits all that is in the work tree.
func (r *rig) commit() {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "commit")
}

func (r *rig) diff(o git.DiffOptions) (git.DiffResult, error) {
	if o.Dir == "" {
		o.Dir = r.Dir
	}
	return reader.Diff(context.Background(), r.root, o)
}

// oracle is what git diff says to the same question.
func (r *rig) oracle(o git.DiffOptions, more ...string) string {
	r.Helper()
	args := append([]string{"diff", "--no-color", "--no-ext-diff", "--no-textconv"}, more...)
	if !slices.Contains(more, "--numstat") { // which -U would turn off
		args = append(args, fmt.Sprint("-U", o.Context))
	}
	if o.Staged {
		args = append(args, "--cached")
	}
	if o.Base != "" {
		args = append(args, o.Base)
	}
	if o.Dir != "" && o.Dir != r.Dir {
		args = append(args, "--", o.Dir)
	}
	return r.git(args...)
}

// same checks that Diff says what git says, to the byte, and that its numbers
// are git's.
func (r *rig) same(o git.DiffOptions, more ...string) git.DiffResult {
	r.Helper()
	got, err := r.diff(o)
	if err != nil {
		r.Fatalf("%+v: %v", o, err)
	}
	if want := r.oracle(o, more...); got.Diff != want {
		r.Fatalf("%+v: %s", o, apart(got.Diff, want))
	}
	if want := strings.Join(numbers(r.oracle(o, append(more, "--numstat", "-z")...)), "\n"); strings.Join(counted(got), "\n") != want {
		r.Errorf("%+v: counted\n%s\ngit says\n%s", o, strings.Join(counted(got), "\n"), want)
	}
	return got
}

// apart shows where two diffs part.
func apart(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	around := func(lines []string) string {
		return strings.Join(lines[max(0, at-8):min(len(lines), at+8)], "\n")
	}
	return fmt.Sprintf("from line %d on got\n%s\n\ngit says\n%s\n", at+1, around(a), around(b))
}

// numbers makes git's --numstat -z comparable: one line a file, of those
// in conflict the difference to the work tree, the new name of a renamed one.
func numbers(numstat string) []string {
	var lines []string
	fields := strings.Split(strings.TrimSuffix(numstat, "\x00"), "\x00")
	for i := 0; i < len(fields); i++ {
		parts := strings.SplitN(fields[i], "\t", 3)
		if len(parts) < 3 {
			continue
		}
		if parts[2] == "" { // a rename: the two names follow
			parts[2] = fields[i+2]
			i += 2
		}
		if n := len(lines); n > 0 && strings.HasSuffix(lines[n-1], " "+parts[2]) {
			lines = lines[:n-1]
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

func counted(result git.DiffResult) []string {
	var lines []string
	for _, f := range result.Files {
		line := fmt.Sprint(f.Additions, " ", f.Deletions, " ", f.Path)
		if f.Binary {
			line = "- - " + f.Path
		}
		lines = append(lines, line)
	}
	return lines
}

var everyKind = []git.DiffOptions{
	{Context: 3},
	{Context: 3, Staged: true},
	{Context: 3, Base: "HEAD"},
	{Context: 3, Base: "HEAD", Staged: true},
}
