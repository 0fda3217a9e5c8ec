package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// defaultLimit is what is kept of each stream.
	defaultLimit = 1 << 20
	// chunk is the most that one call of output gets, and what the pipe of the
	// standard output holds where that can be chosen.
	chunk = 256 << 10
	// firstChunk is where the size of a read begins: most commands print little.
	firstChunk = 16 << 10
	// drainWithin is how long a pipe may stay silent before it is given up,
	// once the command is gone. Only something that escaped can hold it open.
	drainWithin = 100 * time.Millisecond
	// drainLimit bounds what such an escaped process can still have read: the
	// largest pipe that a user may make.
	drainLimit = 1 << 20
)

// capture reads the outputs of one command: all of it goes to output, head and
// tail of each, or of both as they came, are kept.
type capture struct {
	ended   chan struct{} // closed when the command is gone
	readers sync.WaitGroup

	serial sync.Mutex // held during each call of output; guards it
	output func(Stream, []byte)

	keeping sync.Mutex // guards what follows; held for a moment only
	out     window
	err     window
	joined  window
	changed chan struct{} // closed when joined grows or all is over; nil if nobody waits
	whole   bool          // all is over
}

func newCapture(spec Spec, output func(Stream, []byte)) *capture {
	limit := spec.OutputLimit
	if limit <= 0 {
		limit = defaultLimit
	}
	c := &capture{ended: make(chan struct{}), output: output}
	if spec.Keep != KeepJoined {
		c.out.limit, c.err.limit = limit, limit
	}
	if spec.Keep != KeepSplit {
		c.joined.limit = limit
	}
	return c
}

func (c *capture) read(stdout, stderr *os.File) {
	c.readers.Go(func() { c.pump(Stdout, stdout, &c.out) })
	c.readers.Go(func() { c.pump(Stderr, stderr, &c.err) })
}

// drain reads what is left in the pipes after the command's end, without
// believing that nothing holds them any more, and closes them.
func (c *capture) drain(stdout, stderr *os.File) Result {
	close(c.ended)
	now := time.Now()
	// Only wakes readers up. Windows has no deadlines on pipes and needs none:
	// a job leaves nobody who could hold one.
	_ = stdout.SetReadDeadline(now)
	_ = stderr.SetReadDeadline(now)
	c.readers.Wait()
	stdout.Close()
	stderr.Close()
	c.keeping.Lock()
	defer c.keeping.Unlock()
	return c.textLocked()
}

// textLocked is what was kept of the two streams.
func (c *capture) textLocked() (result Result) {
	var outCut, errCut bool
	result.Stdout, outCut = c.out.text()
	result.Stderr, errCut = c.err.text()
	result.Truncated = outCut || errCut
	return result
}

func (c *capture) pump(stream Stream, pipe *os.File, keep *window) {
	buf := make([]byte, firstChunk)
	held := 0 // bytes of an unfinished rune at the start of buf
	drained := 0
	for drained <= drainLimit {
		begin, draining := time.Now(), c.over()
		if draining {
			_ = pipe.SetReadDeadline(begin.Add(drainWithin))
		}
		n, err := pipe.Read(buf[held:])
		end := held + n
		whole := wholeRunes(buf[:end])
		c.keep(keep, buf[held:end], buf[:whole])
		c.emit(stream, buf[:whole])
		rest := buf[whole:end]
		if end == len(buf) && len(buf) < chunk {
			buf = make([]byte, min(4*len(buf), chunk))
		}
		held = copy(buf, rest)
		if draining {
			drained += n
		}
		if err != nil && !c.merelyWoken(err, begin, draining) {
			break
		}
	}
	c.keep(keep, nil, buf[:held])
	c.emit(stream, buf[:held])
}

// keep adds raw bytes to a stream's window, and whole characters to the joined one:
// the streams take turns there, and no turn may end within a character.
func (c *capture) keep(stream *window, raw, whole []byte) {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	stream.write(raw)
	c.joined.write(whole)
	if len(whole) > 0 {
		c.wakeLocked()
	}
}

// wakeLocked tells those who wait that something has changed.
func (c *capture) wakeLocked() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// finish says that nothing comes any more.
func (c *capture) finish() {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	c.whole = true
	c.wakeLocked()
}

// detach stops output and lets go of the windows of the single streams.
func (c *capture) detach() (soFar Result, next int64) {
	c.serial.Lock()
	c.output = nil
	c.serial.Unlock()
	c.keeping.Lock()
	defer c.keeping.Unlock()
	soFar = c.textLocked()
	c.out, c.err = window{}, window{}
	return soFar, c.joined.total
}

