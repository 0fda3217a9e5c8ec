package tools

import (
	"fmt"
	"slices"

	"pillion/tools/approval"
)

// sheet is what a dialog about git shows. What matters most comes first, a diff last.
type sheet struct{ approval.Preview }

// fact is escaped already. An empty value is none.
func (s *sheet) fact(code, label string, values ...string) {
	values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	if len(values) > 0 {
		s.Facts = append(s.Facts, approval.NewFact(code, label, values...))
	}
}

// warn is a fact that the user may not expect.
func (s *sheet) warn(code, label string, values ...string) {
	if before := len(s.Facts); len(values) > 0 {
		s.fact(code, label, values...)
		s.Facts[before].Tone = approval.Warning
	}
}

// list is a fact of at most so many values, and how many there are beside.
func (s *sheet) list(code, label string, most int, values ...string) {
	if more := len(values) - most; more > 0 {
		values = append(slices.Clone(values[:most]), fmt.Sprintf("and %d more", more))
	}
	s.fact(code, label, values...)
}

// preview is the sheet as a dialog has it.
func (s *sheet) preview() approval.Preview {
	s.Kind = "text"
	return s.Preview
}
