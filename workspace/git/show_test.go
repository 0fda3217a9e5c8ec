package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

func (r *rig) show(ref string) git.Shown {
	r.Helper()
	got, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.root, Ref: ref, Context: 3})
	if err != nil {
		r.Fatalf("%s: %v", ref, err)
	}
	return got
}

// gitShow is the diff of git show.
func (r *rig) gitShow(ref string) string {
	r.Helper()
	return strings.TrimLeft(r.git("show", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-merges=first-parent", "--format=", ref+"^{commit}"), "\n")
}

// sameShow checks that Show says what git show says.
func (r *rig) sameShow(ref string) git.Shown {
	r.Helper()
	got := r.show(ref)
	if want := r.gitShow(ref); got.Diff.Diff != want {
		r.Errorf("%s: %s", ref, apart(got.Diff.Diff, want))
	}
	if want := r.gitLog(git.LogOptions{Ref: ref, Limit: 1}); logged([]git.LogCommit{got.Commit}) != want {
		r.Errorf("%s: %s", ref, apart(logged([]git.LogCommit{got.Commit}), want))
	}
	return got
}

// sameContent checks what a commit has at a path.
func (r *rig) sameContent(ref, name string) git.Shown {
	r.Helper()
	got, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.path(name), File: true, Ref: ref})
	r.must(err)
	if want := r.git("cat-file", "blob", ref+":"+name); string(got.Content) != want {
		r.Errorf("%s:%s: got %q, git says %q", ref, name, got.Content, want)
	}
	return got
}

func TestShow(t *testing.T) {
	r := newRig(t)
	r.write("a", numbered(30))
	r.write("dir/b", "1\n")
	r.write("ü", "1\n")
	r.write("binary", "\x00\x01")
	r.commit()
	r.write("a", strings.Replace(numbered(30), "line20()", "changed()", 1))
	r.remove("dir/b")
	r.write("dir/new", numbered(10))
	r.write("binary", "\x00\x02")
	r.must(os.Chmod(r.path("ü"), 0o755))
	r.commit()
	r.git("mv", "dir/new", "moved")
	r.must(os.Symlink("a", r.path("link")))
	r.commit()
	r.remove("ü")
	r.write("ü/inside", "a folder now\n")
	r.commit()
	r.git("commit", "-q", "--allow-empty", "-m", "nothing")
	for _, ref := range []string{"HEAD", "HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4"} {
		r.sameShow(ref)
	}
	r.git("gc", "-q")
	for _, ref := range []string{"HEAD", "HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4"} {
		r.sameShow(ref)
	}
	if first := r.show("HEAD~4"); first.Parent != "" || first.Diff.FilesChanged != 4 {
		t.Errorf("got %+v", first)
	}
	r.sameContent("HEAD", "a")
	r.sameContent("HEAD~3", "dir/new") // which is gone
	r.sameContent("HEAD", "ü/inside")
	if got := r.sameContent("HEAD", "link"); got.Kind != git.KindSymlink {
		t.Errorf("got %+v", got)
	}
	if got := r.show("HEAD~3:dir"); fmt.Sprint(got.Entries) != "[{new file}]" || got.Path != "dir" {
		t.Errorf("got %+v", got)
	}
	if got := r.show("HEAD:"); len(got.Entries) != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestShowMerge(t *testing.T) {
	r := newRig(t)
	r.write("a", numbered(20))
	r.commit()
	r.git("checkout", "-q", "-b", "topic")
	r.write("b", "topic\n")
	r.write("a", numbered(20)+"topic\n")
	r.commit()
	r.git("checkout", "-q", "main")
	r.write("a", "main\n"+numbered(20))
	r.commit()
	r.git("merge", "-q", "--no-edit", "topic")
	got := r.sameShow("HEAD")
	if len(got.Commit.Parents) != 2 || got.Parent != got.Commit.Parents[0] || got.Diff.FilesChanged != 2 {
		t.Errorf("got %+v", got)
	}
	r.sameShow("HEAD^2")
}

func TestShowTag(t *testing.T) {
	r := newRig(t)
	r.write("a", "1\n")
	r.commit()
	r.T.Setenv("GIT_COMMITTER_DATE", "@1112911993 -0230")
	r.git("tag", "-a", "v1", "-m", "first\n\nwith a body")
	r.git("tag", "light")
	got := r.sameShow("v1")
	if got.Tag == nil || *got.Tag != (git.Tag{Name: "v1", Tagger: git.Person{Name: "C", Email: "c@example.com"}, Date: "2005-04-07T19:43:13-02:30", Message: "first\n\nwith a body"}) {
		t.Errorf("got %+v", got.Tag)
	}
	if got := r.sameShow("light"); got.Tag != nil {
		t.Errorf("got %+v", got.Tag)
	}
}

// Of a repository that begins above the workspace only the workspace is shown.
func TestShowFromBelow(t *testing.T) {
	r := newRig(t)
	r.write("outside", "1\n")
	r.write("in/a", "1\n")
	r.write("in/dir/b", "1\n")
	r.commit()
	r.root = r.path("in")
	got := r.show("HEAD")
	if want := r.git("show", "--format=", "HEAD", "--", "in"); got.Diff.Diff != strings.TrimLeft(want, "\n") || got.Within != "in" {
		t.Errorf("within %q: %s", got.Within, apart(got.Diff.Diff, want))
	}
	if got := r.show("HEAD:in/dir/b"); got.Path != "dir/b" || string(got.Content) != "1\n" {
		t.Errorf("got %+v", got)
	}
	for _, ref := range []string{"HEAD:outside", "HEAD:in/../outside", "HEAD:../x", "HEAD:/etc/passwd", "HEAD:"} {
		_, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.root, Ref: ref})
		asFault(t, err, fault.PathOutsideWorkspace)
	}
}

