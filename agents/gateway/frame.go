package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"pillion/conversation"
	"pillion/internal/fault"
)

// Limits of frames.
const (
	maxFrame        = 10 << 20   // bytes
	maxFrameCodeLab = 10_000_000 // the same in the preset's reading
	maxCallID       = 256        // characters
	maxTimeout      = 600 * time.Second
)

// frame is a frame that comes in, of whatever type; docs/protocol.md lists them. What
// has two spellings has two fields.
type frame struct {
	Type   string          `json:"type"`
	CallID json.RawMessage `json:"call_id"`
	// of tool_call
	ToolName             string          `json:"tool_name"`
	Arguments            json.RawMessage `json:"arguments"`
	Args                 json.RawMessage `json:"args"`
	RequiresApproval     *bool           `json:"requires_approval"`
	RequiresConfirmation *bool           `json:"requires_confirmation"`
	TimeoutSeconds       float64         `json:"timeout_seconds"`
	// of agent_status, and of error
	Status    conversation.Status `json:"status"`
	Message   string              `json:"message"`
	ErrorCode string              `json:"error_code"`
	Details   json.RawMessage     `json:"details"`
	// of assistant_message
	Token   string `json:"token"`
	IsFinal bool   `json:"is_final"`
	// of tool_result: whether there is one of these is all that matters
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	// of context_update
	SessionID string                    `json:"session_id"`
	Action    conversation.Action       `json:"action"`
	Data      *conversation.ContextData `json:"data"`
}

// readFrame reads a frame. Of one that is wrong in a field, what can be read is there
// beside the error.
func readFrame(data []byte) (frame, error) {
	var f frame
	if !utf8.Valid(data) {
		return f, fault.Invalid("the frame is not UTF-8")
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' || !json.Valid(data) {
		return f, fault.Invalid("a frame must be one JSON object")
	}
	if err := json.Unmarshal(data, &f); err != nil { // it goes on behind a field of another type
		if f.Type == "" {
			var only struct {
				Type json.RawMessage `json:"type"`
			}
			if json.Unmarshal(data, &only) != nil || len(only.Type) == 0 || only.Type[0] != '"' {
				return f, fault.Invalid(`a frame must have a "type"`)
			}
		}
		return f, fault.Invalid("the frame cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if f.Type == "" {
		return f, fault.Invalid(`a frame must have a "type"`)
	}
	return f, nil
}

// callID is the id of a call, as the gateway gave it.
func (f frame) callID() (string, error) {
	var id string
	switch {
	case len(f.CallID) == 0:
		return "", fault.Invalid("%s needs a call_id", f.Type)
	case json.Unmarshal(f.CallID, &id) != nil || id == "" || utf8.RuneCountInString(id) > maxCallID:
		return "", fault.Invalid("call_id must be a text of 1 to %d characters", maxCallID)
	case fault.Line(id) != id:
		return "", fault.Invalid("call_id %s has characters that do not print", fault.Quote(id))
	}
	return id, nil
}

// arguments are those of a call, in either spelling.
func (f frame) arguments() (json.RawMessage, error) {
	given := f.Arguments
	if len(given) == 0 {
		given = f.Args
	} else if len(f.Args) > 0 && !bytes.Equal(f.Args, f.Arguments) {
		return nil, fault.Invalid("give arguments or args, not both; they are the same")
	}
	if len(given) == 0 || string(given) == "null" {
		given = json.RawMessage("{}")
	}
	return given, nil
}

// asks: the gateway wants the user to be asked, in either spelling.
func (f frame) asks() bool {
	return f.RequiresApproval != nil && *f.RequiresApproval || f.RequiresConfirmation != nil && *f.RequiresConfirmation
}

func (f frame) timeout() (time.Duration, error) {
	if f.TimeoutSeconds < 0 || f.TimeoutSeconds > maxTimeout.Seconds() {
		return 0, fault.Invalid("timeout_seconds must be between 0 and %g", maxTimeout.Seconds())
	}
	return time.Duration(f.TimeoutSeconds * float64(time.Second)), nil
}

// encode makes a frame of a struct. Gateways are no browsers: <, > and & stay as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // types of this package have a JSON form
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// userMessage is what the user says.
type userMessage struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// agentStatus is what the editor's side is doing.
type agentStatus struct {
	Type    string              `json:"type"`
	Status  conversation.Status `json:"status"`
	Message string              `json:"message,omitempty"`
}

// contextUpdate is a change of the context by the user.
type contextUpdate struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id"`
	conversation.ContextUpdate
}

// decision is hitl_decision.
type decision struct {
	Type              string          `json:"type"`
	CallID            string          `json:"call_id"`
	Decision          string          `json:"decision"`
	ModifiedArguments json.RawMessage `json:"modified_arguments,omitempty"`
	Feedback          string          `json:"feedback,omitempty"`
}

// failure is error, of what is not about one call.
type failure struct {
	Type      string         `json:"type"`
	ErrorCode string         `json:"error_code"`
	Message   string         `json:"message"`
	Details   map[string]any `json:"details,omitempty"`
}

// rooted has the paths in a call's arguments begin at the workspace's root: a leading / is
// that root in frames, unless the path lies inside an open folder as it stands.
func (h Host) rooted(arguments json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(arguments, &all) != nil {
		return arguments // the door says what is wrong
	}
	changed := false
	for _, name := range []string{"path", "from", "to", "cwd"} {
		var text string
		if json.Unmarshal(all[name], &text) == nil && h.relative(text) != text {
			all[name], changed = encode(h.relative(text)), true
		}
	}
	for _, name := range []string{"files", "paths"} {
		var list []string
		if json.Unmarshal(all[name], &list) != nil {
			continue
		}
		for i, text := range list {
			list[i] = h.relative(text)
			changed = changed || list[i] != text
		}
		all[name] = encode(list)
	}
	if !changed {
		return arguments
	}
	return encode(all)
}

// relative is one path.
func (h Host) relative(path string) string {
	if !strings.HasPrefix(path, "/") || h.Inside(path) {
		return path
	}
	return strings.TrimLeft(path, "/")
}

// restored has modified arguments name paths as the gateway did: what the user left as it
// was is the gateway's own.
func restored(modified, given, translated json.RawMessage) json.RawMessage {
	var now, own, ours map[string]json.RawMessage
	if json.Unmarshal(modified, &now) != nil || json.Unmarshal(given, &own) != nil || json.Unmarshal(translated, &ours) != nil {
		return modified
	}
	for name, value := range now {
		if string(value) == string(ours[name]) && own[name] != nil {
			now[name] = own[name]
		}
	}
	return encode(now)
}
