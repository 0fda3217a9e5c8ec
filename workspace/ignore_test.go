package workspace_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

// tree writes files, by their slash separated names, below dir. A name with a
// slash at its end is an empty folder, text that starts with "->" a link.
func tree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		abs := filepath.Join(dir, filepath.FromSlash(name))
		machine.Must(t, os.MkdirAll(filepath.Dir(abs), 0o755))
		target, isLink := strings.CutPrefix(files[name], "->")
		switch {
		case strings.HasSuffix(name, "/"):
			machine.Must(t, os.MkdirAll(abs, 0o755))
		case isLink:
			machine.Must(t, os.Symlink(target, abs))
		default:
			machine.Must(t, os.WriteFile(abs, []byte(files[name]), 0o644))
		}
	}
}

// open opens dirs as a workspace that is closed at the end of the test.
func open(t testing.TB, dirs ...string) *workspace.Workspace {
	t.Helper()
	folders := make([]workspace.Folder, len(dirs))
	for i, dir := range dirs {
		folders[i].Dir = dir
	}
	w, err := workspace.Open(folders...)
	machine.Must(t, err)
	t.Cleanup(func() { machine.Must(t, w.Close()) })
	return w
}

// rootOf is the folder of a workspace that holds these files.
func rootOf(t testing.TB, files map[string]string) workspace.Path {
	t.Helper()
	return open(t, planted(t, files)).Roots()[0]
}

// planted is a folder of these files.
func planted(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	tree(t, dir, files)
	return dir
}

// walk gives the names, as printed, that a walk of p visits.
func walk(t testing.TB, p workspace.Path, o workspace.WalkOptions) []string {
	t.Helper()
	names := []string{}
	machine.Must(t, p.Walk(context.Background(), o, func(e workspace.Entry) error {
		names = append(names, e.Path.String())
		return nil
	}))
	if listed := list(t, p, o); !slices.Equal(names, listed) {
		t.Errorf("a List has other entries than a Walk:\n%q\n%q", listed, names)
	}
	return names
}

// list gives the names that a List of p has, in the order of a walk.
func list(t testing.TB, p workspace.Path, o workspace.WalkOptions) []string {
	t.Helper()
	c, err := p.List(context.Background(), o, true, 1_000_000)
	machine.Must(t, err)
	names := []string{}
	machine.Must(t, c.Walk(func(dir *workspace.Contents, e *workspace.Listed) error {
		names = append(names, dir.Folder.Join(e.Name).String())
		if info, err := dir.Folder.Join(e.Name).Lstat(); err != nil || info.Mode().Type() != e.Type || !info.ModTime().Equal(e.Modified()) || !info.IsDir() && info.Size() != e.Size {
			t.Errorf("%s is listed as %+v, and is %v", e.Name, *e, info)
		}
		return nil
	}))
	return names
}

// noUserGit keeps the tester's own git settings out.
func noUserGit(t testing.TB) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return home
}

func git(t testing.TB, dir string, input []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 && args[0] == "check-ignore" {
		return string(out) // nothing is ignored
	}
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// shownByGit is every entry below dir, in a walk's order, that git does not ignore.
func shownByGit(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	machine.Must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		switch {
		case e.Name() == ".git" && e.IsDir():
			return fs.SkipDir
		case e.Name() == ".git":
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		all = append(all, filepath.ToSlash(rel))
		return err
	}))
	ignored := strings.Split(git(t, dir, []byte(strings.Join(all, "\x00")), "check-ignore", "--no-index", "--stdin", "-z"), "\x00")
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(ignored, name) })
}

