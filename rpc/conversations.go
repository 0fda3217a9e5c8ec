package rpc

import (
	"context"
	"encoding/json"

	"pillion/conversation"
	"pillion/internal/fault"
	"pillion/internal/wire"
)

// Gateway is what connects to gateways, as far as the editor's side needs it. Its states
// go to the editor as they are.
type Gateway interface {
	Connect(url string, token *string, sessionID string) (state any, err error)
	Disconnect(sessionID string) (state any)
	Status() (state any)
	// Message takes a frame that came to the editor.
	Message(frame json.RawMessage) error
}

// follower passes conversations on to an editor with a plugin.
type follower struct{ conn *wire.Conn }

func (f follower) Changed(c conversation.Changed) {
	f.conn.Notify("conversation/changed", c) //nolint:errcheck // the list is asked for again
	if c.Status != "" && c.Message != nil {
		f.conn.Notify("agent/status", agentStatus{c.SessionID, string(c.Status), *c.Message}) //nolint:errcheck // likewise
	}
}

func (f follower) Appended(a conversation.Appended) {
	f.conn.Notify("conversation/appended", a) //nolint:errcheck // the entry comes whole once it is done
}

func invalid(err error) error { return wire.Errorf(wire.CodeInvalidParams, "%v", err) }

// conversationParams are those of all that is about a conversation.
type conversationParams struct {
	ConversationID string                    `json:"conversationId"`
	Text           string                    `json:"text"`
	Action         conversation.Action       `json:"action"`
	Data           *conversation.ContextData `json:"data"`
}

// conversation is an open one; "" is the newest.
func (s *server) conversation(id string) (*conversation.Conversation, error) {
	c, err := s.running().Conversations.Get(id)
	if err != nil {
		return nil, invalid(err)
	}
	return c, nil
}

func (s *server) conversationList(context.Context, json.RawMessage) (any, error) {
	return map[string]any{"conversations": s.running().Conversations.List()}, nil
}

func (s *server) conversationSend(_ context.Context, p conversationParams) (any, error) {
	c, err := s.conversation(p.ConversationID)
	if err != nil {
		return nil, err
	}
	id, err := c.User(p.Text)
	if err != nil {
		return nil, conversationError(err)
	}
	return map[string]string{"entryId": id}, nil
}

// conversationError tells what the caller did wrong from an agent that is not there.
func conversationError(err error) error {
	if fault.CodeOf(err) == fault.ExecutionFailed {
		return wire.Errorf(wire.CodeRequestFailed, "%v", err)
	}
	return invalid(err)
}

func (s *server) contextUpdate(_ context.Context, p conversationParams) (any, error) {
	c, err := s.conversation(p.ConversationID)
	if err != nil {
		return nil, err
	}
	if p.Data != nil && p.Action == conversation.AddFile {
		path, err := s.running().Documents.Workspace().Resolve(p.Data.Path)
		if err != nil {
			return nil, invalid(err)
		}
		p.Data.Path = path.String()
	}
	if err := c.Update(conversation.ContextUpdate{Action: p.Action, Data: p.Data}, conversation.FromUser); err != nil {
		return nil, conversationError(err)
	}
	return contextOf(c), nil
}

func (s *server) contextList(_ context.Context, p conversationParams) (any, error) {
	c, err := s.conversation(p.ConversationID)
	if err != nil {
		return nil, err
	}
	return contextOf(c), nil
}

func contextOf(c *conversation.Conversation) any {
	return map[string]any{"conversationId": c.ID(), "context": c.Context()}
}

type gatewayParams struct {
	URL       string  `json:"url"`
	Token     *string `json:"token"`
	SessionID string  `json:"sessionId"`
}

func (s *server) gatewayConnect(_ context.Context, p gatewayParams) (any, error) {
	state, err := s.running().Gateway.Connect(p.URL, p.Token, p.SessionID)
	if err != nil {
		return nil, invalid(err)
	}
	return state, nil
}

func (s *server) gatewayDisconnect(_ context.Context, p gatewayParams) (any, error) {
	return s.running().Gateway.Disconnect(p.SessionID), nil
}

func (s *server) gatewayStatus(context.Context, json.RawMessage) (any, error) {
	return s.running().Gateway.Status(), nil
}

func (s *server) agentMessage(_ context.Context, raw json.RawMessage) (any, error) {
	if err := s.running().Gateway.Message(raw); err != nil {
		return nil, invalid(err)
	}
	return json.RawMessage("null"), nil
}
