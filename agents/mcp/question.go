package mcp

import (
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// The most that a question shows: a form in a terminal is no place for more.
const (
	maxQuestionLines = 200
	maxQuestionBytes = 16 << 10
)

// question puts a request into words. It reports false when they are cut.
func question(r approval.Request) (text string, whole bool) {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", fault.Quote(r.Agent.Name), r.Title)
	for _, reason := range r.Reasons {
		out.WriteString("- " + reason + "\n")
	}
	out.WriteString("\n")
	preview(&out, r.Preview)
	return clip(fault.Escape(out.String()))
}

func preview(out *strings.Builder, p approval.Preview) {
	switch p.Kind {
	case "diff":
		for _, f := range p.Files {
			fmt.Fprintf(out, "%s %s, +%d -%d\n%s\n", f.Operation, fault.Quote(f.Path), f.Additions, f.Deletions, f.Diff)
		}
	case "command":
		fmt.Fprintf(out, "$ %s\nin %s\n", p.Command, fault.Quote(p.Cwd))
		for _, w := range p.Writes {
			out.WriteString("writes " + fault.Quote(w) + "\n")
		}
		for _, u := range p.Unsaved {
			out.WriteString("does not see what is unsaved in " + fault.Quote(u) + "\n")
		}
	case "url":
		out.WriteString(p.URL + "\n")
	default:
		out.WriteString(p.Markdown + "\n")
	}
}

// clip cuts at the end of a line and says how much is missing.
func clip(text string) (string, bool) {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	size := 0
	for i, line := range lines {
		if size += len(line); i >= maxQuestionLines || size > maxQuestionBytes {
			cut := strings.Join(lines[:i], "")
			return fmt.Sprintf("%s(… %d more lines are not shown here)", cut, len(lines)-i), false
		}
	}
	return strings.Join(lines, ""), true
}
