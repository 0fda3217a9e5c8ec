package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/bug"
	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools/policy"
	"pillion/tools/schema"
	"pillion/workspace/change"
)

// Result is a call's answer on every wire.
type Result struct {
	Content    []Part
	Structured json.RawMessage // an object with "ok"
	IsError    bool
	Display    *Display
	Err        *fault.Error // nil when Structured says ok
	// Deed: the tool does more than read. On a wire that has no room for the result it is
	// shortened: what was done never becomes a failure.
	Deed bool
}

// Part is one piece of what the model reads, as in MCP.
type Part struct {
	Type     string `json:"type"` // text, image or audio
	Text     string `json:"text,omitempty"`
	Data     string `json:"data,omitempty"` // base64
	MIMEType string `json:"mimeType,omitempty"`
	// Shared is where the result's Structured has the same text, as a JSON string;
	// nil if it has not, or it is too short to matter.
	Shared *Span `json:"-"`
}

// Span is the bytes from From up to To.
type Span struct{ From, To int }

// Display is what people see of a result.
type Display struct {
	Kind     string          `json:"kind"` // markdown, diff or command
	Text     string          `json:"text,omitempty"`
	Files    []DisplayedFile `json:"files,omitempty"`
	Command  string          `json:"command,omitempty"`
	ExitCode *int            `json:"exitCode,omitempty"`
	Stdout   string          `json:"stdout,omitempty"`
	Stderr   string          `json:"stderr,omitempty"`
}

// DisplayedFile is what became of one file: as in a preview, but of a large one the
// diff has to do.
type DisplayedFile struct {
	change.FilePreview
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}

// displayedWhole bounds the two texts of a file that is displayed.
const displayedWhole = 32 << 10

// DisplayDiff shows people what became of files, each with its diff.
func DisplayDiff(files ...change.FilePreview) *Display {
	d := &Display{Kind: "diff"}
	for _, f := range files {
		shown := DisplayedFile{FilePreview: f}
		if len(f.Before)+len(f.After) <= displayedWhole {
			shown.Before, shown.After = &f.Before, &f.After
		}
		d.Files = append(d.Files, shown)
	}
	return d
}

// Cancelled reports that the call ended because its caller gave up.
func (r Result) Cancelled() bool { return r.Err != nil && r.Err.Code == fault.Cancelled }

// MarshalJSON gives the wire form in one piece.
func (r Result) MarshalJSON() ([]byte, error) { return bytes.Join(r.Pieces(), nil), nil }

// Pieces gives the wire form, in pieces that make it together. A text that is
// there twice is one piece, twice in the list: a large one is escaped once, never
// parsed again and never moved, which is most of the time that a big read takes.
func (r Result) Pieces() [][]byte {
	out, text := contentPieces(r.Content, r.Structured, false)
	out = append(out, append(text, StructuredKey...), r.Structured)
	text = fmt.Appendf(nil, `,"isError":%t`, r.IsError)
	if r.Display != nil {
		text = append(text, `,"display":`...)
		text = append(text, mustMarshal(r.Display)...)
	}
	return append(out, append(text, '}'))
}

// ContentPieces gives the wire form without structuredContent and without what is for
// people: all that a model reads.
//
// Texts that follow each other are one: there are agents that cut the second off.
func (r Result) ContentPieces() [][]byte {
	out, text := contentPieces(r.Content, r.Structured, true)
	return append(out, fmt.Appendf(text, `,"isError":%t}`, r.IsError))
}

// StructuredKey is what leads to Structured in the wire form.
const StructuredKey = `,"structuredContent":`

// contentPieces is the wire form up to the end of content, with texts that follow each other as
// one if they are joined. The last of it, text, can be appended to.
func contentPieces(parts []Part, structured []byte, joined bool) (out [][]byte, text []byte) {
	text = []byte(`{"content":[`)
	for i, p := range parts {
		goesOn := joined && i > 0 && p.Type == "text" && parts[i-1].Type == "text"
		if i > 0 && !goesOn {
			text = append(text, ',')
		}
		if p.Type != "text" {
			text = p.AppendJSON(text)
			continue
		}
		var piece []byte
		if p.Shared != nil {
			piece = structured[p.Shared.From:p.Shared.To]
		} else {
			piece = wire.AppendString(nil, p.Text)
		}
		if goesOn {
			text = text[:len(text)-len(`"}`)] // which ended the text before
			if before := parts[i-1].Text; before != "" && !strings.HasSuffix(before, "\n") {
				text = append(text, `\n`...)
			}
		} else {
			text = append(text, `{"type":"text","text":"`...)
		}
		out = append(out, text, piece[1:len(piece)-1])
		text = []byte(`"}`)
	}
	return out, append(text, ']')
}

