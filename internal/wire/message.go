package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/jsonrpc2"
)

const (
	maxDepth = 512  // of the nesting of a message
	maxID    = 1024 // bytes of an id that we keep and send back
)

// message is one JSON-RPC message as it came. The raw parts are slices of the
// frame's own memory, which belongs to the message.
type message struct {
	id     string // canonical JSON, so that equal ids are equal strings; "" if absent
	method string
	params json.RawMessage // nil if absent or null
	result json.RawMessage // nil if absent
	failed *jsonrpc2.Error // nil if absent or null

	hasMethod bool
	answers   bool // it has a result or an error, readable or not
	unsure    bool // the rest of it may say another id
}

// parse reads the envelope of a message and checks all of its text. Values are
// not decoded: that is for the handler who knows their types. A refused message
// is returned as far as it was read.
func parse(text []byte) (m message, bad *Error) {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	members := map[string]json.RawMessage{}
	m.unsure, bad = readMembers(text, members)

	given := func(name string) json.RawMessage {
		if raw := members[name]; len(raw) > 0 && raw[0] != 'n' {
			return raw
		}
		return nil
	}
	var hasResult, hasError, validID bool
	_, m.hasMethod = members["method"]
	_, hasResult = members["result"]
	_, hasError = members["error"]
	m.answers = hasResult || hasError
	m.id, validID = canonicalID(given("id"))
	m.params, m.result = given("params"), members["result"]
	_ = json.Unmarshal(given("method"), &m.method) // what is no string leaves it empty
	if raw := given("error"); raw != nil {
		if err := json.Unmarshal(raw, &m.failed); err != nil {
			m.failed = &jsonrpc2.Error{Code: CodeInternal, Message: fmt.Sprintf("the peer answered with a malformed error: %v", err)}
		}
	}
	isReply := m.result != nil || m.failed != nil
	reason := ""
	switch {
	case bad != nil:
		return m, bad
	case given("id") != nil && !validID:
		reason = fmt.Sprintf("id must be a number or a string of at most %d bytes", maxID)
	case string(members["jsonrpc"]) != `"2.0"`:
		reason = `jsonrpc must be "2.0"`
	case m.hasMethod && m.method == "":
		reason = "method must be a string that is not empty"
	case m.hasMethod && isReply:
		reason = "a message has either a method or a result"
	case m.hasMethod && members["id"] != nil && m.id == "":
		reason = "the id of a request must not be null"
	case m.params != nil && m.params[0] != '{' && m.params[0] != '[':
		reason = "params must be an object or an array"
	case !m.hasMethod && !isReply && m.id == "":
		reason = "the message has no method"
	default:
		return m, nil
	}
	return m, Errorf(CodeInvalidRequest, "%s", reason)
}

var (
	envelope = map[string]bool{"jsonrpc": true, "id": true, "method": true, "params": true, "result": true, "error": true}
	badJSON  = Errorf(CodeParse, "the message is not valid JSON")
	errDepth = errors.New("nested too deep")
)

// readMembers reads the members of the envelope, and checks that they are JSON. Of one that
// cannot be read there is the name.
func readMembers(text []byte, members map[string]json.RawMessage) (unsure bool, bad *Error) {
	// From a buffer the decoder reads without a copy.
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	switch d.PeekKind() {
	case '{':
		_, _ = d.ReadToken()
	case '[':
		return true, Errorf(CodeInvalidRequest, "batches are not supported, send each message in a frame of its own")
	default:
		if _, err := readValue(d, text); err != nil || !ended(d) {
			return true, badJSON
		}
		return true, Errorf(CodeInvalidRequest, "a message must be a JSON object")
	}
	for {
		name, err := d.ReadToken()
		switch {
		case err != nil, name.Kind() == '}' && !ended(d):
			return true, badJSON
		case name.Kind() == '}':
			return false, nil
		}
		member := name.String()
		_, twice := members[member]
		lower := strings.ToLower(member)
		if envelope[member] && !twice {
			members[member] = nil
		}
		raw, err := readValue(d, text)
		switch {
		case err == errDepth: //nolint:errorlint // readValue gives it as it is
			return false, Errorf(CodeInvalidRequest, "the message is nested deeper than %d levels", maxDepth)
		case err != nil:
			return true, badJSON
		case !envelope[member] && envelope[lower]:
			return false, Errorf(CodeInvalidRequest, "the member %q is in the wrong letter case, send %s", member, lower)
		case twice:
			return true, Errorf(CodeInvalidRequest, "the member %s is there twice", member)
		case envelope[member]:
			members[member] = raw
		}
	}
}

// ended says that nothing follows.
func ended(d *jsontext.Decoder) bool {
	_, err := d.ReadToken()
	return err == io.EOF //nolint:errorlint // the decoder gives it as it is
}

// readValue reads one value and gives its text, which cannot be appended to in place.
func readValue(d *jsontext.Decoder, text []byte) (json.RawMessage, error) {
	start, depth := d.InputOffset(), d.StackDepth()
	for {
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
		if d.StackDepth() > maxDepth {
			return nil, errDepth
		}
		if end := d.InputOffset(); d.StackDepth() == depth {
			return bytes.TrimLeft(text[start:end:end], " \t\r\n:"), nil
		}
	}
}

// canonicalID gives equal ids the same text, however they were escaped.
func canonicalID(raw []byte) (string, bool) {
	switch {
	case len(raw) == 0 || len(raw) > maxID:
		return "", false
	case raw[0] == '"' && bytes.IndexByte(raw, '\\') >= 0:
		text, _ := jsontext.AppendUnquote(nil, raw) // half a surrogate pair becomes U+FFFD
		return string(AppendString(nil, string(text))), true
	case strings.IndexByte(`"-0123456789`, raw[0]) >= 0:
		return string(raw), true
	}
	return "", false
}

// Raw is a value that is JSON already. As a result it is written as it is, neither
// parsed nor compacted; the caller vouches for it and leaves it alone afterwards.
type Raw = json.RawMessage

// encode makes JSON of v without a copy where v is JSON already.
func encode(v any) (json.RawMessage, error) {
	if raw, ok := v.(Raw); ok {
		if len(raw) == 0 {
			return Raw("null"), nil
		}
		return raw, nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes()[:out.Len()-1], nil // without the encoder's line feed
}

// AppendString appends s to dst as a JSON string. Invalid UTF-8 becomes U+FFFD. The
// characters < > & stay as they are; U+2028 and U+2029, at which some clients split
// lines, are escaped.
func AppendString(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // an error says that invalid UTF-8 was replaced
	if !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029") {
		return out
	}
	quoted := strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(out[len(dst):]))
	return append(out[:len(dst)], quoted...)
}
