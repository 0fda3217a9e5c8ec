package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

var _ = define(NewRead(Spec{
	Name:        "lsp_diagnostics",
	Title:       "Diagnostics",
	Description: "Lists errors and warnings in a file, unsaved text included. Only what is marked fresh is about the current text.",
	Results:     []any{diagnosticsResult{}, askedAbout{}},
}, planDiagnostics))

type diagnosticsArgs struct {
	Path string `json:"path"`
}

// diagnosticsResult has an empty list only where that means something: count is null
// where nothing is known.
type diagnosticsResult struct {
	Path        string                 `json:"path"`
	Diagnostics *[]language.Diagnostic `json:"diagnostics,omitempty"`
	Count       *int                   `json:"count"`
	Truncated   bool                   `json:"truncated,omitempty"`
	Status      language.Freshness     `json:"status"`
	answeredBy
	Version *int32 `json:"version"` // of the document, as the server was told it
	AgeMS   *int64 `json:"age_ms"`
	Hint    string `json:"hint,omitempty"`
}

const checkInstead = "check the file with run_command, or use search_in_project or read the source instead"

func planDiagnostics(ctx context.Context, in Input, args diagnosticsArgs) (*Answer, error) {
	f, err := in.codeFile(args.Path)
	if err != nil {
		return nil, err
	}
	about := f.asked(language.Server{})
	about.Status = language.NoServer
	ask, err := in.languages()
	if err != nil {
		return unanswered(about, err, checkInstead), nil
	}
	report, err := ask.Diagnostics(ctx, in.Snapshot, f.Path)
	about.answeredBy = answered(report.Server)
	switch {
	case err == nil && report.Freshness != language.NoServer:
	case err == nil:
		err = fault.New(fault.LSPUnavailable, "no server reports diagnostics for %s", fault.Quote(f.Path.String())).WithHint("%s", report.Hint)
	case report.Freshness != "" && report.Freshness != language.Fresh:
		about.Status = report.Freshness
	case fault.CodeOf(err) == fault.Timeout:
		about.Status = language.TimedOut
	case report.Server.Status == language.Restarting:
		about.Status = language.Interrupted
	}
	if err != nil {
		return unanswered(about, err, checkInstead), nil
	}
	a := diagnosticsAnswer(f, report)
	a.Reads = []workspace.Path{f.Path}
	return a, nil
}

func diagnosticsAnswer(f *codeFile, report language.Report) *Answer {
	r := diagnosticsResult{Path: f.Path.String(), Status: report.Freshness, answeredBy: answered(report.Server), Hint: fault.Clip(report.Hint, longMessage)}
	if r.Status == "" {
		r.Status = language.Stale // nobody says that it is fresh
	}
	fresh, all := r.Status == language.Fresh, report.Diagnostics
	if fresh || len(all) > 0 {
		list, n, age := mostSevere(all, mostDiagnostics), len(all), report.Age.Milliseconds()
		r.Diagnostics, r.Count, r.AgeMS, r.Truncated = &list, &n, &age, n > len(list)
	}
	if report.Version > 0 {
		r.Version = &report.Version
	}
	name := fault.Quote(r.Path)
	a := &Answer{Result: r, Summary: "nothing is known about " + name}
	switch {
	case r.Diagnostics == nil:
		a.Text = "not known: " + r.unknown(name)
	case len(all) == 0:
		a.Text = fmt.Sprintf("no problems in %s (fresh, %s)", name, r.answeredBy)
		a.Summary = "no problems in " + name
	default:
		tally := tallied(all)
		a.Summary = tally + " in " + name
		a.Text = fmt.Sprintf("%s in %s (%s, %s; lines and characters are counted from 0)", tally, name, r.Status, r.answeredBy)
		if !fresh {
			a.Text += "\nThey may be about an older text: " + r.unknown(name)
		}
		a.Text += f.listed(mostSevere(all, mostListed), len(all), fresh)
	}
	return a
}

// unknown says why there is no answer that could be relied on, and what to do next.
func (r diagnosticsResult) unknown(name string) string {
	hint := ""
	if r.Hint != "" {
		hint = "; " + fault.Escape(r.Hint)
	}
	switch r.Status {
	case language.TimedOut:
		return fmt.Sprintf("%s did not report on %s in time; it may still be working, ask again%s", r.answeredBy, name, hint)
	case language.LinterMissing:
		return fmt.Sprintf("%s runs, but its linter is not installed%s", r.answeredBy, hint)
	case language.Interrupted:
		return fmt.Sprintf("%s is being restarted; ask again in a few seconds%s", r.answeredBy, hint)
	}
	return fmt.Sprintf("%s has not reported on the current text of %s; ask again%s", r.answeredBy, name, hint)
}

// listed is a line for each, with the source line where it is short and that text was
// looked at.
func (f *codeFile) listed(list []language.Diagnostic, of int, source bool) string {
	var out strings.Builder
	name, lines := fault.Quote(f.Path.String()), document.Lines(f.Text)
	for _, d := range list {
		out.WriteString("\n" + diagnosticLine(name, d))
		if at := int(d.Range.Start.Line); source && at < len(lines) && len(lines[at]) <= shortLine {
			out.WriteString(quoted(lines[at]))
		}
	}
	if of > len(list) {
		fmt.Fprintf(&out, "\n(the %d most severe of %d)", len(list), of)
	}
	return out.String()
}

const shortLine = 120

// tallied counts by severity: 2 errors, 1 warning.
func tallied(list []language.Diagnostic) string {
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
	return count(n, s.String())
}

// diagnosticLine is one fault on one line: a.py:3:7 error E0602 undefined name 'x'.
func diagnosticLine(name string, d language.Diagnostic) string {
	text := placeIn(name, d.Range.Start) + " " + d.Severity.String()
	if d.Code != nil {
		text += " " + fmt.Sprint(d.Code)
	}
	return fault.Escape(text) + " " + oneLine(fault.Clip(d.Message, 2*longLine))
}

// How much of what servers find is told.
const (
	mostDiagnostics = 200
	mostListed      = 50 // in the text
	longMessage     = 2000
)

// mostSevere are at most so many, in the order of their places, each held to a length.
func mostSevere(all []language.Diagnostic, most int) []language.Diagnostic {
	list := slices.Clone(all)
	if len(list) > most {
		slices.SortStableFunc(list, func(a, b language.Diagnostic) int { return cmp.Compare(rank(a), rank(b)) })
		list = list[:most]
	}
	slices.SortStableFunc(list, func(a, b language.Diagnostic) int {
		return cmp.Or(compareRanges(a.Range, b.Range), cmp.Compare(rank(a), rank(b)))
	})
	for i := range list {
		d := &list[i]
		d.Message, d.Source, d.Code = fault.Clip(d.Message, longMessage), fault.Clip(d.Source, longWord), shortCode(d.Code)
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
		return fault.Clip(s, longWord)
	}
	return code
}
