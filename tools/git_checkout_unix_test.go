//go:build unix

package tools_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// work is all that stands in a work tree, with modes, links and bytes.
func (w *world) work(top string) string {
	var out strings.Builder
	w.must(filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		w.must(err)
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(top, name)
		w.must(err)
		info, err := d.Info()
		w.must(err)
		text := ""
		switch {
		case d.Type() == fs.ModeSymlink:
			text, err = os.Readlink(name)
		case d.Type().IsRegular():
			var data []byte
			data, err = os.ReadFile(name)
			text = string(data)
		}
		w.must(err)
		fmt.Fprintf(&out, "%s %s %q\n", info.Mode(), rel, text)
		return nil
	}))
	return out.String()
}

// git's own switch, in a copy of the world as it is.
func (w *world) twinSwitch(branch string) (twin, refusal string) {
	w.t.Helper()
	twin = filepath.Join(w.t.TempDir(), "twin")
	w.must(exec.Command("cp", "-a", w.path("."), twin).Run())
	w.says("-C", twin, "update-index", "-q", "--refresh") // it has other inodes
	cmd := exec.Command("git", "-c", "core.hooksPath=/dev/null", "switch", "--quiet", "--no-guess", "--no-overwrite-ignore", branch)
	cmd.Dir = twin
	out, err := cmd.CombinedOutput()
	if err != nil {
		refusal = string(out) + err.Error()
	}
	return twin, refusal
}

// switched has the world switch without git, and compares it with the twin.
func (w *world) switched(branch string, more ...string) wrote {
	w.t.Helper()
	twin, refusal := w.twinSwitch(branch)
	before := w.work(w.path("."))
	got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": branch})
	for _, lock := range []string{"index", "HEAD"} {
		if w.exists(".git/" + lock + ".lock") {
			w.t.Errorf("%s stays locked", lock)
		}
	}
	switch {
	case !got.OK && w.work(w.path(".")) != before:
		w.t.Errorf("refused, and something changed: %v", got.Error)
	case !got.OK && (refusal != "" || strings.Contains(got.Error.Message, "a git program is needed")):
		return got
	case !got.OK && got.Error.Code == fault.WorkTreeDirty && strings.Count(w.work(twin), "mine") < strings.Count(before, "mine"):
		return got // git takes away what is staged alone, if a file comes in place of its folder
	case !got.OK || refusal != "":
		w.t.Errorf("%v; git: %s", got.Error, refusal)
		return got
	}
	// Stale times show here, before anything refreshes the index.
	if stale := w.says("diff-files", "--name-only"); stale != w.says("-C", twin, "diff-files", "--name-only") {
		w.t.Errorf("git would look into %s", stale)
	}
	if ours, gits := w.work(w.path(".")), w.work(twin); ours != gits {
		w.t.Errorf("the work tree is\n%s\nand git's\n%s", ours, gits)
	}
	for _, args := range append(more, "ls-files -s -t", "status --porcelain --branch --ignored") {
		w.same(w.path("."), twin, strings.Fields(args)...)
	}
	return got
}

// branches makes a branch of each of these trees; what begins with -> is a link, with +x
// an executable.
func (w *world) branches(trees map[string]map[string]string) {
	w.t.Helper()
	for name, files := range trees {
		w.says("checkout", "-q", "--orphan", name)
		w.says("rm", "-rfq", "--ignore-unmatch", ".")
		w.git("clean -qfdx")
		for path, text := range files {
			w.put(path, text)
		}
		w.says("-c", "core.autocrlf=false", "add", "-A")
		w.says("commit", "-q", "--allow-empty", "-m", name)
	}
}

func (w *world) put(path, text string) {
	w.t.Helper()
	if to, link := strings.CutPrefix(text, "-> "); link {
		w.must(os.MkdirAll(filepath.Dir(w.path(path)), 0o755))
		w.must(os.Symlink(to, w.path(path)))
		return
	}
	w.write(path, strings.TrimPrefix(text, "+x "))
	if strings.HasPrefix(text, "+x ") {
		w.must(os.Chmod(w.path(path), 0o755))
	}
}

