package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/tools"
)

// waitTool collects the result of a call that was answered before it was done. It is
// listed for clients that give up.
const waitTool = "wait_for_answer"

// It is short, because it is in each conversation, and as open to the world as what it waits for.
var waitDefinition = tools.Definition{
	Name: waitTool, Description: "Waits for the result of an unfinished call, by its id.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
	Annotations: tools.Annotations{ReadOnly: true, OpenWorld: true},
}

func waitID(number int) string { return "w" + strconv.Itoa(number) }

// clientLimits are how long clients wait for a call before they give up, unless they
// were set up otherwise, by the beginning of the name that they give. 0: for ever.
// See docs/agents.md for how that was found out.
var clientLimits = []struct {
	name  string
	limit time.Duration
}{
	{"claude-code", 0},
	{"opencode", 0}, // 60 s after the last sign of life
	{"codex", 300 * time.Second},
	{"qwen", 600 * time.Second},
	{"gemini", 600 * time.Second},
	{"", 60 * time.Second}, // what MCP's TypeScript SDK has
}

// patience is how long a request of this client may stay unanswered. 0: for ever.
func (s *server) patience() time.Duration {
	if s.o.AnswerWithin != nil {
		return before(*s.o.AnswerWithin)
	}
	name := clientName(s.session())
	for _, c := range clientLimits {
		if strings.HasPrefix(name, c.name) {
			return before(c.limit)
		}
	}
	return 0
}

// before is in good time before the limit: a tenth of it, and 5 s where there are as many.
func before(limit time.Duration) time.Duration {
	return limit - min(max(limit/10, 5*time.Second), limit/2)
}

// stillThere is the result of a call that goes on.
func (s *server) stillThere(id string, waits bool) relay.Result {
	state := "still running"
	if waits {
		state = "still waiting for the user"
	}
	text := fmt.Sprintf("%s; call %s with id %s", state, waitTool, id)
	structured, err := json.Marshal(map[string]any{"ok": true, "waiting": state, "id": id})
	if err != nil {
		structured = []byte(`{"ok":true}`)
	}
	return relay.NewResult(tools.Result{Content: []tools.Part{{Type: "text", Text: text}}, Structured: structured}, s.o.Structured)
}

// named finds the pending call that wait_for_answer is to wait for. It needs the lock.
func (s *pendingCalls) named(arguments json.RawMessage) (*pendingCall, error) {
	var args map[string]string
	if json.Unmarshal(arguments, &args) != nil || len(args) != 1 || args["id"] == "" {
		return nil, fault.New(fault.InvalidArguments, "%s needs one argument: id, a string such as w1", waitTool)
	}
	var ids []string
	for _, e := range s.parked {
		if e.id == args["id"] {
			return e, nil
		}
		ids = append(ids, e.id)
	}
	err := fault.New(fault.InvalidArguments, "no call with the id %s is waiting; its result was already returned, or the id is wrong", fault.Quote(args["id"]))
	if len(ids) == 0 {
		return nil, err.WithHint("no other call is waiting either; go on without it")
	}
	return nil, err.WithHint("waiting: %s", strings.Join(ids, ", "))
}
