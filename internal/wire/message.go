package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
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

// parse reads the envelope of a message and checks all of its text. Values are
// not decoded: that is for the handler who knows their types. A refused message
// is returned as far as it was read.
func parse(s *scanner) (message, *refusal) {
	var m message
	i := s.space(0)
	switch s.at(i) {
	case '{':
	case '[':
		return m, &refusal{code: CodeInvalidRequest, reason: "batches are not supported, send each message in a frame of its own"}
	default:
		if end := s.value(i, 0); end < 0 || s.space(end) != len(s.text) {
			return m, badJSON
		}
		return m, &refusal{code: CodeInvalidRequest, reason: "a message must be a JSON object"}
	}
	end, bad := m.members(s, i+1)
	if bad != nil {
		return m, bad
	}
	if s.space(end) != len(s.text) {
		return m, badJSON
	}
	return m, m.check()
}

var badJSON = &refusal{code: CodeParse, reason: "the message is not valid JSON"}

// members scans the members of the envelope from behind its opening bracket to
// behind its closing one.
func (m *message) members(s *scanner, i int) (end int, bad *refusal) {
	i = s.space(i)
	if s.at(i) == '}' {
		return i + 1, nil
	}
	var seen [len(memberNames)]bool
	for {
		nameStart := i
		if i = s.key(i); i < 0 {
			return i, badJSON
		}
		name := memberName(s.text[nameStart:i])
		m.answers = m.answers || name >= 0 && (memberNames[name] == "result" || memberNames[name] == "error")
		start := i
		switch i = s.value(i, 1); {
		case i == depthError:
			return i, &refusal{
				id: m.id, code: CodeInvalidRequest,
				reason: "the message is nested deeper than " + strconv.Itoa(s.maxDepth) + " levels",
			}
		case i < 0:
			return i, badJSON
		}
		if name >= 0 {
			if seen[name] {
				return i, &refusal{code: CodeInvalidRequest, reason: "the member " + memberNames[name] + " is there twice"}
			}
			seen[name] = true
			if bad := m.set(memberNames[name], s.text[start:i:i]); bad != nil {
				return i, bad
			}
		}
		i = s.space(i)
		switch s.at(i) {
		case '}':
			return i + 1, nil
		case ',':
			i = s.space(i + 1)
		default:
			return i, badJSON
		}
	}
}

var memberNames = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

// memberName finds the member's place in memberNames, or -1. raw starts with
// the quoted name and goes on to the value.
func memberName(raw []byte) int {
	end := bytes.LastIndexByte(raw, '"')
	name := raw[1:end]
	if bytes.IndexByte(name, '\\') >= 0 {
		var decoded string
		if json.Unmarshal(raw[:end+1], &decoded) != nil {
			return -1
		}
		name = []byte(decoded)
	}
	for i, known := range memberNames {
		if string(name) == known {
			return i
		}
	}
	return -1
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
			m.method = unquote(raw)
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

// isRequest says if the message asks for something, else it answers.
func (m *message) isRequest() bool { return m.hasMethod }

// maxID is the length of the longest id we keep and send back.
const maxID = 1024

// canonicalID gives equal ids the same text, however they were escaped.
func canonicalID(raw []byte) (string, bool) {
	switch {
	case len(raw) == 0 || len(raw) > maxID:
		return "", false
	case raw[0] == '"' && bytes.IndexByte(raw, '\\') >= 0:
		return string(AppendString(nil, unquote(raw))), true
	case raw[0] == '"' || raw[0] == '-' || isDigit(raw[0]):
		return string(raw), true
	}
	return "", false
}

// unquote decodes a JSON string that was scanned before.
func unquote(raw []byte) string {
	plain := raw[1 : len(raw)-1]
	if bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