// TestSwitchWithoutGit: what stands there then, in the work tree, the index and the
// reflog, is what git leaves.
func TestSwitchWithoutGit(t *testing.T) {
	w := gitWorld(t)
	w.branches(map[string]map[string]string{
		"one": {
			"same": "same\n", "mode": "x\n", "text": "1\n", "gone/deep/x": "x\n", "link": "-> same", "linked": "x\n", "bin": "\x00\xff", "empty": "", "ö": "ö\n",
			"stays/a": "a\n", "stays/b": "b\n",
		},
		"two": {
			"same": "same\n", "mode": "+x x\n", "text": "2\n", "new/deep/y": "y\n", "link": "-> text", "linked": "-> same", "bin": "\xff\x00", "full": "", "ü": "ü\n",
			"stays/a": "a\n",
		},
	})
	w.git("checkout -q one")
	w.registry.LookPath = nil
	w.write("untracked", "u\n")
	w.write("same", "changed\n")
	w.script(".git/hooks/post-checkout", `touch "$HOME/fired"`)
	need := w.gitNeed("git.branch", map[string]any{"action": "switch", "name": "two"})
	if need.Preview == nil || !strings.Contains(need.Preview.Markdown, "No hook runs: post-checkout") || !strings.Contains(need.Preview.Markdown, "new/deep/y") {
		t.Fatalf("%+v", need)
	}
	for _, branch := range []string{"two", "one", "two"} {
		if got := w.switched(branch, "rev-parse HEAD", "reflog -1 --format=%H%gs", "log -g --format=%gn%ge -1", "fsck --strict"); !got.OK || got.Current != branch {
			t.Fatalf("%+v", got)
		}
	}
	if w.exists("../home/fired") {
		t.Error("a hook ran")
	}
	if entries := w.says("ls-files", "--others"); entries != "untracked" {
		t.Errorf("left beside the files: %s", entries)
	}
}

// TestSwitchWithoutGitBetweenFilesAndFolders: one takes the other's place, both ways, and
// what git does not know in a folder keeps it there.
func TestSwitchWithoutGitBetweenFilesAndFolders(t *testing.T) {
	w := gitWorld(t)
	w.branches(map[string]map[string]string{
		"one": {"file": "1\n", "link": "-> z", "folder/a": "a\n", "folder/b/c": "+x c\n", "folder-x": "x\n", "whole/d": "-> z", "z": "z\n"},
		"two": {"file/a": "a\n", "file/b/c/d": "+x d\n", "file/b/e": "-> ../a", "link/f": "f\n", "folder": "2\n", "whole": "-> z", "z": "z\n"},
	})
	w.git("checkout -q one")
	w.registry.LookPath = nil
	for _, branch := range []string{"two", "one", "two"} {
		if got := w.switched(branch); !got.OK {
			t.Fatalf("%+v", got.Error)
		}
	}
	for _, untracked := range []string{"file/b/mine", "link/deep/mine"} {
		w.write(untracked, "mine\n")
		got := w.switched("one")
		if got.OK || got.Error.Code != fault.WorkTreeDirty || !strings.Contains(got.Error.Message, untracked) {
			t.Errorf("%+v", got)
		}
		w.must(os.RemoveAll(filepath.Dir(w.path(untracked))))
		w.says("checkout", "--", ".")
	}
	w.must(os.RemoveAll(w.path("file")))
	w.write("file", "1\n")
	if got := w.switched("one"); got.OK || got.Error.Code != fault.WorkTreeDirty {
		t.Errorf("%+v", got)
	}
}

