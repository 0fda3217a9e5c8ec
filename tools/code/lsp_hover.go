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
	Name:        "lsp_hover",
	Title:       "Look up a name",
	Description: "Shows type, signature and documentation of the name at a position.",
	Results:     []any{hoverResult{}, askedAbout{}},
}, planHover))

type hoverResult struct {
	Contents string `json:"contents"`
	tools.AnsweredBy
}

// longHover bounds what a server says of a name, in bytes.
const longHover = 20 << 10

func planHover(ctx context.Context, in tools.Input, args placeArgs) (*tools.Answer, error) {
	q, refused, err := args.question(in)
	if refused != nil || err != nil {
		return refused, err
	}
	contents, by, err := q.ask.Hover(ctx, in.Snapshot, q.file.Path, q.at)
	if err != nil {
		return q.failed(by, err), nil
	}
	r := hoverResult{fault.Clip(strings.TrimSpace(contents), longHover), tools.Answered(by)}
	a := &tools.Answer{Result: r, Text: fault.Escape(r.Contents), Reads: []workspace.Path{q.file.Path}}
	a.Summary = fmt.Sprintf("%s in %s", fault.Quote(q.file.word(q.at)), q.file.at(q.at))
	if r.Contents == "" {
		a.Text = q.nothing(r.AnsweredBy, "description")
	}
	return a, nil
}
