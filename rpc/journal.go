package rpc

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

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

func (s *server) journalList(_ context.Context, p journalParams) (any, error) {
	entries, err := s.history(p)
	if err != nil {
		return nil, err
	}
	return map[string]any{"entries": entries}, nil
}

func (s *server) history(p journalParams) ([]change.EntryInfo, error) {
	if p.Limit <= 0 {
		p.Limit = listed
	}
	entries, err := s.running().Registry.Committer.History(s.selection(p), p.Limit)
	if err != nil {
		return nil, wire.Errorf(wire.CodeRequestFailed, "the journal cannot be read: %v", err)
	}
	return entries, nil
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

func (s *server) journalRevert(ctx context.Context, p journalParams) (any, error) {
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

// revertByCommand is journal/revert for an editor without a plugin, which gives few
// arguments and shows no results: without any it means the last change of an agent
// that is not put back, and what became of it is shown.
func (s *server) revertByCommand(ctx context.Context, p journalParams, of func(change.EntryInfo) journalParams) (any, error) {
	if p.CallID == "" && (p.SessionID == "" || p.Turn == 0) {
		last, err := s.lastChange(p)
		if err != nil {
			return nil, err
		}
		p = of(last)
	}
	result, err := s.revert(ctx, p)
	if err == nil {
		s.show(messageInfo, "%s", result.(journalReverted).words())
	}
	return result, err
}

func (s *server) lastChange(p journalParams) (change.EntryInfo, error) {
	entries, err := s.history(p)
	if err != nil {
		return change.EntryInfo{}, err
	}
	i := slices.IndexFunc(entries, func(e change.EntryInfo) bool {
		return e.SessionID != "" && (e.State == journal.StateDone || e.State == journal.StatePartlyReverted || e.State == journal.StateInterrupted)
	})
	if i < 0 {
		return change.EntryInfo{}, wire.Errorf(wire.CodeRequestFailed, "the journal has no change to revert here")
	}
	return entries[i], nil
}

// words is what became of a revert, for people.
func (r journalReverted) words() string {
	var out strings.Builder
	list := func(what string, names []string) {
		for _, name := range names {
			fmt.Fprintf(&out, "\n%s %s", fault.Quote(name), what)
			if why := r.Reasons[name]; why != "" {
				out.WriteString(": " + fault.Escape(why))
			}
		}
	}
	list("is restored", r.Reverted.Reverted)
	list("is reverted, with later changes kept", r.Merged)
	list("was left alone", r.Conflicts)
	if out.Len() == 0 {
		return "Pillion: there is nothing to revert"
	}
	return "Pillion:" + out.String()
}
