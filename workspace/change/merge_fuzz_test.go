package change

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzMerge holds Merge to its properties on any three texts, and to what git makes of
// texts in which it is no question which line is which.
func FuzzMerge(f *testing.F) {
	if _, err := exec.LookPath("git"); err != nil {
		f.Fatal(err)
	}
	for _, seed := range []struct {
		n            uint8
		ours, theirs string
	}{
		{5, "", ""},
		{5, "k", "kkkkr"},
		{5, "kr", "kkr"},       // lines that touch
		{5, "krk", "kkkr"},     // one line between
		{5, "krR", "krR"},      // the same
		{5, "kr", "kR"},        // the same line in two ways
		{5, "kdd", "kddd"},     // one goes on
		{5, "ddddd", "r"},      // one deletes all
		{6, "kdddd", "kkrk"},   // a change in what the other deletes
		{4, "i", "I"},          // two insertions at one place
		{4, "i", "i"},          // one by both
		{4, "ikkki", "kkkki"},  // at both ends
		{0, "i", "I"},          // of nothing
		{0, "i", "i"},          //
		{7, "krkrkrk", "rkrk"}, // chains
		{7, "rrkkdd", "rkkkdd"},
		{3, "kk", "n"},
		{3, "n", "kkkkI"},
		{9, "drdrdrdr", "kddkddkdd"},
	} {
		f.Add(seed.n, seed.ours, seed.theirs, "a\nb\n", "a\nX\nb\n", "b")
	}
	f.Add(uint8(3), "k", "k", "a\r\nb\r\n", "a\nb\r\n", "a\r\nb\nc")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, n uint8, ours, theirs, x, y, z string) {
		checkMerge(t, x, y, z)
		base := recipe(int(n%12), "")
		a, b := recipe(int(n%12), ours), recipe(int(n%12), theirs)
		checkMerge(t, base, a, b)
		got, ok := Merge(base, a, b)
		want, clean := gitMerge(t, dir, base, a, b)
		if ok != clean || ok && got != want {
			t.Fatalf("Merge(%q, %q, %q) is %q, %v; git says %q, %v", base, a, b, got, ok, want, clean)
		}
	})
}

const choices = "kkkdrRiIn"

// recipe is a text of n lines, changed as the letters say, one a line: keep it, delete
// it, replace it in one of two ways, insert a line before it in one of two ways; n
// takes the final newline away. No line is there twice.
func recipe(n int, letters string) string {
	var out strings.Builder
	newline := "\n"
	for i := range n + 1 {
		line, letter := fmt.Sprintf("line %d\n", i), byte('k')
		if i < len(letters) {
			letter = letters[i]
		}
		if !strings.Contains(choices, string(rune(letter))) {
			letter = choices[int(letter)%len(choices)]
		}
		if i == n {
			line = ""
		}
		switch letter {
		case 'd':
			continue
		case 'r', 'R':
			if line != "" {
				line = fmt.Sprintf("%c for %d\n", letter, i)
			}
		case 'i', 'I':
			fmt.Fprintf(&out, "%c before %d\n", letter, i)
		case 'n':
			newline = ""
		}
		out.WriteString(line)
	}
	return strings.TrimSuffix(out.String(), "\n") + strings.Repeat(newline, min(1, out.Len()))
}

// failer is a test, or one case of a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkMerge(t failer, base, x, y string) {
	t.Helper()
	for _, c := range [][4]string{{base, base, x, x}, {base, x, base, x}, {base, x, x, x}} {
		if got, ok := Merge(c[0], c[1], c[2]); !ok || got != c[3] {
			t.Fatalf("Merge(%q, %q, %q) is %q, %v", c[0], c[1], c[2], got, ok)
		}
	}
	got, ok := Merge(base, x, y)
	if turned, turnedOK := Merge(base, y, x); ok != turnedOK || got != turned {
		t.Fatalf("the sides of %q, %q, %q count differently: %q, %v and %q, %v", base, x, y, got, ok, turned, turnedOK)
	}
	if ok {
		checkNothingIsLost(t, base, got, x)
		checkNothingIsLost(t, base, got, y)
	} else if got != "" {
		t.Fatalf("a conflict gave a text: %q", got)
	}
}

func gitMerge(t *testing.T, dir, base, ours, theirs string) (string, bool) {
	t.Helper()
	args := []string{"merge-file", "-p"}
	for name, text := range map[string]string{"ours": ours, "base": base, "theirs": theirs} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cmd := exec.Command("git", append(args, "ours", "base", "theirs")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_DIR="+filepath.Join(dir, "none"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return string(out), true
	case errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128:
		return "", false
	}
	t.Fatalf("git merge-file: %v", err)
	return "", false
}
