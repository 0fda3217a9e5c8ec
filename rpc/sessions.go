package rpc

import (
	"context"
	"encoding/json"

	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/session"
)

type sessionParams struct {
	SessionID string        `json:"sessionId"`
	Agent     session.Agent `json:"agent"`
	Mode      policy.Mode   `json:"mode"`
	Dialect   string        `json:"dialect"`
}

func (s *server) sessionOpen(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[sessionParams](raw)
	if err != nil {
		return nil, err
	}
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
	if created {
		owner.SetDialect(p.Dialect)
	}
	return owner.Info(), nil
}

func (s *server) sessionClose(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[sessionParams](raw)
	if err != nil {
		return nil, err
	}
	return map[string]bool{"closed": s.running().Sessions.Close(p.SessionID)}, nil
}

func (s *server) sessionList(context.Context, json.RawMessage) (any, error) {
	return map[string]any{"sessions": s.running().Sessions.List()}, nil
}

func (s *server) sessionSetMode(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[sessionParams](raw)
	if err != nil {
		return nil, err
	}
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
	return owner.Info(), nil
}

func (s *server) sessionNewTurn(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[sessionParams](raw)
	if err != nil {
		return nil, err
	}
	return s.newTurn(p.SessionID)
}

// sessionPause ends what the session's calls are at, and lets it begin nothing more
// before its next turn.
func (s *server) sessionPause(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[pauseParams](raw)
	if err != nil {
		return nil, err
	}
	return s.pauseSession(p)
}

type pauseParams struct {
	SessionID string `json:"sessionId"`
	Reason    string `json:"reason"` // the agent reads it
}

func (s *server) pauseSession(p pauseParams) (any, error) {
	owner, err := s.known(p.SessionID)
	if err != nil {
		return nil, err
	}
	if p.Reason == "" {
		p.Reason = "the user paused it"
	}
	owner.Pause(clip(p.Reason, maxReason))
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

// known is an open session; the editor's own is opened when it is first named.
func (s *server) known(id string) (*session.Session, error) {
	if id == "" || id == EditorSession {
		return s.session("")
	}
	owner, ok := s.running().Sessions.Get(id)
	if !ok {
		return nil, wire.Errorf(wire.CodeInvalidParams, "session %q is not open", id)
	}
	return owner, nil
}
