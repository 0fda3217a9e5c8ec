package rpc

import (
	"pillion/workspace/tracking"
)

// workspaceChanged is workspace/changed.
type workspaceChanged struct {
	Changes []tracking.Change `json:"changes"`
}

// workspaceTracking is workspace/tracking.
type workspaceTracking struct {
	Degraded bool   `json:"degraded"`
	Reason   string `json:"reason"`
	Watched  int    `json:"watched"`
}

// changed tells an editor that knows what to make of it.
func (s *server) changed(c client, changes []tracking.Change) {
	if c.Pillion {
		s.conn.Notify("workspace/changed", workspaceChanged{changes}) //nolint:errcheck // whoever needs to know looks
	}
}

func (s *server) tracking(c client, t workspaceTracking) {
	if c.Pillion {
		s.conn.Notify("workspace/tracking", t) //nolint:errcheck // the doctor says so too
	}
}
