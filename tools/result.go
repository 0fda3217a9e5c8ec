package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/bug"
	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/workspace/change"
)

// Result is a call's answer on every wire.
type Result struct {
	Content    []Part
	Structured json.RawMessage // an object with "ok"
	IsError    bool
	Display    *Display
	Err        *fault.Error // nil when Structured says ok
}

// Part is one piece of what the model reads, as in MCP.
type Part struct {
	Type     string `json:"type"` // text, image or audio
	Text     string `json:"text,omitempty"`
	Data     string `json:"data,omitempty"` // base64
	MIMEType string `json:"mimeType,omitempty"`
}

// Display is what people see of a result.
type Display struct {
	Kind     string               `json:"kind"` // markdown, diff or command
	Text     string               `json:"text,omitempty"`
	Files    []change.FilePreview `json:"files,omitempty"`
	Command  string               `json:"command,omitempty"`
	ExitCode *int                 `json:"exitCode,omitempty"`
	Stdout   string               `json:"stdout,omitempty"`
	Stderr   string               `json:"stderr,omitempty"`
}

// Cancelled reports that the call ended because its caller gave up.
func (r Result) Cancelled() bool { return r.Err != nil && r.Err.Code == fault.Cancelled }

// MarshalJSON gives the wire form.
func (r Result) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// AppendJSON appends the wire form. Large text is escaped once and never parsed
// again, which is most of the time that a big read takes.
func (r Result) AppendJSON(dst []byte) []byte {
	dst = slices.Grow(dst, r.weight())
	dst = append(dst, `{"content":[`...)
	for i, p := range r.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.appendJSON(dst)
	}
	dst = append(dst, `],"structuredContent":`...)
	dst = append(dst, r.Structured...)
	dst = append(dst, `,"isError":`...)
	if r.IsError {
		dst = append(dst, "true"...)
	} else {
		dst = append(dst, "false"...)
	}
	if r.Display != nil {
		dst = append(dst, `,"display":`...)
		dst = append(dst, mustMarshal(r.Display)...)
	}
	return append(dst, '}')
}

// weight is about how many bytes the wire form takes, so that a megabyte is not
// moved again and again while the buffer grows.
func (r Result) weight() int {
	n := 256 + len(r.Structured)
	for _, p := range r.Content {
		n += 64 + escapedWeight(len(p.Text)) + len(p.Data)
	}
	return n
}

// escapedWeight allows for an eighth of the text to be escaped.
func escapedWeight(n int) int { return n + n/8 }

func (p Part) appendJSON(dst []byte) []byte {
	if p.Type != "text" {
		return append(dst, mustMarshal(p)...)
	}
	dst = append(dst, `{"type":"text","text":`...)
	return append(wire.AppendString(dst, p.Text), '}')
}

// appender is a result that writes its own fields, for the sake of large text.
type appender interface {
	appendFields(dst []byte) []byte // `"a":1,"b":2`, no braces
}

// structured puts "ok" in front of the fields, with success the same again under
// that name, and the error if there is one.
func structured(fields any, err *fault.Error, success bool) json.RawMessage {
	ok := strconv.FormatBool(err == nil)
	out := []byte(`{"ok":` + ok)
	if success {
		out = append(out, `,"success":`+ok...)
	}
	if err != nil {
		out = append(append(out, `,"error":`...), mustMarshal(err)...)
	}
	if fields != nil {
		more := appendFields(append(out, ','), fields)
		if len(more) > len(out)+1 {
			out = more
		}
	}
	return append(out, '}')
}

// appendFields appends the fields of a struct without its braces.
func appendFields(dst []byte, fields any) []byte {
	if f, ok := fields.(appender); ok {
		return f.appendFields(dst)
	}
	body := mustMarshal(fields)
	return append(dst, body[1:len(body)-1]...)
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
	r := Result{Structured: structured(a.Result, a.Err, t.Success), IsError: a.Err != nil, Display: a.Display, Err: a.Err}
	if a.Err != nil {
		r.Content = append(r.Content, Part{Type: "text", Text: errorText(a.Err)})
	}
	if a.Text != "" || len(a.Media) == 0 && a.Err == nil {
		r.Content = append(r.Content, Part{Type: "text", Text: a.Text})
	}
	r.Content = append(r.Content, a.Media...)
	for _, note := range a.Notes {
		r.Content = append(r.Content, Part{Type: "text", Text: note})
	}
	return r
}

// addChangedOutside tells of files that are not any more as the agent knows them.
func (r *Result) addChangedOutside(names []string) {
	if len(names) == 0 {
		return
	}
	out := append(r.Structured[:len(r.Structured)-1:len(r.Structured)-1], `,"changed_outside":`...)
	r.Structured = append(append(out, mustMarshal(names)...), '}')
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fault.Quote(name)
	}
	r.Content = append(r.Content, Part{Type: "text", Text: "(changed by somebody else since you read it: " + strings.Join(quoted, ", ") + ")"})
}

func errorText(e *fault.Error) string {
	text := string(e.Code) + ": " + e.Message
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	return text
}
