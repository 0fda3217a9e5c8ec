package approval

import (
	"cmp"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// Compose is the request with everything that a dialog says of it. It is said here alone:
// editors, terminals, pages and forms paint it.
func (r Request) Compose() Request {
	p := &r.Preview
	r.show()
	switch p.Kind {
	case "diff", "review":
		r.composeFiles()
	case "command":
		r.composeCommand()
	case "url":
		p.Subject, p.Act, p.Question = visible(p.URL), "fetch a web address", "Fetch a web address?"
		p.Deed, p.Lines = "fetch "+p.Subject, []string{p.Subject}
		r.add(host(p.URL))
	case "plan":
		p.Act, p.Deed, p.Question, p.Lines = "carry out a plan", "carry out a plan", "Carry out this plan?", visibleLines(p.Markdown)
	default:
		r.composeText()
	}
	if p.Kind != "command" {
		r.add(r.reasons())
	}
	r.add(NewFact("agent", "Asked by", visible(r.Agent.Name)+via[r.Agent.Via]))
	r.composeDecisions()
	p.Notices = p.notices()
	if p.Facts == nil {
		p.Facts = []Fact{}
	}
	return r
}

// show has nothing invisible in what tools and policy say of the request.
func (r *Request) show() {
	r.Reasons = slices.Clone(r.Reasons)
	for i := range r.Reasons {
		r.Reasons[i].Text = visible(r.Reasons[i].Text)
	}
	r.Preview.Deed, r.Preview.Facts = visible(r.Preview.Deed), slices.Clone(r.Preview.Facts)
	for i, f := range r.Preview.Facts {
		f.Text, f.Items = visible(f.Text), visibleAll(f.Items)
		r.Preview.Facts[i] = f
	}
}

var via = map[string]string{"mcp": ", over MCP", "editor": ", in this editor", "terminal": ", in a terminal", "gateway": ", through a gateway", "task": ", a sub-agent"}

// host is what an address is easily mistaken in.
func host(address string) Fact {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return Fact{}
	}
	return NewFact("host", "Host", visible(u.Host))
}

func (r *Request) composeText() {
	p := &r.Preview
	if p.Deed == "" {
		p.Deed = "use " + visible(r.Tool)
	}
	p.Act = p.Deed
	if p.Question == "" {
		p.Question = "Allow this?"
	}
	switch {
	case p.Message != "":
		p.Lines = visibleLines(strings.TrimRight(p.Message, "\r\n"))
	case len(p.Lines) > 0:
		p.Lines = visibleAll(p.Lines)
	case len(p.Facts) == 0:
		p.Lines = visibleLines(strings.TrimRight(p.Markdown, "\n"))
	}
	p.unsaved()
	if p.Markdown == "" {
		p.Markdown = "    " + strings.ReplaceAll(strings.TrimRight(p.Text(), "\n"), "\n", "\n    ") + "\n" // a block of code: nothing in it is markup
	}
}

// unsaved warns of text that what is asked for would not see.
func (p *Preview) unsaved() {
	if len(p.Unsaved) == 0 {
		return
	}
	f := NewFact("unsaved", "Unsaved changes not included", visibleAll(p.Unsaved)...)
	f.Tone, f.Action = Warning, ActionSave
	p.Facts = append(p.Facts, f)
}

// add adds a fact that says something.
func (r *Request) add(f Fact) {
	if f.Text != "" || len(f.Items) > 0 {
		r.Preview.Facts = append(r.Preview.Facts, f)
	}
}

// reasons are why this very call asks: not what is so of every call of the tool, nor what a
// fact of its own says.
func (r Request) reasons() Fact {
	var out []string
	for _, reason := range Particular(r.Reasons) {
		switch reason.Code {
		case ReasonEnvironment, ReasonInput, reasonUnsaved:
			continue
		}
		if !slices.Contains(out, reason.Text) {
			out = append(out, reason.Text)
		}
	}
	return NewFact("reasons", "Asks because", out...)
}

// Particular are the reasons why this very call asks: that the tool asks before every call
// helps nobody.
func Particular(reasons []Reason) []Reason {
	return slices.DeleteFunc(slices.Clone(reasons), func(r Reason) bool { return r.Code == ReasonClass })
}

