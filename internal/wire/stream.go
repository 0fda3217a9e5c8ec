package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"
)

// stream is what jsonrpc2 reads from and writes to: frames as LSP has them, with bounds.
// jsonrpc2 ends a connection at the first frame that is no message; here such a frame is
// answered, and the next one read.
type stream struct {
	conn   *Conn
	ready  <-chan struct{}
	frames *frames
	// Guarded by jsonrpc2's lock on what is sent, under which it calls sends and WriteObject.
	request  *jsonrpc2.Request
	response *jsonrpc2.Response
}

// ReadObject gives the next message.
func (s *stream) ReadObject(v any) error {
	into, ok := v.(json.Unmarshaler)
	if !ok {
		return fmt.Errorf("a message cannot be read into a %T", v)
	}
	<-s.ready
	for {
		body, err := s.next()
		if err == nil {
			err = s.accept(body, into)
		}
		var bad *refusal
		if errors.As(err, &bad) {
			bad.look(body)
			if !bad.isReply || !s.conn.asked(bad.id) {
				s.conn.refuse(bad.id, bad.code, bad.reason)
				continue
			}
			err = into.UnmarshalJSON(bad.asReply()) // so that the call which waits for it fails
		}
		if err != nil {
			s.conn.readerEnded(err)
			return io.EOF
		}
		return nil
	}
}

// next reads one frame, of which a refusal may have the beginning alone.
func (s *stream) next() ([]byte, error) {
	if s.conn.base.Err() != nil {
		return nil, io.EOF
	}
	body, err := s.frames.next()
	var skipped *frameError
	if errors.As(err, &skipped) {
		return skipped.start, &refusal{code: CodeInvalidRequest, reason: skipped.reason}
	}
	if err == nil && !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	return body, err
}

// accept gives a message to jsonrpc2, which decodes it.
func (s *stream) accept(body []byte, into json.Unmarshaler) error {
	if deeper(body, s.conn.o.MaxDepth) {
		return &refusal{code: CodeInvalidRequest, reason: fmt.Sprintf("the message is nested deeper than %d levels", s.conn.o.MaxDepth)}
	}
	isReply, err := checkEnvelope(body)
	if err != nil {
		return err
	}
	if err := into.UnmarshalJSON(body); err != nil {
		reason := "the message cannot be read: " + err.Error()
		if isReply {
			reason = "the peer answered with a malformed error: " + err.Error()
		}
		return &refusal{code: CodeInvalidRequest, reason: reason}
	}
	return nil
}

// sends is called before WriteObject, with what that is given as a value of a type that
// is jsonrpc2's own. To marshal that would copy and check large results twice more.
func (s *stream) sends(request *jsonrpc2.Request, response *jsonrpc2.Response) {
	s.request, s.response = request, response
}

// WriteObject queues a message. It never waits for the peer.
func (s *stream) WriteObject(any) error {
	request, response := s.request, s.response
	s.request, s.response = nil, nil
	if request != nil {
		return s.conn.out.push(requestFrame(request))
	}
	return s.conn.out.push(responseFrame(response))
}

// Close is called when jsonrpc2 ends the connection.
func (s *stream) Close() error { return s.conn.closeStream() }
