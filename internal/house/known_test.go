package house

import (
	"slices"
	"testing"

	"pillion/agents/install"
	"pillion/tools/policy"
)

// TestWhatAgentsReadIsProtected: an agent that can be set up has the names of its own
// settings and instructions in tools/policy/known.go.
func TestWhatAgentsReadIsProtected(t *testing.T) {
	for _, agent := range slices.Concat(install.Agents(), install.ByHand()) {
		if !policy.Knows(agent) {
			t.Errorf("tools/policy/known.go lacks the names that %s reads from a project", agent)
		}
	}
}
