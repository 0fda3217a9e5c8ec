package rpc

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/session"
)

// draftParams is draft/review and draft/discard.
type draftParams struct {
	SessionID string   `json:"sessionId"`
	Paths     []string `json:"paths"`
}

func (s *server) draftList(ctx context.Context, _ json.RawMessage) (any, error) {
	registry := s.running().Registry
	out := []tools.DraftInfo{}
	if registry.Drafts != nil {
		for _, id := range registry.Drafts.Sessions() {
			if info, has := registry.DraftOf(ctx, s.drafter(id)); has {
				out = append(out, info)
				s.drafts.know(id)
			}
		}
	}
	return map[string]any{"drafts": out}, nil
}

// drafter is the session of a draft, also of one that is over.
func (s *server) drafter(id string) *session.Session {
	if owner, open := s.running().Sessions.Get(id); open {
		return owner
	}
	return session.New(id, session.Agent{Name: s.clientName(), Via: "editor"}, policy.Draft)
}

// draftReview asks as submit_changes does.
func (s *server) draftReview(ctx context.Context, p draftParams) (any, error) {
	owner := s.drafter(p.SessionID)
	if _, has := s.running().Registry.DraftOf(ctx, owner); !has {
		return nil, wire.Errorf(wire.CodeInvalidParams, "the session has no draft")
	}
	result := s.running().Registry.ReviewDraft(ctx, owner)
	if result.Err != nil {
		return nil, wire.Errorf(wire.CodeRequestFailed, "%s", result.Err.Message)
	}
	var out struct {
		Applied   json.RawMessage `json:"applied"`
		Left      json.RawMessage `json:"left"`
		Discarded bool            `json:"discarded"`
	}
	err := json.Unmarshal(result.Structured, &out)
	return out, err
}

func (s *server) draftDiscard(_ context.Context, p draftParams) (any, error) {
	if err := s.running().Registry.DiscardDraft(p.SessionID, p.Paths); err != nil {
		return nil, invalid(err)
	}
	return nil, nil
}

// draftEvery is how often an editor hears of one draft at most.
const draftEvery = 200 * time.Millisecond

// draftNews has an editor hear of drafts that change.
type draftNews struct {
	mu      sync.Mutex // guards all below
	waiting map[string]bool
	known   map[string]bool // those with files
}

// know has the editor hear when this draft ends.
func (n *draftNews) know(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.waiting, n.known = map[string]bool{}, map[string]bool{}
	}
	n.known[id] = true
}

// DraftChanged tells of a draft, in a moment.
func (e events) DraftChanged(id string) {
	if !e.client.Pillion {
		return
	}
	n := &e.server.drafts
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.waiting, n.known = map[string]bool{}, map[string]bool{}
	}
	if n.waiting[id] {
		return
	}
	n.waiting[id] = true
	time.AfterFunc(draftEvery, func() { e.server.tellDraft(id) })
}

func (s *server) tellDraft(id string) {
	n := &s.drafts
	n.mu.Lock()
	n.waiting[id] = false
	n.mu.Unlock()
	core := s.running()
	if core == nil {
		return
	}
	info, has := core.Registry.DraftOf(context.Background(), s.drafter(id))
	n.mu.Lock()
	was := n.known[id]
	n.known[id] = has
	n.mu.Unlock()
	if !has {
		if !was {
			return
		}
		info = tools.DraftInfo{SessionID: id, Files: []tools.DraftFile{}, Ended: true}
	}
	s.conn.Notify("draft/changed", info) //nolint:errcheck // the next one says all
}
