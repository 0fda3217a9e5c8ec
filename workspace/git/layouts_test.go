package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pillion/workspace/git"
)

// everyWay is everyKind and the commit before.
var everyWay = append([]git.DiffOptions{{Context: 3, Base: "HEAD~1"}, {Context: 3, Base: "HEAD~1", Staged: true}}, everyKind...)

// sameBelow compares with git the whole repository and its parts.
func (r *rig) sameBelow(dirs ...string) {
	r.Helper()
	for _, o := range everyWay {
		r.same(o)
		for _, dir := range dirs {
			o.Dir = r.path(dir)
			r.same(o)
		}
	}
}

// planted are files of two commits, in folders, some of them changed since.
func planted(r *rig) {
	for i := range 12 {
		r.write(fmt.Sprintf("in/sub%d/file%d", i%3, i), numbered(10+i))
		r.write(fmt.Sprintf("out/sub%d/file%d", i%3, i), numbered(10+i))
	}
	r.write("top", "top\n")
	r.commit()
	r.write("in/sub1/file1", numbered(3))
	r.write("out/sub1/file1", numbered(3))
	r.write("out/new", "new\n")
	r.commit()
	r.write("in/sub2/file2", numbered(3))
	r.write("in/sub0/staged", "staged\n")
	r.git("add", "in/sub0/staged")
	r.write("in/sub0/staged", "staged\nchanged\n")
}

func TestIndexVersions(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		for _, intent := range []bool{false, true} { // with it, version 2 becomes 3
			t.Run(fmt.Sprint(version, intent), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				planted(r)
				if intent {
					r.write("in/sub0/intended", "intended\n")
					r.write("intended too", "")
					r.git("add", "-N", "in/sub0/intended", "intended too")
				}
				r.git("update-index", "--index-version", version)
				r.sameBelow("in", "in/sub0", "in/sub1/file1")
			})
		}
	}
}

func TestIntentToAdd(t *testing.T) {
	r := newRig(t)
	r.write("a", numbered(20))
	r.write("kept", "1\n")
	r.commit()
	r.write("b", "1\n")
	r.commit()
	r.git("rm", "-q", "--cached", "kept") // HEAD has it, the index only means to
	r.git("add", "-N", "kept")
	r.write("dir/deep/new", numbered(20))
	r.write("gone", "gone\n")
	r.write("script", "#!/bin/sh\n")
	r.must(os.Chmod(r.path("script"), 0o755))
	r.must(os.Symlink("a", r.path("link")))
	r.git("add", "-N", "dir", "gone", "script", "link")
	r.remove("gone")
	r.sameBelow("dir", "dir/deep/new", "script")
	r.sameStatus("intended")
}

func TestDiffAttributes(t *testing.T) {
	for name, attributes := range map[string]string{
		"no diff": "*.x -diff\n", "binary": "*.x binary\n", "macro": "[attr]picture -diff -text\n*.x picture\n",
		"text after all": "*.x diff\n", "a driver": "*.x diff=mine\n", "a binary driver": "*.x diff=blob\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.git("config", "diff.blob.binary", "true")
			for _, name := range []string{"changed", "gone", "mode", "moved", "theirs", "linked"} {
				r.write(name+".x", numbered(20)+name+"\n")
			}
			r.write("nul.x", "a\x00b\n")
			r.commit()
			r.write(".gitattributes", attributes)
			r.commit()
			r.write("changed.x", numbered(21))
			r.write("nul.x", "a\x00c\n")
			r.remove("gone.x")
			r.must(os.Chmod(r.path("mode.x"), 0o755))
			r.git("mv", "moved.x", "elsewhere.x")
			r.write("elsewhere.x", numbered(22))
			r.remove("linked.x")
			r.must(os.Symlink("changed.x", r.path("linked.x")))
			r.write("new.x", "new\n")
			r.write("empty.x", "")
			r.git("add", "elsewhere.x", "empty.x")
			r.git("add", "-N", "new.x")
			r.sameBelow()
		})
	}
}

