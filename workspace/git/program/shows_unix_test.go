//go:build unix

package program

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestShows: of what each line prints the content of, git itself says the names.
func TestShows(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.Write("a.txt", "one\n")
	r.Write(".env", "secret of the first\nand a line\nand one more\n")
	r.commit("first")
	blob, tree := r.git("rev-parse", "HEAD:.env"), r.git("rev-parse", "HEAD^{tree}")
	r.git("tag", "content", blob)
	r.git("tag", "first")
	r.git("mv", ".env", "b.txt")
	r.commit("renamed", "HEAD")
	r.Write("a.txt", "two\n")
	r.commit("nothing of it", "HEAD")
	r.git("tag", "before")
	r.commit("merged", "HEAD~2", "HEAD")
	r.git("tag", "merged")
	r.git("reset", "-q", "before")
	r.Write("sub/.env", "secret, staged\n")
	r.git("add", "sub/.env")
	for line, want := range map[string]string{
		"status": "", "status -v": "sub/.env", "status --verbose -- a.txt": "sub/.env",
		"diff": "", "diff --cached": "sub/.env", "diff HEAD": "sub/.env", "diff HEAD -- a.txt": "", "diff HEAD --exit-code": "sub/.env", "diff HEAD --check": "sub/.env",
		"diff first": "sub/.env .env", "diff -M first": "sub/.env .env", "diff --name-only first": "", "diff --stat -p first": "sub/.env .env", "diff first -- . :(exclude,top)sub/.env :(exclude,top).env": "",
		"diff a.txt": "", "diff HEAD sub": "sub/.env", "log -p sub": "", "log -p --pretty=full b.txt": "", "diff first:a.txt HEAD:a.txt": "", "diff content HEAD:a.txt": "content", "diff " + blob + ".." + blob: "BLOB..BLOB BLOB..BLOB",
		"diff first^{tree} HEAD^{tree}": "first^{tree} HEAD^{tree}", "diff --relative HEAD": "sub/.env", "show " + tree + ":a.txt": "TREE:a.txt",
		"show": "", "show HEAD~1": ".env", "show -s HEAD~1": "", "show --graph --oneline HEAD~2": ".env", "show --pretty=full -m HEAD~2": ".env", "show merged": ".env", "log -p --cc -1 merged": ".env", "show content": "content", "show " + blob: "BLOB", "show --stat " + blob: "BLOB", "show -s content": "content", "show HEAD~2 --stat": "",
		"show " + blob + " -- a.txt": "BLOB", "show nobody": "an error", "show HEAD:a.txt": "", "show first^{tree}": "",
		"log": "", "log --stat": "", "log -p": ".env", "log -p -1": "", "log -U2 --graph": ".env", "log --word-diff=color -3": ".env", "log --binary --reverse": ".env", "log -p first..HEAD": ".env",
		"cat-file -p HEAD": "", "cat-file -p content": "content", "cat-file blob " + blob: "BLOB", "cat-file -t " + blob: "", "cat-file -p HEAD:a.txt": "",
		"blame a.txt": "", "ls-files": "",
		"show first:.env": ".env", "show first:./.env": ".env", "cat-file -p first:.env": ".env", "show :sub/.env": "sub/.env", "show :0:sub/.env": "sub/.env", "show first:": "",
		"diff first: HEAD:": "first: HEAD:", "diff first HEAD merged": "merged", "diff merged^!": "merged^!", "diff first...HEAD": ".env",
	} {
		args := strings.Fields(line)
		cmd, err := Reading(t.Context(), git(t), r.Dir, os.Environ(), args...)
		r.Must(err)
		shown, err := Shows(t.Context(), cmd, nil, func(path string) bool {
			if name, ok := strings.CutPrefix(path, r.Dir+"/"); !ok || !strings.Contains(" .env a.txt b.txt sub/.env content ", " "+name+" ") {
				t.Errorf("git %s: %s is no file", line, path)
			}
			return strings.HasSuffix(path, ".env")
		})
		got := strings.ReplaceAll(strings.Join(append(shown.Files, shown.Unnamed...), " "), blob, "BLOB")
		got = strings.ReplaceAll(got, tree, "TREE")
		if err != nil {
			got = "an error"
		}
		if !slices.Equal(slices.Sorted(strings.FieldsSeq(got)), slices.Sorted(strings.FieldsSeq(want))) {
			t.Errorf("git %s: %q, %v, want %q", line, got, err, want)
		}
	}
}

// TestShowsBelow: COMMIT:FILE is of the work tree's top, wherever git runs.
func TestShowsBelow(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.Write("a.txt", "one\n")
	r.Write("sub/b.txt", "one\n")
	r.commit("first")
	for arg, want := range map[string]string{"HEAD:a.txt": "a.txt", "HEAD:./b.txt": "sub/b.txt", "HEAD:../a.txt": "a.txt"} {
		cmd, err := Reading(t.Context(), git(t), r.Dir+"/sub", os.Environ(), "show", arg)
		r.Must(err)
		shown, err := Shows(t.Context(), cmd, nil, func(path string) bool { return path == r.Dir+"/"+want })
		if err != nil || len(shown.Files) != 1 {
			t.Errorf("%s: %+v, %v", arg, shown, err)
		}
	}
	r.git("config", "core.worktree", t.TempDir())
	for _, dir := range []string{r.Dir, r.Dir + "/sub"} {
		cmd, err := Reading(t.Context(), git(t), dir, os.Environ(), "blame", "a.txt")
		r.Must(err)
		if _, err := Shows(t.Context(), cmd, nil, func(string) bool { return false }); !errors.Is(err, ErrElsewhere) {
			t.Errorf("in %s: %v", dir, err)
		}
	}
}

// TestShowsOfTheWorkTreeAlone: in a repository whose settings say that its files are those of another
// folder, also one that holds this one, nothing is read: git would tell which files are there, and which
// are as a stranger's index says.
func TestShowsOfTheWorkTreeAlone(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.Write("a.txt", "one\n")
	r.Must(os.Mkdir(r.Dir+"/sub", 0o755))
	r.commit("first")
	shows := func(dir string, args ...string) error {
		cmd, err := Reading(t.Context(), git(t), dir, os.Environ(), args...)
		r.Must(err)
		_, err = Shows(t.Context(), cmd, []string{r.Dir}, func(string) bool { return false })
		return err
	}
	r.git("worktree", "add", "-q", "linked")
	r.git("init", "-q", "--separate-git-dir", r.Dir+"/apart.git", r.Dir+"/apart")
	for _, dir := range []string{r.Dir, r.Dir + "/sub", r.Dir + "/linked", r.Dir + "/apart", r.Dir + "/.git"} {
		if err := shows(dir, "status"); err != nil {
			t.Errorf("in %s: %v", dir, err)
		}
	}
	r.git("config", "core.worktree", "..") // itself
	if err := shows(r.Dir, "status"); err != nil {
		t.Error(err)
	}
	for _, where := range []string{"../..", "/", "../sub"} {
		r.git("config", "core.worktree", where)
		for _, line := range []string{"status --short -uall", "diff --numstat", "ls-files", "blame a.txt", "log"} {
			if err := shows(r.Dir+"/sub", strings.Fields(line)...); !errors.Is(err, ErrElsewhere) {
				t.Errorf("git %s with the work tree at %s: %v", line, where, err)
			}
		}
	}
}
