package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// frames reads the frames of the base protocol: a block of header fields that
// ends with an empty line, then as many bytes as Content-Length says.
type frames struct {
	r         *bufio.Reader
	maxHeader int
	maxFrame  int
	room      func(length int) bool // whether a message may be held; nil: any may
	large     *headerFields         // of a header block that was too large, and of which the rest is still to come
}

// framingError means that the place where the next frame starts is lost.
type framingError struct{ reason string }

func (e *framingError) Error() string { return e.reason }

// frameError is a frame that was passed over; the next one can be read.
type frameError struct {
	code   int64
	reason string
	start  []byte // the first bytes of the body, by which a reply can be told
}

func (e *frameError) Error() string { return e.reason }

// idOf is the id to answer with. Only who may send the message again needs it.
func (e *frameError) idOf(m *message) string {
	if e.code == CodeBusy {
		return m.id
	}
	return ""
}

func newFrames(r io.Reader, maxHeader, maxFrame int) *frames {
	// The buffer holds a header block of any allowed size, so that a line is
	// always found whole; bodies larger than it are read past it.
	return &frames{r: bufio.NewReaderSize(r, max(maxHeader, 16)), maxHeader: maxHeader, maxFrame: maxFrame}
}

// next returns the body of the next frame, in memory that is the caller's. The
// error is io.EOF between two frames, a *frameError for a frame that was
// skipped, and anything else ends the stream.
func (f *frames) next() ([]byte, error) {
	if err := f.passLarge(); err != nil {
		return nil, err
	}
	head, err := f.header()
	if err != nil {
		return nil, err
	}
	switch {
	case head.length > mostSkipped:
		return nil, &framingError{fmt.Sprintf("a message of %d bytes is announced, which is far more than the limit of %d bytes", head.length, f.maxFrame)}
	case head.length > int64(f.maxFrame):
		return nil, f.skip(head.length, CodeInvalidRequest, fmt.Sprintf("message of %d bytes is larger than the limit of %d bytes, send less at once",
			head.length, f.maxFrame))
	case head.charset != "":
		return nil, f.skip(head.length, CodeInvalidRequest, fmt.Sprintf("character set %q is not supported, send utf-8", head.charset))
	case f.room != nil && !f.room(int(head.length)):
		return nil, f.skip(head.length, CodeBusy, noRoom)
	}
	return f.body(int(head.length))
}

// mostSkipped is how many bytes are read over at most. Who announces more will hardly send
// them, and would wait in silence for ever.
const mostSkipped = 256 << 20

// skip reads over a body without holding it.
func (f *frames) skip(length, code int64, reason string) error {
	start := make([]byte, min(length, 2*maxID))
	if _, err := io.ReadFull(f.r, start); err != nil {
		return midFrame(err)
	}
	if _, err := io.CopyN(io.Discard, f.r, length-int64(len(start))); err != nil {
		return midFrame(err)
	}
	return &frameError{code, reason, start}
}

// headerFields is what a header block says.
type headerFields struct {
	length  int64
	charset string // only one that is not UTF-8
}

func (f *frames) header() (headerFields, error) {
	head := headerFields{length: -1}
	for size := 0; ; {
		line, err := f.r.ReadSlice('\n')
		size += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return head, &framingError{fmt.Sprintf("the header block is larger than the limit of %d bytes", f.maxHeader)}
		case size > f.maxHeader && err == nil:
			f.large = &head
			return head, &frameError{CodeParse, fmt.Sprintf("the header block is larger than the limit of %d bytes, so its message is passed over", f.maxHeader), nil}
		case err != nil && size == 0:
			return head, err
		case err != nil:
			return head, midFrame(err)
		}
		line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
		if len(line) == 0 {
			if head.length < 0 {
				return head, &framingError{"a frame has no Content-Length header"}
			}
			return head, nil
		}
		if err := head.field(line); err != nil {
			return head, err
		}
	}
}

// passLarge reads over the rest of a header block that was too large, and over its message:
// it has been answered already. The line that was one too many is not looked at.
func (f *frames) passLarge() error {
	head := f.large
	if head == nil {
		return nil
	}
	f.large = nil
	for size := 0; ; {
		line, err := f.r.ReadSlice('\n')
		size += len(line)
		switch {
		case size > mostHeader, errors.Is(err, bufio.ErrBufferFull):
			return &framingError{"the header block does not end"}
		case err != nil:
			return midFrame(err)
		}
		line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
		if len(line) == 0 {
			break
		}
		if err := head.field(line); err != nil {
			return err
		}
	}
	if head.length < 0 || head.length > mostSkipped {
		return &framingError{"a frame has no Content-Length header"}
	}
	if _, err := io.CopyN(io.Discard, f.r, head.length); err != nil {
		return midFrame(err)
	}
	return nil
}

// mostHeader is how much of a header block is read over at most.
const mostHeader = 8 << 20

func (h *headerFields) field(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isToken(name) {
		return &framingError{fmt.Sprintf("%q is not a header line", clip(line))}
	}
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		if h.length >= 0 {
			return &framingError{"a frame has two Content-Length headers"}
		}
		n, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil {
			return &framingError{fmt.Sprintf("Content-Length %q is not a number of bytes", clip(value))}
		}
		h.length = int64(n)
	case bytes.EqualFold(name, []byte("Content-Type")):
		h.charset = foreignCharset(string(value))
	}
	return nil
}

// isToken says if name can be a field's name. A message without a header block,
// the usual mistake of who tries the protocol out, is told from one by it.
func isToken(name []byte) bool {
	for _, c := range name {
		if c != '-' && c != '_' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(name) > 0
}

// foreignCharset finds a character set in a content type and returns it if it
// is not UTF-8 ("utf8" is what old clients wrote).
func foreignCharset(contentType string) string {
	for param := range strings.SplitSeq(contentType, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(param), "=")
		value = strings.ToLower(strings.Trim(value, `"`))
		if ok && strings.EqualFold(name, "charset") && value != "utf-8" && value != "utf8" {
			return value
		}
	}
	return ""
}

// trusted is how much memory a length is given before its bytes arrive.
const trusted = 4 << 20

func (f *frames) body(n int) ([]byte, error) {
	body := make([]byte, min(n, trusted))
	for have := 0; ; {
		if _, err := io.ReadFull(f.r, body[have:]); err != nil {
			return nil, midFrame(err)
		}
		if have = len(body); have == n {
			return body, nil
		}
		grown := make([]byte, min(n, 4*have))
		copy(grown, body)
		body = grown
	}
}

// midFrame is for a stream that ended inside a frame.
func midFrame(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// clip keeps what a stranger sent from filling a log.
func clip(b []byte) []byte { return b[:min(len(b), 64)] }
