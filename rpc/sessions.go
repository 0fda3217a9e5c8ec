package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/session"
)

// sessionParams are those of all that is about a session.
type sessionParams struct {
	SessionID string         `json:"sessionId"`
	Agent     session.Agent  `json:"agent"`
	Mode      policy.Mode    `json:"mode"`
	Dialect   string         `json:"dialect"`
	Reason    string         `json:"reason"` // of session/pause; the agent reads it
	Todos     []session.Todo `json:"todos"`
	Revision  *int           `json:"revision"` // of Todos
	Rule      string         `json:"rule"`
}

func (s *server) sessionOpen(_ context.Context, p sessionParams) (any, error) {
	if err := tools.CheckDialect(p.Dialect); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%v", err)
	}
	if p.Agent.Name == "" { // a dialog names who asks
		p.Agent.Name = s.clientName()
	}
	if p.Agent.Via == "" {
		p.Agent.Via = "editor"
	}
	owner, created, err := s.running().Sessions.Open(p.SessionID, p.Agent, p.Mode)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%v", err)
	}
	if created && p.Dialect != "" {
		owner.SetDialect(p.Dialect)
	}
	return owner.Info(), nil
}

func (s *server) sessionClose(_ context.Context, p sessionParams) (any, error) {
	return map[string]bool{"closed": s.running().Sessions.End(p.SessionID)}, nil
}

func (s *server) sessionList(context.Context, json.RawMessage) (any, error) {
	return map[string]any{"sessions": s.running().Sessions.All()}, nil
}

func (s *server) sessionSetMode(_ context.Context, p sessionParams) (any, error) {
	return s.setMode(p.SessionID, p.Mode)
}

func (s *server) setMode(id string, mode policy.Mode) (any, error) {
	owner, err := s.known(id)
	if err != nil {
		return nil, err
	}
	if err := owner.SetMode(mode); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%v", err)
	}
	s.running().Documents.Touched() // what waits is judged again
	return owner.Info(), nil
}

func (s *server) sessionNewTurn(_ context.Context, p sessionParams) (any, error) {
	return s.newTurn(p.SessionID)
}

// sessionPause ends what the session's calls are at, and lets it begin nothing more
// before its next turn.
func (s *server) sessionPause(_ context.Context, p sessionParams) (any, error) {
	owner, err := s.known(p.SessionID)
	if err != nil {
		return nil, err
	}
	if p.Reason == "" {
		p.Reason = "the user paused it"
	}
	owner.Pause(fault.Clip(p.Reason, maxReason))
	s.running().Registry.StopSession(owner.ID())
	return owner.Info(), nil
}

const maxReason = 1000 // bytes; the agent reads it

func (s *server) newTurn(id string) (any, error) {
	owner, err := s.known(id)
	if err != nil {
		return nil, err
	}
	owner.NewTurn()
	return owner.Info(), nil
}

// sessionTodos has the user change the agent's to-do list.
func (s *server) sessionTodos(_ context.Context, p sessionParams) (any, error) {
	if p.Todos == nil || p.Revision == nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "todos and revision are needed: the whole list, and the todosRevision that the user looked at")
	}
	owner, err := s.known(p.SessionID)
	if err != nil {
		return nil, err
	}
	switch err := owner.ChangeTodos(p.Todos, *p.Revision); {
	case errors.Is(err, session.ErrTodosMoved):
		return nil, wire.Errorf(wire.CodeContentModified, "%v", err)
	case err != nil:
		return nil, wire.Errorf(wire.CodeInvalidParams, "%v", err)
	}
	return owner.Info(), nil
}

// sessionRevoke takes a remembered rule back. A call that waits is judged again.
func (s *server) sessionRevoke(_ context.Context, p sessionParams) (any, error) {
	owner, err := s.known(p.SessionID)
	if err != nil {
		return nil, err
	}
	if !owner.Revoke(p.Rule) {
		return nil, wire.Errorf(wire.CodeInvalidParams, "the session has no remembered rule %s", fault.Quote(p.Rule))
	}
	s.running().Documents.Touched()
	return owner.Info(), nil
}

// sessionChanged is session/changed.
type sessionChanged struct {
	Session session.Info `json:"session"`
	Ended   bool         `json:"ended,omitempty"`
}

// sessionEvery is how often an editor hears of one session at most.
const sessionEvery = 100 * time.Millisecond

// showSessions has the editor hear of sessions that change, each state once.
func (s *server) showSessions(all *session.Set) {
	sent := map[string][]byte{}
	all.Follow(sessionEvery, func(one *session.Session) bool {
		text, err := json.Marshal(shown(sessionChanged{one.Info(), one.Ended()}))
		if err != nil || bytes.Equal(text, sent[one.ID()]) {
			return true
		}
		if err := s.conn.Notify("session/changed", wire.Raw(text)); err != nil {
			return !errors.Is(err, wire.ErrBacklog)
		}
		sent[one.ID()] = text
		select {
		case <-one.Closed():
			delete(sent, one.ID())
		default:
		}
		return true
	})
}

// known is an open session, or a kept one, which is opened for the user; the editor's own is opened when it is first named.
func (s *server) known(id string) (*session.Session, error) {
	if id == "" || id == EditorSession {
		return s.session("")
	}
	owner, ok := s.running().Sessions.Recall(id)
	if !ok {
		return nil, wire.Errorf(wire.CodeInvalidParams, "session %q is not open", id)
	}
	return owner, nil
}
