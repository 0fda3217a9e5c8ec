package git_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

var long = time.Unix(1e9, 0) // ago

// TestStatusOfAwkwardRepositories compares repositories made by hand with git.
func TestStatusOfAwkwardRepositories(t *testing.T) {
	for name, make := range map[string]func(r *rig){
		"empty":              func(*rig) {},
		"empty with files":   func(r *rig) { r.write("a/b", "1\n"); r.write("c", "1\n"); r.git("add", "c") },
		"deleted and staged": func(r *rig) { r.write("a", "1\n"); r.commit(); r.git("rm", "-q", "a"); r.write("a", "2\n") },
		"detached":           func(r *rig) { r.write("a", "1\n"); r.commit(); r.git("checkout", "-q", "--detach") },
		"packed references": func(r *rig) {
			r.write("a", "1\n")
			r.commit()
			r.git("pack-refs", "--all", "--prune")
		},
		"index version 4": func(r *rig) {
			for i := range 50 {
				r.write("folder/long name "+strconv.Itoa(i), "1\n")
			}
			r.commit()
			r.git("update-index", "--index-version", "4")
			r.write("folder/long name 7", "2\n")
		},
		"index version 3": func(r *rig) {
			r.write("a", "1\n")
			r.commit()
			r.write("b", "1\n")
			r.git("add", "-N", "b")
			r.git("update-index", "--skip-worktree", "a")
			r.write("a", "2\n")
		},
		"no trees in the index": func(r *rig) {
			r.write("a/b/c", "1\n")
			r.write("d/e", "1\n")
			r.commit()
			r.git("read-tree", "--empty")
			r.git("read-tree", "HEAD")
			r.write("a/b/c", "2\n")
			r.git("rm", "-q", "--cached", "d/e")
		},
		"racy": func(r *rig) {
			r.write("a", "11\n")
			r.write("b", "11\n")
			r.commit()
			r.write("a", "22\n")
			info, err := os.Stat(r.path(".git/index"))
			r.must(err)
			r.must(os.Chtimes(r.path("a"), info.ModTime(), info.ModTime()))
			r.git("update-index", "--refresh", "-q", "--again")
		},
		"touched": func(r *rig) {
			r.write("a", "1\n")
			r.commit()
			r.must(os.Chtimes(r.path("a"), long, long))
		},
		"file mode": func(r *rig) {
			r.write("a", "1\n")
			r.write("b", "1\n")
			r.commit()
			r.must(os.Chmod(r.path("a"), 0o755))
			r.git("update-index", "--chmod=+x", "b")
		},
		"file mode off": func(r *rig) {
			r.write("a", "1\n")
			r.commit()
			r.git("config", "core.fileMode", "false")
			r.must(os.Chmod(r.path("a"), 0o755))
		},
		"no symbolic links": func(r *rig) {
			r.must(os.Symlink("target", r.path("a")))
			r.must(os.Symlink("target", r.path("b")))
			r.commit()
			r.must(os.Symlink("nowhere", r.path("still")))
			r.must(os.Symlink("nowhere", r.path("still2")))
			r.git("add", "-A")
			r.git("config", "core.symlinks", "false")
			r.remove("still2")
			r.must(os.Symlink("elsewhere", r.path("still2")))
			r.remove("a")
			r.write("a", "target")
			r.remove("b")
			r.write("b", "other")
		},
		"links and folders change places": func(r *rig) {
			r.write("folder/a", "1\n")
			r.write("file", "1\n")
			r.write("other/a", "1\n")
			r.must(os.Symlink("file", r.path("link")))
			r.commit()
			r.remove("folder")
			r.must(os.Symlink("other", r.path("folder")))
			r.remove("file")
			r.write("file/a", "1\n")
			r.remove("link")
			r.write("link/b/c", "1\n")
		},
		"a repository in place of a file": func(r *rig) {
			r.write("a", "1\n")
			r.write("b", "1\n")
			r.commit()
			r.remove("a")
			r.git("init", "-q", "a")
			r.git("-C", "a", "commit", "-q", "--allow-empty", "-m", "x")
			r.remove("b")
			r.git("init", "-q", "b")
		},
		"nested repositories": func(r *rig) {
			r.write("a", "1\n")
			r.commit()
			r.git("init", "-q", "nested")
			r.git("init", "-q", "deep/er/nested")
			r.write("nested/x", "1\n")
			r.write("tracked/x", "1\n")
			r.git("add", "tracked")
			r.git("init", "-q", "tracked")
			r.write("tracked/y", "1\n")
			r.write("none/.git/HEAD", "nonsense")
			r.write("none/x", "1\n")
			r.write("fileonly/.git", "nonsense\n")
			r.write("fileonly/x", "1\n")
		},
		"ignored": func(r *rig) {
			r.write(".gitignore", "*.o\nbuild/\n/top\n!keep.o\ndoc/*.html\n**/deep/file\n\\#x\ntrailing \\ \n")
			r.write("sub/.gitignore", "!*.o\nlocal\n/rooted\n")
			r.write(".git/info/exclude", "excluded\n!top\n")
			for _, name := range []string{
				"a.o", "keep.o", "build/x", "sub/build/x", "top", "sub/top", "doc/a.html", "doc/b/a.html", "x/deep/file", "sub/a.o", "sub/local",
				"sub/rooted", "sub/x/rooted", "excluded", "sub/excluded", "#x", "trailing  ", "only/ignored.o", "empty/er/ignored.o", "some/a.o", "some/b",
			} {
				r.write(name, "1\n")
			}
			r.must(os.MkdirAll(r.path("really/empty"), 0o755))
			r.write("build/tracked", "1\n")
			r.git("add", "-f", "build/tracked")
			r.write("build/tracked", "2\n")
		},
		"the user's own rules": func(r *rig) {
			r.write("../rules/ignore", "*.mine\n")
			r.git("config", "core.excludesFile", r.path("../rules/ignore"))
			r.write("a.mine", "1\n")
			r.write("b", "1\n")
		},
		"rules behind a link": func(r *rig) {
			r.write("rules", "*.x\n")
			r.must(os.Symlink("rules", r.path(".gitignore")))
			r.write("a.x", "1\n")
		},
		"ignoring case": func(r *rig) {
			r.write("Readme", "1\n")
			r.commit()
			r.git("config", "core.ignoreCase", "true")
			r.write(".gitignore", "*.LOG\n")
			r.write("a.log", "1\n")
			r.write("README2", "1\n")
		},
		"line ends": func(r *rig) {
			r.write(".gitattributes", "*.txt text\n*.bin -text\n*.dos eol=crlf\n*.auto text=auto\n")
			for _, name := range []string{"a.txt", "a.bin", "a.dos", "a.auto", "a.none"} {
				r.write(name, "1\r\n2\r\n")
			}
			r.commit()
			for _, name := range []string{"a.txt", "a.bin", "a.dos", "a.auto", "a.none"} {
				r.write(name, "1\n2\n")
			}
		},
		"autocrlf": func(r *rig) {
			r.git("config", "core.autocrlf", "true")
			r.write("a", "1\n2\n")
			r.write("b", "1\r\n2\r\n")
			r.commit()
			r.write("a", "1\r\n2\r\n")
			r.write("b", "1\n2\n")
			r.write("c", "x\r\n")
		},
		"renames": func(r *rig) {
			r.write("exact", numbered(20))
			r.write("half", numbered(20))
			r.write("less", numbered(20))
			r.write("dir/moved", numbered(30))
			r.write("worktree", numbered(40))
			r.commit()
			r.git("mv", "exact", "exact2")
			r.write("half", numbered(10)+strings.Repeat("other line\n", 8))
			r.git("mv", "half", "half2")
			r.git("add", "-A")
			r.write("less", numbered(4)+strings.Repeat("something else\n", 20))
			r.git("mv", "less", "less2")
			r.git("add", "-A")
			r.must(os.MkdirAll(r.path("other"), 0o755))
			r.git("mv", "dir/moved", "other/moved")
			r.write("other/moved", numbered(30)+"more\n")
			r.must(os.Rename(r.path("worktree"), r.path("worktree2")))
			r.git("add", "-N", "worktree2")
			r.remove("exact2")
		},
		"renames are off": func(r *rig) { r.git("config", "diff.renames", "false"); renamed(r) },
		"status has renames": func(r *rig) {
			r.git("config", "diff.renames", "false")
			r.git("config", "status.renames", "true")
			renamed(r)
		},
		"too many renames": func(r *rig) {
			for i := range 4 {
				r.write("a"+strconv.Itoa(i), numbered(20+i))
			}
			r.commit()
			for i := range 4 {
				r.write("a"+strconv.Itoa(i), numbered(20+i)+"more\n")
				r.git("mv", "a"+strconv.Itoa(i), "b"+strconv.Itoa(i))
			}
			r.git("add", "-A")
			r.git("config", "status.renameLimit", "2")
		},
		"assume unchanged": func(r *rig) {
			r.write("a", "1\n")
			r.write("b", "1\n")
			r.commit()
			r.git("update-index", "--assume-unchanged", "a", "b")
			r.write("a", "2\n")
			r.remove("b")
		},
		"odd names": func(r *rig) {
			for _, name := range []string{"tab\t", "new\nline", "quote\"", "back\\slash", "ü", "\xff", " ", "-x", "dir /a", "a.b/c", "a/c", "a-b/c"} {
				r.write(name, "1\n")
			}
			r.git("add", "a.b/c", "a/c", "a-b/c", "ü")
			r.commit()
			r.write("a.b/c", "2\n")
			r.write("a-b/d", "2\n")
			r.write("\xfe", "2\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			make(r)
			r.sameStatus(name)
			for _, how := range []string{"all", "no"} {
				r.git("config", "status.showUntrackedFiles", how)
				r.sameStatus(name + " " + how)
			}
		})
	}
}

