package wire

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"pillion/internal/lead"
)

// reader takes what the peer sends. Its goroutine answers a request itself
// rather than to wake another for it, and is relieved when that takes long.
type reader struct {
	conn   *Conn
	frames *frames
	scan   scanner
	lead   *lead.Lead
}

func newReader(c *Conn) *reader {
	r := &reader{
		conn:   c,
		frames: newFrames(c.rwc, c.o.MaxHeader, c.o.MaxFrame),
		scan:   scanner{maxDepth: c.o.MaxDepth},
	}
	r.lead = lead.New(r.read)
	return r
}

// read takes messages until the stream ends or another goroutine has the lead.
func (r *reader) read() {
	for {
		leads, err := r.next()
		if err != nil {
			r.lead.Stop()
			r.conn.readerEnded(err)
			return
		}
		if !leads {
			return
		}
	}
}

// next takes one frame.
func (r *reader) next() (leads bool, err error) {
	if r.conn.base.Err() != nil {
		return false, io.EOF
	}
	body, err := r.frames.next()
	var skipped *frameError
	switch {
	case errors.As(err, &skipped):
		m, _ := r.parse(skipped.start)
		r.conn.rejected(&m, &refusal{code: CodeInvalidRequest, reason: skipped.reason})
		return true, nil
	case err != nil:
		return false, err
	}
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	m, bad := r.parse(body)
	switch {
	case bad != nil:
		r.conn.rejected(&m, bad)
	case m.isRequest():
		return r.conn.receive(&m), nil
	default:
		r.conn.replied(&m)
	}
	return true, nil
}

func (r *reader) parse(body []byte) (message, *refusal) {
	r.scan.text = body
	defer func() { r.scan.text = nil }() // the reader waits long, the text need not
	return parse(&r.scan)
}

// alone says that nothing has arrived behind the message that was taken last.
func (r *reader) alone() bool { return r.frames.r.Buffered() == 0 }
