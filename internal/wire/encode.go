package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"
)

// Raw is a value that is JSON already. As a result it is written as it is, neither
// parsed nor compacted; the caller vouches for it and leaves it alone afterwards.
// Elsewhere it is like json.RawMessage.
type Raw []byte

// MarshalJSON makes Raw work inside other values.
func (r Raw) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON makes Raw work as the result of a Call.
func (r *Raw) UnmarshalJSON(text []byte) error {
	*r = append((*r)[:0], text...)
	return nil
}

// encode makes JSON of v without a copy where v is JSON already.
func encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case Raw:
		return v.MarshalJSON()
	case json.RawMessage:
		return Raw(v).MarshalJSON()
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes()[:out.Len()-1], nil // without the encoder's line feed
}

// AppendString appends s to dst as a JSON string. Invalid UTF-8 becomes U+FFFD; the
// characters < > & stay as they are, for nothing here is read as HTML.
func AppendString(dst []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	text, _ := encode(s) // a string can be marshalled
	return append(dst, text...)
}

// isPlain: nothing of s is escaped, as in most names.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// large is the size from which a body is not copied into its frame.
const large = 8 << 10

// newFrame joins the parts of a message under a header.
func newFrame(before, body []byte, tail string) *frame {
	length := len(before) + len(body) + len(tail)
	head := make([]byte, 0, len(before)+40+min(len(body), large)+len(tail))
	head = append(head, "Content-Length: "...)
	head = strconv.AppendInt(head, int64(length), 10)
	head = append(append(head, "\r\n\r\n"...), before...)
	if len(body) >= large {
		return &frame{head: head, body: body, tail: tail}
	}
	return &frame{head: append(append(head, body...), tail...)}
}

func responseFrame(r *jsonrpc2.Response) *frame {
	id, _ := r.ID.MarshalJSON() // a number or a string
	if r.Error != nil {
		return errorFrame(string(id), r.Error)
	}
	return newFrame([]byte(`{"jsonrpc":"2.0","id":`+string(id)+`,"result":`), *r.Result, "}")
}

func errorFrame(id string, e *jsonrpc2.Error) *frame {
	body, _ := encode(e) // its data is JSON
	return newFrame([]byte(`{"jsonrpc":"2.0","id":`+id+`,"error":`), body, "}")
}

func requestFrame(r *jsonrpc2.Request) *frame {
	head := []byte(`{"jsonrpc":"2.0",`)
	if !r.Notif {
		id, _ := r.ID.MarshalJSON()
		head = append(append(append(head, `"id":`...), id...), ',')
	}
	head = AppendString(append(head, `"method":`...), r.Method)
	if r.Params == nil {
		return newFrame(head, nil, "}")
	}
	return newFrame(append(head, `,"params":`...), *r.Params, "}")
}

// progressFrame is $/progress with a value that is JSON.
func progressFrame(token, value []byte) *frame {
	head := append([]byte(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":`), token...)
	return newFrame(append(head, `,"value":`...), value, "}}")
}