func TestShowFaults(t *testing.T) {
	r := newRig(t)
	r.write("a", numbered(100))
	r.commit()
	show := func(o git.ShowOptions) error {
		if o.Dir == "" {
			o.Dir = r.top
		}
		_, err := reader.Show(context.Background(), r.root, o)
		return err
	}
	asFault(t, show(git.ShowOptions{Ref: "nonsense"}), fault.GitError, "nonsense names no commit")
	asFault(t, show(git.ShowOptions{Ref: "HEAD:never"}), fault.FileNotFound, "never is not in the commit", "git.log")
	asFault(t, show(git.ShowOptions{Ref: "HEAD:a/b"}), fault.FileNotFound)
	asFault(t, show(git.ShowOptions{Ref: "HEAD:.git/config"}), fault.PathOutsideWorkspace)
	asFault(t, show(git.ShowOptions{Ref: ":a"}), fault.GitError, "no commit is given")
	asFault(t, show(git.ShowOptions{Ref: "HEAD:a", MaxBytes: 10}), fault.FileTooLarge, "more than 10 bytes")
	asFault(t, show(git.ShowOptions{Ref: "HEAD", MaxDiff: 10}), fault.FileTooLarge, "the diff has")
	blob := strings.TrimSpace(r.git("rev-parse", "HEAD:a"))
	asFault(t, show(git.ShowOptions{Ref: blob}), fault.GitError, "names no commit")
}

// None of these is run by Log and Show; git runs each, so the traps are good. (A
// pager needs a terminal to be sprung.)
func TestHistoryRunsNothing(t *testing.T) {
	for _, trap := range []struct {
		name   string
		spring []string
		set    func(r *rig, script string)
	}{
		{"textconv", []string{"show"}, func(r *rig, script string) {
			r.git("config", "diff.trap.textconv", script)
			r.write(".gitattributes", "* diff=trap\n")
		}},
		{"external diff", []string{"show", "--ext-diff"}, func(r *rig, script string) { r.git("config", "diff.external", script) }},
		{"diff driver", []string{"show", "--ext-diff"}, func(r *rig, script string) {
			r.git("config", "diff.trap.command", script)
			r.write(".gitattributes", "* diff=trap\n")
		}},
		{"signature", []string{"log"}, func(r *rig, script string) {
			r.git("config", "log.showSignature", "true")
			r.git("config", "gpg.program", script)
		}},
		{"alias", []string{"l"}, func(r *rig, script string) { r.git("config", "alias.l", "!"+script) }},
		{"embedded bare repository", []string{"-C", "bare", "log"}, func(r *rig, script string) {
			r.git("clone", "-q", "--bare", r.top, r.path("bare"))
			r.git("-C", "bare", "config", "log.showSignature", "true")
			r.git("-C", "bare", "config", "gpg.program", script)
		}},
	} {
		t.Run(trap.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("a", "one\n")
			r.write("bare/a", "one\n")
			r.commit()
			tree := strings.TrimSpace(r.git("rev-parse", "HEAD^{tree}"))
			text := "tree " + tree + "\nauthor A <a@x> 1 +0000\ncommitter C <c@x> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n =abcd\n -----END PGP SIGNATURE-----\n\nsigned\n"
			hash, err := r.try(text, "hash-object", "-t", "commit", "-w", "--stdin")
			r.must(err)
			r.git("update-ref", "HEAD", strings.TrimSpace(hash))
			mark := filepath.Join(t.TempDir(), "mark")
			script := filepath.Join(t.TempDir(), "trap")
			r.must(os.WriteFile(script, []byte("#!/bin/sh\necho sprung >> "+mark+"\ncat >/dev/null\nexit 0\n"), 0o755))
			if trap.name == "embedded bare repository" {
				r.remove("bare")
			}
			trap.set(r, script)
			for _, dir := range []string{r.top, r.path("bare"), r.path("a")} {
				_, _ = reader.Log(context.Background(), r.root, git.LogOptions{Dir: dir, Limited: dir != r.top, Limit: 10})
				for _, file := range []bool{false, true} {
					if _, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: dir, Ref: "HEAD", File: file}); err != nil {
						t.Logf("%s: %v", dir, err)
					}
				}
			}
			if _, err := os.Stat(mark); err == nil {
				t.Fatal("the repository's program was run")
			}
			_, _ = r.try("", trap.spring...)
			if _, err := os.Stat(mark); err != nil {
				t.Error("git does not spring this trap either: the test shows nothing")
			}
		})
	}
}
