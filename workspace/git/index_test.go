package git_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/workspace/git"
)

func unseen(string) (text []byte, stat git.Stat, ok bool) { return nil, stat, false }

func isHarmless(before, now string, hashSize int) bool {
	_, harmless := git.HarmlessIndex(before, now, hashSize, unseen)
	return harmless
}

// forms are repositories whose indexes differ in form.
func forms(t *testing.T, each func(r *rig)) {
	for _, form := range []string{"sha1 2", "sha256 4", "sha1 4 split", "sha256 2 split"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.Remove(".git")
			r.git("init", "-q", "-b", "main", "--object-format="+strings.Fields(form)[0])
			r.git("config", "index.version", strings.Fields(form)[1])
			if strings.Contains(form, "split") {
				r.git("config", "core.splitIndex", "true")
				r.git("config", "splitIndex.maxPercentChange", "50")
			}
			each(r)
		})
	}
}

// remade has the harmless form of what a command has made of the index take its place.
func (r *rig) remade(command func()) (text string) {
	r.Helper()
	before := filepath.Join(r.TempDir(), "git")
	r.Must(os.CopyFS(before, os.DirFS(r.Abs(".git"))))
	info, err := os.Stat(r.Abs(".git/index"))
	r.Must(err)
	r.Must(os.Chtimes(filepath.Join(before, "index"), time.Time{}, info.ModTime()))
	command()
	harmless, ok := git.HarmlessIndex(filepath.Join(before, "index"), r.Abs(".git/index"), git.HashSize(r.Abs(".git")), unseen)
	if !ok {
		r.Fatal("an ordinary index is refused")
	}
	r.Must(os.WriteFile(r.Abs(".git/index"), harmless, 0o600))
	return string(harmless)
}

// TestAnIndexHidesNoChange, whatever time a command has given a file and its entry.
func TestAnIndexHidesNoChange(t *testing.T) {
	forms(t, func(r *rig) {
		r.git("config", "core.trustctime", "false") // which a command cannot set
		r.git("config", "core.checkStat", "minimal")
		r.Write("a", "mine\n")
		r.Write("none", "")
		r.commit()
		for _, seconds := range []int64{0, 1, time.Now().Unix() - 1000, time.Now().Unix() + 1000, 1<<32 - 1, 1 << 32} {
			set := func(text string) {
				r.Write("a", text)
				r.Must(os.Chtimes(r.Abs("a"), time.Time{}, time.Unix(seconds, 0)))
			}
			r.remade(func() {
				set("mine\n")
				r.git("add", "--renormalize", ".")
				r.git("update-index", "--really-refresh")
				set("work\n")
			})
			if status := r.git("status", "--porcelain"); status != " M a\n" {
				r.Errorf("%d: %q", seconds, status)
			}
		}
		// The time that git would take for that of the entries is the command's own.
		second := time.Now().Add(-time.Hour).Truncate(time.Second)
		r.Write("a", "mine\n")
		r.Must(os.Chtimes(r.Abs("a"), time.Time{}, second))
		r.git("update-index", "--really-refresh")
		r.Must(os.Chtimes(r.Abs(".git/index"), time.Time{}, second))
		r.Write("a", "work\n")
		r.Must(os.Chtimes(r.Abs("a"), time.Time{}, second))
		r.remade(func() { r.Must(os.Chtimes(r.Abs(".git/index"), time.Time{}, time.Now())) })
		if status := r.git("status", "--porcelain"); status != " M a\n" {
			r.Errorf("a change within the second of the index: %q", status)
		}
		r.remade(func() {
			r.Must(os.Chtimes(r.Abs("none"), time.Time{}, second))
			_, _ = r.try("", "update-index", "--really-refresh") // which says that a has changed
		})
		if entry := r.git("ls-files", "--debug", "none"); !strings.Contains(entry, "mtime: 4294967295:") {
			r.Errorf("a file of 4 GiB would pass for an empty one: %s", entry)
		}
	})
}

// TestAnIndexHoldsWhatGitPutIn, and nothing that git can make again.
func TestAnIndexHoldsWhatGitPutIn(t *testing.T) {
	forms(t, func(r *rig) {
		isSplit := strings.Contains(r.Name(), "split")
		random := rand.New(rand.NewPCG(1, 2))
		name := func() string {
			return fmt.Sprintf("d%d/%s%d", random.IntN(9), strings.Repeat("x", random.IntN(3)), random.IntN(40))
		}
		r.git("config", "core.untrackedCache", "true")
		for range 200 {
			r.Write(name(), "1\n")
		}
		r.Write("conflict", "0\n")
		r.commit()
		r.git("checkout", "-q", "-b", "other")
		r.Write("conflict", "1\n")
		r.commit()
		r.git("checkout", "-q", "main")
		r.Write("conflict", "2\n")
		r.commit()
		holds := func(when string, command func()) {
			r.Helper()
			listed := func() string {
				return r.git("ls-files", "--stage", "-v") + r.git("ls-files", "--resolve-undo") + r.git("status", "--porcelain")
			}
			var before string
			text := r.remade(func() {
				command()
				before = listed()
				text, err := os.ReadFile(r.Abs(".git/index"))
				r.Must(err)
				if isSplit != strings.Contains(string(text), "link") {
					r.Errorf("%s: whether the index is in two files is %v", when, !isSplit)
				}
			})
			if after := listed(); after != before {
				r.Errorf("%s: %s", when, apart(after, before))
			}
			if out, err := r.try("", "fsck", "--no-dangling"); err != nil {
				r.Errorf("%s: %s", when, out)
			}
			for _, extension := range []string{"TREE", "UNTR", "FSMN", "link", "EOIE"} {
				if strings.Contains(text, extension) {
					r.Errorf("%s: there is %s", when, extension)
				}
			}
		}
		for range 4 {
			holds("changes", func() {
				for range 3 {
					tracked := strings.Fields(r.git("ls-files"))
					for range random.IntN(60) {
						r.Must(os.RemoveAll(r.Abs(tracked[random.IntN(len(tracked))])))
					}
					for range random.IntN(60) {
						r.Write(name(), fmt.Sprint(random.IntN(5), "\n"))
					}
					r.Write("conflict", "2\n")
					r.git("add", "-A")
				}
				r.Write("new", "new\n")
				r.git("add", "-N", "new")
			})
			r.commit()
		}
		holds("a conflict", func() {
			if _, err := r.try("", "merge", "other"); err == nil {
				r.Fatal("there is no conflict")
			}
		})
		holds("a conflict that is resolved", func() {
			r.git("add", "conflict")
			if r.git("ls-files", "--resolve-undo") == "" {
				r.Error("git has forgotten it")
			}
		})
		r.git("commit", "-qm", "merged")
		if isSplit {
			return // git cannot do both
		}
		r.git("sparse-checkout", "set", "--cone", "--sparse-index", "d1")
		holds("folders in the place of their files", func() {
			if !strings.Contains(r.git("ls-files", "--sparse", "--stage"), "040000") {
				r.Error("there are none")
			}
			r.Write("d1/more", "1\n")
			r.git("add", "d1")
		})
	})
}

