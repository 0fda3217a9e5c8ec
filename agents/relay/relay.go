// Package relay is the socket by which agents reach the sidecar of an editor, and
// the registry in which they find it.
//
// Listen opens a sidecar's socket and puts an entry for it into the registry;
// Find looks up the sidecar whose workspace holds a folder; Dial connects to it.
// What is spoken is JSON-RPC in Content-Length frames (package wire) with a
// method table of its own: agent/hello, tools/list, tools/call, $/cancelRequest, agent/prompt,
// and $/progress, workspace/changed and tools/changed back.
//
// Who may connect: the socket is 0600 in a folder that is ours alone, the peer's
// user is checked where the system tells it, and agent/hello carries the token
// that only the registry's entry (0600 too) and the editor know.
//
// Deliberately not here: anything that answers an approval, names another agent's
// session, or changes one. Agents have this channel and no other, so what it lacks they
// cannot do.
package relay

import (
	"cmp"
	"encoding/json"
	"log"
	"time"

	"pillion/tools"
	"pillion/tools/session"
)

// ProtocolVersion is what agent/hello must name. Within it the wire changes by
// addition alone.
const ProtocolVersion = 1

// The methods of the relay.
const (
	methodHello    = "agent/hello"
	methodList     = "tools/list"
	methodCall     = "tools/call"
	methodPrompt   = "agent/prompt"
	methodReview   = "draft/review"
	methodProgress = "$/progress"
	methodChanged  = "workspace/changed"
	methodTools    = "tools/changed"
)

// Host is what the relay needs of the sidecar.
type Host struct {
	Registry *tools.Registry
	Sessions *session.Set
	Roots    func() []string // absolute workspace folders, now
	Editor   string          // for people: "VS Code"
	Kind     Kind
	Version  string // of the sidecar
	// Structured says that the settings want the structure of results for every agent.
	Structured func() bool
	Logf       func(format string, args ...any)
	Beat       time.Duration // between two signs of life of a call; 0: 5 s

	hello time.Duration // for agent/hello to come; 0: helloTime
}

func (h Host) withDefaults() Host {
	if h.Logf == nil {
		h.Logf = log.Printf
	}
	if h.Structured == nil {
		h.Structured = func() bool { return false }
	}
	if h.Editor == "" {
		h.Editor = "the editor"
	}
	h.Beat, h.hello = cmp.Or(h.Beat, beatTime), cmp.Or(h.hello, helloTime)
	return h
}

// Hello is how an agent introduces itself.
type Hello struct {
	Token           string `json:"token"`
	ProtocolVersion int    `json:"protocolVersion"`
	Agent           Agent  `json:"agent"`
	Cwd             string `json:"cwd,omitempty"`
	// Brief makes results lighter: no "display", which is for people, and a long
	// text that is in structuredContent anyway is there as {"type":"text",
	// "range":[from,to]}, in bytes of structuredContent as it was sent, which
	// then comes last.
	Brief bool `json:"brief,omitempty"`
	// Form "text" leaves structuredContent out, unless the user's settings want it: agents
	// show their model either the structure or the text, which is written for it.
	Form string `json:"form,omitempty"`
	// PageBytes is about how much text one result may have; what is more comes in pages, or
	// is cut and says so. 0: as much as the settings' limits allow.
	PageBytes int `json:"pageBytes,omitempty"`
	// RangeBytes is how much the lines of a file may have that are asked for with both ends.
	// 0: no limit.
	RangeBytes int `json:"rangeBytes,omitempty"`
	// Tools are those that the session is limited to, by the names of the contract; nil: all.
	Tools []string `json:"tools,omitzero"`
	// Dialect is the tool set whose names the agent calls; empty: the contract's.
	Dialect string `json:"dialect,omitempty"`
	// Session is the session that the agent had before, and what it proves that by.
	Session *session.Proof `json:"session,omitempty"`
}

// Prompt is the params of agent/prompt, by which a hook of the agent's says that the user
// wrote to it. It takes the place of agent/hello.
type Prompt struct {
	Token   string        `json:"token"`
	Session session.Proof `json:"session"`
	Text    string        `json:"text"` // its first words
}

// Review is the params of draft/review, by which a program of the user's has a draft reviewed
// in the editor. It takes the place of agent/hello.
type Review struct {
	Token   string `json:"token"`
	Session string `json:"session"`
}

// Reviewed is what became of it, in words; No: there is no such draft.
type Reviewed struct {
	Text string `json:"text"`
	No   bool   `json:"no,omitempty"`
}

// FormText is the one other form of results.
const FormText = "text"

// Agent is who connects.
type Agent struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Welcome is the answer to agent/hello.
type Welcome struct {
	ProtocolVersion int    `json:"protocolVersion"`
	Editor          string `json:"editor"`
	Version         string `json:"version"`
	Form            string `json:"form,omitempty"` // the Hello's: a sidecar that does not know it leaves it out
	// SessionID is the connection's session. Whoever gives it and the secret in a later Hello
	// has the same session again. No secret: it is not kept.
	SessionID string `json:"sessionId,omitempty"`
	Secret    string `json:"secret,omitempty"`
}

// Call is the params of tools/call.
type Call struct {
	Name             string          `json:"name"`
	Arguments        json.RawMessage `json:"arguments,omitempty"`
	RequiresApproval bool            `json:"requiresApproval,omitempty"`
	TimeoutSeconds   float64         `json:"timeoutSeconds,omitempty"`
	ProgressToken    json.RawMessage `json:"progressToken,omitempty"`
	// Quiet: of the progress, signs of life alone, without a command's output.
	Quiet bool `json:"quiet,omitempty"`
}

// Progress is the value of $/progress: a piece of a command's output (Stream and
// Text), or a sign of life with a sentence for people (Message).
type Progress struct {
	Kind    string `json:"kind"` // report
	Stream  string `json:"stream,omitempty"`
	Text    string `json:"text,omitempty"`
	Dropped int    `json:"dropped,omitempty"` // bytes that the text lacks
	Message string `json:"message,omitempty"`
	Waiting bool   `json:"waiting,omitempty"` // for a person's answer
}

// Bounds of what one user's agents can take.
const (
	maxConnections = 128
	maxTimeout     = 600 * time.Second
	helloTime      = 10 * time.Second // for agent/hello to come
	beatTime       = 5 * time.Second  // between two signs of life
)
