package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/workspace/git"
)

// TestWhatAnUnfinishedOperationMayHold: options by which git writes elsewhere when it goes on stay out.
func TestWhatAnUnfinishedOperationMayHold(t *testing.T) {
	dir := t.TempDir()
	for file, harmless := range map[string]bool{
		"apply-opt= '-p1' '--whitespace=fix'\n":           true,
		"apply-opt= '--build-fake-ancestor=/home/x'\n":    false,
		"apply-opt= '--directory=../..'\n":                false,
		"gpg_sign_opt=-S0123ABCD\n":                       true,
		"gpg_sign_opt=-S/bin/sh --output=x\n":             false,
		"strategy_opts= '--ours' '--ignore-space-change'": true,
		"strategy_opts= '--x=/../y'":                      false,
		"onto=0123\n":                                     true,
		"onto=--exec=x\n":                                 false,
		"some-new-state=x '--output=y'\n":                 false,
		"message=a text -- with --options\n":              true,
		"0001=diff --git a/x b/x\n--- a/x\n":              true,
		"head-name=refs/heads/main\n":                     true,
		"head-name=refs/../x\n":                           false,
		"allow_rerere_autoupdate=--no-rerere-autoupdate":  true,
	} {
		name, text, _ := strings.Cut(file, "=")
		for _, folder := range []string{"rebase-apply", "rebase-merge"} {
			now := filepath.Join(dir, folder)
			if err := os.RemoveAll(now); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(now, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(now, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
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
			r.remove(".git")
			r.git("init", "-q", "-b", "main", "--object-format="+format)
			r.write("-a", "1\n")
			r.write("dirs/b", "1\n")
			r.commit()
			r.git("update-index", "--index-version", version)
			before := r.path("../before")
			text, err := os.ReadFile(r.path(".git/index"))
			r.must(err)
			r.must(os.WriteFile(before, text, 0o600))
			if !git.HarmlessState("index", before, r.path(".git/index")) {
				t.Errorf("%s, version %s: an ordinary index is refused", format, version)
			}
			commit := strings.TrimSpace(r.git("rev-parse", "HEAD"))
			r.git("update-index", "--add", "--cacheinfo", "160000,"+commit+",vendor")
			if git.HarmlessState("index", before, r.path(".git/index")) {
				t.Errorf("%s, version %s: it leads into another repository", format, version)
			}
			if !git.HarmlessState("index", r.path(".git/index"), r.path(".git/index")) {
				t.Errorf("%s, version %s: it led there before", format, version)
			}
			for _, bad := range []string{".git/b", "../../", "//dirs"} {
				r.write("../crafted", strings.Replace(string(text), "dirs/b", bad, 1))
				if git.HarmlessState("index", before, r.path("../crafted")) {
					t.Errorf("%s, version %s: %s is taken", format, version, bad)
				}
			}
		}
	}
}