func renamed(r *rig) {
	r.write("a", numbered(20))
	r.commit()
	r.git("mv", "a", "b")
}

// TestStatusOfConflicts has all seven kinds.
func TestStatusOfConflicts(t *testing.T) {
	r := newRig(t)
	r.write("a", "1\n")
	r.commit()
	blob := strings.TrimSpace(r.git("rev-parse", "HEAD:a"))
	var lines strings.Builder
	for stages := 1; stages < 8; stages++ {
		for stage := 1; stage <= 3; stage++ {
			if stages>>(stage-1)&1 == 1 {
				lines.WriteString("100644 " + blob + " " + strconv.Itoa(stage) + "\tkind" + strconv.Itoa(stages) + "\n")
			}
		}
		if stages%2 == 0 {
			r.write("kind"+strconv.Itoa(stages), "2\n")
		}
	}
	if out, err := r.try(lines.String(), "update-index", "--index-info"); err != nil {
		t.Fatal(out)
	}
	got := r.sameStatus("conflicts")
	kinds := map[string]bool{}
	for _, f := range got.Files {
		kinds[f.Conflict] = true
	}
	if len(kinds) != 7 || kinds[""] {
		t.Errorf("kinds %v", kinds)
	}
	r.sameStatus("one conflict", "kind7")

	r = newRig(t)
	conflict(r)
	r.sameStatus("a merge")
}

