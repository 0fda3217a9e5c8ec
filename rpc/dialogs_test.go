package rpc

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pillion/tools/approval"
)

// TestWhoIsAwayIsNotified, in words without what could steer a terminal or a desktop; whoever
// is there is not.
func TestWhoIsAwayIsNotified(t *testing.T) {
	var said []string
	s := &server{core: &Core{Focused: func() {}, Notify: func(text string, sound bool) { said = append(said, fmt.Sprint(text, sound)) }}, state: running}
	d := &dialogs{server: s}
	for _, params := range []string{`{}`, `{"focused": true}`, `{"focused": false}`, `{"focused": false, "sound": true}`} {
		for _, params := range []string{`{"focused": false}`, params} {
			if _, err := methods["window/focused"].handle(s, t.Context(), json.RawMessage(params)); err != nil {
				t.Fatal(err)
			}
		}
		d.notifyAway(approval.Agent{Name: "claude\x1b"}, "wants to --run \u202e")
	}
	if want := []string{`claude\x1b wants to --run \u202efalse`, `claude\x1b wants to --run \u202etrue`}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
