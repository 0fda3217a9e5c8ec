package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
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

// TestHardInputs: each takes seconds at most, or this test does not end within its time, and what comes of it is right.
func TestHardInputs(t *testing.T) {
	for name, texts := range hardInputs() {
		t.Run(name, func(t *testing.T) {
			before := texts[0]
			start := time.Now()
			hunks := Hunks(before, texts[1], 3)
			t.Log(time.Since(start))
			if got := Select(before, texts[1], hunks, func(int) bool { return true }); got != texts[1] {
				t.Error("the hunks do not lead from one text to the other")
			}
		})
	}
}
