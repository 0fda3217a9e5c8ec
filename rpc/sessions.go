package rpc

import (
	"bytes"
	"cmp"
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
		return nil, invalid(err)
	}
	if p.Agent.Name == "" { // a dialog names who asks
		p.Agent.Name = s.clientName()
	}
	if p.Agent.Via == "" {
		p.Agent.Via = "editor"
	}
	owner, created, err := s.running().Sessions.Open(p.SessionID, p.Agent, p.Mode)
	if err != nil {
		return nil, invalid(err)
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

// onSession is the handler of what the user does to a session. It answers with the session as
// it is then.
func onSession(do func(*server, *session.Session, sessionParams) error) handler {
	return with(func(s *server, _ context.Context, p sessionParams) (any, error) { return s.changeSession(p, do) })
}

func (s *server) changeSession(p sessionParams, do func(*server, *session.Session, sessionParams) error) (any, error) {
	owner, err := s.known(p.SessionID)
	if err != nil {
		return nil, err
	}
	if err := do(s, owner, p); err != nil {
		return nil, err
	}
	return owner.Info(), nil
}

func (s *server) sessionSetMode(owner *session.Session, p sessionParams) error {
	if p.Mode == policy.Draft {
		if err := s.running().Registry.OpenDraft(owner); err != nil {
			return invalid(err)
		}
	}
	if err := owner.SetMode(p.Mode); err != nil {
		return invalid(err)
	}
	s.running().Documents.Touched() // what waits is judged again
	if p.Mode == policy.Auto {
		go s.sayWithoutLayers(p.Mode)
	}
	return nil
}

// sayWithoutLayers tells the user, who chose the mode auto or draft, what comes of it where there are no layers.
func (s *server) sayWithoutLayers(mode policy.Mode) {
	layers, what := s.running().Registry.Settings().Sandbox.Walls().Layers, "commands ask here as in auto_edit"
	if mode == policy.Draft {
		what = "agents can do nothing here"
	}
	if !layers.Works {
		s.showMessage(messageWarning, "In mode %s, %s: no layer can be mounted over the workspace (%s). `pillion doctor` says what is missing.", mode, what, layers.Why)
	}
}

func (s *server) sessionNewTurn(owner *session.Session, _ sessionParams) error {
	owner.NewTurn()
	return nil
}

// sessionPause ends what the session's calls are at, and lets it begin nothing more
// before its next turn.
func (s *server) sessionPause(owner *session.Session, p sessionParams) error {
	owner.Pause(fault.Clip(cmp.Or(p.Reason, "the user paused it"), maxReason))
	s.running().Registry.StopSession(owner.ID())
	return nil
}

const maxReason = 1000 // bytes; the agent reads it

// sessionTodos has the user change the agent's to-do list.
func (s *server) sessionTodos(owner *session.Session, p sessionParams) error {
	if p.Todos == nil || p.Revision == nil {
		return wire.Errorf(wire.CodeInvalidParams, "todos and revision are needed: the whole list, and the todosRevision that the user looked at")
	}
	switch err := owner.ChangeTodos(p.Todos, *p.Revision); {
	case errors.Is(err, session.ErrTodosMoved):
		return wire.Errorf(wire.CodeContentModified, "%v", err)
	case err != nil:
		return invalid(err)
	}
	return nil
}

// sessionRevoke takes a remembered rule back. A call that waits is judged again.
func (s *server) sessionRevoke(owner *session.Session, p sessionParams) error {
	if !owner.Revoke(p.Rule) {
		return wire.Errorf(wire.CodeInvalidParams, "the session has no remembered rule %s", fault.Quote(p.Rule))
	}
	s.running().Documents.Touched()
	return nil
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
