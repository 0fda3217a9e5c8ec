package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
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

// chunk is progress text that waits to be written. From twice maxChunk on its middle
// goes, so that adding to it stays cheap.
type chunk struct {
	token   json.RawMessage
	stream  string
	text    []byte
	dropped int // bytes that were between the first half of maxChunk and the rest
}

func (c *chunk) size() int { return len(c.text) + len(c.token) + len(c.stream) }

func (c *chunk) add(text string) {
	c.text = append(c.text, text...)
	if len(c.text) > 2*maxChunk {
		c.cut()
	}
}

// cut leaves the first and the last half of maxChunk.
func (c *chunk) cut() {
	const half = maxChunk / 2
	c.dropped += len(c.text) - maxChunk
	c.text = append(c.text[:half], c.text[len(c.text)-half:]...)
}

// fits says whether text can be added and nothing is lost.
func (c *chunk) fits(text string) bool { return c.dropped == 0 && len(c.text)+len(text) <= maxChunk }

// parts is the notification; nothing is added to the chunk afterwards.
func (c *chunk) parts() [][]byte {
	text, dropped := c.whole()
	out := AppendString(append(progressHead(c.token), `{"kind":"report","stream":`...), c.stream)
	out = AppendString(append(out, `,"text":`...), string(text))
	if dropped > 0 {
		out = strconv.AppendInt(append(out, `,"dropped":`...), int64(dropped), 10)
	}
	return [][]byte{out, []byte("}}}")}
}

// whole is the text, with a line in the gap if there is one: there the halves of
// characters on both sides are cut away.
func (c *chunk) whole() (text []byte, dropped int) {
	if c.dropped > 0 || len(c.text) > maxChunk {
		c.cut()
	}
	if c.dropped == 0 {
		return c.text, 0
	}
	const half = maxChunk / 2
	head, tail := c.text[:half:half], c.text[half:]
	for i := 1; i < utf8.UTFMax; i++ {
		if r, size := utf8.DecodeLastRune(head); r == utf8.RuneError && size == 1 {
			head = head[:len(head)-1]
		}
		if !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	dropped = c.dropped + len(c.text) - len(head) - len(tail)
	return append(fmt.Appendf(head, "\n[… %d bytes left out, they came faster than they were read …]\n", dropped), tail...), dropped
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
		piece, rest := c.Text, ""
		if w.bytes <= w.budget/textShare {
			piece, rest = cutPiece(piece)
		}
		if err := w.queueText(token, c.Stream, piece); err != nil || rest == "" {
			return err
		}
		c.Text = rest
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
		old.parts = f.parts
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
