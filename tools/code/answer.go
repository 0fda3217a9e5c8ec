package code

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// askedAbout is what is known of a question that was not answered.
type askedAbout struct {
	file   workspace.Path     // zero: no one file
	Path   string             `json:"path,omitempty"`
	Status language.Freshness `json:"status,omitempty"` // of lsp_diagnostics
	tools.AnsweredBy
}

// languagesOf is who answers questions about code.
func languagesOf(in tools.Input) (tools.Languages, error) {
	if in.Languages == nil {
		return nil, fault.New(fault.LSPUnavailable, "no language server can be asked here")
	}
	return in.Languages, nil
}

// unanswered is the failure of a question; instead is what the agent can do.
func unanswered(about askedAbout, err error, instead string) *tools.Answer {
	said := *fault.From(err)
	e := &said
	e.Message, e.Hint = fault.Escape(fault.Clip(e.Message, tools.LongMessage)), fault.Escape(fault.Clip(e.Hint, tools.LongMessage))
	e.Hint = strings.ReplaceAll(e.Hint, searchInstead, instead)
	if e.Code == fault.LSPUnavailable && !strings.Contains(e.Hint, instead) {
		hint := strings.TrimSuffix(e.Hint, ".")
		switch {
		case hint != "" && about.ServerStatus == language.NotInstalled:
			hint += "; until then "
		case hint != "":
			hint += "; "
		}
		e = e.WithHint("%s%s", hint, instead)
	}
	a := &tools.Answer{Result: about, Err: e}
	if !about.file.IsZero() && e.Code != fault.LSPUnavailable {
		a.Reads = []workspace.Path{about.file} // a server may have put its text into what it says
	}
	return a
}

// asked is what can be said of a question about f in any case.
func (f *codeFile) asked(by language.Server) askedAbout {
	return askedAbout{file: f.Path, Path: f.Path.String(), AnsweredBy: tools.Answered(by)}
}

const searchInstead = "use search_in_project or read the source instead"

// question is what an agent asks about a place in a file.
type question struct {
	file *codeFile
	at   document.Position
	ask  tools.Languages
}

// placeArgs are the arguments of a question about one place.
type placeArgs struct {
	Path      string `json:"path"`
	Line      int    `json:"line" jsonschema:"from 0" minimum:"0"`
	Character int    `json:"character" jsonschema:"UTF-16 units" minimum:"0"`
}

// question checks the arguments. Where nobody can be asked the answer says so.
func (a placeArgs) question(in tools.Input) (question, *tools.Answer, error) {
	f, err := readCodeFile(in, a.Path)
	if err != nil {
		return question{}, nil, err
	}
	at, err := f.position(a.Line, a.Character)
	if err != nil {
		return question{}, nil, err
	}
	ask, err := languagesOf(in)
	if err != nil {
		return question{}, unanswered(f.asked(language.Server{}), err, searchInstead), nil
	}
	return question{f, at, ask}, nil, nil
}

// failed is the answer to a question that somebody should have answered.
func (q question) failed(by language.Server, err error) *tools.Answer {
	return unanswered(q.file.asked(by), err, searchInstead)
}

// nothing says in the text that a server knows nothing of a place, and what stands
// there, for the place may be the wrong one.
func (q question) nothing(by tools.AnsweredBy, what string) string {
	word := q.file.word(q.at)
	if word == "" {
		return fmt.Sprintf("%s knows no %s for %s, because there is no name: the line is %s (line and character are counted from 0)",
			by, what, q.file.at(q.at), fault.Quote(fault.Clip(q.file.line(q.at), tools.LongLine)))
	}
	return fmt.Sprintf("%s knows no %s for %s at %s (line and character are counted from 0)", by, what, fault.Quote(word), q.file.at(q.at))
}

// showKeys has it asked for the files with keys in the lines that an answer shows.
func (q question) showKeys(in tools.Input, a *tools.Answer, places []codeLocation) {
	a.ShowKeys(in.Snapshot.Workspace(), q.file.Path.String(), q.file.line(q.at))
	for _, l := range places {
		if l.Path != "" {
			a.ShowKeys(in.Snapshot.Workspace(), l.Path, l.Excerpt)
		}
	}
}

// codeLocation is a place in a file, as results have it.
type codeLocation struct {
	URI     string         `json:"uri"`
	Path    string         `json:"path,omitempty"` // none outside the workspace
	Range   document.Range `json:"range"`
	Excerpt string         `json:"excerpt,omitempty"`
}

// name is what a text calls the place's file.
func (l codeLocation) name() string { return fault.Quote(cmp.Or(l.Path, l.URI)) }

// text shows the place with what stands there.
func (l codeLocation) text() string {
	return tools.PlaceIn(l.name(), l.Range.Start) + tools.QuotedSource(l.Excerpt)
}

// longExcerpt bounds what is shown of a file outside the workspace, in bytes.
const longExcerpt = 4 << 10

// location is the place with its line, or, outside the workspace, what the server's
// side has read there.
func (s sourceLines) location(l language.Location) codeLocation {
	out := codeLocation{URI: fault.Clip(l.URI, longURI), Range: l.Range, Excerpt: fault.Clip(l.Excerpt, longExcerpt)}
	if !l.Path.IsZero() {
		out.URI, out.Path = l.Path.URI(), l.Path.String()
		out.Excerpt = s.line(l.Path, l.Range.Start.Line)
	}
	return out
}

const longURI = 1 << 10

// locations are the places in the order of their files and positions, at most so many
// of the total.
func (s sourceLines) locations(all []language.Location, most int) (places []codeLocation, total int) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, compareLocations)
	all = slices.CompactFunc(all, func(a, b language.Location) bool { return compareLocations(a, b) == 0 })
	for _, l := range all[:min(len(all), most)] {
		places = append(places, s.location(l))
	}
	return places, len(all)
}

// compareLocations puts what is in the workspace first.
func compareLocations(a, b language.Location) int {
	return cmp.Or(outsideLast(a.Path, b.Path), strings.Compare(nameOfLocation(a), nameOfLocation(b)), a.Range.Compare(b.Range))
}

func outsideLast(a, b workspace.Path) int {
	switch {
	case a.IsZero() == b.IsZero():
		return 0
	case a.IsZero():
		return 1
	}
	return -1
}

func nameOfLocation(l language.Location) string {
	if l.Path.IsZero() {
		return l.URI
	}
	return l.Path.String()
}
