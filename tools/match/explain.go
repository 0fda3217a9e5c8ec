package match

import (
	"fmt"
	"strconv"
	"strings"

	"pillion/internal/fault"
)

// maxPlaces is how many places are listed.
const maxPlaces = 100

// Lines are the lines, from 1, at which the first hundred places begin.
func (o Found) Lines(text string) []int {
	out := make([]int, min(len(o.Spans), maxPlaces))
	line, at := 1, 0
	for i, s := range o.Spans[:len(out)] {
		line += strings.Count(text[at:s.Start], "\n")
		out[i], at = line, s.Start
	}
	return out
}

// Context shows the first places, so that the agent can tell them apart.
func (o Found) Context(text string) []string {
	var out []string
	shown := 0
	for _, line := range o.Lines(text)[:min(len(o.Spans), 5)] {
		out = append(out, Show(text, max(shown+1, line-1), line+1)...)
		shown = line + 1
	}
	return out
}

// List lists the first of n numbers.
func List(list []int, n int) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.Itoa(n))
	}
	if more := n - len(list); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), more)
	}
	return strings.Join(out, ", ")
}

// Missing shows the lines of text that look most like the ones that were sought.
func Missing(text, old string) error {
	err := fault.New(fault.EditNoMatch, "old_string is not in the file")
	line := nearestLine(text, old)
	if line == 0 {
		return err.WithHint("read the file again and copy the exact text")
	}
	nearest := Show(text, line-2, line+strings.Count(strings.TrimSuffix(old, "\n"), "\n")+2)
	return err.With("nearest", nearest).
		WithHint("the nearest lines are (· is a space, → a tab, ␍ a carriage return):\n%s", strings.Join(nearest, "\n"))
}

// nearestLine is the line most like the longest line of old, 0 if none is like it.
func nearestLine(text, old string) int {
	probe, above := "", 0
	for i, line := range strings.Split(old, "\n") {
		if trimmed := strings.TrimSpace(line); len(trimmed) > len(probe) {
			probe, above = trimmed, i
		}
	}
	best, bestScore := 0, 0.5
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if score := Similarity(fault.Clip(strings.TrimSpace(line), 500), fault.Clip(probe, 500)); score > bestScore {
			best, bestScore = n, score
		}
	}
	return max(min(best, 1), best-above)
}

// Show gives lines first to last, numbered, with white space made visible.
func Show(text string, first, last int) []string {
	visible := strings.NewReplacer(" ", "·", "\t", "→", "\r", "␍")
	var out []string
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if n++; n > last {
			break
		}
		if n >= first {
			out = append(out, fmt.Sprintf("%5d  %s", n, fault.Escape(visible.Replace(fault.Clip(line, 300)))))
		}
	}
	return out
}

// Similarity is the Dice coefficient of letter pairs, from 0 to 1.
func Similarity(a, b string) float64 {
	fold := strings.NewReplacer("_", "", "-", "", " ", "")
	a, b = fold.Replace(strings.ToLower(a)), fold.Replace(strings.ToLower(b))
	if a == b {
		return 1
	}
	pairs := map[string]int{}
	for i := 0; i+2 <= len(a); i++ {
		pairs[a[i:i+2]]++
	}
	common := 0
	for i := 0; i+2 <= len(b); i++ {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			common++
		}
	}
	return 2 * float64(common) / float64(max(1, len(a)+len(b)-2))
}
