package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/lead"
)

// stdio is MCP's stdio transport: one JSON-RPC message a line. Unlike the SDK's
// own it survives a line that is no message, lets what runs be answered when the
// input ends, and can take a message before the SDK sees it.
type stdio struct {
	rwc io.ReadWriteCloser
	in  *bufio.Reader
	out *bufio.Writer // guarded by writing
	// take may keep a message to itself. It then answers it, with reply, and says
	// whether the goroutine that it was called on still reads.
	take func(envelope) (mine, reads bool)
	lead *lead.Lead

	forSDK chan jsonrpc.Message
	ended  chan struct{} // closed when there will be no more of them, for the reason in err
	err    error
	closed chan struct{} // closed when nobody wants any
	once   sync.Once

	writing sync.Mutex // one message at a time

	mu         sync.Mutex    // guards all below
	unanswered int           // requests that were read
	idle       chan struct{} // closed when there are none; made by who waits for it
}

// envelope is a message whose parts were not looked at.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

func (e envelope) isRequest() bool {
	return e.Method != "" && len(e.ID) > 0 && strings.IndexByte(`"-0123456789`, e.ID[0]) >= 0
}

const (
	maxLine   = 32 << 20    // bytes of a message, as in package wire
	drainTime = time.Second // for answers after the end of the input
)

func newStdio(rwc io.ReadWriteCloser, take func(envelope) (mine, reads bool)) *stdio {
	s := &stdio{
		rwc: rwc, in: bufio.NewReaderSize(rwc, 64<<10), out: bufio.NewWriterSize(rwc, 16<<10), take: take,
		forSDK: make(chan jsonrpc.Message), ended: make(chan struct{}), closed: make(chan struct{}),
	}
	s.lead = lead.New(s.read)
	return s
}

// Connect makes stdio its own connection.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) {
	go s.lead.Run()
	return s, nil
}

// SessionID is empty: there is one session.
func (s *stdio) SessionID() string { return "" }

// Close ends a Read that waits, where the system can.
func (s *stdio) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.rwc.Close()
}

// Read gives the next message that is for the SDK.
func (s *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message := <-s.forSDK:
		return message, nil
	case <-s.ended:
		return nil, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read takes messages until the input ends or another goroutine has the lead.
// Lines that are no messages are answered and passed over.
func (s *stdio) read() {
	for reads := true; reads; {
		line, err := s.line()
		line = bytes.TrimSpace(line)
		switch {
		case errors.Is(err, errTooLong):
			s.refuse(jsonrpc.CodeInvalidRequest, err.Error())
		case len(line) > 0:
			reads = s.message(line)
		case err != nil:
			s.lead.Stop()
			s.drain()
			s.err = err
			close(s.ended)
			return
		}
	}
}

// alone says that nothing has arrived behind the message that was taken last.
func (s *stdio) alone() bool { return s.in.Buffered() == 0 }

// message sees to a line, and says whether its goroutine still reads.
func (s *stdio) message(line []byte) (reads bool) {
	var e envelope
	if json.Unmarshal(line, &e) == nil && e.Version == "2.0" && e.Method != "" {
		if e.isRequest() {
			s.count(1)
		}
		if mine, reads := s.take(e); mine {
			return reads
		}
	}
	message, err := jsonrpc.DecodeMessage(line)
	switch {
	case err == nil:
		select {
		case s.forSDK <- message:
		case <-s.closed:
		}
		return true
	case line[0] == '[':
		s.refuse(jsonrpc.CodeInvalidRequest, "batches are not supported, send each message on a line of its own")
	case !json.Valid(line):
		s.refuse(jsonrpc.CodeParseError, "the line is not valid JSON")
	default:
		s.refuse(jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC message: "+err.Error())
	}
	if e.isRequest() && e.Version == "2.0" {
		s.count(-1)
	}
	return true
}

// count keeps the number of requests that wait for their answer.
func (s *stdio) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unanswered += n; s.unanswered <= 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// drain waits for the answers to what was asked before the input ended: who pipes
// a few lines in wants to read them.
func (s *stdio) drain() {
	s.mu.Lock()
	if s.unanswered <= 0 {
		s.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	s.idle = idle
	s.mu.Unlock()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
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
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	err = s.write(append(text, '\n'))
	if _, ok := message.(*jsonrpc.Response); ok {
		s.count(-1)
	}
	return err
}

// reply answers a request that was taken. The member is "result" or "error", and
// its value the JSON that the pieces make.
func (s *stdio) reply(id json.RawMessage, member string, pieces ...[]byte) {
	defer s.count(-1)
	for _, piece := range pieces {
		if bytes.IndexByte(piece, '\n') >= 0 { // a line feed between tokens would end the line
			var compact bytes.Buffer
			if json.Compact(&compact, bytes.Join(pieces, nil)) == nil {
				pieces = [][]byte{compact.Bytes()}
			}
			break
		}
	}
	line := make([][]byte, 0, len(pieces)+2)
	line = append(line, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"%s":`, id, member))
	line = append(line, pieces...)
	_ = s.write(append(line, []byte("}\n"))...) // a broken stream is Read's to notice
}

// write sends the pieces; small ones go together.
func (s *stdio) write(pieces ...[]byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, piece := range pieces {
		if _, err := s.out.Write(piece); err != nil {
			return err
		}
	}
	return s.out.Flush()
}