// particulars are why this very call asks, in a line.
func (r Request) particulars() string {
	var out []string
	for _, reason := range Particular(r.Reasons) {
		if reason.Code != reasonMerged {
			out = append(out, reason.Text)
		}
	}
	return strings.Join(out, "; ")
}

// FactEdited is the code of the fact that the user wrote this version.
const FactEdited = "edited"

// saysNew reports whether a composed request says something that the one before it did not.
// The command, the text of a file, the message and what repeats them are the user's own words;
// what it does is less when it is the beginning of what was said.
func (r Request) saysNew(before Request) bool {
	is, was := r.Preview, before.Preview
	adds := func(facts, known []Fact) bool {
		return slices.ContainsFunc(facts, func(f Fact) bool {
			return f.Code != FactEdited && !slices.ContainsFunc(known, func(k Fact) bool { return reflect.DeepEqual(f, k) })
		})
	}
	return is.Kind != was.Kind || !strings.HasPrefix(was.Act, is.Act) || is.URL != was.URL ||
		!slices.Equal(is.Notices, was.Notices) || adds(is.Facts, was.Facts) ||
		slices.ContainsFunc(is.Files, func(f File) bool {
			return !slices.ContainsFunc(was.Files, func(k File) bool {
				return k.Path == f.Path && k.To == f.To && k.Operation == f.Operation && !adds(f.Facts, k.Facts)
			})
		})
}

// composeDecisions says what comes of each decision.
func (r *Request) composeDecisions() {
	once, no := "once", "the agent goes on without it"
	switch kind := r.Preview.Kind; {
	case r.Preview.Draft:
		once, no = "what you selected is in the workspace then; the rest stays in the draft", "nothing is applied, and all of it stays in the draft"
	case kind == "plan":
		once, no = "the agent leaves plan mode and starts", "the agent stays in plan mode"
	case kind == "review":
		once, no = "the agent gets the hunks that you selected; no file changes", "the agent gets nothing and goes on"
	}
	r.Decisions = slices.Clone(r.Decisions)
	for i := range r.Decisions {
		d := &r.Decisions[i]
		switch {
		case d.ID == RejectID:
			d.Meaning = no
			continue
		case d.ID == ApproveID:
			d.Title = r.Preview.yes()
		}
		switch {
		case d.Meaning != "": // the tool knows better
		case d.Scope == Turn:
			d.Meaning = "until this turn of the agent ends, without asking"
		case d.Scope == Session:
			d.Meaning = "for this session, without asking"
		case d.Scope == Workspace:
			d.Meaning = "always in this workspace, without asking"
		default:
			d.Meaning = once
		}
	}
}

// yes is the button that approves: it says what happens then. Of a change to files, which
// may be part of it or edited first, it is the word for any request.
func (p Preview) yes() string {
	verb, _, _ := strings.Cut(p.Deed, " ")
	switch {
	case p.Draft:
		return "Apply"
	case p.Kind == "command":
		return "Run"
	case p.Kind == "plan":
		return "Start"
	case p.Kind == "review":
		return "Send to Agent"
	case p.Kind != "diff" || verb == "delete":
		return cmp.Or(map[string]string{"commit": "Commit", "push": "Push", "delete": "Delete", "fetch": "Fetch", "read": "Read"}[verb], yes)
	}
	return yes
}

const yes = "Approve"

// notices warn of characters that are not what they seem.
func (p Preview) notices() []string {
	text := p.Command + p.Message + p.URL
	if p.Kind == "plan" {
		text += p.Markdown
	}
	for _, f := range p.Files {
		text += strings.ReplaceAll(f.Diff, "\r\n", "\n")
	}
	if fault.Escape(text) == text {
		return nil
	}
	return []string{`Invisible characters are written as escapes, such as \u200b.`}
}

// visible is one line in which everything can be seen.
func visible(text string) string { return strings.ReplaceAll(fault.Line(text), "\t", `\t`) }

func visibleLines(text string) []string { return visibleAll(strings.Split(text, "\n")) }

func visibleAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = visible(text)
	}
	return out
}

func count(n int, noun string) string { return fault.Plural(n, noun, noun+"s") }
