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

// definedReadably says why what a server knows of a name is not shown: it has the text of where that is defined, values
// and documentation, and may lie in a file that nobody agreed to have read.
func (q question) definedReadably(ctx context.Context, in tools.Input) error {
	found, _, err := q.ask.Definition(ctx, in.Snapshot, q.file.Path, q.at)
	if err != nil && fault.CodeOf(err) != fault.LSPUnavailable { // a server that looks up no definitions takes nothing from them either
		return err
	}
	for _, l := range found {
		if l.Path.IsZero() || l.Path == q.file.Path {
			continue // reading that one is asked for
		}
		if err := in.CheckReadable(l.Path); err != nil {
			return err
		}
	}
	return nil
}

func planHover(ctx context.Context, in tools.Input, args placeArgs) (*tools.Answer, error) {
	q, refused, err := args.question(in)
	if refused != nil || err != nil {
		return refused, err
	}
	contents, by, err := q.ask.Hover(ctx, in.Snapshot, q.file.Path, q.at)
	if err != nil {
		return q.failed(by, err), nil
	}
	if strings.TrimSpace(contents) != "" {
		if err := q.definedReadably(ctx, in); err != nil {
			return q.failed(by, err), nil
		}
	}
	r := hoverResult{fault.Clip(strings.TrimSpace(contents), longHover), tools.Answered(by)}
	a := &tools.Answer{Result: r, Text: fault.Escape(r.Contents), Reads: []workspace.Path{q.file.Path}}
	a.Summary = fmt.Sprintf("%s in %s", fault.Quote(q.file.word(q.at)), q.file.at(q.at))
	if r.Contents == "" {
		a.Text = q.nothing(r.AnsweredBy, "description")
	}
	return a, nil
}
