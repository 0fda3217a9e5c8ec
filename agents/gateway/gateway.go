// Package gateway is the way in for agents behind a gateway that speaks the Agent
// Protocol: frames over a WebSocket that the sidecar opens when its editor says so, or over
// the editor, which then holds the connection.
//
// Gateway.Connect and Gateway.Message are the entry points. A link (link.go) is
// one session: it takes frames, makes calls at the door (tools.Registry.Execute), sends
// what the user decided and what came of the call, and feeds a conversation. A socket
// (socket.go) keeps a link connected; what could not be sent waits in its outbox. Each
// call_id is made once, over any number of connections.
//
// Not here: what a call does, how a conversation is shown, and where the token comes from.
// The token is in memory alone, for as long as the connection is wanted.
package gateway

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"pillion/conversation"
	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/session"
)

// Host is what a Gateway is part of.
type Host struct {
	Registry      *tools.Registry
	Sessions      *session.Set
	Conversations *conversation.Set
	Settings      func() Settings
	// Reserved is the id of a session that is no gateway's.
	Reserved string
	// Resolve gives the workspace's name of a path, or says why it has none.
	Resolve func(path string) (string, error)
	// Changed hears how a session is connected, Frame what goes out by the editor. Neither
	// blocks.
	Changed func(State)
	Frame   func(frame json.RawMessage)
	Version string
	Logf    func(format string, args ...any)
}

// Inside says whether an absolute path is in an open folder as it stands.
func (h Host) Inside(path string) bool {
	_, err := h.Resolve(path)
	return err == nil
}

// State is how a session is connected: gateway/changed.
type State struct {
	State          conversation.Connection `json:"state"`
	URL            string                  `json:"url"` // without what may be secret
	SessionID      string                  `json:"sessionId"`
	ConversationID string                  `json:"conversationId"`
	Attempt        int                     `json:"attempt,omitempty"`   // of reconnecting, from 1
	RetryInMS      int64                   `json:"retryInMs,omitempty"` // until that attempt
	Error          *fault.Error            `json:"error,omitempty"`     // why it is not connected
}

// Gateway is all sessions with gateways.
type Gateway struct {
	host Host

	changing sync.Mutex // one connects or disconnects at a time

	mu    sync.Mutex // guards links, and is not held while a call ends: that looks here
	links []*link    // by when they were connected, the newest last
}

// New makes one without sessions.
func New(h Host) *Gateway { return &Gateway{host: h} }

// maxSessions is how many are kept of either kind, those that ended too: their calls are
// remembered.
const maxSessions = 16

// Connect begins to connect a session to a gateway, and keeps it connected. An empty id
// makes one up; the id of a session that was connected before goes on with that.
func (g *Gateway) Connect(address, token, sessionID string) (State, error) {
	id := cmp.Or(sessionID, session.NewID())
	if err := session.CheckID(id); err != nil {
		return State{}, err
	}
	to, err := parseAddress(address, id, sessionID != "", g.host.Settings().AllowInsecure)
	if err != nil {
		return State{}, err
	}
	if err := checkToken(token); err != nil {
		return State{}, err
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	old := g.remove(func(l *link) bool { return !l.direct && l.id == to.sessionID })
	if old != nil {
		old.socket.stop()
	}
	l, err := g.link(old, to.sessionID, session.Agent{Name: to.host, Via: "gateway"}, false)
	if err != nil {
		return State{}, err
	}
	l.socket = connect(l, to, token)
	g.add(l)
	return l.socket.status(), nil
}

// add keeps a link, in the place of the oldest of its kind if there are too many.
func (g *Gateway) add(l *link) {
	sameKind := func(other *link) bool { return other.direct == l.direct }
	g.mu.Lock()
	g.links = append(g.links, l)
	n := 0
	for _, other := range g.links {
		if sameKind(other) {
			n++
		}
	}
	g.mu.Unlock()
	if n > maxSessions {
		g.remove(sameKind).disconnect()
	}
}

// remove takes out the first link that is such a one; nil: there is none.
func (g *Gateway) remove(is func(*link) bool) *link {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.links, is)
	if at < 0 {
		return nil
	}
	l := g.links[at]
	g.links = slices.Delete(g.links, at, at+1)
	return l
}

