package gitdir

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
	got := Config{}
	(&configReader{config: got}).read(file, 0)
	if !maps.EqualFunc(map[string][]string(got), want, slices.Equal) {
		t.Errorf("got\n%q\ngit says\n%q", got, want)
	}
}

func TestConfigBool(t *testing.T) {
	c := Config{"a": {"true"}, "b": {"True", "no"}, "c": {"1"}, "d": {"0"}, "e": {""}, "f": {"on"}, "g": {"nonsense"}}
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": false, "e": false, "f": true, "g": false, "unset": true} {
		if got := c.Bool(key, true); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}

// A pattern made to take for ever does not, even on a busy machine.
func TestPatternsEndSoon(t *testing.T) {
	start := time.Now()
	MatchName(strings.Repeat("*a", 500)+"b", strings.Repeat("a", 2000))
	deep := strings.Split(strings.Repeat("a/", 2000)+"a", "/")
	MatchPath(strings.Split(strings.Repeat("**/a/", 200)+"b", "/"), deep)
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
		MatchPath(strings.Split(pattern, "/"), strings.Split(path, "/"))
	})
}
