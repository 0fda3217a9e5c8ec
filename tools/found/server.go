package found

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
)

// How often a server comes back, and how soon.
const (
	mostRestarts = 5
	restartsIn   = 3 * time.Minute
	firstBackoff = 250 * time.Millisecond // doubled each time
	startTime    = 30 * time.Second       // for it to be ready
)

// server is one MCP server. It is started when it is needed, and again when it is needed
// after it has ended.
type server struct {
	o      Options
	source *Source
	shelf
	ctx   context.Context // ends when it is not wanted any more
	end   context.CancelFunc
	lives sync.WaitGroup

	mu       sync.Mutex // guards all below
	client   *client    // nil: it does not run
	starting *attempt   // nil: none
	stale    bool       // the list is to be taken anew
	crashes  []time.Time
	why      error // it ended
}

// attempt is to start a server.
type attempt struct {
	done chan struct{} // closed when it has succeeded or failed
	err  error
}

func newServer(o Options, source *Source) *server {
	s := &server{o: o, source: source}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

func (s *server) of() *Source { return s.source }

func (s *server) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

func (s *server) close() {
	s.end()
	s.lives.Wait()
}

func (s *server) offer(ctx context.Context) (offer, error) {
	c, err := s.use(ctx)
	if err != nil {
		return s.last(), err
	}
	s.mu.Lock()
	stale := s.stale
	s.stale = false
	s.mu.Unlock()
	if stale {
		if err := s.list(ctx, c); err != nil {
			return s.last(), err
		}
	}
	return s.last(), nil
}

// use gives the client, for which the server is started if need be.
func (s *server) use(ctx context.Context) (*client, error) {
	for {
		c, a, err := s.want()
		if c != nil || err != nil {
			return c, err
		}
		select {
		case <-a.done:
			if a.err != nil {
				return nil, a.err
			}
		case <-s.ctx.Done():
			return nil, s.off()
		case <-ctx.Done():
			if ctx.Err() == context.Canceled { //nolint:errorlint // a context's error is one of two
				return nil, ctx.Err()
			}
			return nil, s.miss("the MCP server " + s.source.name())
		}
	}
}

func (s *server) off() error {
	return fault.New(fault.ToolNotFound, "unknown tool: the MCP server %s is not on any more", s.source.name())
}

// want looks once. Without a client and an error there is an attempt to wait for.
func (s *server) want() (*client, *attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return nil, nil, s.off()
	case s.client != nil && s.client.runs():
		return s.client, nil, nil
	case s.client != nil: // its end is being seen to
		return nil, &attempt{done: s.client.left}, nil
	case s.starting != nil:
		return nil, s.starting, nil
	}
	for len(s.crashes) > 0 && time.Since(s.crashes[0]) > restartsIn {
		s.crashes = s.crashes[1:]
	}
	n := len(s.crashes)
	if n > mostRestarts {
		return nil, nil, fault.New(fault.ExecutionFailed, "the MCP server %s ended %d times in %s and is not started again before that is over; the last time, %w", s.source.name(), n, restartsIn, s.why).
			WithHint("ask the user to look at its settings")
	}
	var wait time.Duration
	if n > 0 {
		wait = s.o.backoff << (n - 1)
	}
	s.starting = &attempt{done: make(chan struct{})}
	s.lives.Go(func() { s.live(wait) })
	return nil, s.starting, nil
}

// live is one life of the server, from the pause before it to its end.
func (s *server) live(wait time.Duration) {
	pause := time.NewTimer(wait)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-s.ctx.Done():
	}
	c, err := s.start()
	s.mu.Lock()
	a := s.starting
	s.starting = nil
	if err != nil {
		s.crashed(err)
		a.err = err
	} else {
		s.client = c
	}
	s.mu.Unlock()
	close(a.done)
	if err == nil {
		s.attend(c)
	}
}

// crashed needs the lock.
func (s *server) crashed(why error) {
	s.crashes, s.why = append(s.crashes, time.Now()), why
}

func (s *server) start() (*client, error) {
	if s.ctx.Err() != nil {
		return nil, s.off()
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.o.ready)
	defer cancel()
	c, err := s.connect(ctx)
	if err == nil {
		if err = s.list(ctx, c); err != nil {
			err = c.lastWords(err)
			c.close()
		}
	}
	if err != nil {
		return nil, fault.New(fault.ExecutionFailed, "the MCP server %s could not be started: %w", s.source.name(), err).
			WithHint("ask the user to look at its settings")
	}
	return c, nil
}

// attend follows a server to its end, and takes its list when it says that it has changed.
func (s *server) attend(c *client) {
	for {
		select {
		case <-c.changed:
			ctx, cancel := context.WithTimeout(s.ctx, s.o.ready)
			_ = s.list(ctx, c) // the old one stays, and calls say what is wrong
			cancel()
			select { // one that changes all the time is not followed all the time
			case <-time.After(changePause):
			case <-c.ended:
			case <-s.ctx.Done():
			}
		case <-c.ended:
			why := c.lastWords(nil)
			c.close()
			s.mu.Lock()
			s.client = nil
			s.crashed(why)
			s.mu.Unlock()
			close(c.left)
			return
		case <-s.ctx.Done():
			c.close()
			return
		}
	}
}

// changePause is the least time between two lists that a server brings about.
const changePause = 500 * time.Millisecond

func (s *server) list(ctx context.Context, c *client) error {
	kept, err := within(ctx, func() (offer, error) { return c.list(ctx, s.source) })
	if err != nil {
		return err
	}
	if s.put(kept) {
		s.o.Changed()
	}
	return nil
}

func (s *server) call(ctx context.Context, t Tool, arguments json.RawMessage, most int) (Result, error) {
	c, err := s.use(ctx)
	if err != nil {
		return Result{}, err
	}
	given, err := within(ctx, func() (*sdk.CallToolResult, error) {
		return c.session.CallTool(ctx, &sdk.CallToolParams{Name: t.Own, Arguments: arguments})
	})
	var refused *jsonrpc.Error
	switch {
	case err == nil:
		got := resultOf(given, most)
		for i := range got.Parts {
			if got.Failed {
				got.Parts[i].Text = s.source.hide(got.Parts[i].Text)
			}
		}
		return got, nil
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.As(err, &refused):
		return Result{}, fault.New(fault.ExecutionFailed, "the MCP server %s refused the call: %s", s.source.name(), s.source.hide(fault.Line(fault.Clip(refused.Message, 1000))))
	}
	select {
	case <-c.ended:
		return Result{}, fault.New(fault.ExecutionFailed, "the MCP server %s ended during the call, so its outcome is unknown: %w", s.source.name(), c.lastWords(err)).
			WithHint("the next call starts it again")
	case <-time.After(c.leaving / 4):
		return Result{}, fault.New(fault.ExecutionFailed, "the MCP server %s gave no proper answer, so the outcome of the call is unknown: %w", s.source.name(), s.source.plainError(err))
	}
}

// within does what may take longer than its context allows: a server that does not read holds
// up whoever writes to it.
func within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