// TestSwitchWithoutGitAsGitDoes: of many small repositories with what people do in them,
// each ends as by git, or is refused and left alone.
func TestSwitchWithoutGitAsGitDoes(t *testing.T) {
	names := []string{"a", "b", "d/a", "d/b", "d/e/a", "e", "e/a", "x.txt", "d/x.txt", ".gitattributes", "d/.gitattributes", ".gitignore"}
	texts := []string{"", "1\n", "1\n2\n", "1\r\n", "1\r\n2\n", "\x00\n", "+x 1\n", "-> a", "-> nowhere", "a\rb\n", "e\n"}
	attributes := []string{"*.txt text\n", "* text=auto\n", "* text=auto eol=crlf\n", "*.txt eol=crlf\n", "* -text\n", "a text eol=lf\n", "*.txt crlf\n", "b filter=x\n"}
	settings := []string{"core.autocrlf=true", "core.autocrlf=input", "core.eol=crlf", "core.autocrlf=false"}
	done, refused := 0, 0
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			tree := func() map[string]string {
				files := map[string]string{"z": "z\n"}
				for range 2 + r.IntN(5) {
					name, text := names[r.IntN(len(names))], texts[r.IntN(len(texts))]
					switch {
					case strings.HasSuffix(name, "attributes"):
						text = attributes[r.IntN(len(attributes))]
					case name == ".gitignore":
						text = "e\nd/b\n"
					}
					files[name] = text
				}
				for name := range files {
					for other := range files {
						if strings.HasPrefix(other, name+"/") {
							delete(files, other)
						}
					}
				}
				return files
			}
			w := gitWorld(t)
			one := tree()
			w.branches(map[string]map[string]string{"one": one, "two": tree()})
			key, value, _ := strings.Cut(settings[r.IntN(len(settings))], "=")
			w.says("config", key, value)
			w.git("checkout -qf one")
			w.registry.LookPath = nil
			for range r.IntN(3) {
				name := names[r.IntN(len(names))]
				if info, err := os.Lstat(w.path(name)); err == nil && !info.IsDir() {
					w.must(os.Remove(w.path(name)))
					if r.IntN(2) == 0 {
						w.put(name, "mine\n")
					}
				} else if err != nil && os.MkdirAll(filepath.Dir(w.path(name)), 0o755) == nil {
					w.put(name, "mine\n")
				}
				if r.IntN(3) == 0 {
					w.says("add", "-A")
				}
			}
			if w.switched("two").OK {
				done++
			} else {
				refused++
			}
		})
	}
	t.Logf("%d switched, %d refused", done, refused)
	if done < 6 || refused < 4 {
		t.Errorf("%d switched and %d refused show little", done, refused)
	}
}

// TestSwitchWithoutGitLosesNothing: what is not committed, untracked, ignored or not saved
// stays, and the refusal is that of the switch by git.
func TestSwitchWithoutGitLosesNothing(t *testing.T) {
	for name, set := range map[string]func(w *world){
		"changed":            func(w *world) { w.write("text", "mine\n") },
		"staged":             func(w *world) { w.write("text", "mine\n"); w.git("add text") },
		"untracked":          func(w *world) { w.write("new", "mine\n") },
		"ignored":            func(w *world) { w.write(".git/info/exclude", "new\n"); w.write("new", "mine\n") },
		"a folder":           func(w *world) { w.write("new/x", "mine\n") },
		"staged in a folder": func(w *world) { w.write("new/x", "mine\n"); w.git("add new") },
		"unsaved":            func(w *world) { w.do("open text"); w.do(`type text "mine"`) },
	} {
		t.Run(name, func(t *testing.T) {
			w := gitWorld(t)
			w.branches(map[string]map[string]string{"one": {"text": "1\n"}, "two": {"text": "2\n", "new": "new\n"}})
			w.git("checkout -q one")
			set(w)
			withGit := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "two"})
			w.registry.LookPath = nil
			got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "two"})
			if got.OK || got.Error.Code != fault.WorkTreeDirty || got.Error.Message != withGit.Error.Message {
				t.Errorf("%+v, and by git %+v", got.Error, withGit.Error)
			}
			if w.says("symbolic-ref", "HEAD") != "refs/heads/one" || w.exists(".git/index.lock") || w.exists(".git/HEAD.lock") {
				t.Error("the repository is another")
			}
		})
	}
}

