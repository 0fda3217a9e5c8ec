package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
)

// Settings are the gateway.* settings that a connection goes by: how another gateway than
// the one that the contract describes wants things.
type Settings struct {
	Execution string // editor or agent: who makes a call that the user was asked about
	Rejection string // both, decision or result: what a refusal sends
	Errors    string // object, text or bare: the form of errors
	Codes     string // own or codelab
	CodeLab   bool   // the limits are the preset's
	// AllowInsecure: connections without TLS may go to other machines.
	AllowInsecure bool
}

// frameBytes is the largest frame.
func (s Settings) frameBytes() int {
	if s.CodeLab {
		return maxFrameCodeLab
	}
	return maxFrame
}

// codeLabCodes are the nearest codes that CodeLab's descriptions know.
var codeLabCodes = map[fault.Code]fault.Code{
	fault.EditNoMatch: fault.PatchApplyFailed, fault.EditAmbiguous: fault.PatchApplyFailed,
	fault.NotAFile: fault.InvalidArguments, fault.BinaryFile: fault.InvalidArguments, fault.FileExists: fault.InvalidArguments,
	fault.WorkTreeDirty: fault.GitError,
	fault.RateLimited:   fault.ExecutionFailed, fault.LSPUnavailable: fault.ExecutionFailed, fault.ProcessNotFound: fault.ExecutionFailed, fault.Cancelled: fault.ExecutionFailed,
	fault.PolicyDenied:        fault.PermissionDenied,
	fault.ApprovalUnavailable: fault.UserRejected,
}

// coded is the code as the gateway knows it, and the details, which have ours where that
// is another.
func (s Settings) coded(e *fault.Error) (fault.Code, map[string]any) {
	nearest, known := codeLabCodes[e.Code]
	if s.Codes != "codelab" || !known {
		return e.Code, e.Details
	}
	details := maps.Clone(e.Details)
	if details == nil {
		details = map[string]any{}
	}
	details["code"] = e.Code
	return nearest, details
}

// failure is an error frame.
func (s Settings) failure(err error, about map[string]any) []byte {
	e := fault.From(err)
	for name, value := range about {
		e = e.With(name, value)
	}
	code, details := s.coded(e)
	out := failure{Type: "error", ErrorCode: string(code), Message: sentence(e), Details: details}
	if s.Errors == "bare" {
		out.ErrorCode = strings.ToLower(out.ErrorCode)
	}
	return encode(out)
}

// sentence is what went wrong and what to do next, for a form that has one text.
func sentence(e *fault.Error) string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// failed is the tool_result of a call that failed; fields is the object of its result,
// which may say more.
func (s Settings) failed(callID string, e *fault.Error, fields json.RawMessage) []byte {
	if rest := withoutError(fields); rest != nil {
		e = e.With("result", rest)
	}
	code, details := s.coded(e)
	out := struct {
		Type              string         `json:"type"`
		CallID            string         `json:"call_id"`
		Error             any            `json:"error"`
		ErrorCode         string         `json:"error_code,omitempty"`
		Message           string         `json:"message,omitempty"`
		Details           map[string]any `json:"details,omitempty"`
		NeedsConfirmation bool           `json:"needs_confirmation,omitempty"`
	}{Type: "tool_result", CallID: callID, ErrorCode: string(code), NeedsConfirmation: e.Code == fault.ApprovalUnavailable}
	switch s.Errors {
	case "text":
		out.Error, out.Details = sentence(e), details
	case "bare":
		out.Error, out.ErrorCode, out.Message, out.Details = strings.ToLower(string(code)), "", sentence(e), details
	default:
		shown := *e
		shown.Code, shown.Details = code, details
		out.Error = shown
	}
	return encode(out)
}

