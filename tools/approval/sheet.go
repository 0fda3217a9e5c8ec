package approval

import (
	"fmt"
	"slices"
)

// Sheet is a Preview that is made of facts. What matters most comes first, a diff last.
type Sheet struct{ Preview }

// Fact adds a fact, whose values are escaped already. An empty value is none.
func (s *Sheet) Fact(code, label string, values ...string) {
	values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	if len(values) > 0 {
		s.Facts = append(s.Facts, NewFact(code, label, values...))
	}
}

// Warn adds a fact that the user may not expect.
func (s *Sheet) Warn(code, label string, values ...string) {
	if before := len(s.Facts); len(values) > 0 {
		s.Fact(code, label, values...)
		s.Facts[before].Tone = Warning
	}
}

// List adds a fact of at most so many values, and how many there are beside.
func (s *Sheet) List(code, label string, most int, values ...string) {
	if more := len(values) - most; more > 0 {
		values = append(slices.Clone(values[:most]), fmt.Sprintf("and %d more", more))
	}
	s.Fact(code, label, values...)
}

// Shown is the sheet as a dialog has it.
func (s *Sheet) Shown() Preview {
	s.Kind = "text"
	return s.Preview
}
