// Package fault is the one error type that reaches an agent: a code from the
// tool contract, a sentence that says what to do next, and details.
//
// Every package below tools returns *Error for what a caller can act on.
// Anything else is wrapped by From into EXECUTION_FAILED. What must not happen
// at all goes through package bug instead.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
)

// Code names a failure; the set is closed and part of the tool contract.
type Code string

// The codes of the tool contract.
const (
	FileNotFound           Code = "FILE_NOT_FOUND"
	FileExists             Code = "FILE_EXISTS"
	FileTooLarge           Code = "FILE_TOO_LARGE"
	NotAFile               Code = "NOT_A_FILE"
	BinaryFile             Code = "BINARY_FILE"
	PermissionDenied       Code = "PERMISSION_DENIED"
	InvalidPath            Code = "INVALID_PATH"
	PathOutsideWorkspace   Code = "PATH_OUTSIDE_WORKSPACE"
	EncodingError          Code = "ENCODING_ERROR"
	ConcurrentModification Code = "CONCURRENT_MODIFICATION"
	EditNoMatch            Code = "EDIT_NO_MATCH"
	EditAmbiguous          Code = "EDIT_AMBIGUOUS"
	PatchApplyFailed       Code = "PATCH_APPLY_FAILED"
	WorkTreeDirty          Code = "WORK_TREE_DIRTY"
	GitNotInitialized      Code = "GIT_NOT_INITIALIZED"
	GitError               Code = "GIT_ERROR"
	ToolNotFound           Code = "TOOL_NOT_FOUND"
	InvalidArguments       Code = "INVALID_ARGUMENTS"
	ExecutionFailed        Code = "EXECUTION_FAILED"
	Timeout                Code = "TIMEOUT"
	Cancelled              Code = "CANCELLED"
	UserRejected           Code = "USER_REJECTED"
	ApprovalUnavailable    Code = "APPROVAL_UNAVAILABLE"
	PolicyDenied           Code = "POLICY_DENIED"
	RateLimited            Code = "RATE_LIMITED"
	LSPUnavailable         Code = "LSP_UNAVAILABLE"
	ProcessNotFound        Code = "PROCESS_NOT_FOUND"
)

// Error is a failure as an agent sees it. Message is lower case, without a full
// stop, and carries only names that went through Quote.
type Error struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Details map[string]any `json:"details,omitempty"`

	cause error
}

// New makes an error; a %w verb in format keeps its cause for errors.Is.
func New(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Invalid is the error of arguments that cannot be used.
func Invalid(format string, args ...any) *Error { return New(InvalidArguments, format, args...) }

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is(err, fault.New(code, "")) compare codes alone.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// WithHint returns a copy with the sentence that says what else could help.
func (e *Error) WithHint(format string, args ...any) *Error {
	out := *e
	out.Hint = fmt.Sprintf(format, args...)
	return &out
}

// With returns a copy with one more detail.
func (e *Error) With(key string, value any) *Error {
	out := *e
	out.Details = maps.Clone(e.Details)
	if out.Details == nil {
		out.Details = map[string]any{}
	}
	out.Details[key] = value
	return &out
}

// From turns any error into an *Error. A nil error gives nil.
func From(err error) *Error {
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.DeadlineExceeded):
		return New(Timeout, "the call took longer than its time limit: %w", err)
	case err == context.Canceled: // its text says nothing
		return New(Cancelled, "the agent cancelled the call")
	case errors.Is(err, context.Canceled):
		return New(Cancelled, "the call was cancelled: %w", err)
	case errors.Is(err, fs.ErrPermission):
		return New(PermissionDenied, "permission denied: %w", err)
	}
	return New(ExecutionFailed, "%w", err)
}

// CodeOf returns the code that From would give, or "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}
