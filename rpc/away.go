package rpc

import (
	"context"
	"encoding/json"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// focusedParams leave focused out where the user is in the window.
type focusedParams struct {
	Focused *bool `json:"focused"`
	Sound   bool  `json:"sound"` // while the user is away, notifications of the system sound
}

// focused notes whether the user is in this window.
func (s *server) focused(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[focusedParams](raw)
	if err != nil {
		return nil, err
	}
	away := p.Focused != nil && !*p.Focused
	s.away.Store(away)
	s.sounds.Store(p.Sound)
	if !away {
		s.running().Focused()
	}
	return nil, nil
}

// notifyAway shows a notification of the system where the user has left the window: an editor's
// own would not be seen.
func (d *dialogs) notifyAway(by approval.Agent, wants string) {
	if d.server.away.Load() {
		d.server.running().Notify(fault.Line(fault.Clip(by.Name, 40)+" "+fault.Clip(wants, 200)), d.server.sounds.Load())
	}
}