// AppendJSON appends the part's wire form.
func (p Part) AppendJSON(dst []byte) []byte {
	if p.Type == "text" {
		dst = append(dst, `{"type":"text","text":`...)
		return append(wire.AppendString(dst, p.Text), '}')
	}
	return append(dst, mustMarshal(p)...)
}

// Appender is an Answer.Result that writes its own fields: `"a":1,"b":2`, no braces. One
// of them may be a large text.
type Appender interface {
	AppendFields(dst []byte) (out []byte, field TextField)
}

// TextField is a text among the fields, and where it was put.
type TextField struct {
	Text string
	At   Span
}

// structured puts "ok" in front of the fields, with success the same again under
// that name, and the error if there is one.
func structured(fields any, err *fault.Error, success bool) (out json.RawMessage, field TextField) {
	ok := strconv.FormatBool(err == nil)
	out = []byte(`{"ok":` + ok)
	if success {
		out = append(out, `,"success":`+ok...)
	}
	if err != nil {
		out = append(append(out, `,"error":`...), mustMarshal(err)...)
	}
	if fields != nil {
		var more []byte
		if more, field = appendFields(append(out, ','), fields); len(more) > len(out)+1 {
			out = more
		}
	}
	return append(out, '}'), field
}

// appendFields appends the fields of a struct without its braces.
func appendFields(dst []byte, fields any) (out []byte, field TextField) {
	if f, ok := fields.(Appender); ok {
		return f.AppendFields(dst)
	}
	body := mustMarshal(fields)
	return append(dst, body[1:len(body)-1]...), TextField{}
}

// mustMarshal serves types of this package, which all have a JSON form. It does
// not escape <, > and &: the readers are models and editors, not browsers.
func mustMarshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		bug.Errorf("a result of type %T has no JSON form: %v", v, err) //nolint:errcheck // reported there
		return []byte("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// result is the wire form of the tool's answer.
func (t Tool) result(a *Answer) Result {
	if a.elsewhere != nil {
		return *a.elsewhere
	}
	body, field := structured(a.Result, a.Err, t.Success)
	r := Result{Structured: body, IsError: a.Err != nil, Display: a.Display, Err: a.Err}
	if a.Err != nil {
		r.Content = append(r.Content, Part{Type: "text", Text: ErrorText(a.Err)})
	}
	if a.Text != "" || len(a.Media) == 0 && a.Err == nil {
		part := Part{Type: "text", Text: a.Text}
		if len(a.Text) >= worthSharing && field.Text == a.Text {
			part.Shared = &field.At
		}
		r.Content = append(r.Content, part)
	}
	r.Content = append(r.Content, a.Media...)
	for _, note := range a.Notes {
		r.Content = append(r.Content, Part{Type: "text", Text: note})
	}
	if a.unkept != "" {
		r.add("not_in_journal", a.unkept)
	}
	if len(a.NotBrought) > 0 {
		r.add("not_brought", a.NotBrought)
	}
	if len(a.broken) > 0 {
		r.add("invalid", a.broken)
	}
	if a.caused != nil {
		r.add("diagnostics", a.caused)
	}
	return r
}

// add adds one more field at the end.
func (r *Result) add(name string, value any) {
	out := append(r.Structured[:len(r.Structured)-1:len(r.Structured)-1], `,"`+name+`":`...)
	r.Structured = append(append(out, mustMarshal(value)...), '}')
}

// addChangedOutside tells of files that are not any more as the agent knows them.
func (r *Result) addChangedOutside(names []string) {
	if len(names) == 0 {
		return
	}
	r.add("changed_outside", names)
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fault.Quote(name)
	}
	r.Content = append(r.Content, Part{Type: "text", Text: "(changed by somebody else since you read it: " + strings.Join(quoted, ", ") + ")"})
}

// addTodosChanged tells of what the user changed in the agent's to-do list.
func (r *Result) addTodosChanged(changes []string) {
	if len(changes) == 0 {
		return
	}
	r.add("todos_changed", changes)
	r.Content = append(r.Content, Part{Type: "text", Text: "(the user changed your to-do list: " + strings.Join(changes, ", ") + ")"})
}

// addCausedLater tells of what earlier edits did, which was not known in time.
func (r *Result) addCausedLater(found []string) {
	if len(found) == 0 {
		return
	}
	r.add("caused_later", found)
	r.Content = append(r.Content, Part{Type: "text", Text: "(known only now, of your earlier edits: " + strings.Join(found, "\n") + ")"})
}

// worthSharing is the size from which a text is not made twice.
const worthSharing = 4 << 10

