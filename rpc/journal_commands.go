package rpc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// How much of the last change a command means that names nothing.
func ofCall(e change.EntryInfo) journalParams { return journalParams{CallID: e.CallID} }

func ofTurn(e change.EntryInfo) journalParams {
	return journalParams{SessionID: e.SessionID, Turn: e.Turn}
}

func ofSession(e change.EntryInfo) journalParams { return journalParams{SessionID: e.SessionID} }

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
	entries, err := s.running().Registry.Committer.History(s.selection(p), listed)
	if err != nil {
		return change.EntryInfo{}, wire.Errorf(wire.CodeRequestFailed, "the journal cannot be read: %v", err)
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
