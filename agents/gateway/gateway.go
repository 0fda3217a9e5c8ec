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

	mu      sync.Mutex // guards all below, and is not held while a call ends: that looks here
	sockets []*socket  // by when they were connected, the newest last
	direct  []*link    // over the editor
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
	old := g.remove(func(s *socket) bool { return s.link.id == to.sessionID })
	var l *link
	if old != nil {
		old.stop()
		l = old.link
	}
	if l, err = g.link(l, to.sessionID, session.Agent{Name: to.host, Via: "gateway"}, nil); err != nil {
		return State{}, err
	}
	s := connect(l, to, token)
	g.mu.Lock()
	g.sockets = append(g.sockets, s)
	many := len(g.sockets) > maxSessions
	g.mu.Unlock()
	if many {
		oldest := g.remove(func(*socket) bool { return true })
		oldest.stop()
		oldest.link.close()
	}
	return s.status(), nil
}

// remove takes out the first socket that is such a one.
func (g *Gateway) remove(is func(*socket) bool) *socket {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.sockets, is)
	if at < 0 {
		return nil
	}
	s := g.sockets[at]
	g.sockets = slices.Delete(g.sockets, at, at+1)
	return s
}

// link gives a session's link: the one that it had, if that has not ended, or one that
// knows what the old one did.
func (g *Gateway) link(old *link, id string, agent session.Agent, direct func([]byte)) (*link, error) {
	if old != nil && old.ctx.Err() == nil {
		return old, nil
	}
	if id == g.host.Reserved {
		return nil, fault.New(fault.InvalidArguments, "session %s is this editor's own; use another id", fault.Quote(id))
	}
	owner, created, err := g.host.Sessions.Open(id, agent, "")
	if err != nil {
		return nil, err
	}
	if !created {
		return nil, fault.New(fault.InvalidArguments, "session %s is another agent's; use another id", fault.Quote(id))
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
	if l.direct == nil {
		g.Disconnect(l.id)
		return
	}
	g.mu.Lock()
	g.direct = slices.DeleteFunc(g.direct, func(one *link) bool { return one == l })
	g.mu.Unlock()
	l.close()
}

// Disconnect ends a session's connection and all that runs in it; "" is every session.
func (g *Gateway) Disconnect(sessionID string) State {
	g.changing.Lock()
	defer g.changing.Unlock()
	g.mu.Lock()
	sockets := slices.Clone(g.sockets)
	g.mu.Unlock()
	for _, s := range sockets {
		if sessionID == "" || s.link.id == sessionID {
			s.stop()
			s.link.close()
		}
	}
	newest, _ := g.Status()
	return newest
}

// Status is how the newest session is connected, and how all are.
func (g *Gateway) Status() (newest State, all []State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	all = []State{}
	for _, s := range g.sockets {
		all = append(all, s.status())
	}
	return g.newest(), all
}

// newest needs the lock.
func (g *Gateway) newest() State {
	if len(g.sockets) == 0 {
		return State{State: conversation.Disconnected}
	}
	return g.sockets[len(g.sockets)-1].status()
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
	g.mu.Lock()
	at := slices.IndexFunc(g.direct, func(l *link) bool { return l.id == id })
	var known, oldest *link
	if at >= 0 {
		known = g.direct[at]
	} else if len(g.direct) == maxSessions {
		oldest = g.direct[0]
		g.direct = slices.Delete(g.direct, 0, 1)
	}
	g.mu.Unlock()
	if known != nil {
		return known, nil
	}
	if oldest != nil {
		oldest.close()
	}
	l, err := g.link(nil, id, session.Agent{Name: "Agent", Via: "gateway"}, func(out []byte) { g.host.Frame(out) })
	if err != nil {
		return nil, err
	}
	l.talk.Connected(conversation.Connected)
	g.mu.Lock()
	g.direct = append(g.direct, l)
	g.mu.Unlock()
	return l, nil
}

// Heard passes on how a call stands, if it is one of a gateway's.
func (g *Gateway) Heard(a tools.Activity) {
	if l := g.find(a.SessionID); l != nil {
		l.heard(a)
	}
}

func (g *Gateway) find(sessionID string) *link {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sockets {
		if s.link.id == sessionID {
			return s.link
		}
	}
	for _, l := range g.direct {
		if l.id == sessionID {
			return l
		}
	}
	return nil
}

// Close ends every session.
func (g *Gateway) Close() {
	g.Disconnect("")
	g.mu.Lock()
	direct := slices.Clone(g.direct)
	g.mu.Unlock()
	for _, l := range direct {
		l.close()
	}
}
