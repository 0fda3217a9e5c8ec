package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
)

// stream is the ObjectStream under jsonrpc2. It answers and passes over what is no
// message.
//
// jsonrpc2 decodes a payload (params or a result) several times, by way of maps that
// sort its members, which takes tens of milliseconds for a megabyte. So it reads the
// envelope of a message alone, and its hook OnRecv hands the payload on as it came. Params
// of ours are added to what it writes.
//
// Its ids are text or whole numbers from 0. The peer may use any number, so an id of
// the peer's is a text to jsonrpc2: the JSON of the id.
type stream struct {
	conn    *Conn
	frames  *frames
	payload json.RawMessage // of the message that was read last; nil for none
}

func newStream(c *Conn) *stream {
	s := &stream{conn: c, frames: newFrames(c.rwc, c.o.MaxFrame)}
	s.frames.refuse = func(bad *Error) { c.reply("null", nil, bad) }
	if c.o.Sheds {
		s.frames.room = func(n int) bool {
			if n <= small {
				return true
			}
			if !c.o.Budget.reserve(&c.held, n) {
				return false
			}
			c.taken = n
			return true
		}
	}
	return s
}

// onRecv is jsonrpc2's hook for what ReadObject gave it.
func (s *stream) onRecv(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	payload := s.payload
	s.payload = nil
	if resp != nil {
		if result, ok := s.conn.results.LoadAndDelete(resp.ID.Num); ok {
			*result.(*json.RawMessage) = payload //nolint:forcetypeassert // see begin
		}
	} else if payload != nil {
		req.Params = &payload
	}
}

// WriteObject implements jsonrpc2.ObjectStream, for a request without its params. It never
// waits.
func (s *stream) WriteObject(object any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if params := s.conn.params; params != nil {
		return s.conn.out.push(newFrame(text[:len(text)-1], []byte(`,"params":`), params, []byte("}")))
	}
	return s.conn.out.push(newFrame(text))
}

// Close implements jsonrpc2.ObjectStream. Answers may still have to be written.
func (s *stream) Close() error { return nil }

// ReadObject implements jsonrpc2.ObjectStream.
func (s *stream) ReadObject(v any) error {
	<-s.conn.ready
	for {
		m, err := s.read()
		if err != nil {
			s.conn.end(err)
			s.conn.finish()
			return io.EOF
		}
		var object any
		switch {
		case m.hasMethod:
			s.payload = m.params
			object = jsonrpc2.Request{Method: m.method, ID: jsonrpc2.ID{Str: m.id, IsString: true}, Notif: m.id == ""}
		case m.id == "":
			if m.failed != nil {
				s.conn.o.Logf("the peer reports: %v", m.failed.Message)
			}
			continue
		case s.answersCall(m.id):
			id, _ := strconv.ParseUint(m.id, 10, 64)
			response := jsonrpc2.Response{ID: jsonrpc2.ID{Num: id}, Error: m.failed}
			switch {
			case m.failed != nil:
			case m.result == nil:
				response.Error = &jsonrpc2.Error{Code: CodeInvalidRequest, Message: "the peer answered with neither result nor error"}
			default:
				s.payload = m.result
				response.Result = &null
			}
			object = response
		case m.result == nil && m.failed == nil:
			s.conn.reply(m.id, nil, Errorf(CodeInvalidRequest, "the message has neither a method nor a result"))
			continue
		default:
			s.conn.o.Logf("a reply with the unknown id %.64s was ignored", m.id)
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, v)
	}
}

var null = json.RawMessage("null")

// read reads the next message that is not refused. A reply that was refused is an error, so
// that the call that waits for it does not wait for ever.
func (s *stream) read() (message, error) {
	c := s.conn
	for {
		c.o.Budget.release(&c.held, c.taken) // the last one was no request
		c.taken = 0
		if c.base.Err() != nil {
			return message{}, io.EOF
		}
		body, refused, err := s.frames.next()
		var broken *Error
		switch {
		case errors.As(err, &broken):
			c.reply("null", nil, Errorf(broken.Code, "%s; the connection ends because the next frame cannot be found", broken.Message))
			return message{}, fmt.Errorf("reading a frame: %w", err)
		case err != nil:
			return message{}, err
		}
		m, bad := parse(body)
		if refused != nil {
			bad = refused
			m.unsure = bad.Code != CodeBusy // only who may send the message again needs its id
		}
		switch {
		case bad == nil:
			return m, nil
		case m.answers && !m.hasMethod && s.answersCall(m.id):
			return message{id: m.id, failed: &jsonrpc2.Error{Code: bad.Code, Message: "the reply was refused: " + bad.Message}}, nil
		case m.id == "" || m.unsure:
			c.reply("null", nil, bad)
		default:
			c.reply(m.id, nil, bad)
		}
	}
}

// answersCall says whether an id is one of our calls', waiting or not.
func (s *stream) answersCall(id string) bool {
	n, err := strconv.ParseUint(id, 10, 64)
	return err == nil && n > 0 && n <= s.conn.calls.Load()
}
