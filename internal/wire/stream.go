package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"
)

// stream is the ObjectStream under jsonrpc2. It answers and passes over what is no
// message.
//
// jsonrpc2 decodes a payload (params or a result) several times, by way of maps that
// sort its members: to echo a megabyte takes it 70 ms, and 4 ms as it is done here (see
// bench_test.go). So it is given the envelope of a message alone, and its hooks, OnRecv
// and OnSend, put the payload as it came into the Request or Response, and take it out.
//
// Its ids are text or whole numbers from 0. The peer may use any number, so an id of
// the peer's is a text to jsonrpc2: the JSON of the id.
type stream struct {
	conn    *Conn
	frames  *frames
	payload json.RawMessage // of the message that was read last; nil for none
	next    *frame          // what WriteObject is called for
}

// Fields of a Request of ours, which are not sent: where its result goes, and its params,
// as jsonrpc2 would copy them, and keep them until they are answered.
const (
	resultField = "result"
	paramsField = "payload"
)

// onRecv is jsonrpc2's hook for what ReadObject gave it.
func (s *stream) onRecv(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	switch {
	case resp == nil:
		if params := s.payload; params != nil {
			req.Params, s.payload = &params, nil
		}
	case req != nil:
		*req.ExtraFields[0].Value.(*json.RawMessage) = s.payload //nolint:forcetypeassert // see begin
	}
}

// onSend is jsonrpc2's hook for what it calls WriteObject with next. The types of that
// are its own.
func (s *stream) onSend(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp != nil {
		s.next = responseFrame(resp)
	} else {
		s.next = requestFrame(req)
	}
}

// WriteObject implements jsonrpc2.ObjectStream. It never waits.
func (s *stream) WriteObject(any) error { return s.conn.out.push(s.next) }

// Close implements jsonrpc2.ObjectStream.
func (s *stream) Close() error { return s.conn.closeStream() }

// ReadObject implements jsonrpc2.ObjectStream. When the input has ended it returns as
// soon as what runs has ended and was answered: afterwards jsonrpc2 sends nothing.
func (s *stream) ReadObject(v any) error {
	<-s.conn.ready
	for {
		m, err := s.read()
		if err != nil {
			s.conn.end(err)
			s.conn.finish()
			return io.EOF
		}
		object := s.envelope(&m)
		if object == nil {
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		return v.(json.Unmarshaler).UnmarshalJSON(text) //nolint:forcetypeassert // jsonrpc2's messages are
	}
}

// read takes one message. One that was refused has neither a method nor an id.
func (s *stream) read() (message, error) {
	s.conn.share.give(s.conn.reading) // the last one was no request
	s.conn.reading = 0
	if s.conn.base.Err() != nil {
		return message{}, io.EOF
	}
	body, err := s.frames.next()
	var skipped *frameError
	var broken *framingError
	switch {
	case errors.As(err, &skipped):
		m, _ := parse(skipped.start, s.conn.o.MaxDepth)
		return s.refused(&m, &refusal{id: skipped.idOf(&m), code: skipped.code, reason: skipped.reason}), nil
	case errors.As(err, &broken):
		s.refuse(&refusal{code: CodeParse, reason: broken.reason + "; the connection ends because the next frame cannot be found"})
		return message{}, fmt.Errorf("reading a frame: %w", err)
	case err != nil:
		return message{}, err
	}
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	m, bad := parse(body, s.conn.o.MaxDepth)
	if bad != nil {
		return s.refused(&m, bad), nil
	}
	return m, nil
}

// takeRoom says whether a large message may be held.
func (s *stream) takeRoom(n int) bool {
	if n <= small {
		return true
	}
	if !s.conn.share.take(n) {
		return false
	}
	s.conn.reading = n
	return true
}

// refused answers a message that we do not take. If it is a reply, the call that
// waits for it fails instead of waiting for ever.
func (s *stream) refused(m *message, bad *refusal) message {
	if m.answers && !m.hasMethod && s.answersCall(m.id) {
		reason, _ := encode(&jsonrpc2.Error{Code: bad.code, Message: "the reply was refused: " + bad.reason})
		return message{id: m.id, fail: reason}
	}
	s.refuse(bad)
	return message{}
}

func (s *stream) refuse(bad *refusal) {
	id := jsonrpc2.ID{Str: bad.id, IsString: true}
	if bad.id == "" {
		id.Str = "null"
	}
	_ = s.conn.out.push(responseFrame(&jsonrpc2.Response{ID: id, Error: &jsonrpc2.Error{Code: bad.code, Message: bad.reason}}))
}

// answersCall says whether an id is one of our calls', waiting or not.
func (s *stream) answersCall(id string) bool {
	n, err := strconv.ParseUint(id, 10, 64)
	return err == nil && n > 0 && n <= s.conn.calls.Load()
}

// envelope is the message as jsonrpc2 has it, without its payload, or nil if it is not
// for jsonrpc2.
func (s *stream) envelope(m *message) any {
	if m.hasMethod {
		s.payload = m.params
		return jsonrpc2.Request{Method: m.method, ID: jsonrpc2.ID{Str: m.id, IsString: true}, Notif: m.id == ""}
	}
	s.payload = m.result
	id, err := strconv.ParseUint(m.id, 10, 64)
	r := jsonrpc2.Response{ID: jsonrpc2.ID{Num: id}}
	switch {
	case m.id == "" && m.fail == nil: // refused
		return nil
	case m.id == "":
		s.conn.o.Logf("the peer reports: %v", decodeError(m.fail).Message)
		return nil
	case err == nil && m.fail != nil:
		r.Error = decodeError(m.fail)
	case err == nil && m.result != nil:
		r.Result = &null
	case s.answersCall(m.id):
		r.Error = &jsonrpc2.Error{Code: CodeInvalidRequest, Message: "the peer answered with neither result nor error"}
	case m.result == nil && m.fail == nil:
		s.refuse(&refusal{id: m.id, code: CodeInvalidRequest, reason: "the message has neither a method nor a result"})
		return nil
	default:
		s.conn.o.Logf("a reply with the unknown id %.64s was ignored", m.id)
		return nil
	}
	return r
}

var null = json.RawMessage("null")

// decodeError reads the member "error" of a reply.
func decodeError(raw json.RawMessage) *jsonrpc2.Error {
	var e jsonrpc2.Error
	if err := json.Unmarshal(raw, &e); err != nil {
		return &jsonrpc2.Error{Code: CodeInternal, Message: fmt.Sprintf("the peer answered with a malformed error: %v", err)}
	}
	return &e
}
