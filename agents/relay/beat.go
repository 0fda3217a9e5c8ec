package relay

import (
	"encoding/json"
	"sync"
	"time"

	"pillion/internal/wire"
	"pillion/tools"
)

// report has the call's output sent as progress, and a sign of life while it
// takes its time, so that the agent's clock does not run out. stop ends that.
func (a *agent) report(call *tools.Call, token json.RawMessage) (stop func()) {
	call.Output = func(stream, text string) {
		_ = a.conn.Progress(token, wire.TextChunk{Stream: stream, Text: text}, "") // the result carries the output too
	}
	ended := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		next := time.NewTimer(min(a.server.beat, time.Second))
		defer next.Stop()
		for {
			select {
			case <-ended:
				return
			case <-next.C:
				_ = a.conn.Progress(token, Progress{Kind: "report", Message: a.state(call)}, "state")
				next.Reset(a.server.beat)
			}
		}
	})
	return func() {
		close(ended)
		beating.Wait()
	}
}

// state says to people what the call is waiting for.
func (a *agent) state(call *tools.Call) string {
	editor := a.server.host.Editor
	for _, r := range a.server.host.Registry.Approvals.Waiting() {
		if r.CallID == call.CallID {
			return "waiting for the human's approval in " + editor
		}
	}
	if call.Name == "prompt_user" || call.Name == "exit_plan_mode" {
		return "waiting for the human's answer in " + editor
	}
	return call.Name + " is running"
}
