package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/workspace"
)

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestIgnoreFilesOfEveryKind(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a .gitignore counts without a repository": {
			map[string]string{".gitignore": "a", "a": "", "b": ""},
			[]string{".gitignore", "b"},
		},
		"hidden files are shown, version stores are not": {
			map[string]string{".github/w.yml": "", ".git/config": "", "sub/.git": "gitdir: ../x", ".hg/x": "", ".svn/x": "", ".jj/x": "", ".env": ""},
			[]string{".env", ".github", ".github/w.yml", "sub"},
		},
		".ignore wins over .gitignore, from above too": {
			map[string]string{".ignore": "!a\nb", "x/.gitignore": "a\n!b", "x/a": "", "x/b": ""},
			[]string{".ignore", "x", "x/.gitignore", "x/a"},
		},
		".rgignore wins over all others": {
			map[string]string{".rgignore": "!a\nb", ".ignore": "a\n!b", "x/.gitignore": "a\n!b", "x/a": "", "x/b": "", "x/.ignore": "a"},
			[]string{".ignore", ".rgignore", "x", "x/.gitignore", "x/.ignore", "x/a"},
		},
		"the deeper .gitignore wins": {
			map[string]string{".gitignore": "*.o\n!keep.o", "x/.gitignore": "!*.o\nkeep.o", "a.o": "", "keep.o": "", "x/a.o": "", "x/keep.o": ""},
			[]string{".gitignore", "keep.o", "x", "x/.gitignore", "x/a.o"},
		},
		"nothing in an ignored folder is shown again": {
			map[string]string{".gitignore": "x\n!x/a", "x/a": "", "x/.gitignore": "!a"},
			[]string{".gitignore"},
		},
		"info/exclude counts after .gitignore": {
			map[string]string{".git/info/exclude": "a\nb\n/x/c", ".gitignore": "!b", "a": "", "b": "", "x/a": "", "x/c": ""},
			[]string{".gitignore", "b", "x"},
		},
		"a repository inside does not inherit .gitignore, but .ignore": {
			map[string]string{".gitignore": "a", ".ignore": "b", "x/.git/info/exclude": "/c", "x/a": "", "x/b": "", "x/c": "", "x/y/c": ""},
			[]string{".gitignore", ".ignore", "x", "x/a", "x/y", "x/y/c"},
		},
		"a submodule's exclude lies in the folder that its .git names": {
			map[string]string{".git/modules/x/info/exclude": "a", "x/.git": "gitdir: ../.git/modules/x\n", "x/a": "", "a": ""},
			[]string{"a", "x"},
		},
		"a folder, a link out and a huge file are no ignore files": {
			map[string]string{".gitignore/a": "", "x/.gitignore": "->/etc/passwd", "y/.gitignore": "a\n" + strings.Repeat("#", 1<<20), "y/a": ""},
			[]string{".gitignore", ".gitignore/a", "x", "x/.gitignore", "y", "y/.gitignore", "y/a"},
		},
		"a link to a folder is no folder": {
			map[string]string{".gitignore": "link/\nx/", "link": "->x", "y": "->x", "x/a": ""},
			[]string{".gitignore", "link", "y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			noUserGit(t)
			dir := planted(t, test.files)
			expect(t, walk(t, open(t, dir).Roots()[0], workspace.WalkOptions{}), test.want...)
		})
	}
}

func TestIgnoreRulesFromAroundTheWorkspace(t *testing.T) {
	noUserGit(t)
	dir := planted(t, map[string]string{
		".gitignore":                 "never",
		".ignore":                    "/repo/app/web/above",
		".rgignore":                  "far",
		"repo/.git/info/exclude":     "/app/web/excluded",
		"repo/.gitignore":            "*.log\n/app/web/here\n/here",
		"repo/.ignore":               "dotted",
		"repo/app/.gitignore":        "!keep.log",
		"repo/app/web/here":          "",
		"repo/app/web/never":         "",
		"repo/app/web/above":         "",
		"repo/app/web/deep/far":      "",
		"repo/app/web/a.log":         "",
		"repo/app/web/keep.log":      "",
		"repo/app/web/dotted":        "",
		"repo/app/web/excluded":      "",
		"repo/app/web/deep/here":     "",
		"repo/app/web/deep/keep.log": "",
	})
	web := open(t, filepath.Join(dir, "repo/app/web"))
	expect(t, walk(t, web.Roots()[0], workspace.WalkOptions{}), "deep", "deep/here", "deep/keep.log", "keep.log", "never")

	deep, err := web.Resolve("deep")
	must(t, err)
	expect(t, walk(t, deep, workspace.WalkOptions{}), "deep/here", "deep/keep.log")
	expect(t, walk(t, web.Roots()[0], workspace.WalkOptions{IncludeIgnored: true, MaxDepth: 1}),
		"a.log", "above", "deep", "dotted", "excluded", "here", "keep.log", "never")
}

func TestIgnoreRulesOfAWorkTree(t *testing.T) {
	noUserGit(t)
	dir := t.TempDir()
	repo, tree2 := filepath.Join(dir, "repo"), filepath.Join(dir, "tree")
	git(t, dir, nil, "init", "-q", repo)
	git(t, repo, nil, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "first")
	git(t, repo, nil, "worktree", "add", "-q", tree2)
	tree(t, dir, map[string]string{"tree/a": "", "tree/b": ""})
	must(t, os.WriteFile(filepath.Join(repo, ".git/info/exclude"), []byte("a\n"), 0o644))

	got := walk(t, open(t, tree2).Roots()[0], workspace.WalkOptions{})
	expect(t, got, "b")
	expect(t, got, shownByGit(t, tree2)...)
}

func TestTheUsersOwnIgnoreFile(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"the default place":   {".config/git/ignore": "a\n/x/b"},
		"core.excludesFile":   {".gitconfig": "[core]\n\teditor = vi\n\texcludesFile = ~/mine\n", "mine": "a\n/x/b"},
		"quoted, with spaces": {".config/git/config": "[core]\nexcludesfile=\"~/my own\"", "my own": "a\n/x/b"},
	} {
		t.Run(name, func(t *testing.T) {
			tree(t, noUserGit(t), files)
			dir := t.TempDir()
			git(t, dir, nil, "init", "-q")
			tree(t, dir, map[string]string{".gitignore": "!x/a", "a": "", "x/a": "", "x/b": "", "y/x/b": ""})
			want := shownByGit(t, dir)
			expect(t, want, ".gitignore", "x", "x/a", "y", "y/x", "y/x/b")
			expect(t, walk(t, open(t, dir).Roots()[0], workspace.WalkOptions{}), want...)
			// The rules are relative to the repository, wherever the workspace lies in it.
			expect(t, walk(t, open(t, filepath.Join(dir, "y")).Roots()[0], workspace.WalkOptions{}), "x", "x/b")
		})
	}
}

func TestAnHostileIgnoreFileCostsLittle(t *testing.T) {
	noUserGit(t)
	dir := t.TempDir()
	text := ""
	for i := range 200 {
		text += fmt.Sprintf("%s%d\n", strings.Repeat("*a", 60), i) + strings.Repeat("**/a/", 100) + "c\n"
	}
	tree(t, dir, map[string]string{".gitignore": text, strings.Repeat("a", 250): "", strings.Repeat("a/", 100) + "b": ""})
	if got := len(walk(t, open(t, dir).Roots()[0], workspace.WalkOptions{})); got != 103 {
		t.Errorf("%d entries", got) // the walk's being over is the test: backtracking would take years
	}
}
