package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"
)

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
)

// replyError turns a handler's error into what goes on the wire.
func replyError(ctx context.Context, err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled), ctx.Err() != nil:
		return cancelled
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

var cancelled = &Error{Code: CodeRequestCancelled, Message: "the request was cancelled"}

// toWire is the error as jsonrpc2 has it. Data that cannot be marshalled are left out.
func (e *Error) toWire() *jsonrpc2.Error {
	out := &jsonrpc2.Error{Code: e.Code, Message: e.Message}
	if e.Data != nil {
		if data, err := encode(e.Data); err == nil {
			out.Data = &data
		}
	}
	return out
}

// fromWire turns what jsonrpc2 says of a call into an error of ours.
func fromWire(err error) error {
	var remote *jsonrpc2.Error
	switch {
	case errors.Is(err, jsonrpc2.ErrClosed):
		return ErrClosed
	case errors.As(err, &remote):
		e := &Error{Code: remote.Code, Message: remote.Message}
		if remote.Data != nil {
			e.Data = *remote.Data
		}
		return e
	}
	return err
}
