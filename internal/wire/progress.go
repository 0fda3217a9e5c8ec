package wire

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// TextChunk is a piece of a command's output as the value of $/progress:
// {"kind":"report","stream":…,"text":…}, cut between characters by who sends it.
// While the peer is behind, a chunk is appended to the one of the same token and
// stream that waits already. When a sixteenth of the write budget waits, or text comes
// as a flood (see flow), what is more than 256 KiB of a stream loses its middle: a line
// in the gap and "dropped" say how many bytes are missing.
type TextChunk struct {
	Stream string
	Text   string
}

// textShare is the part of the write budget that text may take before it loses its
// middle: an editor that stands still must not make the sidecar large.
const textShare = 16

// maxChunk is the most text that one waiting chunk holds, half of it the oldest
// and half the newest.
const maxChunk = 256 << 10

// chunk is progress text that waits to be written.
type chunk struct {
	token  json.RawMessage
	stream string
	pieces []string // in order, without a copy
	small  []byte   // what came after them in small pieces
	length int      // of both
	cut    *cutText // instead of both: there was more than maxChunk
}

// smallPiece is the size below which a piece is copied: one a byte would cost
// more than its text.
const smallPiece = 4 << 10

func (c *chunk) size() int {
	size := c.length + len(c.token) + len(c.stream)
	if c.cut != nil {
		size += len(c.cut.head) + len(c.cut.tail)
	}
	return size
}

func (c *chunk) add(text string) {
	switch {
	case c.cut != nil:
		c.cut.add(text)
	case c.length+len(text) > maxChunk:
		c.cut = &cutText{}
		for _, piece := range c.pieces {
			c.cut.add(piece)
		}
		c.cut.add(string(c.small))
		c.cut.add(text)
		c.pieces, c.small, c.length = nil, nil, 0
	case len(text) < smallPiece:
		c.small = append(c.small, text...)
		c.length += len(text)
	default:
		if len(c.small) > 0 {
			c.pieces, c.small = append(c.pieces, string(c.small)), nil
		}
		c.pieces = append(c.pieces, text)
		c.length += len(text)
	}
}

// fits says whether text can be added and nothing is lost.
func (c *chunk) fits(text string) bool { return c.cut == nil && c.length+len(text) <= maxChunk }

// frame is the notification; nothing is added to the chunk afterwards.
func (c *chunk) frame() *frame {
	value := struct {
		Kind    string `json:"kind"`
		Stream  string `json:"stream"`
		Text    string `json:"text"`
		Dropped int    `json:"dropped,omitempty"`
	}{Kind: "report", Stream: c.stream}
	if c.cut != nil {
		var text []byte
		text, value.Dropped = c.cut.text()
		value.Text = string(text)
	} else {
		value.Text = strings.Join(append(c.pieces, string(c.small)), "")
	}
	body, _ := encode(value) // strings can be marshalled
	return progressFrame(c.token, body)
}

// cutText is the first and the last of a text, together maxChunk, and how much
// was between.
type cutText struct {
	head    []byte
	tail    []byte // ring of maxChunk/2 bytes once full
	start   int    // where the ring starts
	dropped int
}

func (c *cutText) add(text string) {
	const half = maxChunk / 2
	if len(c.tail) == 0 {
		n := min(len(text), half-len(c.head))
		c.head = append(c.head, text[:n]...)
		text = text[n:]
	}
	if over := len(text) - half; over > 0 {
		c.dropped += over + len(c.tail)
		c.tail, c.start = append(c.tail[:0], text[over:]...), 0
		return
	}
	n := min(len(text), half-len(c.tail))
	if n > 0 {
		c.tail = append(c.tail, text[:n]...)
		text = text[n:]
	}
	c.dropped += len(text)
	for len(text) > 0 {
		n := copy(c.tail[c.start:], text)
		c.start = (c.start + n) % half
		text = text[n:]
	}
}

// text is all of it, with a line in the gap if there is one.
func (c *cutText) text() (text []byte, dropped int) {
	text = append(text, c.head...)
	text = append(text, c.tail[c.start:]...)
	text = append(text, c.tail[:c.start]...)
	if c.dropped == 0 {
		return text, 0
	}
	return closeGap(text, len(c.head), c.dropped)
}

// closeGap cuts the halves of characters on both sides of the gap away and puts
// a line into it that says how much is missing.
func closeGap(text []byte, at, dropped int) ([]byte, int) {
	left, right := at, at
	for left > 0 && at-left < utf8.UTFMax && !utf8.RuneStart(text[left-1]) {
		left--
	}
	if left > 0 && !utf8.FullRune(text[left-1:at]) {
		left--
	} else {
		left = at
	}
	for right < len(text) && right-at < utf8.UTFMax && !utf8.RuneStart(text[right]) {
		right++
	}
	dropped += right - left
	out := append([]byte(nil), text[:left]...)
	out = append(out, "\n[… "...)
	out = strconv.AppendInt(out, int64(dropped), 10)
	out = append(out, " bytes left out, they came faster than they were read …]\n"...)
	return append(out, text[right:]...), dropped
}

// progressIndex finds the progress that waits: by token and key what can be
// replaced, by token and stream what can grow, and by token alone the frame
// queued last, because text keeps its order with the other stream's while the
// backlog is small.
type progressIndex map[string]*frame

func (p progressIndex) left(f *frame) {
	if f.key == "" {
		return
	}
	if p[f.key] == f {
		delete(p, f.key)
	}
	if f.text != nil {
		if last := string(f.text.token); p[last] == f {
			delete(p, last)
		}
	}
}

// progressText queues text, joined to what waits already where it can be.
func (w *writer) progressText(token json.RawMessage, c TextChunk) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		var piece string
		piece, c.Text = c.Text, ""
		if w.bytes <= w.budget/textShare {
			piece, c.Text = cutPiece(piece)
		}
		if err := w.queueText(token, c.Stream, piece); err != nil || c.Text == "" {
			return err
		}
	}
}

// cutPiece cuts what is more than one chunk holds off, between two characters.
func cutPiece(text string) (piece, rest string) {
	if len(text) <= maxChunk {
		return text, ""
	}
	cut := maxChunk
	for cut > maxChunk-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut], text[cut:]
}

func (w *writer) queueText(token json.RawMessage, stream, text string) error {
	if w.stopped {
		return ErrClosed
	}
	key := string(token) + "\x00text\x00" + stream
	tooMuch := !w.flow.take(len(text), time.Now()) || w.bytes > w.budget/textShare
	if f := w.waiting[key]; f != nil {
		inOrder := w.waiting[string(token)] == f
		if tooMuch || f.held || inOrder && f.text.fits(text) {
			before := f.size()
			f.text.add(text)
			if !f.held {
				w.bytes += f.size() - before
			}
			return nil
		}
	}
	f := &frame{key: key, text: &chunk{token: token, stream: stream}}
	f.text.add(text)
	w.waiting[key] = f
	w.waiting[string(token)] = f
	if tooMuch {
		w.holdLocked(f)
		return nil
	}
	return w.pushLocked(f)
}

// progressValue queues a value in the place of an older one of the same key, if
// one waits.
func (w *writer) progressValue(f *frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return ErrClosed
	}
	if old := w.waiting[f.key]; f.key != "" && old != nil {
		w.bytes += f.size() - old.size()
		old.head, old.body, old.tail = f.head, f.body, f.tail
		return nil
	}
	if w.bytes > w.budget/2 {
		return ErrBacklog
	}
	if f.key != "" {
		w.waiting[f.key] = f
	}
	return w.pushLocked(f)
}
