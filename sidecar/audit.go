package sidecar

import (
	"crypto/sha256"
	"encoding/hex"

	"pillion/audit"
	"pillion/internal/state"
)

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
