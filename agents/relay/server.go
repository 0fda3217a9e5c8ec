package relay

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pillion/internal/state"
	"pillion/workspace/tracking"
)

// Server is a sidecar's socket.
type Server struct {
	host     Host
	folder   string
	id       string
	listener *net.UnixListener

	entryMu sync.Mutex // one writer of the entry at a time; guards entry
	entry   Entry

	mu     sync.Mutex // guards all below
	agents map[*agent]struct{}
	closed bool

	calls     atomic.Int32 // under way
	accepting sync.WaitGroup
}

// Listen opens the socket and registers it. Whatever sidecars that are gone left
// behind is removed.
func Listen(h Host) (*Server, error) {
	folder, err := Folder()
	if err != nil {
		return nil, err
	}
	if err := state.MakePrivate(folder); err != nil {
		return nil, fmt.Errorf("the agents' registry: %w", err)
	}
	sweep(folder)
	s := &Server{
		host: h.withDefaults(), folder: folder,
		id:     strconv.Itoa(os.Getpid()) + "-" + strings.ToLower(rand.Text()[:8]),
		agents: map[*agent]struct{}{},
	}
	socket, err := socketPath(folder, s.id)
	if err != nil {
		return nil, err
	}
	s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("opening the agents' socket: %w", err)
	}
	now := time.Now().UTC()
	s.entry = Entry{
		PID: os.Getpid(), Host: hostname(), Socket: socket, Token: rand.Text(),
		Focused: now, Started: now, Editor: s.host.Editor, Version: h.Version, Kind: h.Kind,
	}
	if err := errors.Join(os.Chmod(socket, 0o600), s.register(nil)); err != nil {
		_ = s.listener.Close()
		return nil, err
	}
	s.accepting.Go(s.accept)
	return s, nil
}

// Info is what an agent needs to connect.
func (s *Server) Info() (socket, token string) { return s.entry.Socket, s.entry.Token }

// Focused records that the user used this window last.
func (s *Server) Focused() {
	s.update(func(e *Entry) { e.Focused = time.Now().UTC() })
}

// RootsChanged registers the workspace folders as they are now.
func (s *Server) RootsChanged() { s.update(nil) }

// Indexed records how it stands with the index of what is in files.
func (s *Server) Indexed(files int, bytes int64) {
	s.update(func(e *Entry) { e.Index = &Index{files, bytes, time.Now().UTC()} })
}

// Changed tells all agents of files that changed, whoever did it. One that does not
// know what to make of it passes it over.
func (s *Server) Changed(changes []tracking.Change) { s.notify(methodChanged, changed{changes}) }

// ToolsChanged tells all agents that the list of tools is another one.
func (s *Server) ToolsChanged() { s.notify(methodTools, struct{}{}) }

func (s *Server) notify(method string, params any) {
	s.mu.Lock()
	agents := make([]*agent, 0, len(s.agents))
	for a := range s.agents {
		if a.session.Load() != nil {
			agents = append(agents, a)
		}
	}
	s.mu.Unlock()
	for _, a := range agents {
		_ = a.conn.Notify(method, params) // whoever needs to know looks
	}
}

// changed is the params of workspace/changed.
type changed struct {
	Changes []tracking.Change `json:"changes"`
}

func (s *Server) update(change func(*Entry)) {
	if err := s.register(change); err != nil {
		s.host.Logf("agents may not find this window: %v", err)
	}
}

// register writes the entry, with the roots of this moment.
func (s *Server) register(change func(*Entry)) error {
	s.entryMu.Lock()
	defer s.entryMu.Unlock()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil
	}
	if change != nil {
		change(&s.entry)
	}
	s.entry.Roots = s.host.Roots()
	return writeEntry(s.folder, s.id, s.entry)
}

// Settle waits until no call is under way, at most for the time given: what is
// answered before Close reaches its agent.
func (s *Server) Settle(within time.Duration) {
	end := time.Now().Add(within)
	// Twice in a row: an answer is written just after its call has ended.
	for quiet := 0; quiet < 2 && time.Now().Before(end); quiet++ {
		time.Sleep(settleTime)
		if s.calls.Load() > 0 {
			quiet = -1
		}
	}
}

const settleTime = 10 * time.Millisecond

// Close ends the connections, and removes the entry and the socket.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	agents := make([]*agent, 0, len(s.agents))
	for a := range s.agents {
		agents = append(agents, a)
	}
	s.mu.Unlock()
	s.entryMu.Lock() // nobody writes the entry from here on
	err := errors.Join(removeEntry(s.folder, s.id), s.listener.Close())
	s.entryMu.Unlock()
	for _, a := range agents {
		_ = a.conn.Close()
	}
	for _, a := range agents {
		<-a.ended
	}
	s.accepting.Wait()
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.host.Logf("taking an agent's connection: %v", err)
			time.Sleep(50 * time.Millisecond) // out of descriptors: a hot loop would not help
			continue
		}
		if err := s.admit(conn); err != nil {
			s.host.Logf("an agent's connection was refused: %v", err)
			_ = conn.Close()
		}
	}
}

// dropIdleLocked makes room: of the agents that never called anything, the one that has been
// quiet the longest goes. It loses nothing, and a real one connects again when it calls.
func (s *Server) dropIdleLocked() bool {
	var idle *agent
	for a := range s.agents {
		if !a.called.Load() && (idle == nil || a.heard.Load() < idle.heard.Load()) {
			idle = a
		}
	}
	if idle == nil {
		return false
	}
	delete(s.agents, idle)
	s.accepting.Go(func() {
		_ = idle.conn.Close()
		<-idle.ended
	})
	return true
}

func (s *Server) admit(conn *net.UnixConn) error {
	if err := checkPeer(conn); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return net.ErrClosed
	case len(s.agents) >= maxConnections && !s.dropIdleLocked():
		return fmt.Errorf("%d agents are already connected", len(s.agents))
	}
	a := newAgent(s, conn)
	s.agents[a] = struct{}{}
	go func() {
		a.serveUntilEnd()
		s.mu.Lock()
		delete(s.agents, a)
		s.mu.Unlock()
		close(a.ended)
	}()
	return nil
}