// every kind of conflict, of text and of other files.
func TestEveryConflict(t *testing.T) {
	r := newRig(t)
	names := []string{"both_deleted", "added_by_us", "deleted_by_them", "added_by_them", "deleted_by_us", "both_added", "both_modified", "dir/both", "run"}
	for _, name := range names {
		r.write(name, "base of "+name+"\n")
	}
	r.write("fine", "1\n")
	r.commit()
	r.write("fine", "2\n")
	r.commit()
	blob := func(text string) string {
		hash, err := r.try(text, "hash-object", "-w", "--stdin")
		r.must(err)
		return strings.TrimSpace(hash)
	}
	var info strings.Builder
	stages := map[string]string{"both_deleted": "1", "added_by_us": "2", "deleted_by_them": "12", "added_by_them": "3", "deleted_by_us": "13", "both_added": "23", "only/staged": "3"}
	names = append(names, "only/staged") // HEAD has no such file
	for _, name := range names {
		fmt.Fprintf(&info, "0 %040d\t%s\n", 0, name)
		which, known := stages[name]
		if !known {
			which = "123"
		}
		for _, stage := range which {
			mode := "100644"
			if name == "run" && stage != '1' {
				mode = "100755"
			}
			fmt.Fprintf(&info, "%s %s %c\t%s\n", mode, blob(fmt.Sprintf("%s in stage %c\n", name, stage)), stage, name)
		}
	}
	if out, err := r.try(info.String(), "update-index", "--index-info"); err != nil {
		t.Fatal(out)
	}
	r.remove("both_deleted")
	r.write("both_modified", "<<<<<<< ours\n")
	for _, version := range []string{"2", "4"} {
		r.git("update-index", "--index-version", version)
		r.git("config", "core.fileMode", strconv.FormatBool(version == "2")) // else the index says what is executable
		for _, o := range everyWay {
			for _, dir := range []string{"", "dir", "both_added"} {
				if o.Dir = r.top; dir != "" {
					o.Dir = r.path(dir)
				}
				got, err := r.diff(o)
				var more []string
				if o.Base == "" && !o.Staged {
					more = []string{"--ours"}
				}
				if want := r.oracle(o, more...); err != nil || got.Diff != want {
					t.Errorf("index version %s, %+v: %v: %s", version, o, err, apart(got.Diff, want))
				}
			}
		}
	}
}

func TestSparseCheckouts(t *testing.T) {
	for name, arguments := range map[string][]string{
		"cone":         {"set", "--cone", "in"},
		"sparse index": {"set", "--cone", "--sparse-index", "in"}, // of whose folders git 2.39 finds no part in a commit
		"patterns":     {"set", "--no-cone", "/in/", "!/in/sub1/", "/top"},
	} {
		parts := []string{"in", "out", "out/sub1", "out/sub1/file1"}
		if name == "sparse index" {
			parts = parts[:2]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			planted(r)
			r.git("stash", "-q")
			r.git(append([]string{"sparse-checkout"}, arguments...)...)
			r.git("stash", "pop", "-q")
			r.sameBelow(parts...)
			r.write("out/sub1/file1", "here after all\n") // git sees what is there
			r.write("out/other", "untracked\n")
			r.sameBelow(parts...)
			r.git("rm", "-q", "--cached", "--sparse", "out/sub2/file2")
			r.git("update-index", "--index-version", "4")
			r.sameBelow(parts[:2]...)
		})
	}
}

// Where the repository's own folder is elsewhere: a linked work tree, a separate folder, a
// clone that borrows its objects; with files of one name in each.
func TestElsewhere(t *testing.T) {
	r := newRig(t)
	planted(r)
	r.git("stash", "-q")
	linked := r.beside("linked")
	r.git("worktree", "add", "-q", "--detach", linked.top)
	borrowing := r.beside("borrowing")
	r.git("clone", "-q", "--shared", r.top, borrowing.top)
	separate := r.beside("separate")
	r.git("clone", "-q", "--separate-git-dir", filepath.Join(t.TempDir(), "elsewhere.git"), r.top, separate.top)
	inside := linked.inner("in/inner") // a repository in a work tree of another
	r.git("clone", "-q", r.top, inside.top)
	for _, one := range []*rig{linked, borrowing, separate, inside} {
		one.write("in/sub0/file0", "changed in "+filepath.Base(one.top)+"\n")
		one.write("out/added", "added\n")
		one.git("add", "out/added")
		one.git("rm", "-q", "out/new")
		one.sameBelow("in")
		one.git("gc", "-q")
		one.same(git.DiffOptions{Context: 3, Base: "HEAD~1", Dir: one.path("in")})
	}
}

// Submodules whose folder is looked at, left out, or in a conflict of names.
func TestSubmoduleWays(t *testing.T) {
	r, other := newRig(t), newRig(t)
	other.write("a", "1\n")
	other.commit()
	for _, name := range []string{"deep/moved", "deep/ignored", "replaced", "gone"} {
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.top, name)
	}
	r.commit()
	r.write("plain", "1\n")
	r.commit()
	sub := r.inner
	sub("deep/moved").write("b", "2\n")
	sub("deep/moved").commit()
	sub("deep/ignored").write("a", "2\n")
	sub("deep/moved").write("a", "2\n")
	r.git("config", "submodule.deep/ignored.ignore", "dirty")
	r.remove("replaced")
	r.write("replaced", "a file\n")
	r.remove("gone")
	r.git("rm", "-q", "--cached", "gone")
	r.sameBelow("deep", "replaced") // a path into a submodule asks the submodule
	r.git("add", "deep/moved")
	r.git("update-index", "--index-version", "4")
	r.sameBelow("deep")
}
