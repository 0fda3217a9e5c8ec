package page

import (
	"math"
	"strings"

	"pillion/internal/fault"
	"pillion/terminal"
	"pillion/tools/approval"
)

// view is a request as the page shows it: texts in which everything invisible has been
// made visible.
type view struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`

	Who       string   `json:"who"`
	Title     string   `json:"title"`
	Reasons   []string `json:"reasons"`
	Changed   bool     `json:"changed"`   // since it was first shown
	Invisible bool     `json:"invisible"` // something had to be made visible
	Files     []file   `json:"files"`
	Command   string   `json:"command"`
	Where     string   `json:"where"` // the command's folder and sandbox
	Parts     []part   `json:"parts"` // of the command, with why each asks
	Notes     []string `json:"notes"` // what the command writes, and does not see
	Facts     []fact   `json:"facts"`
	Text      string   `json:"text"`
	Diff      []row    `json:"diff"`
	Choices   []choice `json:"choices"`

	// Of a question:
	Message string   `json:"message"`
	Actions []string `json:"actions"`
}

type file struct {
	Head string `json:"head"`
	Note string `json:"note"`
	Rows []row  `json:"rows"`
}

// row is a line of a diff.
type row struct {
	Kind string `json:"kind"` // add, del, hunk, head or ""
	Text string `json:"text"`
}

type part struct {
	Words string `json:"words"`
	Why   string `json:"why"`
}

type fact struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"`
	Notable bool     `json:"notable"`
}

// choice is a way to say yes, with the rule that it keeps.
type choice struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Rule  string `json:"rule"`
}

func viewOf(r approval.Request) view {
	v := view{ID: r.ApprovalID, Digest: r.Digest, Who: fault.Quote(r.Agent.Name), Title: fault.Escape(r.Title)}
	for _, reason := range r.Reasons {
		v.Reasons = append(v.Reasons, fault.Escape(reason))
	}
	for _, d := range r.Decisions {
		if d.ID != approval.RejectID {
			v.Choices = append(v.Choices, choice{d.ID, fault.Escape(d.Title), fault.Escape(d.Rule)})
		}
	}
	v.preview(r.Preview)
	return v
}

func (v *view) preview(p approval.Preview) {
	switch p.Kind {
	case "diff":
		for _, f := range p.Files {
			shown := file{Head: terminal.Style{}.FileHead(f), Rows: v.rows(terminal.HunksOf(f.Diff))}
			if f.Dirty {
				shown.Note = "This file has unsaved changes in the editor; they stay, and it stays unsaved."
			}
			v.Files = append(v.Files, shown)
		}
	case "command":
		v.Command, v.Where = v.visible(p.Command), terminal.Where(p)
		for _, c := range p.Parts {
			v.Parts = append(v.Parts, part{fault.Line(strings.Join(c.Argv, " ")), fault.Escape(c.Why)})
		}
		for _, path := range p.Writes {
			v.Notes = append(v.Notes, "writes "+fault.Quote(path))
		}
		for _, path := range p.Unsaved {
			v.Notes = append(v.Notes, "does not see what is unsaved in "+fault.Quote(path))
		}
	default:
		v.text(p)
	}
}

// text is a text, laid out where it comes in parts.
func (v *view) text(p approval.Preview) {
	if len(p.Facts) == 0 {
		v.Text = approval.PlainPreview(p, math.MaxInt)
		return
	}
	v.Text = v.visible(p.Message)
	for _, f := range p.Facts {
		shown := fact{Name: fault.Escape(f.Name), Notable: f.Notable}
		for _, value := range f.Values {
			shown.Values = append(shown.Values, fault.Escape(value))
		}
		v.Facts = append(v.Facts, shown)
	}
	v.Diff = v.rows(p.Diff)
}

func (v *view) rows(diff string) []row {
	lines, inHunk := terminal.SplitDiff(diff)
	out := make([]row, len(lines))
	for i, text := range lines {
		out[i] = row{kindOf(text, inHunk[i]), v.visible(text)}
	}
	return out
}

func kindOf(line string, inHunk bool) string {
	switch {
	case strings.HasPrefix(line, "@@"):
		return "hunk"
	case !inHunk:
		return "head"
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return ""
}

// visible is the text with all of it visible, which is remembered where it was not.
func (v *view) visible(text string) string {
	shown := fault.Escape(text)
	v.Invisible = v.Invisible || shown != text
	return shown
}
