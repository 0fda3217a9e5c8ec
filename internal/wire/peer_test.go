package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"
)

// peer is the other end of a connection, written byte by byte. It reads only
// when it is asked to.
type peer struct {
	t      testing.TB
	end    io.ReadWriteCloser
	frames *frames
	conn   *Conn
}

// answer is any message that the connection sent.
type answer struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int64
		Message string
	}
}

// newPeer starts a connection with these options and returns its peer.
func newPeer(t testing.TB, o Options) *peer {
	t.Helper()
	near, far := pipes(t)
	if o.Logf == nil {
		o.Logf = t.Logf
	}
	p := &peer{t: t, end: near, frames: newFrames(near, 256<<20), conn: NewConn(far, o)}
	t.Cleanup(func() {
		_ = near.Close()
		wait(t, p.conn.Done(), "the end of the connection")
	})
	return p
}

func (p *peer) send(text string) {
	p.t.Helper()
	p.sendBytes(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text))
}

func (p *peer) sendf(format string, args ...any) {
	p.t.Helper()
	p.send(fmt.Sprintf(format, args...))
}

func (p *peer) sendBytes(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.end, text); err != nil {
		p.t.Fatal(err)
	}
}

// next reads the next message, waiting for it as long as tests wait.
func (p *peer) next() answer {
	p.t.Helper()
	type read struct {
		body []byte
		err  error
	}
	got := make(chan read, 1)
	go func() {
		body, _, err := p.frames.next()
		got <- read{body, err}
	}()
	r := wait(p.t, got, "a message")
	if r.err != nil {
		p.t.Fatalf("reading the next message: %v", r.err)
	}
	var a answer
	if err := json.Unmarshal(r.body, &a); err != nil {
		p.t.Fatalf("%v in %.200q", err, r.body)
	}
	return a
}

// wantError reads the next message, which must be this error.
func (p *peer) wantError(id string, code int64) answer {
	p.t.Helper()
	a := p.next()
	if string(a.ID) != id || a.Error == nil || a.Error.Code != code {
		p.t.Fatalf("got %s, want an error %d for id %s", a, code, id)
	}
	if a.Error.Message == "" {
		p.t.Errorf("the error %d has no message", code)
	}
	return a
}

func (p *peer) wantResult(id, result string) {
	p.t.Helper()
	if a := p.next(); string(a.ID) != id || string(a.Result) != result {
		p.t.Fatalf("got %s, want the result %s for id %s", a, result, id)
	}
}

// wantEnd reads the end of the stream.
func (p *peer) wantEnd() {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, _, err := p.frames.next()
		ended <- err
	}()
	if err := wait(p.t, ended, "the end of the stream"); err != io.EOF {
		p.t.Fatalf("got %v, want the end of the stream", err)
	}
}

func (a answer) String() string {
	text, _ := json.Marshal(a)
	return fmt.Sprintf("%.300s", text)
}

// gate lets handlers through one by one and tells who arrived.
type gate struct {
	arrived chan string
	open    chan struct{}
	once    sync.Once
}

func newGate() *gate { return &gate{arrived: make(chan string, 10_000), open: make(chan struct{})} }

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }
