package wire

import "github.com/sourcegraph/jsonrpc2"

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

// requestFrame leaves params out if they are nil.
func requestFrame(r *jsonrpc2.Request) *frame {
	head := []byte(`{"jsonrpc":"2.0",`)
	if !r.Notif {
		head = append(appendID(append(head, `"id":`...), r.ID), ',')
	}
	head = AppendString(append(head, `"method":`...), r.Method)
	if r.Params == nil {
		return newFrame(append(head, '}'))
	}
	return newFrame(append(head, `,"params":`...), *r.Params, []byte("}"))
}
