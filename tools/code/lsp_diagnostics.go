package code

import (
	"context"
	"fmt"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/language"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
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
	tools.AnsweredBy
	Version *int32 `json:"version"` // of the document, as the server was told it
	AgeMS   *int64 `json:"age_ms"`
	Hint    string `json:"hint,omitempty"`
}

// How much of what servers find is said.
const (
	mostDiagnostics = 200
	mostListed      = 50 // in the text
)

const checkInstead = "check the file with run_command, or use search_in_project or read the source instead"

func planDiagnostics(ctx context.Context, in tools.Input, args diagnosticsArgs) (*tools.Answer, error) {
	f, err := readCodeFile(in, args.Path)
	if err != nil {
		return nil, err
	}
	about := f.asked(language.Server{})
	about.Status = language.NoServer
	ask, err := languagesOf(in)
	if err != nil {
		return unanswered(about, err, checkInstead), nil
	}
	report, err := ask.Diagnostics(ctx, in.Snapshot, f.Path)
	about.AnsweredBy = tools.Answered(report.Server)
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

func diagnosticsAnswer(f *codeFile, report language.Report) *tools.Answer {
	r := diagnosticsResult{Path: f.Path.String(), Status: report.Freshness, AnsweredBy: tools.Answered(report.Server), Hint: fault.Clip(report.Hint, tools.LongMessage)}
	if r.Status == "" {
		r.Status = language.Stale // nobody says that it is fresh
	}
	fresh, all := r.Status == language.Fresh, report.Diagnostics
	if fresh || len(all) > 0 {
		list, n, age := tools.MostSevere(all, mostDiagnostics), len(all), report.Age.Milliseconds()
		r.Diagnostics, r.Count, r.AgeMS, r.Truncated = &list, &n, &age, n > len(list)
	}
	if report.Version > 0 {
		r.Version = &report.Version
	}
	name := fault.Quote(r.Path)
	a := &tools.Answer{Result: r, Summary: "nothing is known about " + name}
	switch {
	case r.Diagnostics == nil:
		a.Text = "not known: " + r.unknown(name)
	case len(all) == 0:
		a.Text = fmt.Sprintf("no problems in %s (fresh, %s)", name, r.AnsweredBy)
		a.Summary = "no problems in " + name
	default:
		tally := tools.CountBySeverity(all)
		a.Summary = tally + " in " + name
		a.Text = fmt.Sprintf("%s in %s (%s, %s; lines and characters are counted from 0)", tally, name, r.Status, r.AnsweredBy)
		if !fresh {
			a.Text += "\nThey may be about an older text: " + r.unknown(name)
		}
		a.Text += tools.ListDiagnostics(f.Path, f.Text, tools.MostSevere(all, mostListed), len(all), fresh)
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
		return fmt.Sprintf("%s did not report on %s in time; it may still be working, ask again%s", r.AnsweredBy, name, hint)
	case language.LinterMissing:
		return fmt.Sprintf("%s runs, but its linter is not installed%s", r.AnsweredBy, hint)
	case language.Interrupted:
		return fmt.Sprintf("%s is being restarted; ask again in a few seconds%s", r.AnsweredBy, hint)
	}
	return fmt.Sprintf("%s has not reported on the current text of %s; ask again%s", r.AnsweredBy, name, hint)
}
