package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace/git"
)

// TestWhatAnUnfinishedOperationMayHold: options by which git writes elsewhere when it goes on stay out.
func TestWhatAnUnfinishedOperationMayHold(t *testing.T) {
	dir := t.TempDir()
	for file, harmless := range map[string]bool{
		"apply-opt= '-p1' '--whitespace=fix'\n":                                true,
		"apply-opt= '--build-fake-ancestor=/home/x'\n":                         false,
		"apply-opt= '--directory=../..'\n":                                     false,
		"gpg_sign_opt=-S0123ABCD\n":                                            true,
		"gpg_sign_opt=-S/bin/sh --output=x\n":                                  false,
		"strategy_opts= '--ours' '--ignore-space-change'":                      true,
		"strategy_opts= '--x=/../y'":                                           false,
		"onto=0123\n":                                                          true,
		"onto=--exec=x\n":                                                      false,
		"some-new-state=x\n":                                                   false,
		"update-refs=refs/heads/a\n0000000000000000000000000000000000000000\n": true,
		"update-refs=commondir\n":                                              false,
		"update-refs=refs/../hooks/x\n":                                        false,
		"git-rebase-todo=pick 01 x\nupdate-ref refs/heads/a\n":                 true,
		"git-rebase-todo=update-ref commondir\n":                               false,
		"git-rebase-todo=exec x\n":                                             false,
		"message=a text -- with --options\n":                                   true,
		"0001=diff --git a/x b/x\n--- a/x\n":                                   true,
		"head-name=refs/heads/main\n":                                          true,
		"head-name=refs/../x\n":                                                false,
		"allow_rerere_autoupdate=--no-rerere-autoupdate":                       true,
	} {
		name, text, _ := strings.Cut(file, "=")
		for _, folder := range []string{"rebase-apply", "rebase-merge"} {
			now := filepath.Join(dir, folder)
			machine.Must(t, os.RemoveAll(now), os.Mkdir(now, 0o700), os.WriteFile(filepath.Join(now, name), []byte(text), 0o600))
			if folder == "rebase-apply" && (name == "update-refs" || name == "git-rebase-todo" || name == "message" || name == "strategy_opts") {
				continue // it has none
			}
			if folder == "rebase-merge" && (name == "apply-opt" || name == "0001") {
				continue
			}
			if got := git.HarmlessState(folder, filepath.Join(dir, "before"), now); got != harmless {
				t.Errorf("%s: %q is harmless: %v", folder, file, got)
			}
		}
	}
}

// TestAnIndexThatLeadsElsewhere: into .git, out of the work tree, or into a repository that it did not lead to before.
func TestAnIndexThatLeadsElsewhere(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
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
			check := func(about, before, now string, harmless bool) {
				t.Helper()
				if git.HarmlessState("index", before, r.Abs(now)) != harmless {
					t.Errorf("%s, version %s: %s is taken to be harmless: %t", format, version, about, !harmless)
				}
			}
			check("an ordinary index", before, ".git/index", true)
			r.Write("../crafted", strings.Replace(string(text), "dirs/b", "dirs\x00b", 1))
			check("a name that is longer than git reads it", before, "../crafted", false)
			r.Write("../crafted", string(text[:len(text)-20])+"ZZZZ\x00\x00\x00\x04abcd"+string(text[len(text)-20:]))
			check("an unknown extension", before, "../crafted", false)
			r.git("-c", "index.threads=2", "update-index", "--force-write-index")
			check("an index of several threads", before, ".git/index", true)
			commit := strings.TrimSpace(r.git("rev-parse", "HEAD"))
			r.git("update-index", "--add", "--cacheinfo", "160000,"+commit+",vendor")
			check("what leads into another repository", before, ".git/index", false)
			check("what led there before", r.Abs(".git/index"), ".git/index", true)
			for _, bad := range []string{".git/b", "../../", "//dirs"} {
				r.Write("../crafted", strings.Replace(string(text), "dirs/b", bad, 1))
				check(bad, before, "../crafted", false)
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
		if !git.HarmlessState("index", r.Abs("none"), r.Abs(".git/index")) {
			t.Errorf("version %s: an ordinary index of many files is refused", version)
		}
		text[table+4+4+4+8+3]++ // where the second part begins
		r.Must(os.WriteFile(r.Abs("crafted"), text, 0o600))
		if git.HarmlessState("index", r.Abs("none"), r.Abs("crafted")) {
			t.Errorf("version %s: the table leads elsewhere", version)
		}
	}
}

// TestRepositoriesLieWhereTheyAreSaidTo: a command may have put a link in the place of an open folder.
func TestRepositoriesLieWhereTheyAreSaidTo(t *testing.T) {
	r := newRig(t)
	r.git("init", "-q", "theirs/lib")
	r.Link("theirs", "packages")
	dir, err := filepath.EvalSymlinks(r.Abs("."))
	r.Must(err)
	if got := git.Repositories(filepath.Join(dir, "theirs/lib")); len(got) != 1 || got[0] != filepath.Join(dir, "theirs/lib/.git") {
		t.Errorf("%q", got)
	}
	if got := git.Repositories(filepath.Join(dir, "packages/lib")); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
