package wire

import (
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

	cancelled = &Error{Code: CodeRequestCancelled, Message: "the request was cancelled"}
)