// TestStatusOfSubmodules has what can be new in one, and what is told of it.
func TestStatusOfSubmodules(t *testing.T) {
	r, other := newRig(t), newRig(t)
	other.write("a", "1\n")
	other.commit()
	names := []string{"moved", "dirty", "untracked", "staged", "clean", "removed", "empty", "all", "replaced"}
	for _, name := range names {
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.top, "modules/"+name)
	}
	r.sameStatus("added")
	r.commit()
	sub := func(name string) *rig { return r.inner("modules/" + name) }
	for _, name := range []string{"moved", "all"} {
		sub(name).write("b", "2\n")
		sub(name).commit()
	}
	for _, name := range []string{"dirty", "all"} {
		sub(name).write("a", "2\n")
	}
	for _, name := range []string{"untracked", "all"} {
		sub(name).write("c", "2\n")
	}
	sub("staged").write("a", "2\n")
	sub("staged").git("add", "a")
	r.remove("modules/removed")
	r.git("submodule", "--quiet", "deinit", "modules/empty")
	r.remove("modules/replaced")
	r.write("modules/replaced", "a file\n")
	r.sameStatus("changed")
	for _, how := range []string{"untracked", "dirty", "all", "none"} {
		r.git("config", "diff.ignoreSubmodules", how)
		r.sameStatus("ignoring " + how)
	}
	r.git("config", "submodule.modules/dirty.ignore", "all")
	r.git("config", "-f", ".gitmodules", "submodule.modules/untracked.ignore", "untracked")
	r.sameStatus("ignoring by name")
	r.git("add", "modules/moved", "modules/all")
	r.sameStatus("staged")
	inner := sub("all") // the workspace's path leads into the submodule
	inner.sameStatus("inside")
}

