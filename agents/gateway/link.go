package gateway

import (
	"cmp"
	"context"
	"encoding/json"
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
	host   Host
	id     string // the session's, for the gateway and for us
	talk   *conversation.Conversation
	owner  *session.Session
	out    *outbox
	direct bool    // frames go out by the editor, which holds the connection
	socket *socket // that keeps it connected; nil over the editor. Set while the link is in no list, under Gateway.changing

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

func newLink(h Host, id string, agent session.Agent, owner *session.Session, direct bool) *link {
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

// disconnect ends the connection, and with it the session.
func (l *link) disconnect() {
	if l.socket != nil {
		l.socket.stop()
	}
	l.close()
}

// close ends the session and all that runs in it.
func (l *link) close() {
	l.end()
	l.works.Wait()
	l.host.Sessions.Close(l.owner.ID())
}

// send has a frame go out.
func (l *link) send(frame []byte, kept bool) {
	if l.direct {
		l.host.Frame(frame)
		return
	}
	l.out.push(frame, kept)
}

// Say passes on what the user says, which begins a turn. It implements conversation.Peer.
func (l *link) Say(text string) error {
	if l.ctx.Err() != nil || !l.direct && !l.out.isUp() {
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

// turnEnded has the user review what the agent changed in a draft.
func (l *link) turnEnded() {
	if !tools.InDraft(l.owner) {
		return
	}
	l.works.Go(func() {
		result := l.host.Registry.ReviewDraft(l.ctx, l.owner)
		for _, part := range result.Content {
			if l.ctx.Err() == nil {
				l.talk.Note(conversation.OfNotice, part.Text)
			}
		}
	})
}

// take is for frames that are no calls.
func (l *link) take(f frame) error {
	switch f.Type {
	case "assistant_message":
		l.talk.Append(f.Token, f.IsFinal)
	case "agent_status":
		if !slices.Contains(conversation.Statuses, f.Status) {
			return fault.Invalid("unknown status %s; use idle, thinking, executing_tool, waiting_approval or error", fault.Quote(string(f.Status)))
		}
		if changed := l.talk.Says(f.Status, f.Message); changed && f.Status == conversation.Idle {
			l.turnEnded()
		}
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
		return fault.Invalid("frames of type %s are not taken here", fault.Quote(fault.Clip(f.Type, maxCallID))).
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
			return fault.Invalid("call %s is made here; its result comes from here", fault.Quote(id))
		}
		c.over = true
		row.Tool, row.Title, row.Summary = c.row.Tool, c.row.Title, c.row.Summary
	}
	l.mu.Unlock()
	l.talk.Called(row)
	return nil
}

// begin makes a call, once. The error is what is wrong with its frame already.
func (l *link) begin(set Settings, f frame, err error) {
	id, noID := f.callID()
	if noID != nil {
		l.refuse(set, f.Type, noID)
		return
	}
	c, fresh := l.enter(id)
	if !fresh {
		return // sent twice: it has its answer, or will have it
	}
	arguments, wrong := f.arguments()
	timeout, tooLong := f.timeout()
	for _, e := range []error{err, wrong, tooLong} {
		if e != nil {
			l.answer(id, set.failed(id, fault.From(e), nil))
			return
		}
	}
	if f.ToolName == "" {
		l.answer(id, set.failed(id, fault.Invalid("tool_name is missing: give the tool to call"), nil))
		return
	}
	if !l.admit() {
		busy := fault.New(fault.RateLimited, "too many calls are under way; wait until some of them are answered").With("retry_after_ms", retryAfter.Milliseconds())
		l.answer(id, set.failed(id, busy, nil))
		return
	}
	l.works.Go(func() {
		l.slots <- struct{}{}
		c.release = sync.OnceFunc(func() { <-l.slots; <-l.queue })
		defer c.release()
		l.make(set, id, c, tools.Call{
			Name: f.ToolName, Arguments: l.host.rooted(arguments), CallID: id, Session: l.owner,
			RequiresApproval: f.asks(), Timeout: timeout, Amended: l.host.rooted,
		}, arguments)
	})
}

// admit waits for a place in the queue, and is false where there will be none. Whoever
// reads from the editor cannot wait.
func (l *link) admit() bool {
	l.mu.Lock()
	full := l.waiting >= maxWaiting
	l.mu.Unlock()
	if full {
		return false
	}
	select {
	case l.queue <- struct{}{}:
		return true
	default:
	}
	if l.direct {
		return false
	}
	select {
	case l.queue <- struct{}{}:
		return true
	case <-l.ctx.Done():
		return false
	}
}

const retryAfter = 5 * time.Second

// enter remembers a call by its id, and says whether it is new.
func (l *link) enter(id string) (c *call, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[id]; c != nil {
		return c, false
	}
	c = &call{}
	l.calls[id] = c
	l.order = append(l.order, id)
	if len(l.order) > maxRemember {
		oldest := l.order[0]
		l.order = l.order[1:]
		if old := l.calls[oldest]; old != nil && !old.over {
			l.order = append(l.order, oldest) // it is still wanted
		} else {
			delete(l.calls, oldest)
		}
	}
	return c, true
}

// answer is a call's last frame.
func (l *link) answer(id string, frame []byte) {
	l.mu.Lock()
	if c := l.calls[id]; c != nil {
		c.over = true
	}
	l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.send(frame, true)
	}
}

// make makes the call, and answers it as the settings say. Given are the arguments as the
// gateway sent them.
func (l *link) make(set Settings, id string, c *call, toCall tools.Call, given json.RawMessage) {
	toCall.Output = func(stream, text string) { l.printed(id, c, stream, text) }
	toCall.Decided = func(d tools.Decision) bool {
		if d.Arguments != nil {
			d.Arguments = restored(d.Arguments, given, toCall.Arguments)
		}
		return l.decided(set, id, c, d)
	}
	result := l.host.Registry.Execute(l.ctx, toCall)
	l.mu.Lock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer, c.over = nil, true // no partial result comes behind the last
	refused := c.told == approval.Reject
	elsewhere := c.elsewhere
	if result.Err != nil && result.Err.Code == fault.ApprovalUnavailable {
		delete(l.calls, id) // nobody could be asked: the gateway may send it again
	}
	l.mu.Unlock()
	switch {
	case elsewhere, refused && (set.Execution == "agent" || set.Rejection == "decision"):
		return
	}
	l.answer(id, set.fitted(id, result, set.frameBytes()))
}

// decided sends what the user decided, and says whether the call is made here.
func (l *link) decided(set Settings, id string, c *call, d tools.Decision) (here bool) {
	out := decision{Type: "hitl_decision", CallID: id, Decision: string(d.Decision), ModifiedArguments: d.Arguments, Feedback: d.Feedback}
	here = set.Execution != "agent"
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Decision == approval.Reject || d.Decision == approval.Cancel {
		c.told = approval.Reject
		if here && set.Rejection == "result" {
			return here
		}
		out.Decision = string(approval.Reject)
		if out.Feedback == "" {
			out.Feedback = "the user rejected the operation"
		}
	} else {
		c.told, c.elsewhere = d.Decision, !here
	}
	l.send(encode(out), true)
	return here
}

// printed gathers what a command prints into partial results.
func (l *link) printed(id string, c *call, stream, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stream == "stderr" {
		c.stderr += text
	} else {
		c.stdout += text
	}
	if c.timer == nil && !c.over {
		c.timer = time.AfterFunc(partialTime, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if c.timer != nil {
				l.send(partial(id, c.stdout, c.stderr), false)
				c.stdout, c.stderr, c.timer = "", "", nil
			}
		})
	}
}

// heard shows a call's state as a row, and tells the gateway when the user is asked.
func (l *link) heard(a tools.Activity) {
	row := conversation.Call{ID: a.CallID, Tool: a.Tool, Title: a.Title, State: string(a.State), Summary: a.Summary}
	l.mu.Lock()
	c := l.calls[a.CallID]
	if c == nil {
		l.mu.Unlock()
		return
	}
	was, is := c.state == tools.Waiting, a.State == tools.Waiting
	c.state = a.State
	if c.elsewhere && a.State == tools.Done {
		row.State = string(tools.Running)
	}
	c.row = row
	switch {
	case is && !was:
		l.waiting++
		c.release()
	case was && !is:
		l.waiting--
	}
	l.mu.Unlock()
	if a.State == tools.Queued {
		return // it is shown once it is more than that
	}
	l.talk.Called(row)
	switch {
	case is && !was:
		l.send(encode(agentStatus{"agent_status", conversation.WaitingApproval, a.Summary}), false)
	case was && a.State == tools.Running:
		l.send(encode(agentStatus{"agent_status", conversation.ExecutingTool, a.Summary}), false)
	}
}
