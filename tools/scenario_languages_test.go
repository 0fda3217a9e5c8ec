package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// languages answers questions about code as a scenario says. It implements
// tools.Languages; the real ones are tested in package lspbridge and in the editors.
type languages struct {
	t       *testing.T
	ws      *workspace.Workspace
	answers map[string]fakeAnswer // by question and what it is about: "hover a.py:3:4"
	// Of a test of the door: called first, with what was asked.
	heard func(question string)
	late  func() // what is known late of a change, to be told
}

var _ tools.Languages = (*languages)(nil)

// fakeAnswer is the JSON of a setup line "lsp QUESTION ABOUT JSON". Its server is pylsp,
// running, and what it says of a file is fresh, unless it says otherwise. A range is
// written 3:4-3:9.
type fakeAnswer struct {
	Server      *string
	Status      language.ServerStatus
	Error       *fault.Error
	Freshness   language.Freshness
	Version     int32
	AgeMS       int64
	Hint        string
	Diagnostics []string // RANGE SEVERITY CODE SOURCE MESSAGE; - is nothing
	Fixed       []string
	Remaining   int
	Guessed     bool // what was wrong before is not known
	Elsewhere   []fakeElsewhere
	Locations   []fakeLocation
	Contents    string
	Symbols     []fakeSymbol
	Files       []fakeEdits
	Actions     []fakeAction
}

type fakeElsewhere struct {
	Path        string
	Diagnostics []string
}

type fakeLocation struct{ Path, URI, Range, Excerpt string }

type fakeSymbol struct {
	Name, Detail, Kind, Container string
	At                            fakeLocation
	Children                      []fakeSymbol
}

type fakeEdits struct {
	Path  string
	Edits [][2]string // range and text
}

type fakeAction struct {
	Title, Kind, Disabled string
	Preferred, Resolvable bool
	Files                 []fakeEdits
}

// learn adds an answer: see world.do.
func (l *languages) learn(question, rest string) {
	about, body, _ := strings.Cut(rest, " ")
	var a fakeAnswer
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		l.t.Fatalf("lsp %s %s: %v", question, rest, err)
	}
	l.answers[question+" "+about] = a
}

// answer is what the scenario has for a question. Without anything there is no server.
func (l *languages) answer(question, about string) (fakeAnswer, language.Server, error) {
	if l.heard != nil {
		l.heard(question + " " + about)
	}
	a, ok := l.answers[question+" "+about]
	if !ok {
		return a, language.Server{Name: "pylsp", Status: language.NotInstalled},
			fault.New(fault.LSPUnavailable, "pylsp is not installed").WithHint("run: pip install python-lsp-server")
	}
	by := language.Server{Name: "pylsp", Status: language.Running}
	if a.Server != nil {
		by.Name = *a.Server
	}
	if a.Status != "" {
		by.Status = a.Status
	}
	if a.Freshness == "" {
		a.Freshness = language.Fresh
	}
	if a.Error != nil {
		return a, by, a.Error
	}
	return a, by, nil
}

func about(p workspace.Path, at document.Position) string {
	return fmt.Sprintf("%s:%d:%d", p, at.Line, at.Character)
}

func (l *languages) Diagnostics(_ context.Context, _ *document.Snapshot, p workspace.Path) (language.Report, error) {
	a, by, err := l.answer("diagnostics", p.String())
	return language.Report{
		Server: by, Diagnostics: l.diagnostics(a.Diagnostics), Freshness: a.Freshness, Version: a.Version,
		Age: time.Duration(a.AgeMS) * time.Millisecond, Hint: a.Hint,
	}, err
}

func (l *languages) Definition(_ context.Context, _ *document.Snapshot, p workspace.Path, at document.Position) ([]language.Location, language.Server, error) {
	a, by, err := l.answer("definition", about(p, at))
	return l.locations(a.Locations), by, err
}

func (l *languages) References(_ context.Context, _ *document.Snapshot, p workspace.Path, at document.Position, declaration bool) ([]language.Location, language.Server, error) {
	question := "references"
	if !declaration {
		question = "uses"
	}
	a, by, err := l.answer(question, about(p, at))
	return l.locations(a.Locations), by, err
}

func (l *languages) Hover(_ context.Context, _ *document.Snapshot, p workspace.Path, at document.Position) (string, language.Server, error) {
	a, by, err := l.answer("hover", about(p, at))
	return a.Contents, by, err
}

func (l *languages) Symbols(_ context.Context, _ *document.Snapshot, p workspace.Path) ([]language.Symbol, language.Server, error) {
	a, by, err := l.answer("symbols", p.String())
	return l.symbols(a.Symbols), by, err
}

func (l *languages) FindSymbols(_ context.Context, _ *document.Snapshot, in workspace.Path, query string) ([]language.Symbol, language.Server, error) {
	a, by, err := l.answer("find", in.String()+":"+query)
	return l.symbols(a.Symbols), by, err
}

