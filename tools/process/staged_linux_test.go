package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/workspace/git"
)

// stagedRepository is a repository in a folder that a command can move, and how a command gets it.
func stagedRepository(t *testing.T, p layout) (dir string, spec func(command string) Spec) {
	t.Helper()
	dir = filepath.Join(p.inside, "meta/deep/repo")
	for _, name := range []string{"HEAD", "refs/heads/main", "logs/HEAD", "objects/x", "config"} {
		put(t, filepath.Join(dir, name), strings.Repeat("0", 40)+"\n")
	}
	return dir, func(command string) Spec {
		s := p.spec(Bubblewrap, command)
		s.Confine.Writable = append(s.Confine.Writable, dir)
		s.Confine.Staged = []Staged{{Dir: dir, Files: git.WritableFiles, Trees: git.ReferenceFolders, Open: git.OpenFolders, Closed: git.ClosedFolders}}
		return s
	}
}

// TestWhatComesBackStaysInItsFolder, also when the command moves that, and lays out another one in
// its place, with another copy and a link that leads out.
func TestWhatComesBackStaysInItsFolder(t *testing.T) {
	r := boxing(t)
	if r == nil {
		return
	}
	p := newPlace(t)
	dir, spec := stagedRepository(t, p)
	lay := `copy=$(awk '$5 == "` + dir + `" { sub(".*/", "", $4); print $4 }' /proc/self/mountinfo)
echo 'ref: refs/heads/x' >meta/deep/repo/HEAD
mv meta moved
mkdir -p meta/deep/repo/$copy/logs/refs meta/deep/repo/logs
tr 1 0 <moved/deep/repo/refs/heads/main | sed 's/$/ &/' >meta/deep/repo/$copy/logs/HEAD
ln -s ` + p.outside + ` meta/deep/repo/objects
touch laid; until test -e enough; do sleep 0.02; done`
	done := make(chan Result, 1)
	go func() {
		got, err := r.Run(t.Context(), spec(lay), nil)
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	eventually(t, "the command has laid it out", func() bool { return content(filepath.Join(p.inside, "laid")) == "" })
	must(t, os.Symlink("elsewhere", filepath.Join(p.outside, "theirs")))
	put(t, filepath.Join(p.inside, "enough"), "")
	got := <-done
	if _, err := os.Lstat(filepath.Join(p.outside, "theirs")); err != nil {
		t.Errorf("what is elsewhere was removed: %v", err)
	}
	if content(filepath.Join(dir, "logs/HEAD")) != "nothing" {
		t.Error("what the command laid out was moved")
	}
	moved := filepath.Join(p.inside, "moved/deep/repo")
	left, err := filepath.Glob(filepath.Join(moved, stagePrefix+"*"))
	if content(filepath.Join(moved, "HEAD")) != "ref: refs/heads/x" || err != nil || len(left) > 0 {
		t.Errorf("it did not come back: %q, %q, %+v", content(filepath.Join(moved, "HEAD")), left, got)
	}
}

// TestALinkThatComesBeforeTheStartOpensNothing: another command may exchange a folder for a link
// after it was decided what this one may write, and before that is mounted.
func TestALinkThatComesBeforeTheStartOpensNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		if level == None {
			return
		}
		for _, what := range []string{"objects of a repository", "the copy of a repository", "a folder in another one", "a file", "a protected folder"} {
			p := newPlace(t)
			spec := p.spec(level, "true")
			name := filepath.Join(p.inside, "meta/deep/repo/objects")
			put(t, filepath.Join(name, "x"), "")
			theirs := put(t, filepath.Join(p.outside, "deep/repo/objects/x"), "")
			switch what {
			case "objects of a repository", "the copy of a repository":
				if level == Landlock {
					continue
				}
				_, staged := stagedRepository(t, p)
				spec = staged("true")
			case "a folder in another one":
				spec.Confine.Writable = append(spec.Confine.Writable, name)
			case "a file":
				spec.Confine.Files = []string{filepath.Join(name, "made"), filepath.Join(name, "x")}
				spec.Confine.ReadOnly = []string{filepath.Join(p.inside, "meta")}
			case "a protected folder":
				spec.Confine.ReadOnly = []string{name}
			}
			o, err := r.order(spec, r.found().box)
			must(t, err)
			o.args[len(o.args)-1] = "cd " + name + " && for f in x made ../made ../../../made; do echo escaped >$f; done; cat x"
			if what == "the copy of a repository" {
				copies, err := filepath.Glob(filepath.Join(filepath.Dir(name), stagePrefix+"*"))
				must(t, err)
				must(t, os.Rename(copies[0], copies[0]+".was"))
				must(t, os.Symlink(p.outside, copies[0]))
			} else {
				must(t, os.Rename(filepath.Join(p.inside, "meta"), filepath.Join(p.inside, "moved")))
				must(t, os.Symlink("../outside", filepath.Join(p.inside, "meta")))
			}
			c, err := r.launcher.start(o)
			must(t, err)
			_ = feed(c.stdin, "", false)
			ended := <-c.outcome
			o.hold.discard()
			if content(theirs) != "" || content(filepath.Join(p.outside, "made")) != "nothing" || content(filepath.Join(filepath.Dir(theirs), "made")) != "nothing" || content(filepath.Join(p.outside, "deep/repo/objects/made")) != "nothing" {
				t.Errorf("%s was written elsewhere: %+v", what, ended)
			}
		}
	})
}
