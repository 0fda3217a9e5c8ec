package mcp

import (
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// columns are those of a line that every form has in a terminal of 80.
const columns = 72

// titleColumns are those of a choice in Claude Code, which cuts longer ones. A rule that
// cannot be read whole is not offered.
const titleColumns = 45

// screen is what a form shows of a message.
type screen struct {
	lines int
	wraps bool // a long line; otherwise its end is cut off
}

// screens are how many lines of a message the forms of agents show in a terminal of
// 80 by 24, by the beginning of the name that they give; no key shows more.
var screens = []struct {
	name string
	screen
}{
	{"codex", screen{12, true}}, // 0.169.0
	{"", screen{3, false}},      // as Claude Code 2.1.329, and a careful guess for all others
}

func screenOf(agent string) screen {
	for _, s := range screens {
		if strings.HasPrefix(agent, s.name) {
			return s.screen
		}
	}
	return screen{}
}

// question puts a request into words, what would happen first. It reports false when a
// form would not show them whole.
func question(r approval.Request, on screen) (text string, whole bool) {
	var out strings.Builder
	preview(&out, r.Preview)
	if r.Preview.Kind != "diff" && r.Preview.Kind != "command" {
		out.WriteString(r.Title + "\n")
	}
	return fit(fault.Escape(out.String()), on)
}

func preview(out *strings.Builder, p approval.Preview) {
	switch p.Kind {
	case "diff":
		for _, f := range p.Files {
			path := fault.Quote(f.Path)
			if f.To != "" {
				path += " to " + fault.Quote(f.To)
			}
			fmt.Fprintf(out, "%s %s, +%d -%d\n%s\n", f.Operation, path, f.Additions, f.Deletions, changedLines(f.Diff))
		}
	case "command":
		out.WriteString("$ " + p.Command + "\n")
		if p.Cwd != "" && p.Cwd != "." {
			out.WriteString("in " + fault.Quote(p.Cwd) + "\n")
		}
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

// changedLines leaves out what a form has no room for: of a difference with one hunk,
// everything but the lines that change.
func changedLines(diff string) string {
	head, hunk, found := strings.Cut(diff, "\n@@ ")
	_, hunk, _ = strings.Cut(hunk, "\n")
	if !found || strings.Contains(head, "old mode") || strings.Contains(hunk, "\n@@ ") {
		return diff
	}
	var changed []string
	for line := range strings.Lines(hunk) {
		if strings.ContainsAny(line[:1], "+-\\") {
			changed = append(changed, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(changed, "\n")
}

// fit counts the lines that a terminal makes of the text.
func fit(text string, on screen) (string, bool) {
	text = strings.TrimRight(text, "\n")
	for line := range strings.Lines(text) {
		width := 0
		for _, c := range line {
			switch {
			case c == '\t':
				width += 8
			case c > '~':
				width += 2
			default:
				width++
			}
		}
		on.lines--
		if width > columns {
			if !on.wraps {
				return text, false
			}
			on.lines -= 2 * width / columns // breaking at words can leave half of each line empty
		}
	}
	return text, on.lines >= 0
}
