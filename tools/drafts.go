package tools

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace/layer"
)

// Drafts has the sessions in mode draft work on drafts: on layers over the open folders, of which nobody else sees anything
// until the user has reviewed them.
type Drafts interface {
	// Call does a call on its session's draft, which it makes if there is none, and gives its result as on the wire. What the
	// user must be asked about it goes to ask.
	Call(ctx context.Context, c Call, ask func(context.Context, approval.Plan) (approval.Answer, error)) (json.RawMessage, error)
	// Open makes a session's draft, if it has none.
	Open(session *session.Session) error
	// Of is a session's draft; false: it has none.
	Of(session string) (Draft, bool)
	// Settle has the draft show again what the folders have, at the absolute paths that are gone from it and below them. Files that
	// are left in part are as given.
	Settle(session string, gone []string, left map[string]Rest) error
	// End takes a draft away, with all that is in it.
	End(session string) error
	// Sessions are those that have one, in no order.
	Sessions() []string
}

// Rest is a file that stays in a draft, and what the user has of it, also unsaved: they are compared from then on.
type Rest struct{ Data, Base []byte }

// Draft is one of them.
type Draft struct {
	Session, Agent string
	Started        time.Time
	// Layers are over the open folders; Began is when they were made, as layer.Made gives it.
	Layers []layer.Layer
	Began  int64
	// Base is what the file at an absolute path had before the draft changed it, where that is known.
	Base func(path string) *layer.Base
}

// Changes says whether the call may change files.
func (c Call) Changes() bool { return c.tool.Access != policy.Read }

var errNoDrafts = fault.New(fault.ExecutionFailed, "there are no drafts without an editor").WithHint("ask the user to choose another mode than draft")

// onDraft says whether a call in a draft is done there: one about files, code, repositories or commands. The others
// are about the session, the user, or what lies elsewhere.
func (t Tool) onDraft() bool {
	if t.origin != nil || slices.Contains([]string{"skill", "save_memory", "submit_changes", "task"}, t.Name) || t.PartOf != "" {
		return false
	}
	return t.Access == policy.Read || t.Access == policy.Edit || t.Access == policy.Exec || t.Name == "kill_process"
}

// goesToDraft says whether a call is to be done on its session's draft.
func (r *Registry) goesToDraft(c Call) bool {
	return !r.IsDraft && c.refused == nil && c.tool.Name != "" && c.tool.onDraft() && InDraft(c.Session)
}

// InDraft says whether a session works on a draft: its own, or that of the one whose sub-agent it is.
func InDraft(s *session.Session) bool {
	return s.Mode() == policy.Draft || DraftOwner(s).Mode() == policy.Draft
}

// DraftOwner is the session whose draft it is that a session works on.
func DraftOwner(s *session.Session) *session.Session {
	for s.Parent() != nil {
		s = s.Parent()
	}
	return s
}

// inDraft does such a call.
func (r *Registry) inDraft(ctx context.Context, c Call, started time.Time) (*Answer, error) {
	if r.Drafts == nil {
		return nil, errNoDrafts
	}
	if err := paused(c.Session); err != nil {
		return nil, err
	}
	kind := session.Changes
	if c.tool.Access == policy.Read {
		kind = session.Reads
	}
	if err := allowRate(c, kind); err != nil {
		return nil, err
	}
	if err := r.Settings().off(c.Session, c.tool.Name); err != nil {
		return nil, err
	}
	r.report(c, nil, Activity{State: Running, Summary: c.tool.Title}, started)
	raw, err := r.Drafts.Call(ctx, c, func(ctx context.Context, p approval.Plan) (approval.Answer, error) {
		r.report(c, nil, Activity{State: Waiting, Summary: p.Request().Title}, started)
		defer r.report(c, nil, Activity{State: Running, Summary: c.tool.Title}, started)
		if c.Waits != nil {
			c.Waits(true)
			defer c.Waits(false)
		}
		return r.ask(ctx, p)
	})
	if err != nil {
		return nil, err
	}
	var got struct {
		Content    []Part          `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Display    *Display        `json:"display"`
	}
	var failed struct {
		Error *fault.Error `json:"error"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(got.Structured, &failed); err != nil {
		return nil, err
	}
	made := Result{Content: got.Content, Structured: got.Structured, IsError: got.IsError, Display: got.Display, Err: failed.Error}
	return &Answer{elsewhere: &made, Paged: true, Err: made.Err, Summary: "in the draft", Display: made.Display}, nil
}
