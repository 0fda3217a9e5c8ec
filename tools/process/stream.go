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
	// chunk is the most that one call of output gets, and what a pipe holds.
	chunk = 64 << 10
	// drainWithin is how long a pipe may stay silent before it is given up,
	// once the command is gone. Only something that escaped can hold it open.
	drainWithin = 100 * time.Millisecond
	// drainLimit bounds what such an escaped process can still have read: the
	// largest pipe that a user may make.
	drainLimit = 1 << 20
)

// capture reads the outputs of one command: all of it goes to output, head and
// tail of each are kept.
type capture struct {
	output  func(Stream, []byte)
	ended   chan struct{} // closed when the command is gone
	readers sync.WaitGroup
	out     window
	err     window

	serial sync.Mutex // held during each call of output
}

func newCapture(limit int64, output func(Stream, []byte)) *capture {
	if limit <= 0 {
		limit = defaultLimit
	}
	if output == nil {
		output = func(Stream, []byte) {}
	}
	return &capture{
		output: output,
		ended:  make(chan struct{}),
		out:    window{limit: limit},
		err:    window{limit: limit},
	}
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

	var result Result
	var outCut, errCut bool
	result.Stdout, outCut = c.out.text()
	result.Stderr, errCut = c.err.text()
	result.Truncated = outCut || errCut
	return result
}

func (c *capture) pump(stream Stream, pipe *os.File, keep *window) {
	buf := make([]byte, chunk)
	held := 0 // bytes of an unfinished rune at the start of buf
	drained := 0
	for drained <= drainLimit {
		begin, draining := time.Now(), c.over()
		if draining {
			_ = pipe.SetReadDeadline(begin.Add(drainWithin))
		}
		n, err := pipe.Read(buf[held:])
		keep.write(buf[held : held+n])
		end := held + n
		whole := wholeRunes(buf[:end])
		c.emit(stream, buf[:whole])
		held = copy(buf, buf[whole:end])
		if draining {
			drained += n
		}
		if err != nil && !c.merelyWoken(err, begin, draining) {
			break
		}
	}
	c.emit(stream, buf[:held])
}

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
	c.output(stream, text)
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

// text is what was kept, and whether something was left out.
func (w *window) text() (string, bool) {
	tail := append(append(make([]byte, 0, len(w.tail)), w.tail[w.next:]...), w.tail[:w.next]...)
	if w.total <= w.limit {
		return valid(w.head, "", tail), false
	}
	head := w.head[:wholeRunes(w.head)]
	for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	missing := w.total - int64(len(head)) - int64(len(tail))
	return valid(head, fmt.Sprintf("\n[... %d bytes left out ...]\n", missing), tail), true
}

func valid(head []byte, marker string, tail []byte) string {
	return strings.ToValidUTF8(string(head)+marker+string(tail), "\ufffd")
}

// feeder writes a command's input while the command runs.
type feeder struct {
	pipe *os.File
	done chan struct{}
}

func feed(pipe *os.File, text string) *feeder {
	f := &feeder{pipe: pipe, done: make(chan struct{})}
	if pipe == nil {
		close(f.done)
		return f
	}
	go func() {
		defer close(f.done)
		// A command that does not read its input is no failure.
		_, _ = pipe.WriteString(text)
		pipe.Close()
	}()
	return f
}

// stop gives up what nobody has read by now.
func (f *feeder) stop() {
	if f.pipe != nil {
		_ = f.pipe.SetWriteDeadline(time.Now())
	}
	<-f.done
}
