package search_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/search"
)

// hostile are the files of a tree in which globs and ignore rules have something
// to disagree on. Names that are not ASCII are apart: ripgrep's ? and [] are about
// bytes, ours about characters.
var (
	hostile = []string{
		"a", "b", "ab", "abc", "a.o", "b.go", "a.b.c", ".a", "a b", " a", "a ", "a,b", "a-b", "!a", "#c", "*", "?x", "[a]", "]", "{a}", "{a,b}", "a\\b", "-a", "A",
		"x/a", "x/b", "x/ab", "x/a.o", "x/y/a", "x/y/b", "x/y/z/a", "x/y/z/.a", "x/!a", "x/x/x", "xa/b", "x.o/b", "x/a.o.go",
		"src/a.go", "src/a_test.go", "src/lib/b.ts", "src/lib/b.tsx", "src/[id]/page.ts", ".h/a", ".h/.i/b", "node_modules/a/b.js", "b.d/b", "c/a/b/a/b", "**/a", "c/**",
	}
	foreign = []string{"é", "aé", "x/é.go", "日本/語.txt", "ü/é/a", "\u202ea"}
)

// ripgrep lists the files below dir as rg --files does, hidden ones too.
func ripgrep(t *testing.T, dir string, options ...string) (files []string, ok bool) {
	t.Helper()
	cmd := exec.Command("rg", append([]string{"--no-config", "--files", "--hidden", "--null"}, options...)...)
	cmd.Dir = dir
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 || complaints.Len() > 0) {
		return nil, false // it does not take the glob
	}
	files = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(out) == 0 {
		files = nil
	}
	slices.Sort(files)
	return files, true
}

// below lists the files below dir as our tools do.
func below(t *testing.T, dir string) []string {
	t.Helper()
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	machine.Must(t, err)
	defer w.Close()
	var files []string
	err = w.Roots()[0].Walk(context.Background(), workspace.WalkOptions{}, func(e workspace.Entry) error {
		if e.Type.IsRegular() {
			files = append(files, e.Path.Rel())
		}
		return nil
	})
	machine.Must(t, err)
	slices.Sort(files)
	return files
}

func plant(t testing.TB, dir string, names []string) {
	t.Helper()
	for _, name := range names {
		machine.Folder{TB: t, Dir: dir}.Write(name, "")
	}
}

func needRipgrep(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("not run: ripgrep is not installed")
	}
}

