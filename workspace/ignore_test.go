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
		must(t, os.MkdirAll(filepath.Dir(abs), 0o755))
		target, isLink := strings.CutPrefix(files[name], "->")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(abs, 0o755))
		case isLink:
			must(t, os.Symlink(target, abs))
		default:
			must(t, os.WriteFile(abs, []byte(files[name]), 0o644))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
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
	must(t, p.Walk(context.Background(), o, func(e workspace.Entry) error {
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
	must(t, err)
	names := []string{}
	must(t, c.Walk(func(dir *workspace.Contents, e *workspace.Listed) error {
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
	must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
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
			must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o644))
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
		must(t, os.RemoveAll(sub))
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
		var got []string
		err := open(t, home+"/work").Roots()[0].Walk(context.Background(), workspace.WalkOptions{}, func(e workspace.Entry) error {
			got = append(got, e.Path.Rel())
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", rules, got, err, want)
		}
	}
}
