package code

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/language"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "lsp_definition",
	Title:       "Go to definition",
	Description: "Finds where the name at a position is defined, in libraries too. More exact than search_in_project.",
	Results:     []any{definitionResult{}, askedAbout{}},
}, planDefinition))

type definitionResult struct {
	Location  *codeLocation  `json:"location"` // null: there is none
	Locations []codeLocation `json:"locations,omitempty"`
	tools.AnsweredBy
}

func planDefinition(ctx context.Context, in tools.Input, args placeArgs) (*tools.Answer, error) {
	q, refused, err := args.question(in)
	if refused != nil || err != nil {
		return refused, err
	}
	found, by, err := q.ask.Definition(ctx, in.Snapshot, q.file.Path, q.at)
	if err != nil {
		return q.failed(by, err), nil
	}
	a := definitionAnswer(in, q, found, by)
	a.Reads = []workspace.Path{q.file.Path}
	return a, nil
}

// mostDefinitions bounds the places that a name may be defined at.
const mostDefinitions = 50

func definitionAnswer(in tools.Input, q question, found []language.Location, by language.Server) *tools.Answer {
	r := definitionResult{AnsweredBy: tools.Answered(by)}
	places, _ := newSourceLines(in).locations(found, mostDefinitions)
	word := fault.Quote(q.file.word(q.at))
	if len(places) == 0 {
		return &tools.Answer{Result: r, Text: q.nothing(r.AnsweredBy, "definition"), Summary: "no definition of " + word}
	}
	r.Location = &places[0]
	a := &tools.Answer{Summary: fmt.Sprintf("%s is at %s", word, tools.PlaceIn(places[0].name(), places[0].Range.Start))}
	texts := []string{fmt.Sprintf("%s is defined here (%s; line and character are counted from 0):", word, r.AnsweredBy)}
	if len(places) > 1 {
		r.Locations = slices.Clone(places)
		texts[0] = fmt.Sprintf("%s is defined at %s (%s; line and character are counted from 0):", word, tools.Count(len(places), "place"), r.AnsweredBy)
	}
	for _, l := range places {
		texts = append(texts, l.text())
	}
	a.Result, a.Text = r, strings.Join(texts, "\n")
	q.showKeys(in, a, places)
	return a
}