// FuzzGlobAgainstRipgrep holds globs and ignore files against rg --files, where
// the two mean to agree: see comparableGlob and comparableIgnore.
func FuzzGlobAgainstRipgrep(f *testing.F) {
	needRipgrep(f)
	for _, seed := range [][3]string{
		{"*.go", "*.o\n!x/a.o\n/b\n", "a"},
		{"**", "x/y/\n", "!a\n"},
		{"src/**/*.{ts,tsx}", "node_modules\n**/y/**\n", "*\n!b"},
		{"!src", "/x/*\n!/x/y\n", "y"},
		{"!*.{o,go}", "src/**/b*\n", "/a\n"},
		{"x/*/a", "a b\n\\!a\n\\#c\n#c\n", "**/z"},
		{"{a,b}", "*.o\n!*.o\n", ""},
		{"[!a-z]*", "[ab]\n", "[a-y]"},
		{"src/\\[id\\]/*", "\\[a\\]\n\\*\n", "x/"},
		{"x/**/a", "x/**\n!x/y\n", ".a"},
		{"**/y/**", "a/**/b\n", "?"},
		{".*", ".*\n", "!.a"},
		{"./x/*", "x\n", "x"},
		{"*\\**", "**/*\n!*/\n!a\n", "\\"},
		{"a?b", "a??\n", "? "},
		{"?", "é\n日本\n", "é"},
		{"{x,src}/{a,b}*", "*/\n", "  "},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	ascii, all := f.TempDir(), f.TempDir()
	plant(f, ascii, hostile)
	plant(f, all, append(hostile, foreign...))
	f.Fuzz(func(t *testing.T, pattern, ignore, inner string) {
		globAgainstRipgrep(t, ascii, all, pattern)
		globAgainstRipgrep(t, ascii, all, spelled(pattern, 12))
		ignoreAgainstRipgrep(t, ignore, spelled(inner, 40))
	})
}

// elements are what globs are made of. A fuzzer that knows bytes alone rarely
// comes upon one that says anything.
var elements = []string{
	"a", "b", "x", "y", "z", "/", "/", "*", "*", "**", "**/", "/**", "?", ".", "o", "go", "[ab]", "[!a]", "[a-c]", "{a,b}", "{x,src}", "{*.o,y}",
	"!", "\\", " ", "#", "-", "src", "lib", ".h", "a.o", "\n", "\n", "\n!", "\n/", "/\n", "ab", "\\*", "x/", "/a",
}

// spelled makes a text of at most n elements out of bytes.
func spelled(bytes string, n int) string {
	var out strings.Builder
	for i := range min(len(bytes), n) {
		out.WriteString(elements[int(bytes[i])%len(elements)])
	}
	return out.String()
}

// TestGlobAgainstRipgrep is a short run of the fuzz target, the same each time.
func TestGlobAgainstRipgrep(t *testing.T) {
	needRipgrep(t)
	ascii, all := t.TempDir(), t.TempDir()
	plant(t, ascii, hostile)
	plant(t, all, append(hostile, foreign...))
	source := rand.New(rand.NewPCG(5, *seed))
	random := func(n int) string {
		b := make([]byte, 1+source.IntN(n))
		for i := range b {
			b[i] = byte(source.UintN(256))
		}
		return spelled(string(b), n)
	}
	for range *rounds {
		globAgainstRipgrep(t, ascii, all, random(8))
		ignoreAgainstRipgrep(t, random(20), random(20))
	}
}

var (
	rounds = flag.Int("ripgrep.rounds", machine.Cases(15, 300), "globs and ignore files that are held against ripgrep")
	seed   = flag.Uint64("ripgrep.seed", 5, "where they start")
)

func globAgainstRipgrep(t *testing.T, ascii, all, pattern string) {
	if !comparableGlob.MatchString(pattern) || incomparableGlob.MatchString(pattern) {
		return
	}
	matches, err := search.CompileGlob(pattern)
	if err != nil {
		return
	}
	dir, names := all, append(hostile, foreign...)
	if strings.ContainsAny(pattern, "?[") {
		dir, names = ascii, hostile
	}
	want, ok := ripgrep(t, dir, "--no-ignore", "--glob="+theirGlob(pattern))
	if !ok {
		return
	}
	var got []string
	for _, name := range names {
		if matches(name) {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	isLiteral := func(name string) bool { return strings.ContainsAny(name, "[]{}*?") } // which a glob of ours may match as it is
	got, want = slices.DeleteFunc(got, isLiteral), slices.DeleteFunc(want, isLiteral)
	if !slices.Equal(got, want) {
		t.Errorf("glob %q:\n%s", pattern, difference(got, want))
	}
}

// theirGlob tells ripgrep that a set matches no slash, without making a glob that
// is about names one that is about paths.
func theirGlob(pattern string) string {
	body, negated := strings.CutPrefix(pattern, "!")
	body, isPath := strings.CutPrefix(body, "./")
	if isPath {
		body = "/" + body
	}
	if !strings.Contains(body, "/") {
		body = "**/" + body
	}
	body = strings.NewReplacer("[!", "[!/", "[^", "[^/").Replace(body)
	if negated {
		return "!" + body
	}
	return body
}

func ignoreAgainstRipgrep(t *testing.T, ignore, inner string) {
	if !utf8.ValidString(ignore) {
		return // ripgrep reads no further than to the first line that is not UTF-8; git takes bytes as they are, and so does this
	}
	ignore, inner = comparableLines(ignore), comparableLines(inner)
	if ignore == "" && inner == "" {
		return
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	plant(t, dir, hostile)
	for name, text := range map[string]string{".gitignore": ignore, "x/.gitignore": inner, "src/.ignore": inner} {
		machine.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	want, ok := ripgrep(t, dir, "--no-require-git", "--no-messages")
	if !ok {
		t.Fatal("ripgrep failed")
	}
	if got := below(t, dir); !slices.Equal(got, want) {
		t.Errorf(".gitignore %q, x/.gitignore and src/.ignore %q:\n%s", ignore, inner, difference(got, want))
	}
}

// comparableGlob is what a glob of both is made of.
var comparableGlob = regexp.MustCompile(`(?s)\A[^\x00]{1,100}\z`)

// incomparableGlob is where ripgrep 13 goes its own way: comments, blanks at the
// end, a slash at the end (which takes folders alone), groups that are empty,
// nested or hold a slash or two stars, sets that hold a slash, an
// escape in a set, three stars.
var incomparableGlob = regexp.MustCompile(`(?s)\A!?#|[\s\v\x{85}\pZ]\z|/\z|[{,][,}]|\{[^}]*\{|\{[^}]*(/|\*\*)[^}]*\}|\[[^\]]*[/\\]|\[[!^]?\]|\*\*\*`)

// incomparableIgnore is where it reads a line of an ignore file as git does not:
// braces and sets, slashes that are escaped or doubled, two stars beside
// something else, lines of which nothing is left.
var incomparableIgnore = regexp.MustCompile(`[{}\[\]]|\\\z|\\/|/ |//|\*\*[^/]|[^/]\*\*|^\*\*$|^!?/*\s*$|\\\s+$|[\t\v\f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]$`)

// comparableLines leaves out the lines that ripgrep does not read as git does.
func comparableLines(text string) string {
	if strings.ContainsAny(text, "\x00\r\v\f\u0085\u00a0\ufeff") || len(text) > 1000 {
		return ""
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !incomparableIgnore.MatchString(strings.TrimSuffix(line, "\n")) {
			out.WriteString(line)
		}
	}
	return out.String()
}

func difference(got, want []string) string {
	var out strings.Builder
	for _, name := range got {
		if !slices.Contains(want, name) {
			out.WriteString("  only we: " + name + "\n")
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			out.WriteString("  only ripgrep: " + name + "\n")
		}
	}
	return out.String()
}

// Real trees: this repository, with whatever was installed into it, and the modules
// that it is built with.
func TestFilesOfRealTreesAsRipgrep(t *testing.T) {
	needRipgrep(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "all").Output()
	machine.Must(t, err)
	dirs := strings.Fields(string(out))
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	if few := machine.Cases(3, len(dirs)); few < len(dirs) { // of modules: the repository may change meanwhile
		dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !strings.Contains(dir, "@") })
		dirs = dirs[:min(few, len(dirs))]
	}
	for _, dir := range dirs {
		want, ok := ripgrep(t, dir, "--no-require-git", "--no-messages", "-g", "!.git")
		if !ok {
			t.Errorf("ripgrep failed in %s", dir)
		}
		if got := below(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s", dir, difference(got, want))
		}
	}
}
