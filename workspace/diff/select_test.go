package diff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace/diff"
)

// TestAnySubsetIsWhatGitMakesOfIt: some hunks made are the text that git apply makes of
// a patch of exactly those, and of the patch that leads to it.
func TestAnySubsetIsWhatGitMakesOfIt(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, context := range []int{0, 1, 3} {
		chosen, again := newPatched(t), newPatched(t)
		for i := range machine.Cases(40, 300) {
			before := randomText(r, 1+r.IntN(80), 2+r.IntN(40))
			after := mutated(r, before, 1+r.IntN(20))
			hunks := diff.Hunks(before, after, context)
			take := subset(r, len(hunks))
			got := diff.Select(before, after, hunks, func(i int) bool { return take[i] })
			if before == "" || got == "" {
				continue // a patch for an empty text needs header lines of its own
			}
			name := fmt.Sprint("f", i)
			chosen.add(name, before, got, renumbered(hunks, take))
			again.add(name, before, got, diff.Hunks(before, got, 3))
		}
		chosen.apply("--unidiff-zero")
		again.apply()
	}
}

func subset(r *rand.Rand, n int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = r.IntN(2) == 0
	}
	return out
}

// renumbered are the chosen hunks as a patch of their own.
func renumbered(hunks []diff.Hunk, take []bool) []diff.Hunk {
	var out []diff.Hunk
	shift := 0
	for i, h := range hunks {
		from, to := h.NewSpan()
		if !take[i] {
			shift -= (to - from) - h.OldLines
			continue
		}
		h.NewStart += shift
		out = append(out, h)
	}
	return out
}

// patched are files that git patches all at once.
type patched struct {
	machine.Folder
	patch strings.Builder
	want  map[string]string
}

func newPatched(t *testing.T) *patched {
	return &patched{Folder: machine.Folder{TB: t, Dir: t.TempDir()}, want: map[string]string{}}
}

func (p *patched) add(name, before, want string, hunks []diff.Hunk) {
	if len(hunks) == 0 && before != want {
		p.Fatalf("no hunks, but %q became %q", before, want)
	}
	p.Write(name, before)
	p.want[name] = want
	if len(hunks) > 0 {
		p.patch.WriteString("--- a/" + name + "\n+++ b/" + name + "\n" + diff.Unified(hunks))
	}
}

func (p *patched) apply(flags ...string) {
	_, err := machine.Git(p.TB, p.Dir, p.patch.String(), append([]string{"apply", "--whitespace=nowarn"}, flags...)...)
	p.Must(err)
	if len(p.want) < 20 {
		p.Errorf("only %d files were tried", len(p.want))
	}
	for name, want := range p.want {
		if got, _ := os.ReadFile(p.Abs(name)); string(got) != want {
			p.Errorf("%s: git apply gave %q, want %q", name, got, want)
		}
	}
}

// FuzzSelect holds Select against making the lines of the chosen hunks one by one.
func FuzzSelect(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc", uint64(1), 0)
	f.Add("", "a\r\nb", uint64(3), 3)
	f.Add("a\nb\nc\nd\ne\nf\ng\nh\ni", "b\nc\nD\ne\nf\ng\ni\nj\n", uint64(5), 1)
	f.Fuzz(func(t *testing.T, before, after string, mask uint64, context int) {
		hunks := diff.Hunks(before, after, context%20)
		take := func(i int) bool { return mask>>(i%64)&1 == 1 }
		got := diff.Select(before, after, hunks, take)
		if want := made(t, before, hunks, take); got != want {
			t.Errorf("from %q to %q, some hunks: %q, line by line %q", before, after, got, want)
		}
		if all := diff.Select(before, after, hunks, func(int) bool { return true }); all != after {
			t.Errorf("from %q all hunks make %q, want %q", before, all, after)
		}
		if none := diff.Select(before, after, hunks, func(int) bool { return false }); none != before {
			t.Errorf("no hunks make %q of %q", none, before)
		}
	})
}

// made makes hunks by their own lines alone.
func made(t *testing.T, before string, hunks []diff.Hunk, take func(i int) bool) string {
	var out strings.Builder
	old := diff.SplitLines(before)
	at := 0
	next := func() string {
		at++
		return old[at-1]
	}
	for i, h := range hunks {
		for first, _ := h.OldSpan(); at < first; {
			out.WriteString(next())
		}
		for _, line := range h.Lines {
			switch {
			case line.Op == diff.Insert && take(i):
				out.WriteString(line.Text)
			case line.Op == diff.Insert:
			default:
				text := next()
				if text != line.Text {
					t.Fatalf("the hunk has %q where the text has %q", line.Text, text)
				}
				if line.Op == diff.Context || !take(i) {
					out.WriteString(text)
				}
			}
		}
	}
	for at < len(old) {
		out.WriteString(next())
	}
	return out.String()
}
