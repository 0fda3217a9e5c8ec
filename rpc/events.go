package rpc

import (
	"encoding/json"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/wire"
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
	// DraftChanged is a session whose draft may be another.
	DraftChanged(session string)
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
	conn   pluginConn
}

// pluginConn sends to an editor with a plugin; nil: it has none. What does not arrive is only
// shown, or asked for again.
type pluginConn struct{ to *wire.Conn }

func (p pluginConn) Notify(method string, params any) {
	if p.to != nil {
		p.to.Notify(method, params) //nolint:errcheck // see above
	}
}

func (s *server) events(c client) events {
	e := events{server: s, client: c}
	if c.Pillion {
		e.conn.to = s.conn
	}
	return e
}

func (e events) Problem(text string) { e.server.showMessage(messageWarning, "%s", text) }
func (e events) Remark(text string)  { e.server.showMessage(messageInfo, "%s", text) }

// Activity passes a call's state on to an editor that shows it.
func (e events) Activity(a tools.Activity) {
	status := e.server.statuses.note(a)
	e.conn.Notify("activity/changed", a)
	e.conn.Notify("agent/status", status)
	if e.client.Progress && !e.client.Pillion {
		e.server.bars.note(e.server.conn, a)
	}
}

func (e events) Changed(changes []tracking.Change) {
	e.conn.Notify("workspace/changed", workspaceChanged{changes})
}

func (e events) Tracking(t Tracking)                   { e.conn.Notify("workspace/tracking", t) }
func (e events) Index(i Index)                         { e.conn.Notify("workspace/index", i) }
func (e events) Journal(changed change.JournalChanged) { e.conn.Notify("journal/changed", changed) }
func (e events) Gateway(state any)                     { e.conn.Notify("gateway/changed", state) }
func (e events) Rules(rules any)                       { e.conn.Notify("rules/changed", rules) }

// Frame gives the editor a frame for its gateway. Whoever sends frames takes them, with a
// plugin or without.
func (e events) Frame(frame json.RawMessage) {
	e.server.conn.Notify("agent/message", frame) //nolint:errcheck // the connection has ended
}

// Unusual shows it to the user, who may pause the session or put its changes back.
func (e events) Unusual(u Unusual) {
	e.conn.Notify("session/unusual", u)
	if e.client.Pillion {
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
	e.conn.Notify("settings/untrusted", u)
	if e.client.Pillion {
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
	s.show(messageWarning, "Pillion: %s asks for more than you trust. These settings are ignored:\n%s\n%s", fault.Escape(u.Path), fault.Clip(rules, boxPreview), how)
}
