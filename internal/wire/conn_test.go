package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if serve := childServers[os.Getenv("WIRE_TEST_CHILD")]; serve != nil {
		serve()
		return
	}
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patience is how long a test waits for what must happen.
const patience = time.Minute

// pipes returns the two ends of a connection over the system's pipes.
func pipes(t testing.TB) (a, b io.ReadWriteCloser) {
	t.Helper()
	fromA, toB, err := os.Pipe()
	must(t, err)
	fromB, toA, err := os.Pipe()
	must(t, err)
	return Stdio(fromB, toB), Stdio(fromA, toA)
}

// connect returns two connections that are each other's peers.
func connect(t testing.TB, a, b Options) (*Conn, *Conn) {
	t.Helper()
	endA, endB := pipes(t)
	if a.Logf == nil {
		a.Logf = t.Logf
	}
	if b.Logf == nil {
		b.Logf = t.Logf
	}
	connA, connB := NewConn(endA, a), NewConn(endB, b)
	t.Cleanup(func() {
		connA.Close()
		connB.Close()
		wait(t, connA.Done(), "the end of a connection")
		wait(t, connB.Done(), "the end of a connection")
	})
	return connA, connB
}

func wait[T any](t testing.TB, c <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-c:
	case <-time.After(patience):
		t.Fatalf("waited %v for %s", patience, what)
	}
	return got
}

func echo(_ context.Context, _ *Conn, req *Request) (any, error) { return Raw(req.Params), nil }

func TestHandlerErrors(t *testing.T) {
	var calls atomic.Int32
	_, client := connect(t, Options{
		Logf: func(string, ...any) {},
		Handler: func(_ context.Context, _ *Conn, req *Request) (any, error) {
			calls.Add(1)
			switch req.Method {
			case "own":
				return nil, &Error{Code: CodeInvalidParams, Message: "no\n\"good\"", Data: map[string]int{"line": 3}}
			case "cancelled":
				return nil, context.Canceled
			case "panic":
				panic("on purpose")
			case "panics later":
				return panics{}, nil
			case "unmarshallable":
				return make(chan int), nil
			}
			return nil, errors.New("plain")
		},
	}, Options{})
	for method, want := range map[string]Error{
		"own":            {Code: CodeInvalidParams, Message: "no\n\"good\"", Data: `{"line":3}`},
		"cancelled":      {Code: CodeRequestCancelled, Message: "the request was cancelled"},
		"panic":          {Code: CodeInternal, Message: "internal error in panic, the log says more"},
		"panics later":   {Code: CodeInternal, Message: "internal error in panics later, the log says more"},
		"unmarshallable": {Code: CodeInternal, Message: "the result of unmarshallable cannot be marshalled: json: unsupported type: chan int"},
		"other":          {Code: CodeInternal, Message: "plain"},
	} {
		err := client.Call(t.Context(), method, nil, nil)
		var got *Error
		if !errors.As(err, &got) {
			t.Fatalf("%s: got %v, want an *Error", method, err)
		}
		data, _ := got.Data.(json.RawMessage)
		wantData, _ := want.Data.(string)
		if got.Code != want.Code || got.Message != want.Message || string(data) != wantData {
			t.Errorf("%s: got %+v, want %+v", method, got, want)
		}
	}
	if calls.Load() != 6 {
		t.Errorf("the handler ran %d times", calls.Load())
	}
}

// panics panics when it is marshalled.
type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("on purpose") }

func TestRawInsideOtherValues(t *testing.T) {
	type pair struct{ A, B Raw }
	client, _ := connect(t, Options{}, Options{Handler: func(context.Context, *Conn, *Request) (any, error) {
		return pair{A: Raw(`[1, "<"]`)}, nil
	}})
	var got pair
	must(t, client.Call(t.Context(), "m", nil, &got))
	if string(got.A) != `[1,"<"]` || string(got.B) != "null" {
		t.Errorf("got %s and %s", got.A, got.B)
	}
}

func TestWhatCannotBeMarshalledIsNotSent(t *testing.T) {
	client, _ := connect(t, Options{}, Options{})
	for what, err := range map[string]error{
		"Call":            client.Call(t.Context(), "m", make(chan int), nil),
		"Notify":          client.Notify("m", make(chan int)),
		"Progress":        client.Progress(1, make(chan int), ""),
		"Progress, token": client.Progress(make(chan int), 1, ""),
	} {
		if err == nil || !strings.Contains(err.Error(), "cannot be marshalled") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// TestCallToTheEndTakesALateReply: the peer is told that it was cancelled, and its
// answer is waited for all the same.
func TestCallToTheEndTakesALateReply(t *testing.T) {
	started, told, answer := make(chan struct{}), make(chan struct{}), make(chan struct{})
	client, _ := connect(t, Options{}, Options{
		Handler: func(ctx context.Context, _ *Conn, _ *Request) (any, error) {
			close(started)
			<-ctx.Done()
			close(told)
			<-answer
			return "late", nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var got string
	go func() { ended <- client.CallToTheEnd(ctx, "wait", nil, &got) }()
	wait(t, started, "the request")
	cancel()
	wait(t, told, "the cancellation")
	select {
	case err := <-ended:
		t.Fatalf("it ended before the reply: %v", err)
	default:
	}
	close(answer)
	if err := wait(t, ended, "the reply"); err != nil || got != "late" {
		t.Errorf("got %q, %v", got, err)
	}
}
