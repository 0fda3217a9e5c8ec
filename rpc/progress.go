package rpc

import (
	"context"
	"encoding/json"
	"sync"
)

// progress is the running calls whose progress the editor shows, by token: the
// user can cancel them where it is shown.
type progress struct {
	mu      sync.Mutex // guards running
	running map[string]context.CancelFunc
}

// cancellable ties a call to its token until done is called. Without a token the
// call is only cancelled as any request is.
func (p *progress) cancellable(ctx context.Context, token string) (_ context.Context, done func()) {
	if token == "" {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		p.running = map[string]context.CancelFunc{}
	}
	p.running[token] = cancel
	return ctx, func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.running, token)
	}
}

// workDoneProgressCancel is the user's click on a shown progress.
func (s *server) workDoneProgressCancel(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[struct {
		Token json.RawMessage `json:"token"`
	}](raw)
	if err != nil {
		return nil, err
	}
	if call := s.bars.call(p.Token); call != nil {
		s.running().Registry.Stop(call.SessionID, call.CallID)
		return nil, nil
	}
	s.progress.mu.Lock()
	defer s.progress.mu.Unlock()
	if cancel := s.progress.running[string(p.Token)]; cancel != nil {
		cancel()
	}
	return nil, nil
}
