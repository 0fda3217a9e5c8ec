//go:build unix

package workspace

import "testing"

func TestLosesOwner(t *testing.T) {
	for _, c := range []struct {
		owner, own int
		want       string
	}{{1000, 1000, ""}, {0, 1000, "root"}, {54321, 1000, "user 54321"}, {1000, 0, ""}} {
		if got := losesOwner(c.owner, c.own); got != c.want {
			t.Errorf("of %d, as %d: %q, want %q", c.owner, c.own, got, c.want)
		}
	}
}
