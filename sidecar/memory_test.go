package sidecar

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWhatACallStillHeldIsGivenBack: when nothing was called for a while, the result of the last
// call may still be on its way.
func TestWhatACallStillHeldIsGivenBack(t *testing.T) {
	const large = 4 * peak
	synctest.Test(t, func(t *testing.T) {
		before := used()
		needed.Store(before)
		result := make([]byte, large)
		for i := range result {
			result[i] = 1
		}
		var idle thrift
		idle.called()
		time.Sleep(idleTime)
		synctest.Wait()
		if got := used(); got < before+large/2 || result[large-1] != 1 {
			t.Fatalf("%d bytes are used, of which a result holds %d", got, large)
		}
		result = nil
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := used(); got > before+peak {
			t.Errorf("%d bytes are used, %d before", got, before)
		}
	})
}
