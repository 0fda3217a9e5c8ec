package file

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "save_memory",
	Title:       "Save memory",
	Description: "Adds a fact to the user's memory file, for later sessions. The user approves.",
	Idempotent:  true,
	Success:     true,
	Results:     []any{memoryResult{}},
}, planSaveMemory))

type saveMemoryArgs struct {
	Fact string `json:"fact" jsonschema:"one short sentence"`
}

// memoryResult leaves out what else is in the file: it may be about other projects.
type memoryResult struct {
	Path  string `json:"path"`
	Added bool   `json:"added"` // false: it was there
	Fact  string `json:"fact"`
}

const (
	memoryHeading = "## Agent memories"
	memoryFile    = "PILLION.md"
	maxFact       = 1000 // characters
)

func planSaveMemory(_ context.Context, in tools.Input, args saveMemoryArgs) (*tools.Edits, error) {
	fact := oneFact(args.Fact)
	if n := utf8.RuneCountInString(fact); n == 0 || n > maxFact {
		return nil, fault.Invalid("fact must have 1 to %d characters, got %d", maxFact, n)
	}
	p, err := memoryPath(in)
	if err != nil {
		return nil, err
	}
	before, err := in.Snapshot.ReadIfExists(p, "")
	if err != nil {
		return nil, err
	}
	after := before.Content
	if after.Encoding == "" {
		after.Encoding = document.UTF8
	}
	after.Text = document.KeepLineEnds(before.Text, withFact(document.PlainLineEnds(before.Text), fact))
	if size := int64(len(after.Text)); size > in.Limits.WriteBytes {
		return nil, fault.New(fault.FileTooLarge, "%s would have %d bytes, over the limit of %d", fault.Quote(p.String()), size, in.Limits.WriteBytes).
			WithHint("ask the user to tidy it up")
	}
	f, err := change.New(before, after)
	if err != nil {
		return nil, err
	}
	f.CreateDirs = true
	title := "Remember in " + fault.Quote(p.String())
	return &tools.Edits{
		Set: change.Only(f, title), Title: title,
		Learns: func(change.File) bool { return false }, // nobody read it
		Answer: func(o []change.Outcome) *tools.Answer {
			return memoryAnswer(p, fact, o[0].Operation != change.Unchanged)
		},
	}, nil
}

func memoryAnswer(p workspace.Path, fact string, added bool) *tools.Answer {
	text := "Remembered."
	if !added {
		text = "It was remembered already."
	}
	name := p.String()
	if p.IsApart() {
		name = filepath.ToSlash(p.Abs())
	}
	return &tools.Answer{Result: memoryResult{name, added, fact}, Text: text, Summary: fault.Line(fault.Clip(fact, 80))}
}

// memoryPath is where facts go, as the setting memory.file has it.
func memoryPath(in tools.Input) (workspace.Path, error) {
	if !in.Memory.IsZero() {
		return in.Memory, nil
	}
	roots := in.Snapshot.Workspace().Roots()
	if len(roots) == 0 {
		return workspace.Path{}, fault.New(fault.PathOutsideWorkspace, "no folder is open; open a folder in the editor first")
	}
	return roots[0].Join(memoryFile), nil
}

// oneFact is a fact as one line of a list.
func oneFact(given string) string {
	fact := strings.Join(strings.FieldsFunc(given, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	for strings.HasPrefix(fact, "- ") {
		fact = strings.TrimLeft(fact[1:], " ")
	}
	return fact
}

// withFact is a memory file with a fact at the end of its section, which is made if it
// is missing. A fact that is in it changes nothing.
func withFact(text, fact string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	start := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) == memoryHeading })
	if start < 0 {
		if text = strings.TrimRight(text, "\n"); text != "" {
			text += "\n\n"
		}
		return text + memoryHeading + "\n\n- " + fact + "\n"
	}
	end := start + 1
	for at, line := range lines[end:] {
		switch {
		case strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## "):
			return withLine(lines, end, fact, start)
		case strings.TrimSpace(line) == "- "+fact:
			return text
		case strings.TrimSpace(line) != "":
			end = start + at + 2
		}
	}
	return withLine(lines, end, fact, start)
}

// withLine puts a fact in front of the line at, below the heading of its section.
func withLine(lines []string, at int, fact string, heading int) string {
	added := []string{"- " + fact}
	if at == heading+1 {
		added = []string{"", "- " + fact}
	}
	return strings.Join(slices.Insert(lines, at, added...), "\n") + "\n"
}
