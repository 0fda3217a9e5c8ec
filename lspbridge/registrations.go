package lspbridge

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"go.lsp.dev/protocol"

	"pillion/internal/wire"
)

// registrations are what a server asked for after it was started.
type registrations struct {
	mu sync.Mutex // guards by
	by map[string]registration
}

// registration is one of them, by the id that the server gave it.
type registration struct {
	method  string
	watched []watchedGlob // of a workspace/didChangeWatchedFiles
}

const mostRegistrations = 1000

func (c *client) register(params json.RawMessage) (any, error) {
	var p protocol.RegistrationParams
	if err := protocol.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "client/registerCapability: %v", err)
	}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	if c.watches.by == nil {
		c.watches.by = map[string]registration{}
	}
	for _, r := range p.Registrations {
		if len(c.watches.by) >= mostRegistrations {
			return nil, wire.Errorf(wire.CodeRequestFailed, "there are %d registrations already", mostRegistrations)
		}
		one := registration{method: r.Method}
		if r.Method == watchedFiles {
			one.watched = c.server.watchedGlobs(json.RawMessage(r.RegisterOptions))
		}
		c.watches.by[r.ID] = one
	}
	return nil, nil
}

func (c *client) unregister(params json.RawMessage) (any, error) {
	var p protocol.UnregistrationParams
	if err := protocol.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "client/unregisterCapability: %v", err)
	}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	for _, r := range p.Unregisterations {
		delete(c.watches.by, r.ID)
	}
	return nil, nil
}

// has says if the server has registered for a method.
func (r *registrations) has(method string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(r.by)), func(one registration) bool { return one.method == method })
}