// onePattern holds the corners of git's syntax, each against every name of
// manyNames.
var onePattern = []string{
	"a", "/a", "a/", "/a/", "a//", "//a", "/", "", "!", "!a", "#a", "\\#c", "\\!d", "\\a", "a\\", "\\", "*", "/*", "*/", "*.o", "*.", "?", "??", "a?", "?b",
	"a/b", "a/*", "a/**", "a/**/b", "**/b", "**/a/b", "**", "/**", "**/", "/**/", "***", "a/***/b", "**/**/b", "a**", "a**/b", "a/b**/c", "x/a**/b", "x/a**b",
	"**b", "**.o", "x/**b", "a*b", "a/*/b", "*/b", "*/*", "x**\\/b", "**\\/b", "a/**\\/b", "a\\/b",
	"[ab]", "[!a]", "[^a]", "[a-c]", "[c-a]", "[]]", "[]a]", "[!]a]", "[a", "[", "[]", "[!]", "a]", "[a-]", "[-a]", "[--0]", "[a\\]]", "[\\a-c]", "[a-\\c]", "[a\\-c]", "[\\", "[a-\\",
	"a[/]b", "a[!x]b", "a[.-0]b", "x[/]a/b", "x[!a]a/b", "x?a",
	"[[:alpha:]]", "[[:digit:]]", "[![:alpha:]]", "[[:upper:][:digit:]]", "[[:nope:]]", "[[:alpha]", "[[:alpha:]", "[[:]", "[[a]", "[[:a]b]", "[[:alpha:]-z]", "[[:space:]]", "[[:punct:]]",
	"[[:xdigit:]]", "[[:cntrl:]]", "[[:graph:]]", "[[:print:]]", "[[:blank:]]", "[[:alnum:]]", "[[:lower:]]",
	"b ", "b\\ ", "b\\  ", "b  ", "b \\", "a b", "a\tb", "b\t", "b\r", "\u00e9", "?\u00e9", "??", "[\u00e9]", "[\u00e9][\u00e9]", "\xff", "*\xff", "[\xff]", "\x01", "a*\\*", "\\[e]",
	"\ufeffa", "*a*a*a*b", "a{b,c}", "a.o", ".*", ".?", "x/", "x/a", "x/a/b", "X/a", "/x/a/b/", "./a", "../a", "a/.", "a/./b",
}

var manyNames = map[string]string{
	"a/b/c/b": "", "a/c": "", "b": "", "c": "", "ab": "", "a.o": "", "ab.o": "", ".x": "", "#c": "", "#a": "", "!d": "", "!a": "", "[e]": "", "]": "", "[": "", "-": "", "a]": "",
	"b ": "", "b  ": "", "a b": "", "a\tb": "", "b\t": "", "b\r": "", "\u00e9": "", "\xff": "", "a\xff": "", "\x01": "", "a*": "", "\\": "", "a\\": "", "\\a": "", "0": "", "A": "", "z": "", "aaab": "",
	"a{b,c}": "", "a[": "", "[a": "", "[a]": "", "^": "", "!": "", "x/a/b": "", "x/ab/b/c": "", "x/a-b": "", "x/ac/b": "", "x/b": "", "x/xb/b": "", "x/xa/b": "", "y/a.o": "", "y/link": "->../x",
	"axb": "", "a-b": "", "link": "->a", "dangling": "->nowhere", "empty/": "", "e/a/b": "", "xb/b": "", "xb/c/b": "",
}

func TestIgnoreRulesEqualGitPatternByPattern(t *testing.T) {
	noUserGit(t)
	dir := t.TempDir()
	git(t, dir, nil, "init", "-q")
	tree(t, dir, manyNames)
	w := open(t, dir)
	for _, pattern := range onePattern {
		for _, text := range []string{pattern, "*\n!" + pattern} {
			machine.Must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o644))
			got, want := walk(t, w.Roots()[0], workspace.WalkOptions{}), shownByGit(t, dir)
			if !slices.Equal(got, want) {
				t.Errorf("%q:\n got %q\nwant %q", text, got, want)
			}
		}
	}
}

