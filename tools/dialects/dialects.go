// Package dialects is how agents of other tool sets call Pillion's tools: tables that
// map names, arguments and results onto the canonical ones, a table a file. It is pure;
// tools.Registry translates at its door, and all behind it sees canonical calls alone.
//
// Not here: what a tool does. A dialect has no tool that Pillion has not.
package dialects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"

	"pillion/internal/fault"
)

// Dialect is another tool set.
type Dialect struct {
	Name  string
	Tools []Tool
	words map[string]string // for names of arguments in hints
	// fail is the object of a call that failed, made of the tool's; nil: there is no such tool.
	fail func(err *fault.Error, object any) any
	// add puts into an object what agents of this dialect are told though it knows no such
	// fields; nil: the text that a model reads says it.
	add func(object any, o Outcome) any
	// reads gives what a model reads.
	reads func(object any, o Outcome) []Part
	// found makes the object of a tool that is of no table: of another program.
	found func(args any, o Outcome) any
	// wrap adds the form in which Google's models take a result; nil: there is none.
	wrap func(tool string, object any) any
}

// Tool is one of its tools.
type Tool struct {
	Name, Title, Description string
	Canonical                string       // the tool that it is
	Arguments                reflect.Type // a struct
	Result                   reflect.Type // of the object

	call   func(Decode) (Call, error)
	answer func(args any, o Outcome) any
}

// Decode reads a call's arguments into a pointer to a struct, strictly.
type Decode func(into any) error

// Call is a canonical call.
type Call struct {
	Name      string
	Arguments json.RawMessage
	given     any // the dialect's arguments
	tool      *Tool
}

// Outcome is what became of it.
type Outcome struct {
	Fields   json.RawMessage // the canonical result's object
	Err      *fault.Error
	Content  []Part
	Summary  string // for people
	Diff     *Diff
	Markdown string
	Wrapped  bool // the result is wanted as a function response as well
}

// Part is a piece of what a model reads, as in MCP.
type Part struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	Data     string `json:"data,omitempty"`
}

// Diff is a change of one file, for people.
type Diff struct{ Name, Diff, Before, After string }

// canonicalName finds words that may be names of tools.
var canonicalName = regexp.MustCompile(`[a-z]+(?:[_.][a-z]+)+|glob`)

// all are the dialects, by name.
var all = []*Dialect{coder, qwen}

// Names are those of the dialects.
func Names() (names []string) {
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}

// Find gives a dialect; nil is the canonical one, which has two names.
func Find(name string) (d *Dialect, known bool) {
	if name == "" || name == "pillion" {
		return nil, true
	}
	at := slices.IndexFunc(all, func(d *Dialect) bool { return d.Name == name })
	if at < 0 {
		return nil, false
	}
	return all[at], true
}

// Tool is one by its name, nil if there is none.
func (d *Dialect) Tool(name string) *Tool {
	at := slices.IndexFunc(d.Tools, func(t Tool) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	return &d.Tools[at]
}

// Found is a call of a tool that was found, whose name and arguments need no translation.
func (d *Dialect) Found(name string) Call { return Call{tool: &Tool{Name: name, answer: d.found}} }

// Call translates a call.
func (t *Tool) Call(decode Decode) (Call, error) {
	c, err := t.call(decode)
	c.tool = t
	return c, err
}

// Answer translates what became of a call: the result's object, and what a model reads.
func (d *Dialect) Answer(c Call, o Outcome) (object any, content []Part) {
	if o.Err != nil {
		o.Err = d.own(o.Err)
	}
	if c.tool != nil {
		object = c.tool.answer(c.given, o)
	}
	if o.Err != nil && d.fail != nil {
		object = d.fail(o.Err, object)
	}
	if d.add != nil {
		object = d.add(object, o)
	}
	if o.Wrapped && d.wrap != nil && c.tool != nil {
		object = d.wrap(c.tool.Name, object)
	}
	return object, d.reads(object, o)
}

// row makes a tool of a struct of arguments and one of results.
func row[A, R any](t Tool, call func(A) (canonical string, args any, err error), answer func(A, Outcome) R) Tool {
	t.Arguments, t.Result = reflect.TypeFor[A](), reflect.TypeFor[R]()
	t.call = func(decode Decode) (Call, error) {
		var given A
		if err := decode(&given); err != nil {
			return Call{Name: t.Canonical, given: given}, err
		}
		name, args, err := call(given)
		if err != nil {
			return Call{Name: t.Canonical, given: given}, err
		}
		return Call{Name: name, Arguments: encode(args), given: given}, nil
	}
	t.answer = func(args any, o Outcome) any { return answer(args.(A), o) }
	return t
}

// encode is JSON for models, which are no browsers: it does not escape <, > and &.
func encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("{}") // never of the types here
	}
	return bytes.TrimSpace(out.Bytes())
}

// fields reads the canonical result; what is not in it stays zero.
func fields[F any](o Outcome) (f F) {
	_ = json.Unmarshal(o.Fields, &f) //nolint:errcheck // our own object; the fields that a failure lacks are zero
	return f
}

// own is an error whose hint names the dialect's tools in place of the canonical ones.
func (d *Dialect) own(err *fault.Error) *fault.Error {
	return err.WithHint("%s", canonicalName.ReplaceAllStringFunc(err.Hint, func(name string) string {
		at := slices.IndexFunc(d.Tools, func(t Tool) bool { return t.Canonical == name })
		if at < 0 {
			return cmp.Or(d.words[name], name)
		}
		return d.Tools[at].Name
	}))
}
