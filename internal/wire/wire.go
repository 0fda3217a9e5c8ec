// Package wire is a JSON-RPC 2.0 connection in Content-Length frames, as the
// Language Server Protocol has them. The editor's stdio and the agents' socket
// both run on it. NewConn starts one.
//
// sourcegraph/jsonrpc2 reads by way of our stream, hands requests to our handler and
// matches replies with calls. Answers and progress go to the writer past it: it does not know every
// id that a peer may use, and progress can change until it is written. What is promised on
// top:
//
//   - Notifications, and requests that Options.Inline names, run on the read loop
//     in the order of their arrival. Other requests start in that order, so each
//     sees what the notifications before it did: at most Options.Workers at once.
//   - Every request is answered exactly once, also when its handler panics, is
//     cancelled or never gets to run.
//   - $/cancelRequest is handled here, as soon as it is read: the context of a
//     request that runs is cancelled, one that waits is answered at once.
//   - The reader never waits for the writer, nor does anything that sends. What
//     a peer leaves unread is bounded: see Options.WriteBudget.
//   - A frame that is no message is answered and passed over. Only a broken
//     header block, after which the next frame cannot be found, ends the
//     connection.
//
// What methods there are, the lifecycle of a language server and the decoding of
// parameters are deliberately not here: they are the Handler's.
package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/sourcegraph/jsonrpc2"
)

// Request is a request or notification of the peer.
type Request struct {
	Method string
	// Params is the JSON as it came, or nil when absent or null. It is the
	// handler's own, also after it has returned.
	Params       json.RawMessage
	ID           string // as JSON: 7 or "7"; empty for notifications
	Notification bool
}

// Handler answers one message; for a notification what it returns is ignored,
// apart from an error being logged. The result is anything that can be
// marshalled, or a Raw. Of the errors an *Error gives its own code, a cancelled
// context -32800 and anything else -32603.
//
// The context ends when the peer cancels the request, when the handler has
// returned and when the connection ends. A handler that finishes its work all
// the same may return the result, which is then sent. A handler that waits for
// something other than the machine (a person, another process) calls Waiting.
type Handler func(ctx context.Context, conn *Conn, req *Request) (any, error)

// Options say how a connection works. The zero value of each is its default.
type Options struct {
	Handler Handler
	// Inline names the requests that run on the read loop. They must not wait
	// for the peer; Call refuses to.
	Inline func(method string) bool
	// Ahead names the requests that start at once, however many run and wait: what a
	// person does must not wait for the calls that it may be about.
	Ahead func(method string) bool

	Workers  int // requests that run at once; 64
	Queue    int // requests that wait for a worker, then CodeBusy; 1024
	MaxFrame int // bytes of a message; 32 MiB

	// Budget bounds what the requests of several connections hold together; nil: nothing does.
	// A request for which there is no room is refused with CodeBusy.
	Budget *Budget
	// Sheds: such a request is not even held until it is refused, but read over. It is for
	// peers who send nothing large but requests.
	Sheds bool

	// WriteBudget is how many bytes may wait for a peer that does not read;
	// 64 MiB. Past a sixteenth of it the text of progress loses its middle.
	// Past half of it values replace older ones of the same key, others get
	// ErrBacklog. Past all of it new requests are refused with CodeBusy, and Call and Notify
	// get ErrBacklog; replies are still kept. Past twice the budget the
	// connection is closed.
	WriteBudget int

	// Outgoing is given each value that is sent, each *Error too, but no progress, and gives what
	// is sent in its place.
	Outgoing func(any) any

	Logf  func(format string, args ...any) // log.Printf
	Ready func(*Conn)                      // called before the first message is read, so it must not Call
}

func (o Options) withDefaults() Options {
	o.Workers = cmp.Or(o.Workers, 64)
	o.Queue = cmp.Or(o.Queue, 1024)
	o.MaxFrame = cmp.Or(o.MaxFrame, 32<<20)
	o.WriteBudget = cmp.Or(o.WriteBudget, 64<<20)
	none := func(string) bool { return false }
	if o.Inline == nil {
		o.Inline = none
	}
	if o.Ahead == nil {
		o.Ahead = none
	}
	if o.Outgoing == nil {
		o.Outgoing = func(v any) any { return v }
	}
	if o.Logf == nil {
		o.Logf = log.Printf
	}
	if o.Handler == nil {
		o.Handler = func(_ context.Context, _ *Conn, req *Request) (any, error) {
			return nil, Errorf(CodeMethodNotFound, "there is no method %q", req.Method)
		}
	}
	return o
}

// Error codes of JSON-RPC and of the Language Server Protocol.
const (
	CodeParse                = jsonrpc2.CodeParseError
	CodeInvalidRequest       = jsonrpc2.CodeInvalidRequest
	CodeMethodNotFound       = jsonrpc2.CodeMethodNotFound
	CodeInvalidParams        = jsonrpc2.CodeInvalidParams
	CodeInternal             = jsonrpc2.CodeInternalError
	CodeBusy                 = -32000 // ours: too much is waiting already
	CodeServerNotInitialized = -32002
	CodeRequestCancelled     = -32800
	CodeContentModified      = -32801
	CodeServerCancelled      = -32802
	CodeRequestFailed        = -32803
)

// Error is a JSON-RPC error: what a Handler returns to give its own code, and
// what Call returns when the peer answered with one (Data is then a
// json.RawMessage, or nil).
type Error struct {
	Code    int64
	Message string
	Data    any
}

// Errorf makes an Error with a formatted message.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return e.Message }

var (
	// ErrClosed is returned for what is sent on, or waits for, a connection
	// that has ended.
	ErrClosed = errors.New("the connection is closed")
	// ErrBacklog is returned for what was not queued because the peer has
	// left too much unread. See Options.WriteBudget and Conn.Writable.
	ErrBacklog = errors.New("the peer does not read what is sent to it, try again when it does")

	cancelled = &Error{Code: CodeRequestCancelled, Message: "the request was cancelled"}
)
