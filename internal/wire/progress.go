package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// TextChunk is a piece of a command's output as the value of $/progress:
// {"kind":"report","stream":…,"text":…}, cut between characters by who sends it.
// While the peer is behind, a chunk is appended to the one of the same token and
// stream that waits already. When a sixteenth of the write budget waits, or text comes
// as a flood, what is more than 256 KiB of a stream loses its middle: a line in the gap
// and "dropped" say how many bytes are missing.
type TextChunk struct {
	Stream string
	Text   string
}

const (
	// textShare is the part of the write budget that text may take before it loses its
	// middle: an editor that stands still must not make the sidecar large.
	textShare = 16
	// maxChunk is the most text that one waiting chunk holds when text is lost, half of it
	// the oldest and half the newest.
	maxChunk = 256 << 10

	// flowBurst is how much text goes out at once, and flowRate how much in a second
	// after that.
	flowBurst = 4 << 20
	flowRate  = 32 << 20
	// flowPause is how long text beyond that waits for a place in the flow, so that it goes
	// out in few frames.
	flowPause = 10 * time.Millisecond
)

// flow measures the text that is sent. A flood of it is for nobody: no editor draws
// so much, and it would take the command that prints it half of the machine. So what
// comes beyond the flow loses its middle, and the command is not held up.
type flow struct {
	room int
	at   time.Time // of room
}

// allows says whether n bytes may go now, and counts them as sent.
func (f *flow) allows(n int, now time.Time) bool {
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

// chunk is progress text that waits to be written. From twice maxChunk on its middle
// goes, so that adding to it stays cheap.
type chunk struct {
	token   json.RawMessage
	stream  string
	text    []byte
	lossy   bool // it may lose its middle
	dropped int  // bytes that were between the first half of maxChunk and the rest
}

func (c *chunk) add(text string, lossy bool) {
	c.text = append(c.text, text...)
	c.lossy = c.lossy || lossy
	if c.lossy && len(c.text) > 2*maxChunk {
		c.cut()
	}
}

// cut leaves the first and the last half of maxChunk.
func (c *chunk) cut() {
	const half = maxChunk / 2
	c.dropped += len(c.text) - maxChunk
	c.text = append(c.text[:half], c.text[len(c.text)-half:]...)
}

// frame is the notification; nothing is added to the chunk afterwards.
func (c *chunk) frame() *frame {
	text, dropped := c.whole()
	out := AppendString(append(progressHead(c.token), `{"kind":"report","stream":`...), c.stream)
	out = AppendString(append(out, `,"text":`...), string(text))
	if dropped > 0 {
		out = strconv.AppendInt(append(out, `,"dropped":`...), int64(dropped), 10)
	}
	return newFrame(out, []byte("}}}"))
}

// whole is the text, with a line in the gap if there is one: there the halves of
// characters on both sides are cut away.
func (c *chunk) whole() (text []byte, dropped int) {
	if c.lossy && len(c.text) > maxChunk {
		c.cut()
	}
	if c.dropped == 0 {
		return c.text, 0
	}
	const half = maxChunk / 2
	head, tail := bytes.ToValidUTF8(c.text[:half], nil), bytes.ToValidUTF8(c.text[half:], nil)
	dropped = c.dropped + len(c.text) - len(head) - len(tail)
	return append(fmt.Appendf(head, "\n[… %d bytes left out, they came faster than they were read …]\n", dropped), tail...), dropped
}

// progressText queues text, joined to what waits already where it can be: text keeps its
// order with the other stream's while the backlog is small.
func (w *writer) progressText(token json.RawMessage, c TextChunk) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return ErrClosed
	}
	last, key := string(token), string(token)+"\x00text\x00"+c.Stream
	behind := w.bytes > w.budget/textShare
	if f := w.waiting[key]; f != nil {
		lossy := behind || f.paused
		if lossy || w.waiting[last] == f && !f.text.lossy && len(f.text.text)+len(c.Text) <= maxChunk {
			before := f.size()
			f.text.add(c.Text, lossy)
			w.bytes += f.size() - before
			return nil
		}
	}
	f := &frame{keys: []string{key, last}, text: &chunk{token: token, stream: c.Stream}}
	f.text.add(c.Text, behind)
	w.waiting[key], w.waiting[last] = f, f
	w.pushLocked(f)
	return nil
}

// pausesLocked says whether a text has to wait for the flow: until a frame follows that is no
// text, it does.
func (w *writer) pausesLocked(f *frame) bool {
	if f.text == nil || slices.ContainsFunc(w.queue, func(f *frame) bool { return f.text == nil }) {
		return false
	}
	f.paused = !w.flow.allows(min(len(f.text.text), maxChunk), time.Now())
	return f.paused
}

// progressValue queues a value in the place of an older one of the same key, if
// one waits.
func (w *writer) progressValue(f *frame, key string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return ErrClosed
	}
	if old := w.waiting[key]; key != "" && old != nil {
		w.bytes += f.size() - old.size()
		old.bytes = f.bytes
		return nil
	}
	if w.bytes > w.budget/2 {
		return ErrBacklog
	}
	if key != "" {
		f.keys = []string{key}
		w.waiting[key] = f
	}
	w.pushLocked(f)
	return nil
}
