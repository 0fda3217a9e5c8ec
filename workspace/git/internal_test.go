package git

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// parseConfig understands what git config understands.
func TestParseConfig(t *testing.T) {
	const text = "\ufeff# comment\n[core]\n\tautocrlf = true ; comment\n  quotePath=false#x\n\tbare\n" +
		"[branch \"a.b \\\" \\\\ c\"] remote = origin\n\tmerge = \"refs/heads/a # b\"  \n" +
		"[Section.Sub] KEY =  several words  \n\tcontinued = one \\\n   two\n\tescaped = a\\tb\\n\\\"c\\\"\\\\\n" +
		"[empty]\n\tnothing =\n\tblank = \"  \"  \n\tpartly = a\"b ; c\"d\n[x]a=1\n\ta=2"
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "config", "-f", file, "-z", "--list").CombinedOutput()
	if err != nil {
		t.Fatalf("git config: %v\n%s", err, out)
	}
	want := map[string][]string{}
	for _, variable := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, set := strings.Cut(variable, "\n")
		if !set {
			value = "true"
		}
		want[key] = append(want[key], value)
	}
	got := config{}
	(&configReader{config: got}).read(file, 0)
	if !maps.EqualFunc(map[string][]string(got), want, slices.Equal) {
		t.Errorf("got\n%q\ngit says\n%q", got, want)
	}
}

func TestConfigBool(t *testing.T) {
	c := config{"a": {"true"}, "b": {"True", "no"}, "c": {"1"}, "d": {"0"}, "e": {""}, "f": {"on"}, "g": {"nonsense"}}
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": false, "e": false, "f": true, "g": false, "unset": true} {
		if got := c.bool(key, true); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}

// A pattern made to take for ever does not, even on a busy machine.
func TestPatternsEndSoon(t *testing.T) {
	start := time.Now()
	matchName(strings.Repeat("*a", 500)+"b", strings.Repeat("a", 2000))
	deep := strings.Split(strings.Repeat("a/", 2000)+"a", "/")
	matchPath(strings.Split(strings.Repeat("**/a/", 200)+"b", "/"), deep)
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("[a]\nb = c\n")
	f.Add("[a \"b\\\"c\"]\nd = \"e\\\nf\" ; g\n")
	f.Fuzz(func(_ *testing.T, text string) { parseConfig(text, func(_, _ string) {}) })
}

func FuzzPattern(f *testing.F) {
	f.Add("a*[b-d]?\\*", "axc1*")
	f.Add("**/x/[[:alpha:]]", "a/x/b")
	f.Fuzz(func(_ *testing.T, pattern, path string) {
		matchPath(strings.Split(pattern, "/"), strings.Split(path, "/"))
	})
}

// Whatever an index holds, reading it ends, and no path leads out.
func FuzzIndex(f *testing.F) {
	for _, version := range []string{"2", "4"} {
		dir := f.TempDir()
		for _, args := range [][]string{
			{"init", "-q"},
			{"update-index", "--add", "--index-version", version, "--cacheinfo", "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,dir/a"},
			{"update-index", "--add", "--cacheinfo", "100755,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,dir/b"},
		} {
			command := exec.Command("git", args...)
			command.Dir = dir
			if out, err := command.CombinedOutput(); err != nil {
				f.Fatalf("git: %v\n%s", err, out)
			}
		}
		seed, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := (&indexReader{text: data}).read()
		if err != nil {
			return
		}
		for _, e := range entries {
			if !filepath.IsLocal(strings.TrimSuffix(e.path, "/")) {
				t.Errorf("path %q", e.path)
			}
		}
	})
}