// find gives the newest link that is such a one; nil: there is none.
func (g *Gateway) find(is func(*link) bool) *link {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range slices.Backward(g.links) {
		if is(l) {
			return l
		}
	}
	return nil
}

// link gives a session's link: the one that it had, if that has not ended, or one that
// knows what the old one did.
func (g *Gateway) link(old *link, id string, agent session.Agent, direct bool) (*link, error) {
	if old != nil && old.ctx.Err() == nil {
		return old, nil
	}
	if id == g.host.Reserved {
		return nil, fault.Invalid("session %s is this editor's own; use another id", fault.Quote(id))
	}
	owner, created, err := g.host.Sessions.Open(id, agent, "")
	if err != nil {
		return nil, err
	}
	if !created {
		return nil, fault.Invalid("session %s is another agent's; use another id", fault.Quote(id))
	}
	l := newLink(g.host, id, agent, owner, direct)
	if old != nil {
		l.calls, l.order = old.calls, old.order
	}
	go g.endWith(l)
	return l, nil
}

// endWith ends the link of a session that the user ends.
func (g *Gateway) endWith(l *link) {
	select {
	case <-l.owner.Closed():
	case <-l.ctx.Done():
	}
	if l.ctx.Err() != nil {
		return // it has ended itself, and another may have its id now
	}
	if !l.direct {
		g.Disconnect(l.id)
		return
	}
	g.remove(func(one *link) bool { return one == l })
	l.close()
}

// Disconnect ends a session's connection and all that runs in it; "" is every session.
func (g *Gateway) Disconnect(sessionID string) State {
	g.disconnect(func(l *link) bool { return !l.direct && (sessionID == "" || l.id == sessionID) })
	newest, _ := g.Status()
	return newest
}

func (g *Gateway) disconnect(is func(*link) bool) {
	g.changing.Lock()
	defer g.changing.Unlock()
	g.mu.Lock()
	links := slices.Clone(g.links)
	g.mu.Unlock()
	for _, l := range links {
		if is(l) {
			l.disconnect()
		}
	}
}

// Status is how the newest session is connected, and how all are.
func (g *Gateway) Status() (newest State, all []State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	newest, all = State{State: conversation.Disconnected}, []State{}
	for _, l := range g.links {
		if !l.direct {
			newest = l.socket.status()
			all = append(all, newest)
		}
	}
	return newest, all
}

// Message takes a frame of a gateway that the editor is connected to. What answers it goes
// to Host.Frame.
func (g *Gateway) Message(frame json.RawMessage) error {
	var of struct {
		SessionID string `json:"session_id"`
	}
	_ = json.Unmarshal(frame, &of) // what is wrong with it is answered as a frame
	id := cmp.Or(of.SessionID, "gateway")
	g.changing.Lock()
	l, err := g.over(id)
	g.changing.Unlock()
	if err != nil {
		return err
	}
	l.receive(frame)
	return nil
}

// over is the link of a session over the editor.
func (g *Gateway) over(id string) (*link, error) {
	if known := g.find(func(l *link) bool { return l.direct && l.id == id }); known != nil {
		return known, nil
	}
	l, err := g.link(nil, id, session.Agent{Name: "Agent", Via: "gateway"}, true)
	if err != nil {
		return nil, err
	}
	l.talk.Connected(conversation.Connected)
	g.add(l)
	return l, nil
}

// Heard passes on how a call stands, if it is one of a gateway's.
func (g *Gateway) Heard(a tools.Activity) {
	if l := g.find(func(l *link) bool { return l.id == a.SessionID }); l != nil {
		l.heard(a)
	}
}

// Close ends every session.
func (g *Gateway) Close() { g.disconnect(func(*link) bool { return true }) }
