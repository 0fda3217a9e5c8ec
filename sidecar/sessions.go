package sidecar

import "pillion/tools/session/kept"

// keepSessions has sessions outlive this program. Where they cannot, they work all the same.
func (c *Sidecar) keepSessions() {
	store, err := kept.Open(c.Roots, logf)
	if err != nil {
		c.events.Remark("sessions are not kept: " + err.Error())
		return
	}
	c.unkeep = c.Sessions.Keep(store)
}
