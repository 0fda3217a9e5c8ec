package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// codec is what jsonrpc2 reads from and writes to.
//
// Of what is read, jsonrpc2 gets the replies to our own calls alone, and of
// those the id: the payload, which it would decode four times, has gone to the
// waiting call before. Requests and notifications go to the dispatcher, for
// they need what jsonrpc2's Handler has not: order, bounds and a context each.
//
// Of what it writes, jsonrpc2 gives the order and the check that the connection
// lives. The bytes are made beforehand, outside its lock, and wait in out.
type codec struct {
	conn    *Conn
	replies chan []uint64 // ids that jsonrpc2 may forget
	ended   chan struct{} // closed when there will be no more of them
	left    chan struct{} // closed when jsonrpc2 knows that

	came []uint64 // ids of replies that jsonrpc2 has not heard of; the reader's own
	rest []uint64 // of replies that it is being told of; ReadObject's own

	out  *frame // guarded by conn.sending
	lead bool   // what push said of out
}

// ReadObject implements jsonrpc2.ObjectStream. It returns once for each reply
// and at the end.
func (k *codec) ReadObject(v any) error {
	if len(k.rest) == 0 {
		select {
		case <-k.ended:
			close(k.left)
			return io.EOF
		case k.rest = <-k.replies:
		}
	}
	into, ok := v.(json.Unmarshaler)
	if !ok {
		return fmt.Errorf("jsonrpc2 reads into a %T, which we cannot fill", v)
	}
	id := k.rest[0]
	k.rest = k.rest[1:]
	return into.UnmarshalJSON(fmt.Appendf(nil, `{"id":%d,"result":0}`, id))
}

// forgetAt is how many calls jsonrpc2 is told of at once that they are answered. To wake
// it for each would keep the processor from who waits for the answer.
const forgetAt = 64

// answered has jsonrpc2 forget a call of ours in a while. An id of 0 is none.
func (k *codec) answered(id uint64) {
	if id == 0 {
		return
	}
	if k.came = append(k.came, id); len(k.came) < forgetAt {
		return
	}
	select {
	case k.replies <- k.came:
		k.came = nil
	default: // it is at the ones before still
	}
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
