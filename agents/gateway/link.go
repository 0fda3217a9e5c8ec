package gateway

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"pillion/conversation"
	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
)

// Bounds of a session.
const (
	maxRunning  = 16 // calls at once, without those that wait for the user
	maxQueued   = 64 // that have come and wait for their turn; then nothing more is read
	maxWaiting  = 64 // that wait for the user
	maxRemember = 20_000
	partialTime = 100 * time.Millisecond // between two partial results
)

// link is one session with a gateway, over any number of connections, or over the editor.
type link struct {
	host  Host
	id    string // the session's, for the gateway and for us
	talk  *conversation.Conversation
	owner *session.Session
	out   *outbox
	// direct has frames go out by the editor, which holds the connection; nil: they go by out.
	direct func(frame []byte)

	ctx   context.Context // ends with the session
	end   context.CancelFunc
	queue chan struct{}
	slots chan struct{}
	works sync.WaitGroup

	mu      sync.Mutex // guards all below
	calls   map[string]*call
	order   []string // ids of calls, the oldest first
	waiting int
}

// call is one that the gateway made.
type call struct {
	release   func() // gives its place in the queue to another
	state     tools.State
	told      approval.Decision // the last decision that was sent; "" none
	elsewhere bool              // the agent makes it, and its tool_result closes the row
	over      bool
	row       conversation.Call
	stdout    string // printed since the last partial result
	stderr    string
	timer     *time.Timer
}

func newLink(h Host, id string, agent session.Agent, owner *session.Session, direct func([]byte)) *link {
	l := &link{
		host: h, id: id, owner: owner, out: newOutbox(), direct: direct,
		queue: make(chan struct{}, maxRunning+maxQueued), slots: make(chan struct{}, maxRunning), calls: map[string]*call{},
	}
	l.ctx, l.end = context.WithCancel(context.Background())
	l.talk = h.Conversations.Open(agent.Name, conversation.Agent{Name: agent.Name, Via: agent.Via}, owner.ID(), l)
	l.keepContext()
	return l
}

// keepContext has the session keep the files that the conversation is given.
func (l *link) keepContext() {
	var before []conversation.ContextFile
	for _, f := range l.owner.Context() {
		before = append(before, conversation.ContextFile{Path: f.Path, Content: f.Content, Lines: f.Lines, By: conversation.Kind(f.By)})
	}
	l.talk.Keep(before, func(now []conversation.ContextFile) {
		files := make([]session.ContextFile, 0, len(now))
		for _, f := range now {
			files = append(files, session.ContextFile{Path: f.Path, Content: f.Content, Lines: f.Lines, By: string(f.By)})
		}
		l.owner.SetContext(files)
	})
}

// close ends the session and all that runs in it.
func (l *link) close() {
	l.end()
	l.works.Wait()
	l.host.Sessions.Close(l.owner.ID())
}

// send has a frame go out.
func (l *link) send(frame []byte, kept bool) {
	if l.direct != nil {
		l.direct(frame)
		return
	}
	l.out.push(frame, kept)
}

// Say passes on what the user says, which begins a turn. It implements conversation.Peer.
func (l *link) Say(text string) error {
	if l.ctx.Err() != nil || l.direct == nil && !l.out.isUp() {
		return fault.New(fault.ExecutionFailed, "the agent is not connected; connect, then send the message again")
	}
	l.owner.NewTurn()
	l.owner.Prompted(text)
	l.send(encode(userMessage{"user_message", text}), true)
	return nil
}

// Context passes on that the user changed the context.
func (l *link) Context(u conversation.ContextUpdate) error {
	if l.ctx.Err() != nil {
		return fault.New(fault.ExecutionFailed, "the agent is not connected; connect, then change the context")
	}
	l.send(encode(contextUpdate{"context_update", l.id, u}), true)
	return nil
}

// receive takes a frame. It waits while too many calls are at work.
func (l *link) receive(data []byte) {
	set := l.host.Settings()
	if len(data) > set.frameBytes() {
		l.refuse(set, "", fault.New(fault.FileTooLarge, "the frame has %d bytes, over the limit of %d", len(data), set.frameBytes()))
		return
	}
	f, err := readFrame(data)
	if f.Type == "tool_call" {
		l.begin(set, f, err)
		return
	}
	if err == nil {
		err = l.take(f)
	}
	if err != nil {
		l.refuse(set, f.Type, err)
	}
}

// refuse answers what is not about one call.
func (l *link) refuse(set Settings, about string, err error) {
	var details map[string]any
	if about != "" {
		details = map[string]any{"type": fault.Clip(about, maxCallID)}
	}
	l.send(set.failure(err, details), false)
}

// take is for frames that are no calls.
func (l *link) take(f frame) error {
	switch f.Type {
	case "assistant_message":
		l.talk.Append(f.Token, f.IsFinal)
	case "agent_status":
		if !slices.Contains(conversation.Statuses, f.Status) {
			return fault.New(fault.InvalidArguments, "unknown status %s; use idle, thinking, executing_tool, waiting_approval or error", fault.Quote(string(f.Status)))
		}
		l.talk.Says(f.Status, f.Message)
	case "error":
		text := f.Message
		if f.ErrorCode != "" {
			text = f.ErrorCode + ": " + text
		}
		if details := string(f.Details); details != "" && details != "null" && details != "{}" {
			text += "\n" + fault.Clip(details, maxDetails)
		}
		l.talk.Note(conversation.OfError, text)
	case "context_update":
		return l.takeContext(f)
	case "tool_result":
		return l.takeResult(f)
	default:
		return fault.New(fault.InvalidArguments, "frames of type %s are not taken here", fault.Quote(fault.Clip(f.Type, maxCallID))).
			WithHint("send tool_call, tool_result, assistant_message, agent_status, context_update or error")
	}
	return nil
}

// maxDetails is how much of an error's details a person is shown.
const maxDetails = 2000

func (l *link) takeContext(f frame) error {
	u := conversation.ContextUpdate{Action: f.Action, Data: f.Data}
	if err := u.Check(); err != nil {
		return err
	}
	if u.Data != nil {
		name, err := l.host.Resolve(l.host.relative(u.Data.Path))
		if err != nil {
			return err
		}
		u.Data.Path = name
	}
	return l.talk.Update(u, conversation.FromAgent)
}

// takeResult closes the row of a call that the agent made itself.
func (l *link) takeResult(f frame) error {
	id, err := f.callID()
	if err != nil {
		return err
	}
	row := conversation.Call{ID: id, Tool: f.ToolName, Title: cmp.Or(f.ToolName, "A tool of the agent's own"), State: "done"}
	if len(f.Error) > 0 && string(f.Error) != "null" {
		row.State = "failed"
	}
	l.mu.Lock()
	if c := l.calls[id]; c != nil {
		if !c.elsewhere {
			l.mu.Unlock()
			return fault.New(fault.InvalidArguments, "call %s is made here; its result comes from here", fault.Quote(id))
		}
		c.over = true
		row.Tool, row.Title, row.Summary = c.row.Tool, c.row.Title, c.row.Summary
	}
	l.mu.Unlock()
	l.talk.Called(row)
	return nil
}
