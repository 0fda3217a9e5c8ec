package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/jsonrpc2"
)

// Raw is a value that is JSON already. As a result it is written as it is, neither
// parsed nor compacted; the caller vouches for it and leaves it alone afterwards.
// Elsewhere it is like json.RawMessage.
type Raw []byte

// MarshalJSON makes Raw work inside other values.
func (r Raw) MarshalJSON() ([]byte, error) { return orNull(r), nil }

// UnmarshalJSON makes Raw work as the result of a Call.
func (r *Raw) UnmarshalJSON(text []byte) error {
	*r = append((*r)[:0], text...)
	return nil
}

// encode makes JSON of v without a copy where v is JSON already.
func encode(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case Raw:
		return orNull(v), nil
	case json.RawMessage:
		return orNull(v), nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes()[:out.Len()-1], nil // without the encoder's line feed
}

func orNull(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

// AppendString appends s to dst as a JSON string. Invalid UTF-8 becomes U+FFFD. The
// characters < > & stay as they are; U+2028 and U+2029, at which some clients split
// lines, are escaped.
func AppendString(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // an error says that invalid UTF-8 was replaced
	if !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029") {
		return out
	}
	quoted := strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(out[len(dst):]))
	return append(out[:len(dst)], quoted...)
}

// frame is one message that waits to be written.
type frame struct {
	parts [][]byte
	text  *chunk // instead of parts: progress text that can still grow
	held  bool   // it is not queued yet
	key   string // progress with the same key replaces it while it waits
}

func newFrame(parts ...[]byte) *frame { return &frame{parts: parts} }

func (f *frame) size() (n int) {
	if f.text != nil {
		return f.text.size()
	}
	for _, part := range f.parts {
		n += len(part)
	}
	return n
}

// appendID writes an id. Of the peer's, Str is the JSON of it: see stream.
func appendID(dst []byte, id jsonrpc2.ID) []byte {
	if id.IsString {
		return append(dst, id.Str...)
	}
	return append(dst, id.String()...)
}

func responseFrame(r *jsonrpc2.Response) *frame {
	head := appendID([]byte(`{"jsonrpc":"2.0","id":`), r.ID)
	if r.Error == nil {
		return newFrame(append(head, `,"result":`...), *r.Result, []byte("}"))
	}
	body, err := encode(r.Error)
	if err != nil { // its data are no JSON
		body, _ = encode(&jsonrpc2.Error{Code: r.Error.Code, Message: r.Error.Message})
	}
	return newFrame(append(head, `,"error":`...), body, []byte("}"))
}

// requestFrame takes the params, and leaves them out if they are nil.
func requestFrame(r *jsonrpc2.Request) *frame {
	head := []byte(`{"jsonrpc":"2.0",`)
	if !r.Notif {
		head = append(appendID(append(head, `"id":`...), r.ID), ',')
	}
	head = AppendString(append(head, `"method":`...), r.Method)
	params := r.ExtraFields[len(r.ExtraFields)-1].Value.(*json.RawMessage) //nolint:forcetypeassert // see begin and Notify
	if *params == nil {
		return newFrame(append(head, '}'))
	}
	body := *params
	*params = nil
	return newFrame(append(head, `,"params":`...), body, []byte("}"))
}
