package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is MCP's stdio transport: one JSON-RPC message a line. Unlike the SDK's
// own it survives a line that is no message, and writes held results as they are.
type stdio struct {
	rwc io.ReadWriteCloser
	in  *bufio.Reader

	writing sync.Mutex // one message at a time

	mu   sync.Mutex // guards all below
	seq  uint64
	held map[string][]byte // results that wait for their turn, by placeholder
}

// maxLine is the size of the largest message, as in package wire.
const maxLine = 32 << 20

func newStdio(rwc io.ReadWriteCloser) *stdio {
	return &stdio{rwc: rwc, in: bufio.NewReaderSize(rwc, 64<<10), held: map[string][]byte{}}
}

// Connect makes stdio its own connection.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) { return s, nil }

// SessionID is empty: there is one session.
func (s *stdio) SessionID() string { return "" }

// Close ends a Read that waits, where the system can.
func (s *stdio) Close() error { return s.rwc.Close() }

// Read gives the next message. Lines that are none are answered and passed over.
func (s *stdio) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := s.line()
		if errors.Is(err, errTooLong) {
			s.refuse(jsonrpc.CodeInvalidRequest, err.Error())
			continue
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			if err != nil {
				return nil, err
			}
			continue
		}
		message, bad := jsonrpc.DecodeMessage(line)
		switch {
		case bad == nil:
			return message, nil
		case line[0] == '[':
			s.refuse(jsonrpc.CodeInvalidRequest, "batches are not supported, send each message on a line of its own")
		case !json.Valid(line):
			s.refuse(jsonrpc.CodeParseError, "the line is not valid JSON")
		default:
			s.refuse(jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC message: "+bad.Error())
		}
	}
}

var errTooLong = fmt.Errorf("the message is larger than the limit of %d bytes, send less at once", maxLine)

// line reads to the end of the line, in memory of its own. The last line may come
// with the error that ends the stream.
func (s *stdio) line() ([]byte, error) {
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		switch {
		case len(line)+len(part) > maxLine:
			return nil, s.skipLine(err)
		case !errors.Is(err, bufio.ErrBufferFull):
			return append(line, part...), err
		}
		line = append(line, part...)
	}
}

func (s *stdio) skipLine(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = s.in.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return errTooLong
}

func (s *stdio) refuse(code int64, message string) {
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	})
	if err == nil {
		_ = s.write(append(text, '\n')) // a broken stream is Read's to notice
	}
}

// Write sends one message.
func (s *stdio) Write(_ context.Context, message jsonrpc.Message) error {
	if r, ok := message.(*jsonrpc.Response); ok && r.Error == nil {
		if body, ok := s.take(r.Result); ok {
			return s.writeResult(r.ID, body)
		}
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	return s.write(append(text, '\n'))
}

// large is the size from which a result is not copied into its line.
const large = 16 << 10

func (s *stdio) writeResult(id jsonrpc.ID, body []byte) error {
	idText, err := json.Marshal(id.Raw())
	if err != nil {
		return err
	}
	head := make([]byte, 0, len(idText)+48+min(len(body), large))
	head = append(head, `{"jsonrpc":"2.0","id":`...)
	head = append(head, idText...)
	head = append(head, `,"result":`...)
	if len(body) < large {
		return s.write(append(append(head, body...), "}\n"...))
	}
	return s.write(head, body, []byte("}\n"))
}

func (s *stdio) write(parts ...[]byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, part := range parts {
		if _, err := s.rwc.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// heldResult stands for a result that Write puts in its place. On the way through
// the SDK it is a JSON string, which no other result of MCP can be.
type heldResult struct {
	sdk.ResultBase
	placeholder string
}

// MarshalJSON gives the placeholder.
func (r *heldResult) MarshalJSON() ([]byte, error) { return []byte(r.placeholder), nil }

// hold keeps a result, which must be JSON, until the SDK sends it.
func (s *stdio) hold(body []byte) sdk.Result {
	if bytes.IndexByte(body, '\n') >= 0 { // a line feed between tokens would end the line
		var compact bytes.Buffer
		if json.Compact(&compact, body) == nil {
			body = compact.Bytes()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	placeholder := `"` + strconv.FormatUint(s.seq, 10) + `"`
	s.held[placeholder] = body
	return &heldResult{placeholder: placeholder}
}

func (s *stdio) take(result json.RawMessage) ([]byte, bool) {
	if len(result) == 0 || result[0] != '"' {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.held[string(result)]
	delete(s.held, string(result))
	return body, ok
}
