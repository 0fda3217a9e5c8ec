package patch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
)

// drawText is a text of few different lines, so that places are often alike.
func drawText(t *rapid.T, name string) string {
	words := []string{"a", "b", "c", "", "  x", "tail ", "{", "}", "-- d", "++ e", "\\ f", "é"}
	lines := rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(t, name)
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n"}).Draw(t, name+" ends")
	text := strings.Join(lines, end)
	if len(lines) > 0 && rapid.IntRange(0, 4).Draw(t, name+" final") > 0 {
		text += end
	}
	return text
}

// drawEdited is a text after some edits.
func drawEdited(t *rapid.T, text, name string) string {
	lines := strings.SplitAfter(text, "\n")
	for range rapid.IntRange(0, 4).Draw(t, name) {
		at := rapid.IntRange(0, len(lines)).Draw(t, name+" at")
		end := min(len(lines), at+rapid.IntRange(0, 3).Draw(t, name+" lines"))
		var put []string
		for range rapid.IntRange(0, 3).Draw(t, name+" new lines") {
			put = append(put, rapid.SampledFrom([]string{"a\n", "b\n", "new\n", "\n", "win\r\n", "}\n"}).Draw(t, name+" line"))
		}
		lines = slices.Replace(lines, at, end, put...)
	}
	text = strings.Join(lines, "")
	if rapid.IntRange(0, 9).Draw(t, name+" cut") == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

// verdict is what came of a patch.
type verdict struct {
	text    string
	refused error
	placed  []Placed
}

func ours(diff, text string) verdict {
	files, err := Parse(diff)
	if err != nil {
		return verdict{refused: err}
	}
	out, placed, err := Apply(context.Background(), text, files[0].Hunks)
	return verdict{out, err, placed}
}

// TestGitApplies compares with git apply: on the text that a patch was made for both give
// the same, and so they do on one that has moved on. Where they differ one of these
// holds: we are more lenient, and say so; or we refuse what has no certain place.
func TestGitApplies(t *testing.T) {
	dir := machine.Folder{TB: t, Dir: t.TempDir()}
	seen := map[string]int{}
	machine.Rapid(t, 150, 500)
	rapid.Check(t, func(r *rapid.T) {
		base := drawText(r, "base")
		after := drawEdited(r, base, "change")
		now := base
		if rapid.Bool().Draw(r, "moved on") {
			now = drawEdited(r, base, "meanwhile")
		}
		context := rapid.SampledFrom([]int{3, 3, 3, 1, 2, 5, 0}).Draw(r, "context")
		dir.Write("a/f", base)
		dir.Write("b/f", after)
		diff, _ := machine.Git(t, dir.Dir, "", "diff", "--no-index", fmt.Sprintf("-U%d", context), "a/f", "b/f")
		if diff == "" {
			return
		}
		dir.Write("f", now)
		_, refused := machine.Git(t, dir.Dir, diff, "apply", "-p2", "--whitespace=nowarn", "-")
		text, err := os.ReadFile(dir.Abs("f"))
		dir.Must(err)
		theirs := verdict{text: string(text), refused: refused}
		mine := ours(diff, now)
		seen[judge(r, diff, now, theirs, mine)]++
	})
	t.Log(seen)
	for _, kind := range []string{"same", "both refuse", "lenient"} {
		if seen[kind] == 0 {
			t.Errorf("no case of %q was tried: %v", kind, seen)
		}
	}
}

func judge(t *rapid.T, diff, now string, theirs, mine verdict) string {
	lenient := ""
	for _, p := range mine.placed {
		lenient += p.Leniency
	}
	tell := func(format string, args ...any) {
		t.Fatalf("%s\ntext:\n%q\ndiff:\n%s\ngit: %q %v\nours: %q %v %+v", fmt.Sprintf(format, args...), now, diff, theirs.text, theirs.refused, mine.text, mine.refused, mine.placed)
	}
	var m *Mismatch
	switch {
	case theirs.refused != nil && mine.refused != nil:
		return "both refuse"
	case theirs.refused != nil && lenient == "":
		tell("git refuses, and we find nothing unusual")
	case theirs.refused != nil:
		return "lenient"
	case mine.refused == nil && mine.text == theirs.text:
		return "same"
	case mine.refused == nil && (strings.Contains(lenient, noContext) || strings.Contains(diff, "\n\\ No newline") && lenient != ""):
		return "more certain"
	case errors.As(mine.refused, &m) && (m.Reason == reasonOrder || len(m.Expected) == contextless(diff, m.Hunk)):
		return "stricter"
	}
	tell("we are of two minds")
	return ""
}

// contextless is how many lines a hunk without context removes, -1 of one that has some.
func contextless(diff string, hunk int) int {
	files, err := Parse(diff)
	if err != nil {
		return -1
	}
	h := files[0].Hunks[hunk-1]
	if leading, trailing := h.context(); leading+trailing > 0 {
		return -1
	}
	return len(h.Old())
}
