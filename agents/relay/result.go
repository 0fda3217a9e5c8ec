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

// NewResult gives the pieces of a result.
func NewResult(r tools.Result) Result {
	return pieces(briefParts(r), r.Structured, r.IsError)
}

// briefPart is one piece of content. Range, if it is there, stands for Text: it is
// where, in the bytes of structuredContent, the same string is.
type briefPart struct {
	tools.Part
	Range *[2]int `json:"range,omitempty"`
}

// worthSharing is the size from which a text is looked for.
const worthSharing = 4 << 10

func briefParts(r tools.Result) []briefPart {
	out := make([]briefPart, len(r.Content))
	for i, p := range r.Content {
		out[i].Part = p
		if p.Type != "text" || len(p.Text) < worthSharing {
			continue
		}
		text := wire.AppendString(make([]byte, 0, len(p.Text)+len(p.Text)/8), p.Text)
		if at := indexNearStart(r.Structured, text); at >= 0 {
			out[i].Text, out[i].Range = "", &[2]int{at, at + len(text)}
		}
	}
	return out
}

// indexNearStart looks for a long text where tools have it, in one of the first
// fields; bytes.Index would hash all of both.
func indexNearStart(s, text []byte) int {
	for at := range min(1<<10, len(s)-len(text)+1) {
		if bytes.HasPrefix(s[at:], text) {
			return at
		}
	}
	return -1
}

const structuredKey = `,"structuredContent":`

// appendBrief is a result as it goes to an agent that wants it brief.
func appendBrief(r tools.Result) wire.Raw {
	out := make([]byte, 0, len(r.Structured)+512)
	out = fmt.Appendf(out, `{"isError":%t,"content":[`, r.IsError)
	for i, p := range briefParts(r) {
		if i > 0 {
			out = append(out, ',')
		}
		if p.Range != nil {
			out = fmt.Appendf(out, `{"type":"text","range":[%d,%d]}`, p.Range[0], p.Range[1])
		} else {
			out = appendPart(out, p.Part)
		}
	}
	out = append(append(out, ']'), structuredKey...)
	return append(append(out, r.Structured...), '}')
}

func appendPart(dst []byte, p tools.Part) []byte {
	if p.Type == "text" {
		dst = append(dst, `{"type":"text","text":`...)
		return append(wire.AppendString(dst, p.Text), '}')
	}
	dst = append(dst, `{"type":`...)
	dst = append(wire.AppendString(dst, p.Type), `,"data":`...)
	dst = append(wire.AppendString(dst, p.Data), `,"mimeType":`...)
	return append(wire.AppendString(dst, p.MIMEType), '}')
}

// readBrief takes apart what appendBrief put together. The key that it looks for
// cannot be in a string before it, where its quotes would be escaped.
func readBrief(raw []byte) (Result, error) {
	at := bytes.Index(raw, []byte(structuredKey))
	if at < 0 || raw[len(raw)-1] != '}' {
		return nil, fmt.Errorf("the sidecar's result has no structuredContent")
	}
	var head struct {
		IsError bool        `json:"isError"`
		Content []briefPart `json:"content"`
	}
	structured := raw[at+len(structuredKey) : len(raw)-1]
	if err := json.Unmarshal(append(bytes.Clone(raw[:at]), '}'), &head); err != nil {
		return nil, fmt.Errorf("the sidecar's result cannot be read: %w", err)
	}
	for _, p := range head.Content {
		if r := p.Range; r != nil && (r[0] < 0 || r[0] > r[1] || r[1] > len(structured)) {
			return nil, fmt.Errorf("the sidecar's result points outside of itself")
		}
	}
	return pieces(head.Content, structured, head.IsError), nil
}

func pieces(content []briefPart, structured []byte, isError bool) Result {
	var out Result
	text := []byte(`{"content":[`)
	for i, p := range content {
		if i > 0 {
			text = append(text, ',')
		}
		if p.Range == nil {
			text = appendPart(text, p.Part)
			continue
		}
		text = append(text, `{"type":"text","text":`...)
		out = append(out, text, structured[p.Range[0]:p.Range[1]])
		text = []byte{'}'}
	}
	text = append(append(text, ']'), structuredKey...)
	return append(out, text, structured, fmt.Appendf(nil, `,"isError":%t}`, isError))
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
