package wire

import "time"

const (
	// flowBurst is how much text goes out at once, and flowRate how much in a second
	// after that.
	flowBurst = 4 << 20
	flowRate  = 32 << 20
	// flowPause is how long text beyond that is held, so that it goes out in few
	// frames.
	flowPause = 10 * time.Millisecond
)

// flow measures the text that is sent. A flood of it is for nobody: no editor draws
// so much, and it would take the command that prints it half of the machine. So what
// comes beyond the flow loses its middle, and the command is not held up.
type flow struct {
	room int
	at   time.Time // of room
}

// take asks for room.
func (f *flow) take(n int, now time.Time) bool {
	if !f.at.IsZero() {
		f.room = min(flowBurst, f.room+int(min(now.Sub(f.at), time.Second)*flowRate/time.Second))
	}
	f.at = now
	if f.room < n {
		return false
	}
	f.room -= n
	return true
}

// holdLocked keeps text back until the next frame that is no text of this kind, or
// for a moment. More can be added to it meanwhile.
func (w *writer) holdLocked(f *frame) {
	f.held = true
	w.held = append(w.held, f)
	if len(w.held) == 1 {
		time.AfterFunc(flowPause, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.releaseLocked()
		})
	}
}

// releaseLocked queues what was held.
func (w *writer) releaseLocked() {
	for _, f := range w.held {
		f.held = false
		w.flow.room = max(0, w.flow.room-f.size())
		w.queueLocked(f)
	}
	w.held = nil
}
