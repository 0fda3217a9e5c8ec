package doctor

import (
	"strings"
	"testing"

	"pillion/tools/policy"
)

// TestWhatEditorsReadIsProtected: an editor that is looked for has the names of its own
// settings in tools/policy/known.go.
func TestWhatEditorsReadIsProtected(t *testing.T) {
	for _, e := range knownEditors {
		if name := strings.TrimPrefix(e.id, "editor."); !policy.Knows(name) {
			t.Errorf("tools/policy/known.go lacks the names that %s reads from a project", name)
		}
	}
}
