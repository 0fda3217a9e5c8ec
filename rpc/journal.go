package rpc

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools/approval"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// journalParams is journal/list and journal/revert.
type journalParams struct {
	SessionID string `json:"sessionId"`
	Turn      int    `json:"turn"`
	SinceTurn int    `json:"sinceTurn"` // this turn and all later ones
	CallID    string `json:"callId"`
	Path      string `json:"path"` // of one file in what is reverted
	Limit     int    `json:"limit"`
	DryRun    bool   `json:"dryRun"`
}

// journalReverted is the result of journal/revert.
type journalReverted struct {
	change.Reverted
	Preview *approval.Preview `json:"preview,omitempty"`
}

// listed is how many entries a list has that names no limit.
const listed = 200

func (s *server) journalList(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[journalParams](raw)
	if err != nil {
		return nil, err
	}
	if p.Limit <= 0 {
		p.Limit = listed
	}
	entries, err := s.running().Registry.Committer.History(s.selection(p), p.Limit)
	if err != nil {
		return nil, wire.Errorf(wire.CodeRequestFailed, "the journal cannot be read: %v", err)
	}
	return map[string]any{"entries": entries}, nil
}

// selection leaves out what an earlier session did that had the id of one that is open:
// the editor's own has the same in every sidecar.
func (s *server) selection(p journalParams) change.Selection {
	out := change.Selection{CallID: p.CallID, SessionID: p.SessionID, Turn: p.Turn, SinceTurn: p.SinceTurn, Path: p.Path}
	if owner, ok := s.running().Sessions.Get(p.SessionID); ok {
		out.Since = owner.Info().Started
	}
	return out
}

func (s *server) journalRevert(ctx context.Context, raw json.RawMessage) (any, error) {
	p, err := params[journalParams](raw)
	if err != nil {
		return nil, err
	}
	if p.Turn+p.SinceTurn != 0 && p.SessionID == "" && p.CallID == "" {
		return nil, wire.Errorf(wire.CodeInvalidParams, "a turn needs a sessionId: turns are counted by session")
	}
	return s.revert(ctx, p)
}

func (s *server) revert(ctx context.Context, p journalParams) (any, error) {
	sel := s.selection(p)
	if sel.IsEmpty() {
		return nil, wire.Errorf(wire.CodeInvalidParams, "name what to revert: a callId, or a sessionId with or without a turn")
	}
	origin := journal.Origin{CallID: rand.Text(), Agent: s.clientName(), Via: "editor", Tool: "journal/revert"}
	reverted, err := s.running().Registry.Committer.Revert(ctx, sel, origin, p.DryRun)
	if err != nil {
		return nil, wire.Errorf(wire.CodeRequestFailed, "%s", fault.From(err).Message)
	}
	out := journalReverted{Reverted: reverted}
	if p.DryRun {
		preview := approval.ComposeFiles(reverted.Preview)
		out.Preview = &preview
	}
	return out, nil
}
