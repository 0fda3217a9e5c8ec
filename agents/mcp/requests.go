package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

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
