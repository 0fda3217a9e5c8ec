package lspbridge

import (
	"encoding/json"
	"sync"

	"pillion/internal/wire"
)

// registrations are what a server asked for after it was started.
type registrations struct {
	mu sync.Mutex
	by map[string]registration // by their ids
}

type registration struct {
	ID      string          `json:"id"`
	Method  string          `json:"method"`
	Options json.RawMessage `json:"registerOptions"`
}

func (c *client) register(params json.RawMessage) (any, error) {
	var p struct {
		Registrations []registration `json:"registrations"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "client/registerCapability: %v", err)
	}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	if c.watches.by == nil {
		c.watches.by = map[string]registration{}
	}
	for _, r := range p.Registrations {
		c.watches.by[r.ID] = r
	}
	return nil, nil
}

func (c *client) unregister(params json.RawMessage) (any, error) {
	var p struct {
		Unregisterations []registration `json:"unregisterations"` // LSP's spelling
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "client/unregisterCapability: %v", err)
	}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	for _, r := range p.Unregisterations {
		delete(c.watches.by, r.ID)
	}
	return nil, nil
}
