// Package gateway is the reference gateway of the tests: the far end of the Agent Protocol,
// a WebSocket server on loopback. A test takes its connections (Accept) and speaks frames
// over them, or breaks them off. It is not Pillion's; Pillion only ever is the client.
package gateway

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// Patience is how long a test waits for what must come.
const Patience = time.Minute

// Frame is a frame as it came.
type Frame map[string]any

// Text is a member that is a text.
func (f Frame) Text(name string) string {
	text, _ := f[name].(string)
	return text
}

// Object is a member that is an object.
func (f Frame) Object(name string) Frame {
	object, _ := f[name].(map[string]any)
	return object
}

// Server is a gateway.
type Server struct {
	t     testing.TB
	URL   string       // ws://127.0.0.1:PORT/ws
	Token atomic.Value // text that it wants in the header; unset: anything
	// Refuse, if set, answers the next connections with this status, and Redirect sends them
	// elsewhere.
	Refuse   atomic.Int32
	Redirect atomic.Pointer[string]
	// Deaf has the next connections read nothing.
	Deaf atomic.Bool
	// Certificate is the one of a gateway with TLS, as PEM.
	Certificate []byte
	conns       chan *Conn
	met         atomic.Int32
}

// Met is how many have come, with or without the right token.
func (s *Server) Met() int { return int(s.met.Load()) }

// Conn is one connection.
type Conn struct {
	t      testing.TB
	Socket *websocket.Conn
	Raw    net.Conn // below it
	Path   string
	Header http.Header
	frames chan Frame
	ended  chan error
}

type rawKey struct{}

// New starts a gateway that ends with the test.
func New(t testing.TB) *Server { return start(t, (*httptest.Server).Start) }

// NewTLS starts one with TLS, with a certificate that nobody knows.
func NewTLS(t testing.TB) *Server { return start(t, (*httptest.Server).StartTLS) }

func start(t testing.TB, begin func(*httptest.Server)) *Server {
	s := &Server{t: t, conns: make(chan *Conn, 100)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, rawKey{}, c) }
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are meant to fail
	begin(server)
	t.Cleanup(server.Close)
	if own := server.Certificate(); own != nil {
		s.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Raw})
	}
	s.URL = "ws" + strings.TrimPrefix(server.URL, "http") + "/ws"
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if to := s.Redirect.Load(); to != nil {
		http.Redirect(w, r, "http"+strings.TrimPrefix(*to, "ws"), http.StatusFound)
		return
	}
	if code := s.Refuse.Load(); code != 0 {
		w.WriteHeader(int(code))
		return
	}
	s.met.Add(1)
	if token := s.Token.Load(); token != nil && r.Header.Get("Authorization") != "Bearer "+token.(string) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	socket.SetReadLimit(-1)
	raw, _ := r.Context().Value(rawKey{}).(net.Conn)
	c := &Conn{t: s.t, Socket: socket, Raw: raw, Path: r.URL.Path, Header: r.Header, frames: make(chan Frame, 100_000), ended: make(chan error, 1)}
	s.conns <- c
	if s.Deaf.Load() {
		<-r.Context().Done()
		return
	}
	c.read(r.Context())
}

func (c *Conn) read(ctx context.Context) {
	for {
		_, data, err := c.Socket.Read(ctx)
		if err != nil {
			c.ended <- err
			close(c.frames)
			return
		}
		var f Frame
		if json.Unmarshal(data, &f) != nil {
			f = Frame{"type": "no JSON", "data": string(data)}
		}
		c.frames <- f
	}
}

// Accept waits for the next connection.
func (s *Server) Accept() *Conn {
	s.t.Helper()
	select {
	case c := <-s.conns:
		return c
	case <-time.After(Patience):
		s.t.Fatal("nobody connects to the gateway")
		return nil
	}
}

// Send sends a frame; a text or bytes go as they are.
func (c *Conn) Send(frame any) {
	c.t.Helper()
	data, is := frame.(string)
	if !is {
		encoded, err := json.Marshal(frame)
		if err != nil {
			c.t.Fatal(err)
		}
		data = string(encoded)
	}
	if err := c.write(data); err != nil {
		c.t.Fatalf("the gateway cannot send %.200s: %v", data, err)
	}
}

func (c *Conn) write(data string) error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return c.Socket.Write(ctx, websocket.MessageText, []byte(data))
}

// Try sends a frame over a connection that may be over.
func (c *Conn) Try(frame any) error {
	encoded, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	return c.write(string(encoded))
}

// Over says that the connection has ended, and all that came over it is there.
func (c *Conn) Over() bool {
	select {
	case err := <-c.ended:
		c.ended <- err
		return true
	default:
		return false
	}
}

// Call sends a tool_call.
func (c *Conn) Call(id, tool string, arguments any) {
	c.t.Helper()
	c.Send(Frame{"type": "tool_call", "call_id": id, "tool_name": tool, "arguments": arguments})
}

// Next waits for the next frame that is no agent_status, which come as they like.
func (c *Conn) Next() Frame {
	c.t.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	for {
		select {
		case f, ok := <-c.frames:
			if !ok {
				c.t.Fatal("the connection ended before the frame came")
			}
			if f.Text("type") != "agent_status" {
				return f
			}
		case <-timer.C:
			c.t.Fatal("no frame comes")
		}
	}
}

// Rest is what has come by now, without waiting.
func (c *Conn) Rest() (frames []Frame) {
	for {
		select {
		case f, ok := <-c.frames:
			if !ok {
				return frames
			}
			frames = append(frames, f)
		default:
			return frames
		}
	}
}

// Ended waits for the end of the connection, and gives why it ended.
func (c *Conn) Ended() error {
	c.t.Helper()
	select {
	case err := <-c.ended:
		return err
	case <-time.After(Patience):
		c.t.Fatal("the connection does not end")
		return errors.New("it does not end")
	}
}

// Break breaks the connection off, without a word.
func (c *Conn) Break() { c.Raw.Close() }
