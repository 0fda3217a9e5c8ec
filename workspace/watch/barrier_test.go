package watch

import (
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestNobodyWaitsForTheGathering: who asks for the barrier ends the pause, whether it has
// begun or is still to come.
func TestNobodyWaitsForTheGathering(t *testing.T) {
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer kernel.Close()
	for name, first := range map[string]bool{"before": true, "meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			b := newBarrier(kernel.Add, kernel.Remove, t.TempDir())
			defer b.close()
			if first {
				if _, err := b.join(); err != nil {
					t.Fatal(err)
				}
			}
			over := make(chan struct{})
			go func() {
				b.pause(time.Hour)
				close(over)
			}()
			if !first {
				if _, err := b.join(); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-over:
			case <-time.After(time.Minute):
				t.Error("it goes on")
			}
		})
	}
}
