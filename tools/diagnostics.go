package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// AnsweredBy is what every result about code says of who answered.
type AnsweredBy struct {
	ServerStatus language.ServerStatus `json:"server_status"`
	Server       string                `json:"server,omitempty"`
}

// Answered says of a server that it answered, or why it could not.
func Answered(by language.Server) AnsweredBy {
	return AnsweredBy{cmp.Or(by.Status, language.NotInstalled), fault.Clip(by.Name, LongWord)}
}

// LongWord bounds the names that servers give: of themselves, of symbols, of codes.
const LongWord = 200

// String is who answered, for a sentence.
func (a AnsweredBy) String() string {
	switch {
	case a.Server != "":
		return fault.Quote(a.Server)
	case a.ServerStatus == language.Editor:
		return "the editor's own server"
	}
	return "the language server"
}

// PlaceIn names a place as compilers do, but counted from 0: a.py:3:7.
func PlaceIn(name string, p document.Position) string {
	return fmt.Sprintf("%s:%d:%d", name, p.Line, p.Character)
}

// QuotedSource is source text below a line that speaks of it.
func QuotedSource(source string) string {
	if strings.TrimSpace(source) == "" {
		return ""
	}
	return "\n   | " + strings.ReplaceAll(fault.Escape(source), "\n", "\n   | ")
}

// OneLine is what a server says, on one line.
func OneLine(text string) string {
	return fault.Escape(strings.Join(strings.Fields(fault.Clip(text, LongMessage)), " "))
}

// LongLine is how much of a line is shown.
const LongLine = 200

// ListDiagnostics is a line for each, with the source line where it is short and that text was
// looked at.
func ListDiagnostics(path workspace.Path, text string, list []language.Diagnostic, of int, source bool) string {
	var out strings.Builder
	name, lines := fault.Quote(path.String()), document.Lines(text)
	for _, d := range list {
		out.WriteString("\n" + diagnosticLine(name, d))
		if at := int(d.Range.Start.Line); source && at < len(lines) && len(lines[at]) <= ShortLine {
			out.WriteString(QuotedSource(lines[at]))
		}
	}
	if of > len(list) {
		fmt.Fprintf(&out, "\n(the %d most severe of %d)", len(list), of)
	}
	return out.String()
}

// ShortLine is how long a line may be that is shown beside what is said of it.
const ShortLine = 120

// CountBySeverity counts by severity: 2 errors, 1 warning.
func CountBySeverity(list []language.Diagnostic) string {
	var out []string
	for _, s := range []language.Severity{language.Error, language.Warning, language.Information, language.Hint} {
		n := 0
		for _, d := range list {
			if d.Severity.String() == s.String() {
				n++
			}
		}
		if n > 0 {
			out = append(out, severityCount(n, s))
		}
	}
	return strings.Join(out, ", ")
}

func severityCount(n int, s language.Severity) string {
	if s == language.Information {
		return fmt.Sprintf("%d information", n)
	}
	return Count(n, s.String())
}

// diagnosticLine is one fault on one line: a.py:3:7 error E0602 undefined name 'x'.
func diagnosticLine(name string, d language.Diagnostic) string {
	text := PlaceIn(name, d.Range.Start) + " " + d.Severity.String()
	if d.Code != nil {
		text += " " + fmt.Sprint(d.Code)
	}
	return fault.Escape(text) + " " + OneLine(fault.Clip(d.Message, 2*LongLine))
}

// LongMessage bounds what servers say.
const LongMessage = 2000

// MostSevere are at most so many, in the order of their places, each held to a length.
func MostSevere(all []language.Diagnostic, most int) []language.Diagnostic {
	list := slices.Clone(all)
	if len(list) > most {
		slices.SortStableFunc(list, func(a, b language.Diagnostic) int { return cmp.Compare(rank(a), rank(b)) })
		list = list[:most]
	}
	slices.SortStableFunc(list, func(a, b language.Diagnostic) int {
		return cmp.Or(a.Range.Compare(b.Range), cmp.Compare(rank(a), rank(b)))
	})
	for i := range list {
		d := &list[i]
		d.Message, d.Source, d.Code = fault.Clip(d.Message, LongMessage), fault.Clip(d.Source, LongWord), shortCode(d.Code)
		d.Severity = rank(*d)
	}
	if list == nil {
		list = []language.Diagnostic{}
	}
	return list
}

// rank counts a severity that nobody gave as an error.
func rank(d language.Diagnostic) language.Severity {
	if d.Severity < language.Error || d.Severity > language.Hint {
		return language.Error
	}
	return d.Severity
}

func shortCode(code any) any {
	if s, is := code.(string); is {
		if s == "" {
			return nil
		}
		return fault.Clip(s, LongWord)
	}
	return code
}
