package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// message is one JSON-RPC message as it came. The raw parts are slices of the
// frame's own memory, which belongs to the message.
type message struct {
	id     string // canonical JSON, so that equal ids are equal strings; "" if absent
	method string
	params json.RawMessage // nil if absent or null
	result json.RawMessage // nil if absent
	fail   json.RawMessage // the member "error"; nil if absent or null

	version, hasMethod, nullID bool
	answers                    bool // it has a result or an error, readable or not
}

// refusal is a frame that is no message we take. The connection lives on.
type refusal struct {
	id     string // "" answers with a null id
	code   int64
	reason string
}

var (
	badJSON  = &refusal{code: CodeParse, reason: "the message is not valid JSON"}
	errDepth = errors.New("nested too deep")
)

// parse reads the envelope of a message and checks all of its text. Values are
// not decoded: that is for the handler who knows their types. A refused message
// is returned as far as it was read.
func parse(text []byte, maxDepth int) (message, *refusal) {
	p := parser{Decoder: newDecoder(text), text: text, maxDepth: maxDepth}
	var m message
	switch kind := p.PeekKind(); kind {
	case '{':
	case '[':
		return m, &refusal{code: CodeInvalidRequest, reason: "batches are not supported, send each message in a frame of its own"}
	default:
		if _, err := p.value(); err != nil || !p.ended() {
			return m, badJSON
		}
		return m, &refusal{code: CodeInvalidRequest, reason: "a message must be a JSON object"}
	}
	if bad := p.members(&m); bad != nil {
		return m, bad
	}
	if !p.ended() {
		return m, badJSON
	}
	return m, m.check()
}

// parser reads a text without copying it.
type parser struct {
	*jsontext.Decoder
	text     []byte
	maxDepth int
}

func newDecoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// ended says that nothing follows.
func (p *parser) ended() bool {
	_, err := p.ReadToken()
	return err == io.EOF //nolint:errorlint // the decoder gives it as it is
}

// members reads the members of the envelope.
func (p *parser) members(m *message) *refusal {
	_, _ = p.ReadToken() // the bracket that was peeked at
	seen := map[string]bool{}
	for {
		name, err := p.ReadToken()
		switch {
		case err != nil:
			return badJSON
		case name.Kind() == '}':
			return nil
		}
		member := name.String()
		m.answers = m.answers || member == "result" || member == "error"
		raw, err := p.value()
		switch {
		case err == errDepth: //nolint:errorlint // value gives it as it is
			return &refusal{id: m.id, code: CodeInvalidRequest, reason: "the message is nested deeper than " + strconv.Itoa(p.maxDepth) + " levels"}
		case err != nil:
			return badJSON
		case !envelope[member] && envelope[strings.ToLower(member)]:
			return &refusal{id: m.id, code: CodeInvalidRequest, reason: "the member " + strconv.Quote(member) + " is in the wrong letter case, send " + strings.ToLower(member)}
		case !envelope[member]:
			continue
		case seen[member]:
			return &refusal{code: CodeInvalidRequest, reason: "the member " + member + " is there twice"}
		}
		seen[member] = true
		if bad := m.set(member, raw); bad != nil {
			return bad
		}
	}
}

var envelope = map[string]bool{"jsonrpc": true, "id": true, "method": true, "params": true, "result": true, "error": true}

// value reads one value and gives its text, which cannot be appended to in place.
func (p *parser) value() (json.RawMessage, error) {
	start, depth := p.InputOffset(), p.StackDepth()
	for {
		if _, err := p.ReadToken(); err != nil {
			return nil, err
		}
		if p.StackDepth() > p.maxDepth {
			return nil, errDepth
		}
		if end := p.InputOffset(); p.StackDepth() == depth {
			return bytes.TrimLeft(p.text[start:end:end], " \t\r\n:"), nil
		}
	}
}

func (m *message) set(name string, raw json.RawMessage) *refusal {
	null := raw[0] == 'n'
	switch name {
	case "jsonrpc":
		m.version = string(raw) == `"2.0"`
	case "id":
		if m.nullID = null; null {
			return nil
		}
		id, ok := canonicalID(raw)
		if !ok {
			return &refusal{code: CodeInvalidRequest, reason: "id must be a number or a string of at most " + strconv.Itoa(maxID) + " bytes"}
		}
		m.id = id
	case "method":
		m.hasMethod = true
		if raw[0] == '"' {
			_ = json.Unmarshal(raw, &m.method)
		}
	case "params":
		if !null {
			m.params = raw
		}
	case "result":
		m.result = raw
	case "error":
		if !null {
			m.fail = raw
		}
	}
	return nil
}

// check says what is wrong with a message whose text is in order.
func (m *message) check() *refusal {
	bad := func(reason string) *refusal {
		return &refusal{id: m.id, code: CodeInvalidRequest, reason: reason}
	}
	isReply := m.result != nil || m.fail != nil
	switch {
	case !m.version:
		return bad(`jsonrpc must be "2.0"`)
	case m.hasMethod && m.method == "":
		return bad("method must be a string that is not empty")
	case m.hasMethod && isReply:
		return bad("a message has either a method or a result")
	case m.hasMethod && m.nullID:
		return bad("the id of a request must not be null")
	case m.params != nil && m.params[0] != '{' && m.params[0] != '[':
		return bad("params must be an object or an array")
	case !m.hasMethod && !isReply && m.id == "":
		return bad("the message has no method")
	}
	return nil
}

// maxID is the length of the longest id we keep and send back.
const maxID = 1024

// canonicalID gives equal ids the same text, however they were escaped.
func canonicalID(raw []byte) (string, bool) {
	switch {
	case len(raw) == 0 || len(raw) > maxID:
		return "", false
	case raw[0] == '"' && bytes.IndexByte(raw, '\\') >= 0:
		text, _ := jsontext.AppendUnquote(nil, raw) // half a surrogate pair becomes U+FFFD
		return string(AppendString(nil, string(text))), true
	case raw[0] == '"' || raw[0] == '-' || isDigit(raw[0]):
		return string(raw), true
	}
	return "", false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