func (l *languages) Rename(_ context.Context, _ *document.Snapshot, p workspace.Path, at document.Position, to string) ([]language.FileEdits, language.Server, error) {
	a, by, err := l.answer("rename", about(p, at)+":"+to)
	return l.edits(a.Files), by, err
}

func (l *languages) Actions(_ context.Context, _ *document.Snapshot, p workspace.Path, in document.Range, only []string) ([]language.Action, language.Server, error) {
	name := fmt.Sprintf("%s-%d:%d", about(p, in.Start), in.End.Line, in.End.Character)
	if len(only) > 0 {
		name += ":" + strings.Join(only, ",")
	}
	a, by, err := l.answer("actions", name)
	var out []language.Action
	for i, one := range a.Actions {
		action := l.action(one)
		action.Index = i
		if one.Resolvable {
			action.Edits = nil
		}
		out = append(out, action)
	}
	return out, by, err
}

func (l *languages) Resolve(_ context.Context, _ *document.Snapshot, p workspace.Path, action language.Action) (language.Action, error) {
	a, _, err := l.answer("resolve", p.String())
	if err != nil {
		return action, err
	}
	return l.action(a.Actions[action.Index]), nil
}

func (l *languages) Prepare(_ *document.Snapshot, paths []workspace.Path) {
	if l.heard != nil {
		l.heard(fmt.Sprint("prepare ", paths))
	}
	if l.late != nil { // by the next call
		l.late()
		l.late = nil
	}
}

func (l *languages) Caused(_ context.Context, _ *document.Snapshot, paths []workspace.Path, late func(map[workspace.Path]language.Caused)) map[workspace.Path]language.Caused {
	if found := l.caused("late", paths); len(found) > 0 {
		l.late = func() { late(found) }
	}
	return l.caused("caused", paths)
}

func (l *languages) caused(question string, paths []workspace.Path) map[workspace.Path]language.Caused {
	out := map[workspace.Path]language.Caused{}
	for _, p := range paths {
		a, by, err := l.answer(question, p.String())
		if err != nil {
			continue
		}
		caused := language.Caused{
			Server: by, Freshness: a.Freshness, New: l.diagnostics(a.Diagnostics), Fixed: l.diagnostics(a.Fixed),
			Remaining: a.Remaining, Compared: !a.Guessed,
		}
		for _, e := range a.Elsewhere {
			caused.Elsewhere = append(caused.Elsewhere, language.Elsewhere{Path: l.path(e.Path), New: l.diagnostics(e.Diagnostics)})
		}
		out[p] = caused
	}
	return out
}

func (l *languages) action(a fakeAction) language.Action {
	return language.Action{Title: a.Title, Kind: a.Kind, Disabled: a.Disabled, Preferred: a.Preferred, Resolvable: a.Resolvable, Edits: l.edits(a.Files)}
}

func (l *languages) edits(all []fakeEdits) []language.FileEdits {
	var out []language.FileEdits
	for _, one := range all {
		f := language.FileEdits{Path: l.path(one.Path)}
		for _, e := range one.Edits {
			f.Edits = append(f.Edits, document.TextEdit{Range: l.span(e[0]), NewText: e[1]})
		}
		out = append(out, f)
	}
	return out
}

func (l *languages) symbols(all []fakeSymbol) []language.Symbol {
	var out []language.Symbol
	for _, s := range all {
		out = append(out, language.Symbol{
			Name: s.Name, Detail: s.Detail, Kind: s.Kind, Container: s.Container,
			Location: l.locations([]fakeLocation{s.At})[0], Children: l.symbols(s.Children),
		})
	}
	return out
}

func (l *languages) locations(all []fakeLocation) []language.Location {
	var out []language.Location
	for _, one := range all {
		loc := language.Location{URI: one.URI, Path: l.path(one.Path), Range: l.span(one.Range), Excerpt: one.Excerpt}
		if one.Path != "" {
			loc.URI = loc.Path.URI()
		}
		out = append(out, loc)
	}
	return out
}

func (l *languages) path(name string) workspace.Path {
	if name == "" {
		return workspace.Path{}
	}
	p, err := l.ws.Resolve(name)
	must(l.t, err)
	return p
}

func (l *languages) diagnostics(all []string) []language.Diagnostic {
	var out []language.Diagnostic
	for _, text := range all {
		part := strings.SplitN(text, " ", 5)
		d := language.Diagnostic{Range: l.span(part[0]), Message: part[4]}
		for s := language.Error; s <= language.Hint; s++ {
			if s.String() == part[1] {
				d.Severity = s
			}
		}
		if part[2] != "-" {
			d.Code = part[2]
		}
		if part[3] != "-" {
			d.Source = part[3]
		}
		out = append(out, d)
	}
	return out
}

func (l *languages) span(text string) (r document.Range) {
	if _, err := fmt.Sscanf(text, "%d:%d-%d:%d", &r.Start.Line, &r.Start.Character, &r.End.Line, &r.End.Character); err != nil {
		l.t.Fatalf("no range: %q: %v", text, err)
	}
	return r
}
