package sidecar

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pillion/audit"
	"pillion/internal/state"
	"pillion/rpc"
	"pillion/tools/approval"
	"pillion/tools/session"
	"pillion/tools/unusual"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// alarms is what becomes of what is unusual.
type alarms struct {
	detector unusual.Detector
	does     atomic.Value // string: tell, pause or revert

	mu     sync.Mutex // guards ended
	ended  bool
	acting sync.WaitGroup
}

// watchFor counts a call, and acts on what is unusual without holding it up.
func (c *Sidecar) watchFor(r audit.Record) {
	alarm, is := c.alarms.detector.Observe(r)
	if !is {
		return
	}
	found := rpc.Unusual{SessionID: alarm.SessionID, Agent: approval.Agent{Name: alarm.Agent, Via: alarm.Via}, Kind: string(alarm.Kind), Message: alarm.Message}
	does := c.alarms.does.Load()
	owner, open := c.Sessions.Get(alarm.SessionID)
	if does == "tell" || !open {
		c.events.Unusual(found)
		return
	}
	owner.Pause("the user's settings pause sessions that behave suspiciously: " + alarm.Message)
	c.Registry.StopSession(owner.ID())
	found.Acted = "paused"
	if does != "revert" {
		c.events.Unusual(found)
		return
	}
	c.alarms.mu.Lock()
	defer c.alarms.mu.Unlock()
	if !c.alarms.ended {
		c.alarms.acting.Go(func() { c.events.Unusual(c.putBack(owner, found)) })
	}
}

// putBack reverts all that the session changed, as the user could.
func (c *Sidecar) putBack(owner *session.Session, found rpc.Unusual) rpc.Unusual {
	ctx, cancel := context.WithTimeout(context.Background(), putBackTime)
	defer cancel()
	origin := journal.Origin{CallID: rand.Text(), Agent: "pillion", Via: "setting", Tool: "journal/revert", Title: "Revert suspicious changes"}
	back, err := c.Registry.Committer.Revert(ctx, change.Selection{SessionID: owner.ID(), Since: owner.Info().Started}, origin, false)
	switch {
	case err != nil:
		found.Message += fmt.Sprintf("; its changes could not be reverted: %v", err)
	case len(back.Conflicts) > 0:
		found.Acted = "reverted"
		found.Message += fmt.Sprintf("; %d files could not be reverted", len(back.Conflicts))
	default:
		found.Acted = "reverted"
	}
	return found
}

const putBackTime = 30 * time.Second

func (a *alarms) stop() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.acting.Wait()
}

// newAudit is nil where it has no place: a log must not stand in anybody's way.
func newAudit() *audit.Log {
	dir, err := state.Folder("audit")
	if err != nil {
		logf("there is no audit log: %v", err)
		return nil
	}
	return audit.Open(dir, audit.Options{}, logf)
}

// audited hears of each call, and keeps of it what the settings say.
func (c *Sidecar) audited(r audit.Record) {
	c.thrift.called()
	c.watchFor(r)
	switch c.auditing.Load() {
	case "off":
		return
	case "brief":
		if r.Command != "" {
			sum := sha256.Sum256([]byte(r.Command))
			r.Command, r.CommandHash = "", hex.EncodeToString(sum[:])
		}
	}
	c.audit.Append(r)
}
