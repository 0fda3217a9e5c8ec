package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/found"
)

// Listing is the tools for people, by where they come from, Pillion's own last, with what was
// refused. Nothing in it is invisible, and no line is another program's to begin.
func Listing(definitions []Definition, notes []found.Note) string {
	var out strings.Builder
	server := func(d Definition) string {
		if d.Source == nil {
			return ""
		}
		return d.Source.Server
	}
	all := slices.Clone(definitions)
	slices.SortStableFunc(all, func(a, b Definition) int {
		if (a.Source == nil) != (b.Source == nil) {
			return map[bool]int{true: 1, false: -1}[a.Source == nil]
		}
		return cmp.Compare(server(a), server(b))
	})
	for i, n := range notes {
		if i == 0 {
			out.WriteString("Problems\n")
		}
		fmt.Fprintf(&out, "  %s: %s\n", fault.Line(n.Source), fault.Line(n.Text))
	}
	for i, d := range all {
		if i == 0 || server(d) != server(all[i-1]) {
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(Whose(d) + "\n")
		}
		fmt.Fprintf(&out, "  %-28s %-8s %s\n", fault.Line(d.Name), d.Access, fault.Line(strings.TrimSuffix(d.Title, " ("+server(d)+")")))
		if d.Source != nil && len(d.Source.Claims) > 0 {
			fmt.Fprintf(&out, "      it says that it %s\n", claimed(d.Source.Claims))
		}
	}
	return out.String()
}

func claimed(claims []string) string { return fault.Line(strings.Join(claims, ", and that it ")) }

// Whose is where a tool comes from, for people, in a line.
func Whose(d Definition) string {
	if d.Source == nil {
		return "Pillion's own"
	}
	head := "MCP server " + d.Source.Server
	if d.Source.Kind == found.Command {
		head = "Printed by a command, " + d.Source.Server
	}
	return fault.Line(head) + ", from " + fault.Line(d.Source.from) + ": " + fault.Line(fault.Clip(d.Source.place, 200))
}