// withoutError is what a failed call's result says beside the error; nil if nothing.
func withoutError(fields json.RawMessage) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(fields, &all) != nil {
		return nil
	}
	for _, name := range []string{"ok", "success", "error"} {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// result is the tool_result of a call.
func (s Settings) result(callID string, r tools.Result) []byte {
	if r.Err != nil {
		return s.failed(callID, r.Err, r.Structured)
	}
	var out bytes.Buffer
	out.WriteString(`{"type":"tool_result","call_id":`)
	out.Write(encode(callID))
	out.WriteString(`,"result":`)
	out.Write(r.Structured[:len(r.Structured)-1])
	if !bytes.HasPrefix(r.Structured, []byte(`{"ok":true,"success":`)) {
		out.WriteString(`,"success":true`)
	}
	type part struct {
		Type     string `json:"type"`
		MIMEType string `json:"mimeType"`
		Data     string `json:"data"`
	}
	var parts []part
	text := ""
	for _, p := range r.Content {
		switch {
		case p.Type != "text":
			parts = append(parts, part{p.Type, p.MIMEType, p.Data})
		case text == "":
			text = p.Text
		}
	}
	if text != "" && !hasContent(r.Structured) {
		out.WriteString(`,"content":`)
		out.Write(encode(text))
	}
	if parts != nil {
		out.WriteString(`,"content_parts":`)
		out.Write(encode(parts))
	}
	out.WriteString("}}")
	return out.Bytes()
}

// hasContent: the object has a member "content" of its own.
func hasContent(object json.RawMessage) bool {
	if !bytes.Contains(object, []byte(`"content":`)) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(object))
	for token, err := d.Token(); err == nil; token, err = d.Token() {
		switch token {
		case json.Delim('{'):
			continue
		case json.Delim('}'):
			return false
		case "content":
			return true
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}

// partial is a tool_result of a command that still runs: what was printed since the one
// before.
func partial(callID, stdout, stderr string) []byte {
	type fields struct {
		ExitCode *int   `json:"exit_code"` // null
		Stdout   string `json:"stdout"`
		Stderr   string `json:"stderr"`
	}
	return encode(struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Result fields `json:"result"`
	}{"tool_result", callID, fields{nil, stdout, stderr}})
}

// fitted is the tool_result of a call in a frame of at most so many bytes. The text for a model goes
// first, since the result's fields say the same; then long texts and lists lose their middle, and
// say so. What only reads is refused instead: it can be asked for in parts.
func (s Settings) fitted(callID string, r tools.Result, most int) []byte {
	frame := s.result(callID, r)
	r.Content = slices.Clone(r.Content)
	for size := 64 << 10; len(frame) > most && size >= 1<<10; size /= 8 {
		for i, part := range r.Content {
			if part.Type == "text" {
				r.Content[i] = tools.Part{Type: "text", Text: withoutMiddle(part.Text, size)}
			}
		}
		frame = s.result(callID, r)
	}
	if len(frame) <= most {
		return frame
	}
	if !r.Deed {
		return s.failed(callID, fault.New(fault.FileTooLarge, "the result has %d bytes, over the limit of %d for a frame; ask for a part", len(frame), most), nil)
	}
	whole := r.Structured
	for size := most / 2; len(frame) > most && size > 0; size /= 4 {
		r.Structured = shortened(whole, size)
		frame = s.result(callID, r)
	}
	return frame
}

// shortened is the object with no text longer than size, and no list of more than so many
// entries for it. An object that has lost something says truncated, or diff_omitted of its diff.
func shortened(object json.RawMessage, size int) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var value map[string]any
	if d.Decode(&value) != nil {
		return object
	}
	shorten(value, size)
	out := []byte("{")
	for _, first := range []string{"ok", "success"} {
		if is, has := value[first]; has {
			out = fmt.Appendf(out, `"%s":%v,`, first, is)
			delete(value, first)
		}
	}
	return append(out, encode(value)[1:]...)
}

// entrySize is about what an entry of a list takes.
const entrySize = 256

func shorten(value any, size int) (short any, cut bool) {
	switch value := value.(type) {
	case string:
		text := withoutMiddle(value, size)
		return text, text != value
	case []any:
		if most := size/entrySize + 1; len(value) > most {
			value, cut = value[:most], true
		}
		for i := range value {
			value[i], _ = shorten(value[i], size)
		}
		return value, cut
	case map[string]any:
		for name, field := range value {
			short, cut := shorten(field, size)
			switch {
			case cut && name == "diff":
				value[name], value["diff_omitted"] = "", true
			case cut:
				value[name], value["truncated"] = short, true
			}
		}
	}
	return value, false
}

// withoutMiddle is a text of about so many bytes: its head and its tail.
func withoutMiddle(text string, size int) string {
	if len(text) <= size {
		return text
	}
	head, tail := text[:size/2], text[len(text)-size/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[%d bytes are left out here]\n", len(text)-len(head)-len(tail)) + strings.ToValidUTF8(tail, "")
}
