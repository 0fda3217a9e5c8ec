package code

import (
	"context"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "lsp_references",
	Title:       "Find references",
	Description: "Finds all uses of the name at a position. More exact than search_in_project.",
	Results:     []any{referencesResult{}, askedAbout{}},
}, planReferences))

type referencesArgs struct {
	placeArgs
	IncludeDeclaration *bool `json:"include_declaration,omitempty" default:"true"`
}

type reference struct {
	codeLocation
	Text string `json:"text"` // the line
}

type referencesResult struct {
	References []reference `json:"references"`
	Count      int         `json:"count"` // of all, also of those left out
	Truncated  bool        `json:"truncated"`
	tools.AnsweredBy
}

// mostReferences is how many places a result has.
const mostReferences = 200

func planReferences(ctx context.Context, in tools.Input, args referencesArgs) (*tools.Answer, error) {
	q, refused, err := args.question(in)
	if refused != nil || err != nil {
		return refused, err
	}
	declaration := args.IncludeDeclaration == nil || *args.IncludeDeclaration
	found, by, err := q.ask.References(ctx, in.Snapshot, q.file.Path, q.at, declaration)
	if err != nil {
		return q.failed(by, err), nil
	}
	places, total := newSourceLines(in).locations(found, mostReferences)
	r := referencesResult{References: []reference{}, Count: total, Truncated: total > len(places), AnsweredBy: tools.Answered(by)}
	word := fault.Quote(q.file.word(q.at))
	a := &tools.Answer{Reads: []workspace.Path{q.file.Path}, Summary: fmt.Sprintf("%s to %s", tools.Count(total, "reference"), word)}
	texts := []string{fmt.Sprintf("%s to %s (%s; line and character are counted from 0):", tools.Count(total, "reference"), word, r.AnsweredBy)}
	for _, l := range places {
		line := l.Excerpt
		l.Excerpt = ""
		r.References = append(r.References, reference{l, line})
		first, _, _ := strings.Cut(line, "\n")
		texts = append(texts, fault.Escape(strings.TrimRight(tools.PlaceIn(l.name(), l.Range.Start)+": "+strings.TrimSpace(first), " ")))
	}
	a.Result, a.Text = r, strings.Join(texts, "\n")
	if total == 0 {
		a.Text = q.nothing(r.AnsweredBy, "reference")
	}
	q.showKeys(in, a, places)
	if r.Truncated {
		a.Notes = append(a.Notes, fmt.Sprintf("(the first %d of %d)", len(places), total))
	}
	return a, nil
}
