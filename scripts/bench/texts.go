package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/workspace/diff"
)

// compared is one pair of texts: how long the diff took, and how long it is, in changed lines and hunks.
type compared struct {
	Name    string `json:"name"`
	Typical bool   `json:"typical"` // what people and agents do to a file, not what is hard to compare
	pair
	OurLines   int `json:"ourLines"`
	TheirLines int `json:"theirLines"`
	OurHunks   int `json:"ourHunks"`
	TheirHunks int `json:"theirHunks"`
}

// texts compares pairs of files of 1 MB in the folder: here, from reading them to the text of the diff, and by `git diff`.
func texts(folder string, rounds int) (all []compared, err error) {
	for _, c := range pairsOfTexts() {
		one := compared{Name: c.name, Typical: c.typical}
		before, after := filepath.Join(folder, "before.txt"), filepath.Join(folder, "after.txt")
		for name, text := range map[string]string{before: c.before, after: c.after} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
		for round := range rounds + 1 {
			ours, err := one.compareHere(before, after)
			if err != nil {
				return nil, err
			}
			theirs, err := one.compareInGit(folder)
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first one warms up
				one.Ours.add(ours)
				one.Theirs.add(theirs)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

func (c *compared) compareHere(before, after string) (time.Duration, error) {
	began := time.Now()
	a, err := os.ReadFile(before)
	if err != nil {
		return 0, err
	}
	b, err := os.ReadFile(after)
	if err != nil {
		return 0, err
	}
	text := diff.Unified(diff.Hunks(string(a), string(b), 3))
	took := time.Since(began)
	c.OurLines, c.OurHunks = extent(text)
	return took, nil
}

func (c *compared) compareInGit(folder string) (time.Duration, error) {
	cmd := exec.Command("git", "diff", "--no-index", "--no-color", "before.txt", "after.txt")
	cmd.Dir = folder
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 { // 1: they differ
		return 0, fmt.Errorf("git diff: %w", err)
	}
	text := string(out)
	c.TheirLines, c.TheirHunks = extent(text[max(0, strings.Index(text, "@@ ")):])
	return took, nil
}

// extent counts the changed lines and the hunks of a diff.
func extent(text string) (lines, hunks int) {
	for line := range strings.Lines(text) {
		switch line[0] {
		case '+', '-':
			lines++
		case '@':
			hunks++
		}
	}
	return lines, hunks
}

// pairOfTexts is what is compared.
type pairOfTexts struct {
	name, before, after string
	typical             bool
}

func pairsOfTexts() []pairOfTexts {
	r := rand.New(rand.NewPCG(11, 12))
	code := sourceLines(r, 1<<20)
	joined := strings.Join(code, "")
	prose := numberedLines("one", 25_000)
	letters := func(n int) string {
		return made(500_000, func(int) string { return string(rune('a'+r.IntN(n))) + "\n" })
	}
	braces := func() string {
		return made(120_000, func(int) string {
			return []string{"}\n", "}\n", "}\n", "\n", "\t}\n", "\treturn nil\n", fmt.Sprint("\tcall(", r.IntN(3000), ")\n")}[r.IntN(7)]
		})
	}
	return []pairOfTexts{
		{"one line of source changed", joined, strings.Join(edited(r, code, 1), ""), true},
		{"200 places of source changed", joined, strings.Join(edited(r, code, 200), ""), true},
		{"3,000 places of source changed", joined, strings.Join(edited(r, code, 3000), ""), true},
		{"a third of the source moved up", joined, strings.Join(slices.Concat(code[len(code)/3:2*len(code)/3], code[:len(code)/3], code[2*len(code)/3:]), ""), true},
		{"every second line changed", strings.Join(prose, ""), strings.Join(everySecond(prose), ""), false},
		{"wholly different", strings.Join(prose, ""), strings.Join(numberedLines("two", 25_000), ""), false},
		{"other source", joined, strings.Join(sourceLines(r, 1<<20), ""), false},
		{"shuffled lines", strings.Join(prose, ""), strings.Join(shuffled(r, prose), ""), false},
		{"shuffled source", joined, strings.Join(shuffled(r, code), ""), false},
		{"many braces and blank lines", braces(), braces(), false},
		{"lines of one character, of 26", letters(26), letters(26), false},
		{"lines of one character, of 2", letters(2), letters(2), false},
		{"one long line", strings.Repeat("word ", 200_000), strings.Repeat("word ", 199_999) + "words", false},
	}
}

func made(n int, line func(i int) string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(line(i))
	}
	return out.String()
}

func numberedLines(prefix string, n int) []string {
	return diff.SplitLines(made(n, func(i int) string { return fmt.Sprintf("%s is line %d of a text of lines\n", prefix, i) }))
}

// sourceLines looks like a program: functions with the same few lines again and again.
func sourceLines(r *rand.Rand, size int) []string {
	var lines []string
	for n := 0; n < size; {
		function := []string{fmt.Sprintf("func step%d(in *input) error {\n", r.IntN(1e6))}
		for range 3 + r.IntN(12) {
			function = append(function, [][]string{
				{"\tif err != nil {\n", "\t\treturn err\n", "\t}\n"},
				{fmt.Sprintf("\tvalue, err := in.read(%d)\n", r.IntN(500))},
				{fmt.Sprintf("\tin.total += value * %d\n", r.IntN(1e6))},
				{"\n", fmt.Sprintf("\t// What is done here is step %d of many.\n", r.IntN(1e5))},
			}[r.IntN(4)]...)
		}
		function = append(function, "\treturn nil\n", "}\n", "\n")
		for _, line := range function {
			n += len(line)
		}
		lines = append(lines, function...)
	}
	return lines
}

// edited changes so many places, a line or some lines each.
func edited(r *rand.Rand, lines []string, places int) []string {
	out := slices.Clone(lines)
	for i := range places {
		at := r.IntN(len(out) - 10)
		switch i % 3 {
		case 0:
			out[at] = fmt.Sprintf("\tchanged(%d)\n", i)
		case 1:
			out = slices.Insert(out, at, fmt.Sprintf("\tadded(%d)\n", i), "\tif err != nil {\n", "\t\treturn err\n", "\t}\n")
		default:
			out = slices.Delete(out, at, at+1+r.IntN(5))
		}
	}
	return out
}

func everySecond(lines []string) []string {
	out := slices.Clone(lines)
	for i := 0; i < len(out); i += 2 {
		out[i] = "changed: " + out[i]
	}
	return out
}

func shuffled(r *rand.Rand, lines []string) []string {
	out := slices.Clone(lines)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
