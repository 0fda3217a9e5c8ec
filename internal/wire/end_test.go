package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

func TestEndOfInputCancelsHandlersAndWaitsForThem(t *testing.T) {
	toServer, fromClient, err := os.Pipe()
	must(t, err)
	fromServer, toClient, err := os.Pipe()
	must(t, err)
	defer fromServer.Close()
	started, finish := make(chan struct{}), make(chan struct{})
	c := NewConn(Stdio(toServer, toClient), Options{
		Workers: 1, Logf: t.Logf,
		Handler: func(ctx context.Context, _ *Conn, _ *Request) (any, error) {
			close(started)
			<-ctx.Done()
			<-finish
			return nil, ctx.Err()
		},
	})
	p := &peer{t: t, end: fromClient2{fromServer, fromClient}, frames: newFrames(fromServer, 1<<20), conn: c}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"running"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"queued"}`)
	<-started
	fromClient.Close()
	// The one that waited is answered while the other still runs.
	p.wantError("2", CodeRequestCancelled)
	select {
	case <-c.Done():
		t.Fatal("the connection ended before its handler")
	default:
	}
	close(finish)
	p.wantError("1", CodeRequestCancelled)
	p.wantEnd()
	wait(t, c.Done(), "the end of the connection")
	if c.Err() != nil {
		t.Errorf("the end of the input is no error, got %v", c.Err())
	}
}

type fromClient2 struct {
	io.Reader
	io.WriteCloser
}

func TestCallsFailWhenThePeerLeaves(t *testing.T) {
	p := newPeer(t, Options{})
	c, called := p.conn, make(chan error, 1)
	go func() { called <- c.Call(context.Background(), "m", nil, nil) }()
	p.next()
	p.end.Close()
	if err := wait(t, called, "the call to fail"); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	wait(t, c.Done(), "the end of the connection")
	for what, err := range map[string]error{
		"Call":     c.Call(context.Background(), "m", nil, nil),
		"Notify":   c.Notify("m", nil),
		"Progress": c.Progress(1, TextChunk{Text: "x"}, ""),
		"Writable": c.Writable(context.Background()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after the end: got %v, want ErrClosed", what, err)
		}
	}
}

func TestCloseWritesWhatIsQueued(t *testing.T) {
	const messages = 5000
	p := newPeer(t, Options{})
	c := p.conn
	for i := range messages {
		must(t, c.Notify("n", []int{i}))
	}
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	for range messages {
		if a := p.next(); a.Method != "n" {
			t.Fatalf("got %s", a)
		}
	}
	p.wantEnd()
	if err := wait(t, closed, "Close"); err != nil {
		t.Error(err)
	}
	wait(t, c.Done(), "the end of the connection")
	if c.Err() != nil {
		t.Errorf("Close is no error, got %v", c.Err())
	}
	_ = c.Close() // a second one is harmless
	if err := c.out.push(newFrame()); !errors.Is(err, ErrClosed) {
		t.Errorf("written after the end: %v", err)
	}
}

func TestAHandlerCanClose(t *testing.T) {
	for _, method := range []string{"exit", "inline"} {
		p := newPeer(t, Options{
			Inline:  func(m string) bool { return m == "inline" },
			Handler: func(_ context.Context, c *Conn, _ *Request) (any, error) { return nil, c.Close() },
		})
		p.sendf(`{"jsonrpc":"2.0","method":%q}`, method)
		p.wantEnd()
		wait(t, p.conn.Done(), "the end of the connection")
	}
}

func TestAPeerThatNeverReadsDoesNotHoldTheEndUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		c := NewConn(far, Options{Logf: t.Logf})
		must(t, c.Notify("n", []string{string(make([]byte, 1<<20))}))
		_ = c.Close()
		wait(t, c.Done(), "the end of the connection")
	})
}

// terminal cannot be read from and does not notice that it was closed.
type terminal struct {
	io.Writer
	gone chan struct{}
}

func (s *terminal) Read([]byte) (int, error) { <-s.gone; return 0, io.EOF }
func (s *terminal) Close() error             { return nil }

func TestAReaderThatCannotBeInterruptedDoesNotHoldTheEndUp(t *testing.T) {
	term := &terminal{Writer: io.Discard, gone: make(chan struct{})}
	defer close(term.gone)
	c := NewConn(term, Options{Logf: t.Logf})
	c.Close()
	wait(t, c.Done(), "the end of the connection")
}

// TestAReplyThatCameBeforeTheEndCounts: a peer that answers and leaves has answered.
func TestAReplyThatCameBeforeTheEndCounts(t *testing.T) {
	for range 50 {
		p := newPeer(t, Options{})
		finish, err := p.conn.Begin(context.Background(), "ask", nil)
		must(t, err)
		p.next()
		p.send(`{"jsonrpc":"2.0","id":1,"result":"yes"}`)
		p.end.Close()
		wait(t, p.conn.Done(), "the end of the connection")
		var got string
		if err := finish(&got); err != nil || got != "yes" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
}

func TestLateAndUnknownRepliesAreIgnored(t *testing.T) {
	p := newPeer(t, Options{Handler: echo, Logf: func(string, ...any) {}})
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() { called <- p.conn.Call(ctx, "ask", nil, nil) }()
	asked := p.next()
	cancel()
	if err := wait(t, called, "the call"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if a := p.next(); a.Method != "$/cancelRequest" || string(a.Params) != `{"id":`+string(asked.ID)+`}` {
		t.Errorf("got %s, want a cancellation of %s", a, asked.ID)
	}
	for _, reply := range []string{
		`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":"late"}`,
		`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":"twice"}`,
		`{"jsonrpc":"2.0","id":999,"result":"unknown"}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`,
	} {
		p.send(reply)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"echo"}`)
	p.wantResult("1", "null")
}

func TestACallWhoseReplyIsRefusedFails(t *testing.T) {
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for name, rest := range map[string]string{
		"larger than a frame": `"result":"` + strings.Repeat("x", 1<<20) + `"}`,
		"too deep":            `"result":` + deep + `}`,
		"not JSON":            `"result":nope}`,
		"cut off":             `"error":{"code":1`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, Options{MaxFrame: 1 << 20})
			called := make(chan error, 1)
			go func() { called <- p.conn.Call(context.Background(), "ask", nil, nil) }()
			asked := p.next()
			// A broken request with the same id is not that reply.
			p.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"method":"m","params":nope}`)
			p.wantError("null", CodeParse)
			p.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,` + rest)
			var refused *Error
			if err := wait(t, called, "the call"); !errors.As(err, &refused) || !strings.HasPrefix(refused.Message, "the reply was refused: ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRepliesOfEveryKind(t *testing.T) {
	for _, test := range []struct{ reply, result, fail string }{
		{`"result":{"a":1}`, `{"a":1}`, ""},
		{`"result":null`, `null`, ""},
		{`"result": { "b":1.0, "a":"<" }`, `{ "b":1.0, "a":"<" }`, ""},
		{`"result":1,"error":null`, `1`, ""},
		{`"result":null,"error":{"code":5,"message":"no"}`, ``, "no"},
		{`"error":{"code":5}`, ``, ""},
		{`"error":"text"`, ``, "the peer answered with a malformed error"},
		{`"meta":1`, ``, "the peer answered with neither result nor error"},
	} {
		p := newPeer(t, Options{})
		type outcome struct {
			result Raw
			err    error
		}
		called := make(chan outcome, 1)
		go func() {
			var o outcome
			o.err = p.conn.Call(context.Background(), "ask", nil, &o.result)
			called <- o
		}()
		asked := p.next()
		p.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,` + test.reply + `}`)
		got := wait(t, called, "the call")
		if test.result != "" {
			if got.err != nil || string(got.result) != test.result {
				t.Errorf("%s: got %s, %v", test.reply, got.result, got.err)
			}
			continue
		}
		var remote *Error
		if !errors.As(got.err, &remote) || len(remote.Message) < len(test.fail) || remote.Message[:len(test.fail)] != test.fail {
			t.Errorf("%s: got %v", test.reply, got.err)
		}
	}
}