// TestAnIndexThatLeadsElsewhere: into .git, out of the work tree, or into a repository that it did not lead to before.
func TestAnIndexThatLeadsElsewhere(t *testing.T) {
	for format, size := range map[string]int{"sha1": 20, "sha256": 32} {
		for _, version := range []string{"2", "4"} {
			r := newRig(t)
			r.Remove(".git")
			r.git("init", "-q", "-b", "main", "--object-format="+format)
			r.Write("-a", "1\n")
			r.Write("dirs/b", "1\n")
			r.commit()
			r.git("update-index", "--index-version", version)
			before := r.Abs("../before")
			text, err := os.ReadFile(r.Abs(".git/index"))
			r.Must(err)
			r.Must(os.WriteFile(before, text, 0o600))
			if !isHarmless(before, r.Abs(".git/index"), size) {
				t.Errorf("%s, version %s: an ordinary index is refused", format, version)
			}
			// What git reads in another place than it seems to be.
			hidden := []byte(strings.Replace(string(text), "dirs/b", "dirs\x00b", 1))
			r.Write("../crafted", string(hidden))
			if isHarmless(before, r.Abs("../crafted"), size) {
				t.Errorf("%s, version %s: a name is longer than it looks", format, version)
			}
			r.Write("../crafted", string(text[:len(text)-20])+"ZZZZ\x00\x00\x00\x04abcd"+string(text[len(text)-20:]))
			if isHarmless(before, r.Abs("../crafted"), size) {
				t.Errorf("%s, version %s: an unknown extension", format, version)
			}
			r.git("-c", "index.threads=2", "update-index", "--force-write-index")
			if !isHarmless(before, r.Abs(".git/index"), size) {
				t.Errorf("%s, version %s: an index of several threads is refused", format, version)
			}
			commit := strings.TrimSpace(r.git("rev-parse", "HEAD"))
			r.git("update-index", "--add", "--cacheinfo", "160000,"+commit+",vendor")
			if isHarmless(before, r.Abs(".git/index"), size) {
				t.Errorf("%s, version %s: it leads into another repository", format, version)
			}
			if !isHarmless(r.Abs(".git/index"), r.Abs(".git/index"), size) {
				t.Errorf("%s, version %s: it led there before", format, version)
			}
			for _, bad := range []string{".git/b", "../../", "//dirs"} {
				r.Write("../crafted", strings.Replace(string(text), "dirs/b", bad, 1))
				if isHarmless(before, r.Abs("../crafted"), size) {
					t.Errorf("%s, version %s: %s is taken", format, version, bad)
				}
			}
		}
	}
}

// TestAnIndexThatIsReadInParts: the table of where git begins in each thread has to be right.
func TestAnIndexThatIsReadInParts(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		r := newRig(t)
		r.Write("a", "1\n")
		r.commit()
		blob := strings.TrimSpace(r.git("rev-parse", "HEAD:a"))
		var lines strings.Builder
		for i := range 25_000 {
			fmt.Fprintf(&lines, "100644 %s\tfolder/of/files/%06d\n", blob, i)
		}
		if out, err := r.try(lines.String(), "-c", "index.threads=2", "-c", "index.version="+version, "update-index", "--add", "--index-info"); err != nil {
			t.Fatal(out)
		}
		r.git("-c", "index.threads=2", "update-index", "--index-version", version, "--force-write-index")
		text, err := os.ReadFile(r.Abs(".git/index"))
		r.Must(err)
		table := strings.LastIndex(string(text), "IEOT")
		if table < 0 {
			t.Fatal("git wrote no table")
		}
		if !isHarmless(r.Abs("none"), r.Abs(".git/index"), 20) {
			t.Errorf("version %s: an ordinary index of many files is refused", version)
		}
		text[table+4+4+4+8+3]++ // where the second part begins
		r.Must(os.WriteFile(r.Abs("crafted"), text, 0o600))
		if isHarmless(r.Abs("none"), r.Abs("crafted"), 20) {
			t.Errorf("version %s: the table leads elsewhere", version)
		}
	}
}