func TestIgnoreRulesEqualGitOnRandomTrees(t *testing.T) {
	noUserGit(t)
	dir := t.TempDir()
	git(t, dir, nil, "init", "-q")
	for seed := range uint64(machine.Cases(8, 200)) {
		random := rand.New(rand.NewPCG(seed, 2))
		sub := filepath.Join(dir, fmt.Sprint("t", seed))
		files := randomTree(random)
		tree(t, sub, files)
		want := shownByGit(t, sub)
		if got := walk(t, open(t, sub).Roots()[0], workspace.WalkOptions{}); !slices.Equal(got, want) {
			for name, text := range files {
				if path.Base(name) == ".gitignore" {
					t.Logf("%s:\n%q", name, strings.Split(text, "\n"))
				}
			}
			t.Fatalf("seed %d:\n got %q\nwant %q", seed, got, want)
		}
		machine.Must(t, os.RemoveAll(sub))
	}
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

var (
	someNames = []string{
		"a", "b", "ab", "a.o", "ab.o", "foo", ".x", "a b", "b ", "#c", "!d", "[e]", "é", "a\\b", "x-y", "A", "a]", "a*", "ö\xff", "\x01", "-",
	}
	someParts = []string{
		"a", "b", "ab", "a", "b", "foo", "*", "*", "?", "**", "**/", "/**/", "/", "/", "***", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[a",
		"[[:alpha:]]", "[[:upper:]x]", "[[:nope:]]", "[[:a]", "[\\]]", "[b-a]", "[a-]", "[--/]", "[a\\-c]", "\\a", "\\*", "\\", "\\/", " ", "\\ ", ".o", ".", "é", "\xff", "#", "!", "-",
	}
)

func randomTree(random *rand.Rand) map[string]string {
	files := map[string]string{}
	var names []string
	for range 30 {
		parts := make([]string, 1+random.IntN(4))
		for i := range parts {
			parts[i] = pick(random, someNames)
		}
		if name := strings.Join(parts, "/"); fits(files, name) {
			files[name] = ""
			names = append(names, name)
		}
	}
	for range 1 + random.IntN(4) {
		dir := pick(random, names)
		for up := random.IntN(4); up >= 0; up-- {
			dir = path.Dir(dir)
		}
		files[path.Join(dir, ".gitignore")] = randomIgnore(random, dir, names)
	}
	return files
}

// fits reports that no part of name is a file already, and name no folder.
func fits(files map[string]string, name string) bool {
	for other := range files {
		if strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return false
		}
	}
	return true
}

func randomIgnore(random *rand.Rand, dir string, names []string) string {
	var lines []string
	for range 1 + random.IntN(5) {
		line := ""
		if random.IntN(4) == 0 {
			line = "!"
		}
		if random.IntN(4) == 0 {
			line += "/"
		}
		if name, below := strings.CutPrefix(pick(random, names), dir+"/"); random.IntN(3) > 0 && (below || dir == ".") {
			line += distort(random, name)
		} else {
			for range 1 + random.IntN(4) {
				line += pick(random, someParts)
			}
		}
		if random.IntN(4) == 0 {
			line += "/"
		}
		lines = append(lines, line+pick(random, []string{"", "", "", " ", "\r"}))
	}
	return strings.Join(lines, "\n") + pick(random, []string{"", "\n"})
}

// distort makes a pattern that may well match name, or something near it.
func distort(random *rand.Rand, name string) string {
	parts := strings.Split(name, "/")
	parts = parts[:1+random.IntN(len(parts))]
	if random.IntN(4) == 0 {
		parts = parts[random.IntN(len(parts)):]
	}
	out := strings.Join(parts, "/")
	for range random.IntN(4) {
		from := random.IntN(len(out) + 1)
		to := min(len(out), from+random.IntN(4))
		out = out[:from] + pick(random, someParts) + out[to:]
	}
	return out
}

// TestWhatIsOpenedIsNotIgnoredFromAbove: a home that is a repository with the rule *, and a folder of
// it that somebody opens. Rules that are not about the folder itself hold.
func TestWhatIsOpenedIsNotIgnoredFromAbove(t *testing.T) {
	for rules, want := range map[string][]string{
		"*\n":            {".gitignore", "a.nix", "b", "b/c.nix"},
		"work/\n":        {".gitignore", "a.nix", "b", "b/c.nix"},
		"*.nix\nx.log\n": {".gitignore", "b"},
	} {
		home := t.TempDir()
		tree(t, home, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".gitignore": rules, "work/.gitignore": "x.log\n", "work/a.nix": "", "work/x.log": "", "work/b/c.nix": ""})
		expect(t, walk(t, open(t, home+"/work").Roots()[0], workspace.WalkOptions{}), want...)
	}
}

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
	machine.Must(t, err)
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
	machine.Must(t, os.WriteFile(filepath.Join(repo, ".git/info/exclude"), []byte("a\n"), 0o644))

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
