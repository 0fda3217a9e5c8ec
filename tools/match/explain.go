package match

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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

// Missing shows the lines of text that look most like the ones that were sought. Where most of
// them are the same, it names those that are not.
func Missing(text, old string) error {
	err := fault.New(fault.EditNoMatch, "old_string is not in the file")
	have, want := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	at, same := likestPlace(have, want)
	if same == 0 || 2*same < len(want) {
		line := nearestLine(text, old)
		if line == 0 {
			return err.WithHint("read the file again and copy the exact text")
		}
		return showing(err, text, line-2, line+len(want)+1)
	}
	var differ []int
	for i := range want {
		if at+i < 0 || at+i >= len(have) || trimmedLine(have[at+i]) != trimmedLine(want[i]) {
			differ = append(differ, at+i+1)
		}
	}
	if len(differ) == 0 {
		return showing(err, text, at-1, at+len(want)+2)
	}
	first := differ[0]
	err.Message += fmt.Sprintf("; most like it are lines %d to %d, which differ at %s", max(at+1, 1), min(at+len(want), len(have)), List(differ[:min(len(differ), mostDiffering)], len(differ)))
	given := Show(want[first-1-at], 1, 1)
	const around = 4
	out := showing(err.With("line", first), text, max(at+1, first-around), min(at+len(want), first+around))
	out.Hint += fmt.Sprintf("\nin place of line %d, old_string has:\n     %s", first, given[0][5:])
	return out
}

// mostDiffering is how many numbers of lines are told.
const mostDiffering = 10

// showing shows lines first to last.
func showing(err *fault.Error, text string, first, last int) *fault.Error {
	nearest := Show(text, first, last)
	return err.With("nearest", nearest).
		WithHint("the nearest lines are (· is a space, → a tab, ␍ a carriage return):\n%s", strings.Join(nearest, "\n"))
}

func trimmedLine(line string) string { return strings.TrimRight(line, blanks) }

// likestPlace is where most lines of want are in have, each at its place: the index of the first, and
// how many there are. Lines that are everywhere, as braces, say little: only others look for places.
func likestPlace(have, want []string) (at, same int) {
	const shortest, mostPlaces = 3, 20
	places := map[string][]int{}
	for i, line := range have {
		if line = trimmedLine(line); len(strings.TrimSpace(line)) >= shortest && len(places[line]) < mostPlaces {
			places[line] = append(places[line], i)
		}
	}
	votes := map[int]int{}
	for i, line := range want {
		for _, place := range places[trimmedLine(line)] {
			votes[place-i]++
		}
	}
	starts := slices.SortedFunc(maps.Keys(votes), func(a, b int) int { return cmp.Or(cmp.Compare(votes[b], votes[a]), cmp.Compare(a, b)) })
	for _, start := range starts[:min(len(starts), mostPlaces)] {
		n := 0
		for i, line := range want {
			if start+i >= 0 && start+i < len(have) && trimmedLine(have[start+i]) == trimmedLine(line) {
				n++
			}
		}
		if n > same {
			at, same = start, n
		}
	}
	return at, same
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
