package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// codec is what jsonrpc2 reads from and writes to.
//
// Of what it reads, jsonrpc2 gets the replies to our own calls alone, and of
// those the id: the payload, which it would decode four times, is put beside
// the waiting call first. Requests and notifications go to the dispatcher, for
// they need what jsonrpc2's Handler has not: order, bounds and a context each.
//
// Of what it writes, jsonrpc2 gives the order and the check that the connection
// lives. The bytes are made beforehand, outside its lock, and wait in out.
type codec struct {
	conn    *Conn
	frames  *frames
	scan    scanner
	started chan struct{} // closed when conn is complete

	out  *frame // guarded by conn.sending
	lead bool   // what push said of out
}

// ReadObject implements jsonrpc2.ObjectStream. It returns once for each reply
// and at the end; everything else is dealt with inside.
func (k *codec) ReadObject(v any) error {
	<-k.started
	for {
		id, err := k.readReply()
		if err != nil {
			k.conn.readerEnded(err)
			return io.EOF
		}
		if id == 0 {
			continue
		}
		into, ok := v.(json.Unmarshaler)
		if !ok {
			return fmt.Errorf("jsonrpc2 reads into a %T, which we cannot fill", v)
		}
		return into.UnmarshalJSON(fmt.Appendf(nil, `{"id":%d,"result":0}`, id))
	}
}

// readReply takes one frame. The id is that of the call it answers, or 0.
func (k *codec) readReply() (id uint64, err error) {
	if k.conn.base.Err() != nil {
		return 0, io.EOF
	}
	body, err := k.frames.next()
	var skipped *frameError
	switch {
	case errors.As(err, &skipped):
		m, _ := k.parse(skipped.start)
		return k.conn.rejected(&m, &refusal{code: CodeInvalidRequest, reason: skipped.reason}), nil
	case err != nil:
		return 0, err
	}
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	m, bad := k.parse(body)
	switch {
	case bad != nil:
		return k.conn.rejected(&m, bad), nil
	case m.isRequest():
		k.conn.receive(&m)
		return 0, nil
	}
	return k.conn.replied(&m), nil
}

func (k *codec) parse(body []byte) (message, *refusal) {
	k.scan.text = body
	defer func() { k.scan.text = nil }() // the reader waits long, the text need not
	return parse(&k.scan)
}

// WriteObject implements jsonrpc2.ObjectStream. It never waits.
func (k *codec) WriteObject(any) (err error) {
	k.lead, err = k.conn.out.push(k.out)
	k.out = nil
	return err
}

// Close implements jsonrpc2.ObjectStream.
func (k *codec) Close() error { return k.conn.closeStream() }

// replyID is the id of one of our calls, or 0.
func replyID(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
