package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Raw is a value that is JSON already. As a result or as parameters it is
// written as it is, neither parsed nor compacted; the caller vouches for it and
// leaves it alone afterwards. Inside other values it is like json.RawMessage.
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

// Pieces is a value that is JSON already, in pieces that make it together. As a
// result it is written as it is, like Raw.
type Pieces [][]byte

// MarshalJSON makes Pieces work inside other values.
func (p Pieces) MarshalJSON() ([]byte, error) { return Raw(bytes.Join(p, nil)).MarshalJSON() }

// encodePieces is encode for what may be large.
func encodePieces(v any) ([][]byte, error) {
	if p, ok := v.(Pieces); ok && len(p) > 0 {
		return p, nil
	}
	body, err := encode(v)
	return [][]byte{body}, err
}

// encode makes JSON of v without a copy where v is JSON already.
func encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case Raw:
		return orNull(v), nil
	case json.RawMessage:
		return orNull(v), nil
	case nil:
		return []byte("null"), nil
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

// large is the size from which a body is not copied into its frame.
const large = 8 << 10

// newFrame joins the parts of a message under a header.
func newFrame(before []byte, body [][]byte, tail string) *frame {
	size := 0
	for _, piece := range body {
		size += len(piece)
	}
	length := len(before) + size + len(tail)
	copied := length
	if size >= large {
		copied = len(before)
	}
	head := make([]byte, 0, copied+40)
	head = append(head, "Content-Length: "...)
	head = strconv.AppendInt(head, int64(length), 10)
	head = append(head, "\r\n\r\n"...)
	head = append(head, before...)
	if size >= large {
		return &frame{head: head, body: body, length: size, tail: tail}
	}
	for _, piece := range body {
		head = append(head, piece...)
	}
	return &frame{head: append(head, tail...)}
}

func resultFrame(id string, result [][]byte) *frame {
	var space [96]byte
	before := append(space[:0], `{"jsonrpc":"2.0","id":`...)
	before = append(before, id...)
	before = append(before, `,"result":`...)
	return newFrame(before, result, "}")
}

// errorFrame answers with an error; an id of "" is null.
func errorFrame(id string, e *Error) *frame {
	if id == "" {
		id = "null"
	}
	before := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	before = append(before, `,"error":{"code":`...)
	before = strconv.AppendInt(before, e.Code, 10)
	before = append(before, `,"message":`...)
	before = AppendString(before, e.Message)
	if e.Data == nil {
		return newFrame(before, nil, "}}")
	}
	data, err := encode(e.Data)
	if err != nil {
		return newFrame(before, nil, "}}")
	}
	return newFrame(append(before, `,"data":`...), [][]byte{data}, "}}")
}

func requestFrame(id uint64, method string, params []byte) *frame {
	before := append([]byte(`{"jsonrpc":"2.0","id":`), strconv.FormatUint(id, 10)...)
	return callFrame(append(before, ','), method, params)
}

func notificationFrame(method string, params []byte) *frame {
	return callFrame([]byte(`{"jsonrpc":"2.0",`), method, params)
}

// callFrame leaves params out if they are nil.
func callFrame(before []byte, method string, params []byte) *frame {
	before = append(before, `"method":`...)
	before = AppendString(before, method)
	if params == nil {
		return newFrame(before, nil, "}")
	}
	return newFrame(append(before, `,"params":`...), [][]byte{params}, "}")
}
