package diff

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// hardInputs are those that make naive algorithms quadratic; up to 1 MB each.
var hardInputs = sync.OnceValue(func() map[string][2]string {
	r := rand.New(rand.NewPCG(5, 6))
	text := func(lines int, line func(i int) string) string {
		var out strings.Builder
		for i := range lines {
			out.WriteString(line(i))
		}
		return out.String()
	}
	oneOf := func(lines ...string) func(int) string {
		return func(int) string { return lines[r.IntN(len(lines))] }
	}
	number := func(kinds int) func(int) string {
		return func(int) string { return fmt.Sprint("line ", r.IntN(kinds), "\n") }
	}
	named := func(prefix string) func(int) string {
		return func(i int) string { return fmt.Sprintf("%s line %d of some text\n", prefix, i) }
	}
	letters := strings.SplitAfter("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\ns\nt\nu\nv\nw\nx\ny\nz\n", "\n")[:26]
	braces := oneOf("}\n", "}\n", "}\n", "\n", "\t}\n", "\treturn nil\n", "\tcall(1)\n", "\tcall(2)\n")
	lines := SplitLines(text(40_000, named("a")))
	shuffled, reversed := slices.Clone(lines), slices.Clone(lines)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.Reverse(reversed)
	periodic := text(100_000, func(i int) string { return letters[i%3] })
	before := strings.Join(lines, "")
	return map[string][2]string{
		"two letters":         {text(100_000, oneOf("a\n", "b\n")), text(100_000, oneOf("a\n", "b\n"))},
		"many letters":        {text(100_000, oneOf(letters...)), text(100_000, oneOf(letters...))},
		"one letter":          {strings.Repeat("a\n", 500_000), strings.Repeat("a\n", 250_000)},
		"blank to text":       {strings.Repeat("\n", 1_000_000), strings.Repeat("a\n", 500_000)},
		"all different":       {text(40_000, named("a")), text(40_000, named("b"))},
		"shuffled":            {before, strings.Join(shuffled, "")},
		"reversed":            {before, strings.Join(reversed, "")},
		"few numbers":         {text(50_000, number(300)), text(50_000, number(300))},
		"many numbers":        {text(50_000, number(20_000)), text(50_000, number(20_000))},
		"short, few numbers":  {text(3000, number(300)), text(3000, number(300))},
		"every third":         {before, text(40_000, func(i int) string { return named([]string{"a", "a", "b"}[i%3])(i) })},
		"braces":              {text(50_000, braces), text(50_000, braces)},
		"periodic, disturbed": {periodic, text(100_000, func(i int) string { return letters[(i+r.IntN(50)/49)%3] })},
		"periodic, halved":    {periodic, text(100_000, func(i int) string { return letters[i%6/2] })},
		"one long line":       {strings.Repeat("a", 1_000_000), strings.Repeat("a", 999_999) + "b"},
	}
})

// TestHardInputs holds the bounds: steps of the search, and memory, in proportion
// to the lines. A quadratic algorithm takes a thousand times as many.
func TestHardInputs(t *testing.T) {
	const mostSteps, mostBytes = 400, 120 // for each line; bytes beside the text
	for name, texts := range hardInputs() {
		t.Run(name, func(t *testing.T) {
			before, after := SplitLines(texts[0]), SplitLines(texts[1])
			lines := len(before) + len(after)
			var start, end runtime.MemStats
			runtime.ReadMemStats(&start)
			steps := steps(t, before, after, totalBudget)
			runtime.ReadMemStats(&end)
			t.Logf("%d lines, %d steps for each, %d bytes for each", lines, steps/lines, int(end.TotalAlloc-start.TotalAlloc)/lines)
			if steps > 4*smallWork+mostSteps*lines {
				t.Errorf("%d steps for %d lines", steps, lines)
			}
			if got := int(end.TotalAlloc - start.TotalAlloc); got > 1<<20+mostBytes*lines {
				t.Errorf("%d bytes for %d lines", got, lines)
			}
		})
	}
}

// TestUsedUpBudget: what is left of the work then is little, and the script is right.
func TestUsedUpBudget(t *testing.T) {
	const mostSteps = 100
	for name, texts := range hardInputs() {
		t.Run(name, func(t *testing.T) {
			before, after := SplitLines(texts[0]), SplitLines(texts[1])
			if got, lines := steps(t, before, after, 0), len(before)+len(after); got > mostSteps*lines {
				t.Errorf("%d steps for %d lines", got, lines)
			}
		})
	}
}

// steps is how many steps the search takes to compare two texts, which must be right.
func steps(t *testing.T, before, after []string, budget int) int {
	t.Helper()
	used := budget
	head := commonPrefix(before, after)
	tail := commonSuffix(before[head:], after[head:])
	before, after = before[head:len(before)-tail], after[head:len(after)-tail]
	c := compare(before, after, &budget)
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && c.deleted[i]:
			i++
		case j < len(after) && c.inserted[j]:
			j++
		case i < len(before) && j < len(after) && before[i] == after[j]:
			i, j = i+1, j+1
		default:
			t.Fatalf("lines %d and %d are said to be the same", i, j)
		}
	}
	return used - budget
}

func BenchmarkHardInputs(b *testing.B) {
	for name, texts := range hardInputs() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				Lines(SplitLines(texts[0]), SplitLines(texts[1]))
			}
		})
	}
}
