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
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is MCP's stdio transport: one JSON-RPC message a line. Unlike the SDK's
// own it survives a line that is no message, lets what runs be answered when the
// input ends, and can take a message before the SDK sees it.
type stdio struct {
	rwc io.ReadWriteCloser
	in  *bufio.Reader
	out *bufio.Writer // guarded by writing
	// take may keep a message to itself. It then answers it, with reply. It must not wait.
	take    func(envelope) (mine bool)
	batches func() bool // a line may be an array of messages

	forSDK chan jsonrpc.Message
	ended  chan struct{} // closed when there will be no more of them, for the reason in err
	err    error
	closed chan struct{} // closed when nobody wants any
	once   sync.Once

	drainTime time.Duration // for answers after the end of the input

	writing sync.Mutex // one message at a time

	mu         sync.Mutex          // guards all below
	requests   map[string]*request // that wait for their answer, by requestKey
	unanswered int                 // of which the answer was not written yet
	idle       chan struct{}       // closed when there are none; made by who waits for it
}

// envelope is a message whose parts were not looked at.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`

	request *request // that it is, if it is one
}

const (
	maxLine   = 32 << 20    // bytes of a message, as in package wire
	drainTime = time.Second // for answers after the end of the input

	codeParse   = jsonrpc.CodeParseError
	codeInvalid = jsonrpc.CodeInvalidRequest
)

func newStdio(rwc io.ReadWriteCloser, take func(envelope) (mine bool)) *stdio {
	return &stdio{
		batches: func() bool { return false },
		rwc:     rwc, in: bufio.NewReaderSize(rwc, 64<<10), out: bufio.NewWriterSize(rwc, 16<<10), take: take,
		forSDK: make(chan jsonrpc.Message), ended: make(chan struct{}), closed: make(chan struct{}),
	}
}

// Connect makes stdio its own connection.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) {
	go s.read()
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

// read takes messages until the input ends.
// Lines that are no messages are answered and passed over.
func (s *stdio) read() {
	for {
		line, err := s.line()
		line = bytes.TrimSpace(line)
		switch {
		case errors.Is(err, errTooLong):
			s.refuse(nil, codeInvalid, err.Error())
		case len(line) > 0 && line[0] == '[':
			s.array(line)
		case len(line) > 0:
			s.message(line, nil)
		case err != nil:
			s.drain()
			s.err = err
			close(s.ended)
			return
		}
	}
}

// message sees to a message.
func (s *stdio) message(text []byte, b *batch) {
	var e envelope
	if json.Unmarshal(text, &e) == nil && e.Version == "2.0" && e.Method != "" {
		if e.isRequest() {
			if e.request = s.begin(e, b); e.request == nil {
				s.complain(b, complaintTo(string(e.ID), codeInvalid, "a request with this id is already running; use a new id"))
				return
			}
		} else if e.Method == "notifications/cancelled" {
			s.cancelled(e.Params)
		}
		if s.take(e) {
			return
		}
	}
	message, err := jsonrpc.DecodeMessage(text)
	if err == nil {
		select {
		case s.forSDK <- message:
		case <-s.closed:
		}
		return
	}
	complaint := "the line is not a JSON-RPC message: " + err.Error()
	switch {
	case !json.Valid(text):
		s.refuse(b, codeParse, "the line is not valid JSON")
	case e.request != nil:
		_ = s.answer(e.request.key, complaintTo("null", codeInvalid, complaint)) // a broken stream is Read's to notice
	default:
		s.refuse(b, codeInvalid, complaint)
	}
}

// answered keeps the number of requests that wait for their answer.
func (s *stdio) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unanswered--; s.unanswered <= 0 && s.idle != nil {
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
	select {
	case <-idle:
	case <-time.After(s.drainTime):
	}
}

var errTooLong = fmt.Errorf("the message is larger than the limit of %d bytes, send less at a time", maxLine)

// line reads to the end of the line, in memory of its own. The last line may come
// with the error that ends the stream.
func (s *stdio) line() ([]byte, error) {
	var line []byte
	for tooLong := false; ; {
		part, err := s.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && err == nil:
			return nil, errTooLong
		default:
			return line, err
		}
	}
}

// refuse answers what is no message, or none that could be answered by its id.
func (s *stdio) refuse(b *batch, code int64, message string) {
	s.complain(b, complaintTo("null", code, message))
}

func (s *stdio) complain(b *batch, answer []byte) {
	if b != nil {
		b.expect()
		_ = s.settle(b, answer)
		return
	}
	_ = s.write(answer, []byte{'\n'}) // a broken stream is Read's to notice
}

func complaintTo(id string, code int64, message string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, encoded(message))
}

// Write sends one message.
func (s *stdio) Write(_ context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	response, ok := message.(*jsonrpc.Response)
	if !ok {
		return s.write(text, []byte{'\n'})
	}
	return s.answer(requestKey(encoded(response.ID.Raw())), text)
}

