package git_test

import (
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