// TestStatusOfSparseCheckouts: what is left out is not deleted, and what is there all
// the same is seen.
func TestStatusOfSparseCheckouts(t *testing.T) {
	for _, index := range []string{"--no-sparse-index", "--sparse-index"} {
		r := newRig(t)
		for _, name := range []string{"in/a", "in/.gitignore", "out/a", "out/deep/b", "out/.gitignore", "top"} {
			r.write(name, "1\n")
		}
		r.commit()
		r.git("sparse-checkout", "init", "--cone", index)
		r.git("sparse-checkout", "set", "in")
		r.sameStatus("sparse " + index)
		r.write("in/a", "2\n")
		r.write("in/new", "2\n")
		r.write("elsewhere/new", "2\n")
		r.sameStatus("changed " + index)
		r.write("out/a", "2\n")
		r.write("out/new", "2\n")
		r.sameStatus("there all the same " + index)
		r.git("config", "core.sparseCheckout", "false")
		r.sameStatus("sparse no more " + index)
	}
}

// TestStatusOfBranches has branches ahead, behind and apart, and ones that are gone.
func TestStatusOfBranches(t *testing.T) {
	origin := newRig(t)
	for i := range 3 {
		origin.write("a", strconv.Itoa(i))
		origin.commit()
	}
	r := origin.clone()
	r.sameStatus("same")
	r.write("b", "1\n")
	r.commit()
	r.sameStatus("ahead")
	r.git("reset", "-q", "--hard", "HEAD~3")
	r.sameStatus("behind")
	r.write("b", "2\n")
	r.commit()
	r.git("merge", "-q", "--no-edit", "-s", "ours", "origin/main~1")
	r.sameStatus("apart")
	r.git("checkout", "-q", "-b", "local", "--track", "main")
	r.sameStatus("of a local branch")
	r.git("branch", "-q", "origin/main")
	r.git("checkout", "-q", "main")
	r.sameStatus("with an ambiguous name")
	r.git("update-ref", "-d", "refs/remotes/origin/main")
	r.sameStatus("gone")
	r.git("config", "remote.origin.fetch", "+refs/heads/*:refs/other/*")
	r.git("fetch", "-q")
	r.sameStatus("with another place")
	r.git("checkout", "-q", "--orphan", "fresh")
	r.sameStatus("an orphan")
	r.git("symbolic-ref", "HEAD", "refs/heads/a/b")
	r.sameStatus("not born")
}

// TestStatusElsewhere: linked work trees, borrowed objects, and workspaces that are a
// part of the repository or hold it.
func TestStatusElsewhere(t *testing.T) {
	r := newRig(t)
	r.write("dir/a", "1\n")
	r.write("dir/sub/b", "1\n")
	r.write("c", "1\n")
	r.commit()
	linked := r.linked("topic")
	linked.write("c", "2\n")
	linked.write("new", "2\n")
	r.write(".git/info/exclude", "excluded\n")
	linked.write("excluded", "2\n")
	linked.sameStatus("linked")

	clone := r.clone("--shared")
	clone.write("c", "2\n")
	clone.git("rm", "-q", "--cached", "dir/a")
	clone.sameStatus("shared")

	r.write("dir/a", "2\n")
	r.write("c", "2\n")
	r.write("dir/new/x", "2\n")
	r.write("dir/other/y.o", "2\n")
	r.write(".gitignore", "*.o\n")
	part := *r
	part.root = r.path("dir")
	part.sameStatus("a part", "dir")
	part.sameStatus("a part of it", "dir/new")
	around := *r
	around.root = filepath.Dir(r.top)
	around.sameStatus("from around")
}

// A file that is a folder in the index, or the other way round, asked for alone.
func TestStatusOfWhatChangedPlaces(t *testing.T) {
	r := newRig(t)
	r.write("dir/file", "1\n")
	r.write("dir/folder/a", "1\n")
	r.commit()
	r.remove("dir")
	r.write("dir/file/a", "2\n")
	r.write("dir/folder", "2\n")
	r.git("add", "-A")
	for _, part := range []string{"dir", "dir/file", "dir/folder", "dir/file/a"} {
		r.sameStatus("changed places", part)
	}
}

// Repositories that are not read are refused in words.
func TestStatusRefuses(t *testing.T) {
	r := newRig(t)
	r.remove(".git")
	r.git("init", "-q", "--object-format=sha256")
	_, err := r.status(git.StatusOptions{})
	asFault(t, err, fault.GitError, "another hash than SHA-1")
	r = newRig(t)
	r.write("a", "1\n")
	r.commit()
	r.git("update-index", "--split-index")
	_, err = r.status(git.StatusOptions{})
	asFault(t, err, fault.GitError, "split")
	dir := t.TempDir()
	_, err = r.status(git.StatusOptions{Dir: dir})
	asFault(t, err, fault.PathOutsideWorkspace)
	r.root = dir
	_, err = r.status(git.StatusOptions{Dir: dir})
	asFault(t, err, fault.GitNotInitialized)
}