// reply answers a request that was taken. The member is "result" or "error", and
// its value the JSON that the pieces make.
func (s *stdio) reply(r *request, member string, pieces ...[]byte) {
	for _, piece := range pieces {
		if bytes.IndexByte(piece, '\n') >= 0 { // a line feed between tokens would end the line
			var compact bytes.Buffer
			if json.Compact(&compact, bytes.Join(pieces, nil)) == nil {
				pieces = [][]byte{compact.Bytes()}
			}
			break
		}
	}
	line := make([][]byte, 0, len(pieces)+3)
	line = append(line, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"%s":`, r.id, member))
	line = append(line, pieces...)
	_ = s.answer(r.key, append(line, []byte{'}'})...) // a broken stream is Read's to notice
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

// request is one that was read and waits for its answer.
type request struct {
	id    json.RawMessage
	key   string
	batch *batch // that its answer belongs to; nil: a line of its own
	leave func() // tells who works on it that the client has cancelled it; nil: the SDK, which knows
	fixed bool   // it cannot be cancelled
}

// requestKey gives equal ids equal keys, however they were written. Numbers are those
// that the SDK makes of them.
func requestKey(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		var plain string
		if json.Unmarshal(raw, &plain) == nil {
			return `"` + plain
		}
	}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return strconv.FormatInt(int64(n), 10)
	}
	return string(raw)
}

// begin enters a request; nil: one with its id waits for its answer already.
func (s *stdio) begin(e envelope, b *batch) *request {
	r := &request{id: e.ID, key: requestKey(e.ID), batch: b, fixed: e.Method == "initialize"}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests[r.key] != nil {
		return nil
	}
	if s.requests == nil {
		s.requests = map[string]*request{}
	}
	s.requests[r.key] = r
	s.unanswered++
	b.expect()
	return r
}

// onCancel has leave called when the client cancels the request.
func (s *stdio) onCancel(r *request, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.leave = leave
}

// cancelled takes in that the client wants no answer to a request, which gets none.
// Of one that was answered already there is nothing left to cancel.
func (s *stdio) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	key := requestKey(p.RequestID)
	s.mu.Lock()
	r := s.requests[key]
	if r == nil || r.fixed {
		s.mu.Unlock()
		return
	}
	delete(s.requests, key)
	s.mu.Unlock()
	if r.leave != nil {
		r.leave()
	}
	_ = s.settle(r.batch, nil) // a broken stream is Read's to notice
	s.answered()
}

// answer sends the answer to a request that waits for one.
func (s *stdio) answer(key string, pieces ...[]byte) error {
	s.mu.Lock()
	r := s.requests[key]
	delete(s.requests, key) // before the answer: from then on its id is free
	s.mu.Unlock()
	if r == nil {
		return nil // cancelled
	}
	defer s.answered()
	if r.batch != nil {
		return s.settle(r.batch, bytes.Join(pieces, nil))
	}
	return s.write(append(pieces, []byte{'\n'})...)
}

// batch collects the answers to the requests that came in one array. A nil batch is a
// message on a line of its own.
type batch struct {
	mu      sync.Mutex // guards all below
	missing int        // answers, and one more until the whole array was read
	answers [][]byte
}

// maxBatch is how many messages an array may hold.
const maxBatch = 256

func (b *batch) expect() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.missing++
}

// settle takes an answer in, or that there will be none, and sends the array when it
// was the last.
func (s *stdio) settle(b *batch, answer []byte) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer != nil {
		b.answers = append(b.answers, answer)
	}
	if b.missing--; b.missing > 0 || len(b.answers) == 0 {
		return nil
	}
	return s.write([]byte{'['}, bytes.Join(b.answers, []byte{','}), []byte("]\n"))
}

// array sees to a batch: a line with an array of messages, which one revision of the
// protocol has.
func (s *stdio) array(line []byte) {
	var messages []json.RawMessage
	err := json.Unmarshal(line, &messages)
	switch {
	case err != nil:
		s.refuse(nil, codeParse, "the line is not valid JSON")
	case !s.batches():
		s.refuse(nil, codeInvalid, "batches are not part of this revision of the protocol, send each message on a line of its own")
	case len(messages) == 0:
		s.refuse(nil, codeInvalid, "the batch is empty")
	case len(messages) > maxBatch:
		s.refuse(nil, codeInvalid, "the batch has more than "+strconv.Itoa(maxBatch)+" messages, send less at a time")
	default:
		b := &batch{missing: 1}
		for _, m := range messages {
			s.message(m, b)
		}
		_ = s.settle(b, nil) // a broken stream is Read's to notice
	}
}

// isRequest: an id that is neither text nor a number is none.
func (e envelope) isRequest() bool {
	return e.Method != "" && len(e.ID) > 0 && strings.IndexByte(`"-0123456789`, e.ID[0]) >= 0
}
