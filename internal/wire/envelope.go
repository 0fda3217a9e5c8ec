package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// refusal is a frame that is no message we take. The connection lives on.
type refusal struct {
	code    int64
	reason  string
	id      string // as JSON; "" answers with a null id
	isReply bool   // to a call of ours, which then fails
}

func (r *refusal) Error() string { return r.reason }

// maxID is the length of the longest id that we keep and send back.
const maxID = 1024

// checkEnvelope says what is wrong with a message, and whether one without fault is a
// reply. Its values are not decoded: that is for who knows their types.
func checkEnvelope(body []byte) (isReply bool, err error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		switch first := bytes.TrimLeft(body, " \t\r\n"); {
		case !json.Valid(body):
			return false, &refusal{code: CodeParse, reason: "the message is not valid JSON"}
		case first[0] == '[':
			return false, &refusal{code: CodeInvalidRequest, reason: "batches are not supported, send each message in a frame of its own"}
		}
	}
	if m == nil {
		return false, &refusal{code: CodeInvalidRequest, reason: "a message must be a JSON object"}
	}
	isReply, reason := fault(m)
	if reason == "" {
		return isReply, nil
	}
	bad := &refusal{code: CodeInvalidRequest, reason: reason, isReply: isReply}
	if id := m["id"]; !isNull(id) && isID(id) {
		bad.id = string(id)
	}
	bad.isReply = isReply && bad.id != ""
	return isReply, bad
}

// fault says what is wrong with a message's members, "" if nothing is, and whether it is a
// reply.
func fault(m map[string]json.RawMessage) (isReply bool, reason string) {
	id, hasID := m["id"]
	method, hasMethod := m["method"]
	params := m["params"]
	answers := m["result"] != nil || !isNull(m["error"])
	switch {
	case !isNull(id) && !isID(id):
		return false, fmt.Sprintf("id must be a whole number that is not negative, or a string of at most %d bytes", maxID)
	case string(m["jsonrpc"]) != `"2.0"`:
		return false, `jsonrpc must be "2.0"`
	case hasMethod && (method[0] != '"' || string(method) == `""`):
		return false, "method must be a string that is not empty"
	case hasMethod && answers:
		return false, "a message has either a method or a result"
	case hasMethod && hasID && isNull(id):
		return false, "the id of a request must not be null"
	case !isNull(params) && params[0] != '{' && params[0] != '[':
		return false, "params must be an object or an array"
	case hasMethod:
		return false, ""
	case isNull(id) && !answers:
		return false, "the message has no method"
	case !answers:
		return true, "the peer answered with neither result nor error"
	}
	return true, ""
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || raw[0] == 'n' }

// isID: jsonrpc2 keeps ids as numbers of 64 bits or as strings.
func isID(raw json.RawMessage) bool {
	if raw[0] == '"' {
		return len(raw) <= maxID
	}
	n, err := strconv.ParseUint(string(raw), 10, 64)
	return err == nil && n <= math.MaxInt64
}

// look finds out what it can of a message that is refused, whose beginning this is: its
// id, and whether it is a reply to a call of ours.
func (r *refusal) look(start []byte) {
	d := json.NewDecoder(bytes.NewReader(start))
	if open, err := d.Token(); r.id != "" || err != nil || open != json.Delim('{') {
		return
	}
	var id json.RawMessage
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return
		}
		switch name {
		case "id", "jsonrpc":
			var value json.RawMessage
			if d.Decode(&value) != nil {
				return
			}
			if name == "id" && isID(value) {
				id = value
			}
		case "method":
			if r.code != CodeParse { // of what is not JSON nothing is sure
				r.id = string(id)
			}
			return
		case "result", "error":
			r.id, r.isReply = string(id), id != nil
			return
		default:
			return
		}
	}
}

// asReply is the reply as one that fails.
func (r *refusal) asReply() []byte {
	message, _ := encode("the reply was refused: " + r.reason) // a string can be marshalled
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, r.id, r.code, message)
}

// deeper says whether brackets are nested deeper than most, without a stack of its own.
func deeper(text []byte, most int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > most {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
