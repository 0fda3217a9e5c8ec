package tracking

import "time"

// Patient gives the editor so long to say that it saved, and changes of ours to be told of.
func (t *Tracker) Patient(save, keep time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.saveTime, t.keepTime = save, keep
}
