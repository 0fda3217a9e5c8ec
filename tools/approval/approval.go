// Package approval is where a call waits for a user's yes.
//
// Queue.Ask is the entry point, and package tools calls it in exactly one place. It is
// one loop over three events:
//
//   - A file or buffer changes (Plan.Moved). The plan is made again if hashes say so. The
//     same edits elsewhere in the file: approval/changed with moved, and earlier digests
//     still count. Different: approval/changed, and only the new digest counts. No longer
//     possible: after a second the dialog is stale.
//   - The user answers. A rejection counts at once. An approval counts if its digest does,
//     else the dialog is superseded and a new one opens; the user's own text for an older
//     plan is merged into the new one and shown again. So are their own arguments, unless
//     there is nothing to say of them that was not shown.
//   - The caller gives up, the editor goes, or time is up: withdrawn or expired.
//
// Cancel also pauses the session, since MCP has no way to end an agent's turn.
//
// A Request is bound by its digest to the bytes that it shows; while it waits,
// the plan beneath it is made again whenever the world moves, and an answer holds
// only for what was on show when it was given. How a question is put to the user
// (editor dialog, terminal, not at all) is an Asker's business.
package approval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request is one question to the user: the params of approval/request.
type Request struct {
	ApprovalID  string          `json:"approvalId"`
	CallID      string          `json:"callId"`
	SessionID   string          `json:"sessionId"`
	Agent       Agent           `json:"agent"`
	Tool        string          `json:"tool"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Reasons     []Reason        `json:"reasons"`
	Arguments   json.RawMessage `json:"arguments"`
	Preview     Preview         `json:"preview"`
	Decisions   []Choice        `json:"decisions"`
	Digest      string          `json:"digest"`
	ExpiresAt   *time.Time      `json:"expiresAt,omitempty"`
}

// Agent names who asks.
type Agent struct {
	Name string `json:"name"`
	Via  string `json:"via"`
}

// Scope is how long a decision holds.
type Scope string

// The scopes.
const (
	Once      Scope = "once"
	Turn      Scope = "turn" // the session's current one
	Session   Scope = "session"
	Workspace Scope = "workspace"
)

// Choice is one decision that the sidecar offers. A remembered one shows the
// exact rule that will be kept.
type Choice struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Scope Scope  `json:"scope"`
	Rule  string `json:"rule,omitempty"`
	// Meaning is what comes of it: "once", "the agent goes on without it".
	Meaning string `json:"meaning"`
}

// The decisions that are always offered, the refusing one first.
const (
	RejectID  = "reject"
	ApproveID = "approve"
)

// Decision is what the user chose.
type Decision string

// The decisions.
const (
	Approve Decision = "approve"
	Edit    Decision = "edit"
	Reject  Decision = "reject"
	Cancel  Decision = "cancel"
)

// Answer is the result of approval/request.
type Answer struct {
	Decision          Decision        `json:"decision"`
	DecisionID        string          `json:"decisionId,omitempty"`
	ModifiedArguments json.RawMessage `json:"modifiedArguments,omitempty"`
	After             Texts           `json:"after,omitempty"`
	// Selected are the hunks that are to be made, by their ids in Preview; nil: all.
	Selected []string `json:"selected,omitempty"`
	Feedback string   `json:"feedback,omitempty"`
	// Comments are the user's, on lines of what they reject.
	Comments []Comment `json:"comments,omitempty"`
	Digest   string    `json:"digest,omitempty"`
}

// Comment is on a line of the proposed text, from 1.
type Comment struct {
	Path string `json:"path"` // as in Preview
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Reason is what the user has to say, as the agent reads it: the feedback, and a line for each comment.
func (a Answer) Reason() string {
	lines := make([]string, 0, len(a.Comments)+1)
	if a.Feedback != "" {
		lines = append(lines, a.Feedback)
	}
	for _, c := range a.Comments {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", c.Path, c.Line, strings.ReplaceAll(strings.TrimSpace(c.Text), "\n", "\n  ")))
	}
	return strings.Join(lines, "\n")
}

// UnmarshalJSON reads an answer strictly: encoding/json takes "Decision" for "decision" and
// the last of two, and neither is what the user was shown a button for.
func (a *Answer) UnmarshalJSON(data []byte) error {
	if err := checkNames(data, answerFields); err != nil {
		return err
	}
	type plain Answer
	return json.Unmarshal(data, (*plain)(a))
}

var answerFields = fieldsOf(reflect.TypeFor[Answer]())

func fieldsOf(of reflect.Type) (names []string) {
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// checkNames refuses an object that has one of the names twice, or in other letter case.
func checkNames(data []byte, names []string) error {
	in := json.NewDecoder(bytes.NewReader(data))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return err
	}
	seen := map[string]bool{}
	for in.More() {
		t, err := in.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		at := slices.IndexFunc(names, func(known string) bool { return strings.EqualFold(known, name) })
		switch {
		case at >= 0 && (names[at] != name || seen[name]):
			return &json.UnmarshalTypeError{Value: "member " + strconv.Quote(name), Type: reflect.TypeFor[Answer](), Field: names[at]}
		case at >= 0:
			seen[name] = true
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

// Texts are whole texts of files, by their paths.
type Texts map[string]string

// UnmarshalJSON takes no null for a text: that would empty the file.
func (t *Texts) UnmarshalJSON(data []byte) error {
	var texts map[string]*string
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	*t = make(Texts, len(texts))
	for path, text := range texts {
		if text == nil {
			return &json.UnmarshalTypeError{Value: "null", Type: reflect.TypeFor[string](), Field: path}
		}
		(*t)[path] = *text
	}
	return nil
}

// ofHunks makes a yes to no hunk at all the no that it is. Only a difference has hunks.
func (a Answer) ofHunks(p Preview) Answer {
	switch {
	case p.Kind != "diff" || len(a.ModifiedArguments) > 0:
		a.Selected = nil
	case a.Selected != nil && len(a.Selected)+len(a.After) == 0 && (a.Decision == Approve || a.Decision == Edit):
		a.Decision = Reject
	}
	return a
}

// Changed tells an open dialog that the text beneath it changed.
type Changed struct {
	ApprovalID string   `json:"approvalId"`
	Digest     string   `json:"digest"`
	Reasons    []Reason `json:"reasons"`
	Preview    Preview  `json:"preview"`
	// Moved: the same lines change as before, only elsewhere in the file. A yes
	// already given stands.
	Moved bool `json:"moved"`
}

// Outcome says how a request ended.
type Outcome string

// The outcomes.
const (
	Approved   Outcome = "approved"
	Edited     Outcome = "edited"
	Rejected   Outcome = "rejected"
	Cancelled  Outcome = "cancelled"
	Withdrawn  Outcome = "withdrawn"  // the agent no longer waits, such as when the user interrupts it
	Expired    Outcome = "expired"    // nobody answered in time
	Superseded Outcome = "superseded" // asked again, because what it showed has changed
	Stale      Outcome = "stale"      // what it showed cannot be done any more
)

// Asker puts questions to the user. Ask blocks until there is an answer or ctx
// ends; Changed and Resolved never block.
type Asker interface {
	Ask(ctx context.Context, r Request) (Answer, error)
	Changed(c Changed)
	Resolved(approvalID string, outcome Outcome)
}

// ErrUnavailable is an Asker's error where no user can be asked. Its text says
// what would help.
var ErrUnavailable = errors.New("nobody can be asked")

// ErrExpired ends a request that was not answered in time.
var ErrExpired = errors.New("nobody answered in time")

// Nobody is the Asker that denies, for want of anyone to ask.
type Nobody struct {
	Why string // what to do to be asked, a clause without a full stop
}

// Ask denies.
func (n Nobody) Ask(context.Context, Request) (Answer, error) {
	return Answer{}, unavailable{n.Why}
}

// Changed does nothing.
func (Nobody) Changed(Changed) {}

// Resolved does nothing.
func (Nobody) Resolved(string, Outcome) {}

type unavailable struct{ why string }

func (u unavailable) Error() string { return u.why }
func (u unavailable) Unwrap() error { return ErrUnavailable }