// ErrorText is what a model reads of a failure: the code, what went wrong, what to do
// next, and those details that neither says.
func ErrorText(e *fault.Error) string {
	text := string(e.Code) + ": " + e.Message
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	if nearest, ok := e.Details["nearest"].([]string); ok && !strings.Contains(e.Hint, strings.Join(nearest, "\n")) {
		text += "\n" + strings.Join(nearest, "\n")
	}
	if since, ok := e.Details["changes_since"].(string); ok {
		text += "\nwhat changed since you read it:\n" + since
	}
	if version, ok := e.Details["current_version"].(string); ok {
		text += "\n(version now: " + version + ")"
	}
	if own, ok := e.Details["human_text"].(string); ok {
		text += "\nthe user's version of your proposal:\n" + own
	}
	own, _ := e.Details["human_texts"].(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		text += fmt.Sprintf("\nthe user's version of your proposal for %s:\n%s", fault.Quote(name), own[name])
	}
	return text
}

// A page is how much text one result gives a model whose agent would cut a longer one
// without a word. Tools that can go on where they stopped (read_file, read_process,
// search_in_project, …) make pages themselves; of all others Result.page keeps the
// beginning and says so.

// page cuts the result's text to about limit bytes at the end of a line; 0 is no limit.
// rest is how to get what is left out.
func (r *Result) page(limit int, rest string) {
	if limit <= 0 {
		return
	}
	room := limit
	for i := range r.Content {
		p := &r.Content[i]
		if p.Type != "text" {
			continue
		}
		if size, kept := len(p.Text), FirstLines(p.Text, room, PageLines); len(kept) < size {
			if rest == "" {
				rest = "ask for less at a time"
			}
			*p = Part{Type: "text", Text: fmt.Sprintf("%s\n(cut: %s of %s bytes; %s)", strings.TrimSuffix(kept, "\n"), Grouped(len(kept)), Grouped(size), rest)}
		}
		room = max(room-len(p.Text), limit/10) // notes come last and must not be lost
	}
}

// everyResult is what each tool's result may have. The rare todos_changed, caused_later and invalid are not in
// it: they would be in the definition of every tool.
type everyResult struct {
	OK             bool           `json:"ok"`
	Error          *fault.Error   `json:"error,omitempty"`
	ChangedOutside []string       `json:"changed_outside,omitempty"`
	EditedByHuman  bool           `json:"edited_by_human,omitempty"`
	Arguments      map[string]any `json:"arguments,omitempty"` // the user's
}

// everyEdit is what the result of each tool may have that changes files; of a failure,
// what it was to be done to.
type everyEdit struct {
	Path        string       `json:"path,omitempty"`
	From        string       `json:"from,omitempty"`
	To          string       `json:"to,omitempty"`
	HumanDiff   string       `json:"human_diff,omitempty"`
	Diagnostics causedResult `json:"diagnostics,omitzero"`
}

type successResult struct {
	Success bool `json:"success"`
}

// resultSchema is reflected from the structs that a tool's results are made of: a result
// has fields of all of them. Only ok is in each, since a failure has what is known.
func resultSchema(s Spec, access policy.Access) *jsonschema.Schema {
	structs := []any{everyResult{}}
	if s.Success {
		structs = append(structs, successResult{})
	}
	structs = append(structs, s.Results...)
	if access == policy.Edit {
		structs = append(structs, everyEdit{}, struct {
			Diagnostics severalCaused `json:"diagnostics,omitzero"`
		}{})
	}
	out := reflectResult(structs[0])
	for _, more := range structs[1:] {
		out = merged(out, reflectResult(more))
	}
	out.Required = []string{"ok"}
	return out
}

func reflectResult(of any) *jsonschema.Schema {
	s, err := jsonschema.ForType(reflect.TypeOf(of), &jsonschema.ForOptions{})
	if err != nil {
		panic(bug.Errorf("the result %T has no schema: %v", of, err))
	}
	return open(s)
}

// open lets objects have more fields than are known, for results only grow, and says
// nothing of which are always there: all of this is in each conversation. A list is never
// null, nor is what would be left out instead.
func open(s *jsonschema.Schema) *jsonschema.Schema {
	for name, property := range s.Properties {
		if optional := !slices.Contains(s.Required, name); optional || slices.Contains(property.Types, "array") {
			schema.WithoutNullHere(property)
		}
		open(property)
	}
	s.Required, s.Minimum, s.Maximum = nil, nil, nil
	if s.Items != nil {
		open(s.Items)
	}
	if schema.IsMap(s) {
		open(s.AdditionalProperties)
	} else {
		s.AdditionalProperties = nil
	}
	return s
}

// merged is what fits either of two schemas, field by field.
func merged(a, b *jsonschema.Schema) *jsonschema.Schema {
	for _, name := range b.PropertyOrder {
		if a.Properties[name] != nil {
			a.Properties[name] = merged(a.Properties[name], b.Properties[name])
			continue
		}
		if a.Properties == nil {
			a.Properties = map[string]*jsonschema.Schema{}
		}
		a.Properties[name], a.PropertyOrder = b.Properties[name], append(a.PropertyOrder, name)
	}
	if a.Items != nil && b.Items != nil {
		a.Items = merged(a.Items, b.Items)
	}
	return a
}
