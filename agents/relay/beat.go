package relay

import (
	"encoding/json"
	"sync"
	"time"

	"pillion/internal/wire"
	"pillion/tools"
)

// report has the call's output sent as progress, unless it is to be quiet, and a sign of
// life while it takes its time, so that the agent's clock does not run out. stop ends that.
func (a *agent) report(call *tools.Call, token json.RawMessage, quiet bool) (stop func()) {
	if !quiet {
		call.Output = func(stream, text string) {
			_ = a.conn.Progress(token, wire.TextChunk{Stream: stream, Text: text}, "") // the result carries the output too
		}
	}
	// Without delay: of a call that was only asked about it is known that nothing was done, also when
	// this program is killed.
	call.Waits = func(waits bool) {
		state := Progress{Kind: "report", Message: call.Name + " is running"}
		if waits {
			state = waiting("your approval", a.server.host.Editor)
		}
		_ = a.conn.Progress(token, state, "state")
	}
	var mu sync.Mutex // guards what follows, and is held while a sign is given
	ended := false
	mu.Lock()
	defer mu.Unlock()
	var next *time.Timer
	next = time.AfterFunc(min(a.server.host.Beat, time.Second), func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			_ = a.conn.Progress(token, StateOf(a.server.host.Registry, call, a.server.host.Editor), "state")
			next.Reset(a.server.host.Beat)
		}
	})
	return func() {
		next.Stop()
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
}

// StateOf says what a call is doing: to people in words, and to programs whether it waits
// for a person. Without an editor its name is empty.
func StateOf(registry *tools.Registry, call *tools.Call, editor string) Progress {
	for _, r := range registry.Approvals.Waiting() {
		if r.CallID == call.CallID {
			return waiting("your approval", editor)
		}
	}
	if call.Name == "prompt_user" || call.Name == "exit_plan_mode" {
		return waiting("your answer", editor)
	}
	return Progress{Kind: "report", Message: call.Name + " is running"}
}

func waiting(what, editor string) Progress {
	if editor != "" {
		what += " in " + editor
	}
	return Progress{Kind: "report", Message: "waiting for " + what, Waiting: true}
}
