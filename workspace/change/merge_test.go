package change

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
	"pillion/workspace/diff"
)

// TestMerge: what FuzzMerge, which asks git, has no letters for.
func TestMerge(t *testing.T) {
	if got, ok := Merge("a\nb\nc\nd\ne\n", "a\r\nb\r\nc\r\nd\r\ne\r\n", "a\nb\nX\nd\ne\n"); got != "" || ok {
		t.Errorf("line ends against text: %q, %v", got, ok)
	}
}

// versions are texts of few different lines, so that they have much in common.
var versions = rapid.Custom(func(t *rapid.T) string {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\r\n", "\n"}), 0, 9).Draw(t, "lines"), "")
	if rapid.IntRange(0, 3).Draw(t, "final newline") == 0 {
		return strings.TrimSuffix(text, "\n")
	}
	return text
})

func TestMergeProperties(t *testing.T) {
	machine.Rapid(t, 100, 1000)
	rapid.Check(t, func(t *rapid.T) {
		checkMerge(t, versions.Draw(t, "base"), versions.Draw(t, "x"), versions.Draw(t, "y"))
	})
}

// checkNothingIsLost: every line that a side added is in the result as often as
// the side has it more than the base, and every line that it dropped is not
// there more often than the other side made it.
func checkNothingIsLost(t failer, base, merged, side string) {
	lines, all := diff.SplitLines(base), diff.SplitLines(side)
	result := diff.SplitLines(merged)
	at := 0
	for _, e := range diff.Lines(lines, all) {
		added := all[e.NewStart:e.NewEnd]
		if len(added) == 0 {
			continue
		}
		i := indexOf(result[at:], added)
		if i < 0 {
			t.Fatalf("%q lost %q of %q", merged, added, side)
		}
		at += i + len(added)
	}
}

func indexOf(lines, part []string) int {
	for i := 0; i+len(part) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// FuzzMerge holds Merge to its properties on any three texts, and to what git makes of
// texts in which it is no question which line is which.
func FuzzMerge(f *testing.F) {
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
	for name, text := range map[string]string{"ours": ours, "base": base, "theirs": theirs} {
		machine.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out, err := machine.Git(t, dir, "", "merge-file", "-p", "ours", "base", "theirs")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() < 128 { // so many conflicts
		return "", false
	}
	machine.Must(t, err)
	return out, true
}
