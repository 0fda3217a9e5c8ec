package gateway

import (
	"encoding/json"
	"sync"
	"time"

	"pillion/conversation"
	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

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
		l.answer(id, set.failed(id, fault.New(fault.InvalidArguments, "tool_name is missing: give the tool to call"), nil))
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
	if l.direct != nil {
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
	l.answer(id, set.fitted(id, result))
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
