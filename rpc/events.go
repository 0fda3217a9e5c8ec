package rpc

import (
	"encoding/json"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/workspace/change"
	"pillion/workspace/tracking"
)

// Events is where a sidecar reports what happens by itself. No method of it blocks.
type Events interface {
	// Problem is something wrong with the settings or the system, for the user.
	Problem(text string)
	// Remark goes into the editor's log, which nobody has to look at.
	Remark(text string)
	// Activity is the state of a call.
	Activity(a tools.Activity)
	// Changed are files that changed, Tracking how well that is known.
	Changed(changes []tracking.Change)
	Tracking(t Tracking)
	// Index is how it stands with the index of what is in files.
	Index(i Index)
	// Journal is a change set that was made or put back.
	Journal(changed change.JournalChanged)
	// Unusual is an agent that behaves suspiciously.
	Unusual(u Unusual)
	// Gateway is how a session is connected to a gateway, Frame a frame for the one that the
	// editor is connected to itself.
	Gateway(state any)
	Frame(frame json.RawMessage)
	// Rules are the rules that hold, whenever they change.
	Rules(rules any)
	// Untrusted is a project's settings file that the user does not trust, or no longer.
	Untrusted(u Untrusted)
}

// workspaceChanged is workspace/changed.
type workspaceChanged struct {
	Changes []tracking.Change `json:"changes"`
}

// Tracking is workspace/tracking: how well changes on disk are known.
type Tracking struct {
	Degraded bool   `json:"degraded"`
	Reason   string `json:"reason"`
	Watched  int    `json:"watched"`
}

// Index is workspace/index: how it stands with the index by which files are searched.
type Index struct {
	Building bool  `json:"building"` // for the first time
	Percent  int   `json:"percent"`
	Files    int   `json:"files"`
	Bytes    int64 `json:"bytes"` // of memory
}

// Untrusted is settings/untrusted: a project's settings file asks for more than the user
// trusts; without rules, it no longer does.
type Untrusted struct {
	Path  string   `json:"path"`
	Hash  string   `json:"hash"`
	Rules []string `json:"rules"` // empty: nothing is asked any more
	// Problems are the file's settings that have no effect, trusted or not, and why.
	Problems []string `json:"problems,omitempty"`
}

// Unusual is session/unusual: an agent did what agents at work do not do.
type Unusual struct {
	SessionID string         `json:"sessionId"`
	Agent     approval.Agent `json:"agent"`
	Kind      string         `json:"kind"`
	Message   string         `json:"message"`
	Acted     string         `json:"acted"` // "", paused or reverted: what was done about it
}

// events reports to one editor, with a plugin by notifications, without one by messages.
type events struct {
	server *server
	client client
}

func (e events) Problem(text string) { e.server.showMessage(messageWarning, "%s", text) }
func (e events) Remark(text string)  { e.server.showMessage(messageInfo, "%s", text) }

// Activity passes a call's state on to an editor that shows it.
func (e events) Activity(a tools.Activity) {
	status := e.server.statuses.note(a)
	switch {
	case e.client.Pillion:
		e.server.conn.Notify("activity/changed", a)  //nolint:errcheck // the list catches up with the next call
		e.server.conn.Notify("agent/status", status) //nolint:errcheck // likewise
	case e.client.Progress:
		e.server.bars.note(e.server.conn, a)
	}
}

func (e events) Changed(changes []tracking.Change) {
	if e.client.Pillion {
		e.server.conn.Notify("workspace/changed", workspaceChanged{changes}) //nolint:errcheck // whoever needs to know looks
	}
}

func (e events) Tracking(t Tracking) {
	if e.client.Pillion {
		e.server.conn.Notify("workspace/tracking", t) //nolint:errcheck // the doctor says so too
	}
}

func (e events) Index(i Index) {
	if e.client.Pillion {
		e.server.conn.Notify("workspace/index", i) //nolint:errcheck // it is only shown
	}
}

// Journal tells an editor with a plugin of a change set.
func (e events) Journal(changed change.JournalChanged) {
	if e.client.Pillion {
		e.server.conn.Notify("journal/changed", changed) //nolint:errcheck // the list is asked for again
	}
}

// Gateway tells an editor with a plugin how a gateway is connected.
func (e events) Gateway(state any) {
	if e.client.Pillion {
		e.server.conn.Notify("gateway/changed", state) //nolint:errcheck // the status can be asked for
	}
}

// Rules gives an editor with a plugin the rules that hold now.
func (e events) Rules(rules any) {
	if e.client.Pillion {
		e.server.conn.Notify("rules/changed", rules) //nolint:errcheck // they are only shown
	}
}

// Frame gives the editor a frame for its gateway. Whoever sends frames takes them, with a
// plugin or without.
func (e events) Frame(frame json.RawMessage) {
	e.server.conn.Notify("agent/message", frame) //nolint:errcheck // the connection has ended
}

// Unusual shows it to the user, who may pause the session or put its changes back.
func (e events) Unusual(u Unusual) {
	if e.client.Pillion {
		e.server.conn.Notify("session/unusual", u) //nolint:errcheck // it is in the audit log
		return
	}
	how := fmt.Sprintf("It was %s. The command pillion.newTurn resumes it.", u.Acted)
	if u.Acted == "" {
		how = fmt.Sprintf("The commands pillion.pause and pillion.revertSession with %q pause it and revert its changes.", u.SessionID)
	}
	e.server.show(messageWarning, "Pillion: %s. %s", u.Message, how)
}

// Untrusted shows what the file asks for; trust is given for that text alone.
func (e events) Untrusted(u Untrusted) {
	s := e.server
	if u.Rules == nil {
		u.Rules = []string{}
	}
	if e.client.Pillion {
		s.conn.Notify("settings/untrusted", u) //nolint:errcheck // without it nothing is trusted
		return
	}
	s.doubts.mu.Lock()
	defer s.doubts.mu.Unlock()
	if len(u.Rules) == 0 {
		delete(s.doubts.shown, u.Path)
		return
	}
	if s.doubts.shown == nil {
		s.doubts.shown = map[string]string{}
	}
	rules := strings.Join(u.Rules, "\n")
	how := "The command pillion.trustSettings trusts exactly this text; so does `pillion trust` in a terminal."
	if s.doubts.shown[u.Path] = u.Hash; len(rules) > boxPreview {
		delete(s.doubts.shown, u.Path) // nobody trusts by command what was not on show
		how = "There is more than fits here: `pillion trust` in a terminal shows all of it, and asks."
	}
	s.show(messageWarning, "Pillion: %s asks for more than you trust. These settings are ignored:\n%s\n%s", fault.Escape(u.Path), clip(rules, boxPreview), how)
}
