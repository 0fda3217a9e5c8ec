package sidecar

import (
	"errors"
	"testing"

	"pillion/workspace"
)

// TestSettingsThatChangeWhileTheyAreRead do not wait for whoever reads them, who may wait for them, and are read once more.
func TestSettingsThatChangeWhileTheyAreRead(t *testing.T) {
	var g alsoGuarded
	looked := 0
	list := func() {
		none := func(string) (string, error) { return "", errors.New("there is no git") }
		g.list(none, func([]string) []workspace.Guarded {
			if looked++; looked == 1 {
				g.renew()
			}
			return nil
		}, t.TempDir(), nil, nil, nil)
	}
	for range 3 {
		list()
	}
	if looked != 2 {
		t.Errorf("they were read %d times", looked)
	}
}