// TestWhatGitLookedIntoItStillDoes: an index that is written anew is younger than files
// that were changed as it was written before. They do not become clean by that.
func TestWhatGitLookedIntoItStillDoes(t *testing.T) {
	for name, call := range map[string]map[string]any{
		"git.branch": {"action": "switch", "name": "two"},
		"git.commit": {"message": "x", "files": []string{"b.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := gitWorld(t)
			w.git("branch two")
			w.write("b.txt", "two\n")
			w.git("commit -qam x")
			w.says("config", "core.trustctime", "false")
			w.says("config", "core.checkStat", "minimal")
			then := time.Now().Add(-time.Hour)
			w.must(os.Chtimes(w.path("a.txt"), then, then))
			w.git("update-index --refresh")
			w.write("a.txt", "two\n") // of the same size
			for _, file := range []string{"a.txt", ".git/index"} {
				w.must(os.Chtimes(w.path(file), then, then))
			}
			if name == "git.commit" {
				w.write("b.txt", "three\n")
			}
			w.registry.LookPath = nil
			if got := w.gitTool(name, call); !got.OK {
				t.Fatalf("%+v", got.Error)
			}
			if got := w.says("status", "--porcelain"); got != "M a.txt" {
				t.Errorf("git sees %q", got)
			}
		})
	}
}

// TestSwitchWithoutGitGoesNowhereElse: names that lead into a repository or out of the
// folder, links and repositories on the way, and names that are one.
func TestSwitchWithoutGitGoesNowhereElse(t *testing.T) {
	// tree makes branch two of a tree that git itself would not write.
	tree := func(w *world, lines ...string) {
		cmd := exec.Command("git", "mktree", "--missing")
		cmd.Dir, cmd.Stdin = w.path("."), strings.NewReader(strings.Join(lines, "\n")+"\n")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		w.says("update-ref", "refs/heads/two", w.says("commit-tree", "-m", "two", strings.TrimSpace(string(out))))
	}
	blob := func(w *world, text string) string {
		w.write("../blob", text)
		return w.says("hash-object", "-w", w.path("../blob"))
	}
	subtree := func(w *world, name string) string {
		w.write("../blob", "fired\n")
		cmd := exec.Command("git", "mktree")
		cmd.Dir, cmd.Stdin = w.path("."), strings.NewReader("100755 blob "+blob(w, "fired\n")+"\t"+name+"\n")
		out, err := cmd.Output()
		w.must(err)
		return strings.TrimSpace(string(out))
	}
	cases := map[string]func(w *world){
		"a link on the way": func(w *world) {
			w.branches(map[string]map[string]string{"one": {"d/y": "y\n"}, "two": {"d/x": "x\n", "d/y": "y\n"}})
			w.git("checkout -q one")
			w.must(os.RemoveAll(w.path("d")))
			w.must(os.Mkdir(w.path("../out"), 0o755))
			w.must(os.Symlink("../out", w.path("d")))
		},
		"a link in place of a folder's file": func(w *world) {
			w.branches(map[string]map[string]string{"one": {"d/y": "y\n"}, "two": {"d/y": "z\n"}})
			w.git("checkout -q one")
			w.must(os.RemoveAll(w.path("d")))
			w.write("../out/y", "y\n")
			w.must(os.Symlink("../out", w.path("d")))
		},
		"a repository on the way": func(w *world) {
			w.branches(map[string]map[string]string{"one": {"y": "y\n"}, "two": {"d/x": "x\n", "y": "y\n"}})
			w.git("checkout -q one")
			w.git("init -q d")
		},
		"one name": func(w *world) {
			w.branches(map[string]map[string]string{"one": {"readme": "1\n"}, "two": {"readme": "1\n", "README": "2\n"}})
			w.git("checkout -q one")
			w.says("config", "core.ignorecase", "true")
		},
		"locked": func(w *world) {
			w.branches(map[string]map[string]string{"one": {"y": "1\n"}, "two": {"y": "2\n"}})
			w.git("checkout -q one")
			w.write(".git/HEAD.lock", "")
		},
		"a link to nothing": func(w *world) { w.git("checkout -q -b one"); tree(w, "120000 blob "+blob(w, "")+"\tlink") },
	}
	for _, name := range []string{".git", ".GIT", "..", ".", "git~1", ".g\u200cit", ".git ", ".git:x"} {
		cases["into "+name] = func(w *world) {
			w.git("checkout -q -b one")
			tree(w, "040000 tree "+subtree(w, "fired")+"\t"+name)
		}
		cases["named "+name] = func(w *world) {
			w.git("checkout -q -b one")
			tree(w, "100644 blob "+blob(w, "fired\n")+"\t"+name)
		}
	}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			w := gitWorld(t)
			set(w)
			base := filepath.Dir(w.path("."))
			before := w.work(base)
			w.registry.LookPath = nil
			got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "two"})
			if got.OK || got.Error.Code != fault.GitError && got.Error.Code != fault.WorkTreeDirty {
				t.Errorf("%+v", got)
			}
			if now := w.work(base); now != before {
				t.Errorf("there was\n%s\nand now\n%s", before, now)
			}
			if w.exists(".git/fired") || w.exists("../fired") || w.exists(".git/index.lock") || w.says("symbolic-ref", "HEAD") != "refs/heads/one" {
				t.Errorf("the repository is another: %v", got.Error)
			}
		})
	}
}

