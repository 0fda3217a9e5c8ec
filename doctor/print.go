package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/terminal"
)

var groupTitles = map[string]string{
	"pillion": "Pillion", "folder": "This folder", "language": "Languages", "program": "Programs", "system": "System", "editor": "Editors", "agent": "Agents",
}

// Print lays a report out for people: the verdict, then what was found, in groups.
func Print(w io.Writer, style terminal.Style, r Report) {
	fmt.Fprintln(w, mark(style, r.Summary.overall())+" "+style.Bold(r.Verdict))
	group, width := "", 0
	for _, f := range r.Findings {
		width = max(width, utf8.RuneCountInString(f.Title))
	}
	for _, f := range r.Findings {
		if f.Group() != group {
			group = f.Group()
			fmt.Fprintf(w, "\n%s\n", style.Bold(groupTitles[group]))
		}
		printFinding(w, style, f, width)
	}
}

// verdict is the one line for those who read no further.
func verdict(r Report) string {
	unseen := 0
	for _, f := range r.Findings {
		if f.Group() == "agent" && f.Status == Warning {
			unseen++
		}
	}
	s := r.Summary
	switch {
	case s.Errors > 0:
		return fault.Plural(s.Errors, "problem is", "problems are") + " in the way of Pillion " + r.Version
	case unseen > 0:
		return "Pillion " + r.Version + " works here, and " + fault.Plural(unseen, "agent is", "agents are") + " not, or not wholly, set up to work through it"
	case s.Warnings+s.Missing > 0:
		return "Pillion " + r.Version + " works here; " + fault.Plural(s.Warnings+s.Missing, "thing is", "things are") + " worth a look"
	}
	return "Pillion " + r.Version + " is ready here"
}

// overall is the status of the whole.
func (s Summary) overall() Status {
	switch {
	case s.Errors > 0:
		return Error
	case s.Warnings+s.Missing > 0:
		return Warning
	}
	return OK
}

func printFinding(w io.Writer, style terminal.Style, f Finding, width int) {
	pad := strings.Repeat(" ", width-utf8.RuneCountInString(f.Title))
	indent := strings.Repeat(" ", 4+width+2)
	detail := style.Behind(len(indent), f.Detail)
	if f.Status == Info {
		detail = style.Dim(detail)
	}
	fmt.Fprintf(w, "  %s %s%s  %s\n", mark(style, f.Status), f.Title, pad, detail)
	if f.Hint != "" {
		fmt.Fprintln(w, indent+style.Cyan("→")+" "+style.Behind(len(indent)+2, f.Hint))
	}
}

func mark(style terminal.Style, s Status) string {
	switch s {
	case OK:
		return style.Green("✓")
	case Missing:
		return style.Yellow("○")
	case Warning:
		return style.Yellow("!")
	case Error:
		return style.Red("✗")
	}
	return style.Dim("·")
}
