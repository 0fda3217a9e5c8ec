package tools

import (
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// sheet is what a dialog about git shows: in parts, for an editor that lays them out,
// and as one text for the others. What matters most comes first, a diff last.
type sheet struct{ approval.Preview }

// fact is escaped already. An empty value is none.
func (s *sheet) fact(name string, values ...string) {
	values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	if len(values) > 0 {
		s.Facts = append(s.Facts, approval.Fact{Name: name, Values: values})
	}
}

// warn is a fact that the human may not expect.
func (s *sheet) warn(name string, values ...string) {
	if before := len(s.Facts); len(values) > 0 {
		s.fact(name, values...)
		s.Facts[before].Notable = true
	}
}

// list is a fact of at most so many values, and how many there are beside.
func (s *sheet) list(name string, most int, values ...string) {
	if more := len(values) - most; more > 0 {
		values = append(slices.Clone(values[:most]), fmt.Sprintf("and %d more", more))
	}
	s.fact(name, values...)
}

// preview is the sheet as a dialog has it.
func (s *sheet) preview() approval.Preview {
	s.Kind = "text"
	var out strings.Builder
	block(&out, s.Message)
	for _, f := range s.Facts {
		if len(f.Values) == 1 {
			fmt.Fprintf(&out, "%s: %s\n", f.Name, f.Values[0])
		} else {
			fmt.Fprintf(&out, "%s:\n- %s\n", f.Name, strings.Join(f.Values, "\n- "))
		}
	}
	if s.Diff != "" {
		out.WriteString("\n")
		block(&out, s.Diff)
	}
	s.Markdown = out.String()
	return s.Preview
}

// block shows a text as it is.
func block(out *strings.Builder, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(fault.Escape(text)) {
		out.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
	out.WriteString("\n")
}
