package relay

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pillion/agents/internal/agenttest"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

// beat is how often a call gives a sign of life in the tests.
const beat = 10 * time.Millisecond

// registry gives the test a registry of its own, and its folder.
func registry(t testing.TB) (folder string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "relay") // t.TempDir is too long for a socket
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return registryIn(t, dir)
}

func registryIn(t testing.TB, dir string) (folder string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", dir)
	folder, err := Folder()
	must(t, err)
	must(t, os.MkdirAll(folder, 0o700))
	return folder
}

// listen opens the socket of a sidecar on these folders.
func listen(t testing.TB, p *agenttest.Project, roots ...string) *Server {
	t.Helper()
	if len(roots) == 0 {
		roots = []string{p.Dir}
	}
	s, err := Listen(Host{
		Registry: p.Registry, Sessions: p.Sessions, Roots: func() []string { return roots },
		Editor: "VS Code", Version: "1.2.3", Logf: t.Logf, Beat: beat, hello: time.Hour,
	})
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// opened is a project of these files, and the socket of a sidecar on it.
func opened(t testing.TB, files map[string]string) (*agenttest.Project, *Server) {
	t.Helper()
	registry(t)
	p := agenttest.NewProject(t, files)
	return p, listen(t, p)
}

func dial(t testing.TB, e Entry) *Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), agenttest.Patience)
	defer cancel()
	c, err := Dial(ctx, e, Hello{Agent: Agent{Name: "tester", Version: "0.1"}, Cwd: "/"})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// raw is a connection on which nothing was said yet.
func raw(t testing.TB, s *Server) *wire.Conn {
	t.Helper()
	stream, err := net.Dial("unix", s.entry.Socket)
	must(t, err)
	c := wire.NewConn(stream, wire.Options{Logf: t.Logf})
	t.Cleanup(func() {
		c.Close()
		<-c.Done()
	})
	return c
}

// greeted is one on which an agent said hello that asks for nothing.
func greeted(t testing.TB, s *Server) *wire.Conn {
	t.Helper()
	c := raw(t, s)
	must(t, c.Call(t.Context(), methodHello, Hello{Token: s.entry.Token, ProtocolVersion: 1}, nil))
	return c
}

func wantCode(t testing.TB, err error, code int64) {
	t.Helper()
	var refused *wire.Error
	if !errors.As(err, &refused) || refused.Code != code {
		t.Fatalf("got %v, want the error %d", err, code)
	}
	if refused.Message == "" {
		t.Error("the error says nothing")
	}
}

// result is what a call gave.
type result struct {
	Content    []struct{ Type, Text string }
	Structured struct {
		OK      bool
		Content string
		Stdout  string
		Error   *struct{ Code, Message, Hint string }
	} `json:"structuredContent"`
	IsError bool
	Display json.RawMessage
}

func read(t testing.TB, text []byte) result {
	t.Helper()
	var r result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r
}

func args(t testing.TB, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return text
}

func files(t testing.TB, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	must(t, err)
	return names
}

var must = check.Must
