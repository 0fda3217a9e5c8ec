package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/dialects"
	"pillion/tools/found"
	"pillion/tools/policy"
	"pillion/tools/schema"
	"pillion/workspace/document"
)

// Origin is where a tool comes from that was found.
type Origin struct {
	Kind   found.Kind `json:"kind"`
	Server string     `json:"server"`           // its alias, or the setting that it comes from
	Claims []string   `json:"claims,omitempty"` // what it says of itself, which nobody has proved
	// Definition is another one whenever what the program declares is.
	Definition string `json:"definition"`

	from, place string // whose settings name it, and the program or address behind it, for people
}

// Reserved are the names that no tool can have which is found.
func Reserved() (names []string) {
	for name := range catalogue {
		names = append(names, name)
	}
	for _, name := range dialects.Names() {
		d, _ := dialects.Find(name)
		for _, t := range d.Tools {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isFoundAccess says whether a found tool can be given the class.
func isFoundAccess(class string) bool {
	return slices.Contains([]policy.Access{policy.Read, policy.Network, policy.Exec}, policy.Access(class))
}

// resolve finds the tool of a call, for which a program may have to be started. What was
// resolved stays what it is.
func (r *Registry) resolve(ctx context.Context, c *Call) {
	c.Name = canonical(c.Name)
	if c.tool.Name != "" || c.refused != nil {
		return
	}
	if t, ok := catalogue[c.Name]; ok {
		if t.PartOf == "" || c.Session.Parent() != nil {
			c.tool = t
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.callTime(*c))
	defer cancel()
	t, ok, err := r.Found.Find(ctx, c.Name)
	switch {
	case ok:
		c.tool, c.Name = foundTool(t), t.Name
	case err != nil:
		c.refused = err
	}
}

// foundDefinitions are the found tools, those that are named in allowed.
func (r *Registry) foundDefinitions(allowed []string) (out []Definition, notes []found.Note) {
	all, notes := r.Found.List(context.Background())
	for _, t := range all {
		if allowed == nil || slices.Contains(allowed, t.Name) {
			out = append(out, foundTool(t).Definition())
		}
	}
	return out, notes
}

// foundResult is the result of every found tool.
type foundResult struct {
	Source     string          `json:"source"`
	Output     string          `json:"output"`               // the texts of the result
	Structured json.RawMessage `json:"structured,omitempty"` // what the server gave as structuredContent
	ExitCode   *int            `json:"exit_code,omitempty"`
	Truncated  bool            `json:"truncated"`
}

// foundShape is foundResult for a schema: a server's structure can be any object.
type foundShape struct {
	Source     string         `json:"source"`
	Output     string         `json:"output"`
	Structured map[string]any `json:"structured,omitempty"`
	ExitCode   *int           `json:"exit_code,omitempty"`
	Truncated  bool           `json:"truncated"`
}

// foundTool makes a tool of one that was found. It is of class exec until the user says
// otherwise, whatever it says itself.
func foundTool(f found.Tool) Tool {
	access := policy.Exec
	if isFoundAccess(f.Access) {
		access = policy.Access(f.Access)
	}
	spec := Spec{
		Name: f.Name, Title: f.Title + " (" + f.From() + ")", Description: f.Description, Results: []any{foundShape{}},
		OpenWorld: true, Destructive: access != policy.Read, Idempotent: access == policy.Read,
	}
	return Tool{
		Spec: spec, Access: access, origin: &Origin{f.Source.Kind, f.From(), f.Claims, f.Definition, f.Source.Origin, f.Source.Place()},
		schema: func() *jsonschema.Schema {
			var s jsonschema.Schema
			_ = json.Unmarshal(f.Schema, &s) //nolint:errcheck // it was made here
			return &s
		},
		output: func() json.RawMessage { return mustMarshal(resultSchema(spec, access)) },
		plan: func(_ context.Context, in Input, raw json.RawMessage) (Plan, error) {
			return planFound(f, in, raw)
		},
	}
}

// free is the schema of any object: it is for what every call's arguments are held to.
var free = func() *jsonschema.Schema {
	any := &jsonschema.Schema{}
	any.Items, any.AdditionalProperties = any, any
	return &jsonschema.Schema{Type: "object", AdditionalProperties: any}
}()

// foundArguments checks arguments, and gives them with their numbers as they were written.
func foundArguments(f found.Tool, raw json.RawMessage) (map[string]any, error) {
	arguments, exact := map[string]any{}, map[string]any{}
	if err := schema.Decode(free, raw, &arguments); err != nil {
		return nil, err
	}
	if err := decodeNumbers(raw, &exact); err != nil {
		return nil, err
	}
	if exact == nil { // they were null
		exact = map[string]any{}
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(f.Schema, &s); err != nil {
		return nil, err
	}
	for key := range s.Properties {
		s.PropertyOrder = append(s.PropertyOrder, key)
	}
	slices.Sort(s.PropertyOrder)
	for key, value := range arguments {
		if value == nil && !slices.Contains(s.Required, key) && s.Properties[key] != nil {
			if f.Check(arguments) != nil {
				delete(arguments, key) // as many models leave an argument out
				delete(exact, key)
			}
			continue
		}
		if f.Closed && s.Properties[key] == nil {
			if _, err := schema.Property(&s, key, ""); err != nil {
				return nil, err
			}
		}
	}
	if err := f.Check(arguments); err != nil {
		return nil, fault.Invalid("the arguments do not fit what %s declares: %s", f.Name, fault.Line(fault.Clip(err.Error(), 500))).
			WithHint("tools/list has the schema")
	}
	return exact, nil
}

// decodeNumbers reads what decode has accepted, without rounding large numbers.
func decodeNumbers(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

func planFound(declared found.Tool, in Input, raw json.RawMessage) (*Action, error) {
	f := declared
	arguments, err := foundArguments(f, raw)
	if err != nil {
		return nil, err
	}
	if f.Source.URL == "" {
		f.Definition = withScripts(f, in.Snapshot)
	}
	sent := mustMarshal(arguments)
	a := &Action{
		Title:      "Call " + f.Name,
		Preview:    foundPreview(f, arguments),
		Definition: "definition:" + f.Definition,
		Run: func(ctx context.Context, effects Effects) (*Answer, error) {
			got, err := effects.Found(ctx, declared, sent, int(in.Limits.OutputBytes))
			if err != nil {
				return nil, err
			}
			return foundAnswer(f, got), nil
		},
	}
	a.Description = "Calls a tool of the program " + fault.Quote(f.From()) + ", which is not Pillion's. What it does there, Pillion cannot see or revert."
	return a, nil
}

// withScripts has the plan rest on the files that the line of the tool's program names, and gives a definition
// that changes with them where each call runs them.
func withScripts(f found.Tool, snapshot *document.Snapshot) string {
	dir, err := snapshot.Workspace().ResolveDir(f.Source.Dir)
	if err != nil {
		return f.Definition // nothing is named from there
	}
	restOnScripts(snapshot, dir, policy.ReadCommand(f.Source.Place()))
	var scripts []string
	for p, state := range snapshot.Rests() {
		if p.Exists() {
			scripts = append(scripts, p.Abs()+state)
		}
	}
	if f.Source.Kind != found.Command || len(scripts) == 0 {
		return f.Definition
	}
	slices.Sort(scripts)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s%q", f.Definition, scripts))
	return hex.EncodeToString(sum[:16])
}

// foundPreview shows the arguments as a whole, and who gets them.
func foundPreview(f found.Tool, arguments map[string]any) approval.Preview {
	names := make([]string, 0, len(arguments))
	for name := range arguments {
		names = append(names, name)
	}
	slices.Sort(names)
	p := approval.Preview{Kind: "text", Deed: "call " + f.Name, Question: "Call a tool of another program?", Lines: []string{}}
	for _, name := range names {
		p.Lines = append(p.Lines, foundLines(name, arguments[name])...)
	}
	if len(names) == 0 {
		p.Lines = []string{"(no arguments)"}
	}
	place := "Command"
	if f.Source.URL != "" {
		place = "Address"
	}
	p.Facts = []approval.Fact{
		approval.NewFact("source", "Tool of", f.From()+", from "+f.Source.Origin),
		approval.NewFact("place", place, f.Source.Place()),
	}
	if !strings.HasSuffix(f.Name, f.Own) {
		p.Facts = append(p.Facts, approval.NewFact("tool", "Its own name", f.Own))
	}
	if f.Description != "" {
		p.Facts = append(p.Facts, approval.NewFact("described", "Description", fault.Clip(f.Description, 300)))
	}
	if len(f.Claims) > 0 {
		p.Facts = append(p.Facts, approval.NewFact("claims", "Its claim", "the server says that it "+claimed(f.Claims)))
	}
	definition := approval.NewFact("definition", "Definition", f.Definition)
	definition.Tone = approval.Muted
	p.Facts = append(p.Facts, definition)
	return p
}

// spreadAt is how long a value may be that stands in one line.
const spreadAt = 80

// foundLines is an argument for people. The lines of a text are indented, so that none can
// pass for something that is said here.
func foundLines(name string, v any) []string {
	text, is := v.(string)
	if !is {
		text = string(mustMarshal(v))
	}
	if !is && len(text) > spreadAt {
		var spread bytes.Buffer
		_ = json.Indent(&spread, []byte(text), "", "  ") //nolint:errcheck // it was made here
		text = spread.String()
	}
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		return []string{fault.Line(name) + ": " + fault.Line(text)}
	}
	out := []string{fault.Line(name) + ":"}
	for _, line := range lines {
		out = append(out, "    "+fault.Line(line))
	}
	return out
}

func foundAnswer(f found.Tool, got found.Result) *Answer {
	var texts []string
	a := &Answer{}
	for _, p := range got.Parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
			continue
		}
		a.Media = append(a.Media, Part{Type: p.Type, Data: p.Data, MIMEType: p.MIMEType})
	}
	a.Text = strings.Join(texts, "\n")
	a.Result = foundResult{Source: f.From(), Output: a.Text, Structured: got.Structured, ExitCode: got.ExitCode, Truncated: got.Left > 0 || got.Cut}
	a.Summary = fmt.Sprintf("%s characters", Grouped(len([]rune(a.Text))))
	a.Display = &Display{Kind: "markdown", Text: fenced(a.Text)}
	if got.Left > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("(cut: %s bytes of the result are left out, it has more than this call may have; ask for less at a time)", Grouped(got.Left)))
	}
	if got.Failed {
		said := a.Text
		if said == "" {
			said = "it did not say why"
		}
		a.Err = fault.New(fault.ExecutionFailed, "%s failed: %s", f.Name, fault.Clip(said, 4000))
		a.Text = ""
	}
	return a
}

// fenced is a text in which nothing is markup.
func fenced(text string) string {
	return "    " + strings.ReplaceAll(fault.Escape(text), "\n", "\n    ")
}

// callTime is how long the call may take, as far as is known before it is planned.
func (r *Registry) callTime(c Call) time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return r.Settings().Limits.CallTime
}

// callFound makes the call, within the time that the call, the source or the settings give it.
func (p *pending) callFound(ctx context.Context, t found.Tool, arguments json.RawMessage, most int) (found.Result, error) {
	limit := p.timeout()
	if p.call.Timeout == 0 && t.Source.Timeout > 0 {
		limit = t.Source.Timeout
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	got, err := p.registry.Found.Call(within, t, arguments, most)
	if within.Err() != nil && ctx.Err() == nil && err != nil {
		return got, fault.New(fault.Timeout, "%s did not answer within %s; what it did until then is not known", t.Name, limit).
			WithHint("ask for less, or ask the user to raise its timeout in the settings")
	}
	return got, err
}
