// Package doctor tells what Pillion finds on a machine, what is missing, and how to
// get it: `pillion doctor`, and what editors show of it.
//
// [Examine] makes a [Report], one [Finding] for each thing looked at; [Print] lays
// it out for people. Each check is a function of its own that gives a Finding. A
// report is meant to be pasted into an issue: it has no tokens, the home folder is
// written ~, and all of it can be read as it stands.
//
// Deliberately not here: mending anything (nothing is written), a shell, and
// programs that the folder brings along. What is run is run with --version, a time
// limit, and the environment that a command of an agent gets.
package doctor

import (
	"context"
	"os"
	"runtime"
	"strings"
	"sync"

	"pillion/internal/fault"
	"pillion/lspbridge"
	"pillion/tools/process"
)

// Status is how a finding stands.
type Status string

// The statuses. What is only told is Info; what is Missing is worth having; a
// Warning is worth a look; with an Error something of Pillion does not work.
const (
	OK      Status = "ok"
	Info    Status = "info"
	Missing Status = "missing"
	Warning Status = "warning"
	Error   Status = "error"
)

// Finding is one thing that was looked at.
type Finding struct {
	ID     string         `json:"id"` // group.name, the same in every version
	Title  string         `json:"title"`
	Status Status         `json:"status"`
	Detail string         `json:"detail"`
	Hint   string         `json:"hint,omitempty"` // what to do
	Data   map[string]any `json:"data,omitempty"`
}

// Group is the part of the ID before the dot.
func (f Finding) Group() string {
	group, _, _ := strings.Cut(f.ID, ".")
	return group
}

// Report is everything that was found.
type Report struct {
	Version  string    `json:"version"`
	Verdict  string    `json:"verdict"` // one line for those who read no further
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
}

// Summary counts the findings; those that are only told are in none of them.
type Summary struct {
	OK       int `json:"ok"`
	Warnings int `json:"warnings"`
	Missing  int `json:"missing"`
	Errors   int `json:"errors"`
}

// Subject is what is examined.
type Subject struct {
	Version string // of Pillion
	Binary  string // its program
	Folder  string // absolute
	// Walls tries what commands can be held with; see process.Runner. Nil: that is
	// not looked at.
	Walls func() process.Walls
	// Escapes tries ways out of what holds commands, likewise.
	Escapes func(context.Context) ([]process.Escape, error)
	// Servers are the language servers as they are set.
	Servers []lspbridge.Server
}

// exam is one examination: the subject, and where programs are looked for.
type exam struct {
	Subject
	home     string
	programs lookup
}

// check is one look at something, which may find several things there.
type check func(context.Context, exam) []Finding

// checks are all of them, in the order in which they are told.
func checks() []check {
	return []check{
		one(pillionProgram), one(settings), one(configFolder), one(stateFolder), one(registry),
		one(folder), one(projectSettings), one(watched), one(openEditors),
		languages, programs,
		one(sandbox), system,
		editors, agents,
	}
}

func one(f func(context.Context, exam) Finding) check {
	return func(ctx context.Context, e exam) []Finding { return []Finding{f(ctx, e)} }
}

// Examine looks at everything. It takes as long as the slowest program takes to
// tell its version, and a few seconds at most.
func Examine(ctx context.Context, s Subject) Report {
	e := exam{Subject: s}
	e.home, _ = os.UserHomeDir() //nolint:errcheck // the checks that need it tell of it
	e.programs = newLookup(s.Folder, e.home)
	all := checks()
	found := make([][]Finding, len(all))
	var work sync.WaitGroup
	for i, look := range all {
		work.Go(func() { found[i] = look(ctx, e) })
	}
	work.Wait()
	r := Report{Version: s.Version, Findings: []Finding{}}
	for _, some := range found {
		for _, f := range some {
			r.Findings = append(r.Findings, e.presentable(f))
		}
	}
	return r.summed()
}

// summed is the report with what follows from its findings.
func (r Report) summed() Report {
	r.Summary = Summary{}
	for _, f := range r.Findings {
		switch f.Status {
		case OK:
			r.Summary.OK++
		case Missing:
			r.Summary.Missing++
		case Warning:
			r.Summary.Warnings++
		case Error:
			r.Summary.Errors++
		}
	}
	r.Verdict = verdict(r)
	return r
}

// presentable is the finding as it may be shown to anybody.
func (e exam) presentable(f Finding) Finding {
	f.Detail, f.Hint = e.tidy(f.Detail), e.tidy(f.Hint)
	for key, value := range f.Data {
		f.Data[key] = e.tidyValue(value)
	}
	return f
}

func (e exam) tidyValue(value any) any {
	switch v := value.(type) {
	case string:
		return e.tidy(v)
	case []string:
		out := make([]string, len(v))
		for i, text := range v {
			out[i] = e.tidy(text)
		}
		return out
	case []map[string]any:
		for _, object := range v {
			for key, value := range object {
				object[key] = e.tidyValue(value)
			}
		}
	}
	return value
}

// tidy makes one line of text in which nothing hides, without the user's name.
func (e exam) tidy(text string) string {
	text = fault.Escape(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " "))
	return withoutHome(text, e.home)
}

// withoutHome writes ~ for the home folder wherever a path begins with it.
func withoutHome(text, home string) string {
	if len(home) < 2 {
		return text
	}
	const around = " \t\"'`(),;:=[]<>"
	var out strings.Builder
	for {
		at := strings.Index(text, home)
		if at < 0 {
			return out.String() + text
		}
		end := at + len(home)
		begins := at == 0 && (out.Len() == 0 || strings.HasSuffix(out.String(), "~")) || at > 0 && strings.IndexByte(around, text[at-1]) >= 0
		ends := end == len(text) || text[end] == os.PathSeparator || text[end] == '/' || strings.IndexByte(around, text[end]) >= 0
		if begins && ends {
			out.WriteString(text[:at] + "~")
		} else {
			out.WriteString(text[:end])
		}
		text = text[end:]
	}
}

func isWindows() bool { return runtime.GOOS == "windows" }