func (c *capture) next(offset int64, most int) (Piece, <-chan struct{}) {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	text, start := c.joined.from(offset, most)
	if c.changed == nil {
		c.changed = make(chan struct{})
		if c.whole {
			close(c.changed)
		}
	}
	return Piece{Text: valid(text, "", nil), Start: start, Next: start + int64(len(text))}, c.changed
}

func (c *capture) since(offset int64) (text string, next int64, cut bool) {
	var out strings.Builder
	c.keeping.Lock()
	defer c.keeping.Unlock()
	for next = min(max(offset, 0), c.joined.total); next < c.joined.total; {
		piece, start := c.joined.from(next, int(c.joined.limit))
		if missing := start - next; missing > 0 {
			fmt.Fprintf(&out, leftOut, missing)
			cut = true
		}
		out.WriteString(valid(piece, "", nil))
		next = start + int64(len(piece))
	}
	return out.String(), next, cut
}

// leftOut stands where something is missing.
const leftOut = "\n[... %d bytes left out ...]\n"

func (c *capture) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// merelyWoken tells the deadline that drain sets to wake a reader from the one
// that a draining reader set for itself.
func (c *capture) merelyWoken(err error, begin time.Time, draining bool) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) && (!draining || time.Since(begin) < drainWithin)
}

func (c *capture) emit(stream Stream, text []byte) {
	if len(text) == 0 {
		return
	}
	c.serial.Lock()
	defer c.serial.Unlock()
	if c.output != nil {
		c.output(stream, text)
	}
}

// wholeRunes is the length of the longest prefix that does not end within a
// UTF-8 sequence. Bytes that cannot become valid are not waited for.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if utf8.FullRune(b[i:]) {
				break
			}
			return i
		}
	}
	return len(b)
}

// window keeps the first and the last bytes of a stream and counts the rest.
// The zero value with a limit is ready.
type window struct {
	limit int64
	total int64
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring is written next
}

func (w *window) write(p []byte) {
	w.total += int64(len(p))
	headSize := int(w.limit / 2)
	n := min(len(p), headSize-len(w.head))
	w.head = append(w.head, p[:n]...)
	p = p[n:]

	tailSize := int(w.limit) - headSize
	if over := len(p) - tailSize; over > 0 {
		p = p[over:]
	}
	n = min(len(p), tailSize-len(w.tail))
	w.tail = append(w.tail, p[:n]...)
	p = p[n:]
	for len(p) > 0 {
		n := copy(w.tail[w.next:], p)
		w.next = (w.next + n) % tailSize
		p = p[n:]
	}
}

// text is what was kept, and whether something was left out. Without a limit
// nothing was to be kept.
func (w *window) text() (string, bool) {
	if w.limit == 0 {
		return "", false
	}
	tail := w.fromTail(0, len(w.tail))
	if w.total <= w.limit {
		return valid(w.head, "", tail), false
	}
	head := w.head[:wholeRunes(w.head)]
	for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	missing := w.total - int64(len(head)) - int64(len(tail))
	return valid(head, fmt.Sprintf(leftOut, missing), tail), true
}

// from gives what is kept from an offset on, without a gap: start is where it
// begins. What is longer than most is cut, between characters if it has any.
func (w *window) from(offset int64, most int) (text []byte, start int64) {
	head, tail := int64(len(w.head)), int64(len(w.tail))
	gap := w.total - head - tail
	start = min(max(offset, 0), w.total)
	if start < head {
		text = append(text, w.head[start:min(head, start+int64(most))]...)
		switch {
		case gap == 0:
			text = append(text, w.fromTail(0, most-len(text))...)
		case start+int64(len(text)) == head:
			text = text[:wholeRunes(text)]
		}
	}
	if len(text) == 0 {
		at := max(start, head+gap)
		text = w.fromTail(int(at-head-gap), most)
		for i := 0; at > start && i < utf8.UTFMax-1 && len(text) > 0 && !utf8.RuneStart(text[0]); i++ {
			text, at = text[1:], at+1
		}
		start = at
	}
	if whole := wholeRunes(text); len(text) == most && whole > 0 {
		text = text[:whole]
	}
	return text, start
}

// fromTail copies at most so many bytes of the tail, from its byte i on.
func (w *window) fromTail(i, most int) []byte {
	n := min(len(w.tail)-i, most)
	if n <= 0 {
		return nil
	}
	out := make([]byte, 0, n)
	at := (w.next + i) % len(w.tail)
	first := min(n, len(w.tail)-at)
	out = append(out, w.tail[at:at+first]...)
	return append(out, w.tail[:n-first]...)
}

func valid(head []byte, marker string, tail []byte) string {
	return strings.ToValidUTF8(string(head)+marker+string(tail), "\ufffd")
}
