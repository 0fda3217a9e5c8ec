package relay

import (
	"bytes"
	"encoding/json"
	"fmt"

	"pillion/internal/wire"
	"pillion/tools"
)

// Result is the result of a call as MCP has it, an object with content,
// structuredContent and isError, in pieces that make its JSON together. A file
// that was read is in the object twice, as text and as a field, and in the pieces
// twice, but in memory and on the relay's wire once.
type Result [][]byte

// NewResult gives the pieces of a result, without what is for people, and without
// structuredContent unless it is wanted.
func NewResult(r tools.Result, structured bool) Result {
	if !structured {
		return r.ContentPieces()
	}
	r.Display = nil
	return r.Pieces()
}

// briefly is a result as it goes to an agent that wants it brief: of a text that
// is in structuredContent too, the content says where.
func briefly(r tools.Result) wire.Raw {
	head := fmt.Appendf(nil, `{"isError":%t,"content":[`, r.IsError)
	for i, p := range r.Content {
		if i > 0 {
			head = append(head, ',')
		}
		if p.Shared != nil {
			head = fmt.Appendf(head, `{"type":"text","range":[%d,%d]}`, p.Shared.From, p.Shared.To)
		} else {
			head = p.AppendJSON(head)
		}
	}
	head = append(append(head, ']'), tools.StructuredKey...)
	return append(append(head, r.Structured...), '}')
}

// readBrief takes apart what briefly put together. The key that it looks for
// cannot be in a string before it, where its quotes would be escaped. Without structured
// the content alone is left, for sidecars that know no other form.
func readBrief(raw []byte, structured bool) (Result, error) {
	at := bytes.Index(raw, []byte(tools.StructuredKey))
	if at < 0 && bytes.HasPrefix(raw, []byte(`{"content":[`)) { // text alone
		return Result{raw}, nil
	}
	if at < 0 || raw[len(raw)-1] != '}' {
		return nil, fmt.Errorf("the sidecar's result has neither content nor structuredContent")
	}
	if structured && !bytes.Contains(raw[:at], []byte(`"range":`)) { // inside of a string its quotes would be escaped
		return Result{raw}, nil // the whole form and the brief one are the same
	}
	var head struct {
		IsError bool `json:"isError"`
		Content []struct {
			tools.Part
			Range *[2]int `json:"range"`
		} `json:"content"`
	}
	body := raw[at+len(tools.StructuredKey) : len(raw)-1]
	if err := json.Unmarshal(append(bytes.Clone(raw[:at]), '}'), &head); err != nil {
		return nil, fmt.Errorf("the sidecar's result cannot be read: %w", err)
	}
	whole := tools.Result{Structured: body, IsError: head.IsError}
	for _, p := range head.Content {
		if r := p.Range; r != nil {
			if r[0] < 0 || r[0] > r[1] || r[1] > len(body) {
				return nil, fmt.Errorf("the sidecar's result points outside of itself")
			}
			p.Shared = &tools.Span{From: r[0], To: r[1]}
		}
		whole.Content = append(whole.Content, p.Part)
	}
	return NewResult(whole, structured), nil
}

// Size is the length of the JSON.
func (r Result) Size() int {
	n := 0
	for _, piece := range r {
		n += len(piece)
	}
	return n
}

// Bytes is the JSON in one piece.
func (r Result) Bytes() []byte { return bytes.Join(r, nil) }
