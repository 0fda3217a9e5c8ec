package sidecar

import (
	"encoding/json"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/rpc"
	"pillion/tools"
	"pillion/workspace/change"
	"pillion/workspace/tracking"
)

// Logged are events where no editor follows them: what a person should know is logged.
type Logged struct{}

var _ rpc.Events = Logged{}

func (Logged) Problem(text string)           { logf("%s", text) }
func (Logged) Remark(text string)            { logf("%s", text) }
func (Logged) Activity(tools.Activity)       {}
func (Logged) Changed([]tracking.Change)     {}
func (Logged) Tracking(rpc.Tracking)         {}
func (Logged) Index(rpc.Index)               {}
func (Logged) Journal(change.JournalChanged) {}
func (Logged) DraftChanged(string)           {}
func (Logged) Gateway(any)                   {}
func (Logged) Rules(any)                     {}
func (Logged) Frame(json.RawMessage)         {}
func (Logged) Unusual(u rpc.Unusual)         { logf("%s", u.Message) }
func (Logged) Untrusted(u rpc.Untrusted) {
	DescribeUntrusted(u, func(text string) { logf("%s", text) })
}

// DescribeUntrusted puts it into words for a person without an editor.
func DescribeUntrusted(u rpc.Untrusted, say func(string)) {
	if len(u.Rules) > 0 {
		say(fmt.Sprintf("%s asks for more than you trust; that is ignored: %s; `pillion trust` shows it, and asks", fault.Escape(u.Path), strings.Join(u.Rules, "; ")))
	}
}
