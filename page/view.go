package page

import (
	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/workspace/diff"
)

// view is a request as the page shows it: texts in which everything invisible has been
// made visible.
type view struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`

	Who     string            `json:"who"`
	Title   string            `json:"title"`
	Reasons []approval.Reason `json:"reasons"`
	Changed bool              `json:"changed"` // since it was first shown
	Files   []file            `json:"files"`
	Command bool              `json:"command"` // Lines are a command
	Lines   []string          `json:"lines"`
	Facts   []approval.Fact   `json:"facts"`
	Diff    []row             `json:"diff"`
	Notices []string          `json:"notices"`
	Choices []choice          `json:"choices"`

	// Of a question:
	Message string   `json:"message"`
	Actions []string `json:"actions"`
}

type file struct {
	Name      string          `json:"name"`
	Summary   string          `json:"summary"`
	Additions int             `json:"additions"`
	Deletions int             `json:"deletions"`
	Facts     []approval.Fact `json:"facts"`
	Rows      []row           `json:"rows"`
}

// row is a line of a diff, in parts.
type row struct {
	Kind  string `json:"kind"` // add, del, hunk, head or ""
	Parts []part `json:"parts"`
}

type part struct {
	Text   string `json:"text"`
	Marked bool   `json:"marked"` // it is what changed within the line
}

// choice is a way to approve, with the rule that it keeps.
type choice struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Rule  string `json:"rule"`
}

// viewOf is a composed request as the page has it.
func viewOf(r approval.Request) view {
	p := r.Preview
	v := view{
		ID: r.ApprovalID, Digest: r.Digest, Who: fault.Quote(r.Agent.Name), Title: fault.Escape(r.Title), Reasons: approval.Particular(r.Reasons),
		Command: p.Kind == "command", Lines: p.Lines, Facts: p.OwnFacts(), Diff: rows(diff.Rows(p.Diff)), Notices: p.Notices,
	}
	for _, d := range r.Decisions {
		if d.ID != approval.RejectID {
			v.Choices = append(v.Choices, choice{d.ID, fault.Escape(d.Title), fault.Escape(d.Rule)})
		}
	}
	for _, f := range p.Files {
		shown := file{Name: f.Name, Summary: f.Summary, Additions: f.Additions, Deletions: f.Deletions, Facts: f.Facts}
		if f.Text {
			shown.Rows = rows(diff.HunkRows(f.Diff))
		}
		v.Files = append(v.Files, shown)
	}
	return v
}

var kinds = map[diff.RowKind]string{diff.Added: "add", diff.Deleted: "del", diff.HunkHead: "hunk", diff.FileHead: "head"}

func rows(lines []diff.Row) []row {
	out := []row{}
	for _, r := range lines {
		shown := row{Kind: kinds[r.Kind], Parts: []part{}}
		for _, p := range r.Parts() {
			shown.Parts = append(shown.Parts, part{fault.Escape(p.Text), p.Marked})
		}
		out = append(out, shown)
	}
	return out
}