// TestSwitchWithoutGitMeetsPeople: what they write while they are asked stays, and counts.
func TestSwitchWithoutGitMeetsPeople(t *testing.T) {
	for name, text := range map[string]string{"a.txt": "mine\n", "new": "mine\n"} {
		t.Run(name, func(t *testing.T) {
			w := gitWorld(t)
			w.branches(map[string]map[string]string{"one": {"a.txt": "1\n", "z": "z\n"}, "two": {"a.txt": "2\n", "new": "new\n"}})
			w.git("checkout -q one")
			w.registry.LookPath = nil
			w.registry.Approvals = approval.NewQueue(meanwhile{func() { w.write(name, text) }}, 0)
			got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "two"})
			if got.OK || read(t, w.path(name)) != text || !w.exists("z") || w.says("symbolic-ref", "HEAD") != "refs/heads/one" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSwitchWithoutGitStaysInTheWorkspace: files that lie outside of it are not written.
func TestSwitchWithoutGitStaysInTheWorkspace(t *testing.T) {
	w := newWorld(t)
	w.folders = []string{"inner"}
	w.write("inner/c.txt", "one\n")
	w.gitReady()
	for branch, file := range map[string]string{"inside": "inner/c.txt", "outside": "a.txt"} {
		w.says("checkout", "-q", "-b", branch, "main")
		w.write(file, "two\n")
		w.git("commit -qam two")
	}
	w.git("checkout -q main")
	w.registry.LookPath = nil
	if got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "outside"}); got.OK || !strings.Contains(got.Error.Message, "outside of the workspace") || read(t, w.path("a.txt")) != "one\n" {
		t.Errorf("%+v", got)
	}
	if got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "inside"}); !got.OK || w.says("status", "--porcelain") != "" {
		t.Errorf("%+v", got)
	}
}

// meanwhile is a person who says yes, and by whom something happens before.
type meanwhile struct{ happens func() }

func (m meanwhile) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	m.happens()
	return yes{}.Ask(ctx, r)
}
func (meanwhile) Changed(approval.Changed)          {}
func (meanwhile) Resolved(string, approval.Outcome) {}
