package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"strconv"
	"strings"
)

const (
	maxHeader   = 64 << 10  // bytes of a header block
	mostHeader  = 8 << 20   // bytes more of it that are read over
	mostSkipped = 256 << 20 // bytes of a body that are read over. Who announces more will hardly send them, and would wait in silence for ever
	trusted     = 4 << 20   // bytes of a body that are given memory before they arrive
)

// frames reads the frames of the base protocol: a block of header fields that
// ends with an empty line, then as many bytes as Content-Length says.
type frames struct {
	r        *bufio.Reader
	maxFrame int
	room     func(length int) bool // whether a message may be held
	refuse   func(*Error)          // answers a header block that is too large, before it has been read over
}

func newFrames(r io.Reader, maxFrame int) *frames {
	// The buffer holds a header block of any allowed size, so that a line is
	// always found whole; bodies larger than it are read past it.
	return &frames{bufio.NewReaderSize(r, maxHeader), maxFrame, func(int) bool { return true }, func(*Error) {}}
}

// next returns the body of the next frame, in memory that is the caller's, or the start of
// one that is refused and was read over. The error is io.EOF between two frames, and an
// *Error if the place where the next frame starts is lost.
func (f *frames) next() (body []byte, refused *Error, err error) {
	for {
		head, err := f.header()
		if err != nil {
			return nil, nil, err
		}
		switch {
		case head.length > mostSkipped:
			return nil, nil, Errorf(CodeParse, "a message of %d bytes is announced, which is far more than the limit of %d bytes", head.length, f.maxFrame)
		case head.refused:
		case head.length > int64(f.maxFrame):
			refused = Errorf(CodeInvalidRequest, "message of %d bytes is larger than the limit of %d bytes, send less at once", head.length, f.maxFrame)
		case head.charset != "":
			refused = Errorf(CodeInvalidRequest, "character set %q is not supported, send utf-8", head.charset)
		case !f.room(int(head.length)):
			refused = Errorf(CodeBusy, noRoom)
		default:
			body, err := f.body(head.length)
			return body, nil, err
		}
		start, err := f.body(min(head.length, 2*maxID))
		if err == nil {
			_, err = io.CopyN(io.Discard, f.r, head.length-int64(len(start)))
		}
		if err != nil || refused != nil {
			return start, refused, midFrame(err)
		}
	}
}

func (f *frames) body(length int64) ([]byte, error) {
	body := bytes.NewBuffer(make([]byte, 0, min(length, trusted)+bytes.MinRead))
	if n, err := body.ReadFrom(io.LimitReader(f.r, length)); err != nil || n < length {
		return nil, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return body.Bytes(), nil
}

// header is what a header block says.
type header struct {
	length  int64
	charset string // only one that is not UTF-8
	refused bool   // it was too large, and answered at once
}

func (f *frames) header() (header, error) {
	head := header{length: -1}
	for size := 0; ; {
		line, err := f.r.ReadSlice('\n')
		size += len(line)
		switch {
		case size > maxHeader+mostHeader, head.refused && errors.Is(err, bufio.ErrBufferFull):
			return head, Errorf(CodeParse, "the header block does not end")
		case errors.Is(err, bufio.ErrBufferFull):
			return head, Errorf(CodeParse, "the header block is larger than the limit of %d bytes", maxHeader)
		case err != nil && size > 0:
			return head, midFrame(err)
		case err != nil:
			return head, err
		case size > maxHeader && !head.refused:
			head.refused = true
			f.refuse(Errorf(CodeParse, "the header block is larger than the limit of %d bytes, so its message is passed over", maxHeader))
		}
		line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
		if len(line) > 0 {
			if bad := head.field(line); bad != nil {
				return head, bad
			}
			continue
		}
		if head.length < 0 {
			return head, Errorf(CodeParse, "a frame has no Content-Length header")
		}
		return head, nil
	}
}

func (h *header) field(line []byte) *Error {
	name, value, ok := strings.Cut(string(line), ":")
	// A message without a header block, the usual mistake of who tries the protocol out, is no field.
	if !ok || name == "" || strings.ContainsAny(name, "{}[]\" \t") {
		return Errorf(CodeParse, "%.64q is not a header line", line)
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(name) {
	case "content-length":
		if h.length >= 0 {
			return Errorf(CodeParse, "a frame has two Content-Length headers")
		}
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil {
			return Errorf(CodeParse, "Content-Length %.64q is not a number of bytes", value)
		}
		h.length = int64(n)
	case "content-type":
		_, params, _ := mime.ParseMediaType(value)
		h.charset = strings.ToLower(params["charset"])
		if h.charset == "utf-8" || h.charset == "utf8" { // the latter is what old clients write
			h.charset = ""
		}
	}
	return nil
}

// midFrame is for a stream that ended inside a frame.
func midFrame(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
