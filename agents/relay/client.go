package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/session"
)

// Client is an agent's end of a connection.
type Client struct {
	conn    *wire.Conn
	welcome Welcome
	form    string // of results, where the sidecar does not give it

	mu       sync.Mutex // guards all below
	seq      uint64
	progress map[string]func(Progress) // by token
	changed  func()                    // hears that the tools changed; nil: nobody does
}

// Dial connects to a sidecar and introduces the agent. The token, the version of
// the protocol and the form of results are filled in.
func Dial(ctx context.Context, e Entry, h Hello) (*Client, error) {
	c, err := connect(ctx, e)
	if err != nil {
		return nil, err
	}
	h.Token, h.ProtocolVersion, h.Brief = e.Token, ProtocolVersion, true
	if err := c.conn.Call(ctx, methodHello, h, &c.welcome); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("the editor's pillion refused the connection: %w", err)
	}
	if c.welcome.Form != h.Form {
		c.form = h.Form
	}
	return c, nil
}

func connect(ctx context.Context, e Entry) (*Client, error) {
	var d net.Dialer
	stream, err := d.DialContext(ctx, "unix", e.Socket)
	if err != nil {
		return nil, fmt.Errorf("the editor's pillion cannot be reached: %w", err)
	}
	c := &Client{progress: map[string]func(Progress){}}
	c.conn = wire.NewConn(stream, wire.Options{Handler: c.handle, Logf: func(string, ...any) {}})
	return c, nil
}

// Tell has a sidecar know that the user wrote to the agent whose session that is.
func Tell(ctx context.Context, e Entry, of session.Proof, text string) error {
	c, err := connect(ctx, e)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.conn.Call(ctx, methodPrompt, Prompt{e.Token, of, text}, nil)
}

// ErrNoDraft says that the session has no draft there.
var ErrNoDraft = errors.New("it has no draft")

// ReviewDraft has a sidecar ask the user about a session's draft.
func ReviewDraft(ctx context.Context, e Entry, session string) (string, error) {
	c, err := connect(ctx, e)
	if err != nil {
		return "", err
	}
	defer c.Close()
	var out Reviewed
	err = c.conn.Call(ctx, methodReview, Review{e.Token, session}, &out)
	if err == nil && out.No {
		err = ErrNoDraft
	}
	return out.Text, err
}

// Editor is the name of the editor at the other end.
func (c *Client) Editor() string { return c.welcome.Editor }

// Session is what the agent gives to have its session again; no secret: it is not kept.
func (c *Client) Session() session.Proof {
	return session.Proof{ID: c.welcome.SessionID, Secret: c.welcome.Secret}
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }

// Close ends the connection and with it the session; what still runs is cancelled.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.conn.Done()
	return err
}

// OnToolsChanged has changed called when the list of tools is another one. It must not block.
func (c *Client) OnToolsChanged(changed func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = changed
}

// Refresh lists the tools after the lists of other programs' have been taken anew.
func (c *Client) Refresh(ctx context.Context) ([]tools.Definition, error) {
	return c.list(ctx, map[string]bool{"refresh": true})
}

// Tools lists the tools.
func (c *Client) Tools(ctx context.Context) ([]tools.Definition, error) {
	return c.list(ctx, struct{}{})
}

func (c *Client) list(ctx context.Context, params any) ([]tools.Definition, error) {
	var out struct {
		Tools []tools.Definition `json:"tools"`
	}
	if err := c.conn.Call(ctx, methodList, params, &out); err != nil {
		return nil, err
	}
	return out.Tools, nil
}

// Call calls a tool. progress hears of the call until Call returns;
// it holds up everything that the sidecar sends. When ctx ends the sidecar is told
// and ctx.Err() is returned; wire.ErrClosed says that nobody knows what became of the call.
func (c *Client) Call(ctx context.Context, call Call, progress func(Progress)) (Result, error) {
	if progress != nil {
		c.mu.Lock()
		c.seq++
		token := strconv.FormatUint(c.seq, 10)
		c.progress[token] = progress
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.progress, token)
		}()
		call.ProgressToken = json.RawMessage(token)
	}
	params, err := call.params()
	if err != nil {
		return nil, err
	}
	var result wire.Raw
	if err := c.conn.Call(ctx, methodCall, params, &result); err != nil {
		return nil, err
	}
	return readBrief(result, c.form != FormText)
}

// params is the call as JSON. Its arguments, which may be large, are looked at
// but not written anew.
func (c Call) params() (wire.Raw, error) {
	arguments := c.Arguments
	c.Arguments = nil
	head, err := json.Marshal(c)
	if err != nil || len(arguments) == 0 {
		return head, err
	}
	if !json.Valid(arguments) {
		return nil, wire.Errorf(wire.CodeInvalidParams, "the arguments are not valid JSON")
	}
	out := make([]byte, 0, len(head)+len(arguments)+len(`,"arguments":`))
	out = append(out, head[:len(head)-1]...)
	out = append(out, `,"arguments":`...)
	return append(append(out, arguments...), '}'), nil
}

func (c *Client) handle(_ context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
	if !req.Notification {
		return nil, wire.Errorf(wire.CodeMethodNotFound, "an agent answers no requests")
	}
	if req.Method == methodTools {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if changed != nil {
			changed()
		}
	}
	if req.Method != methodProgress {
		return nil, nil
	}
	var p struct {
		Token json.RawMessage `json:"token"`
		Value Progress        `json:"value"`
	}
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return nil, err
	}
	c.mu.Lock()
	progress := c.progress[string(p.Token)]
	c.mu.Unlock()
	if progress != nil {
		progress(p.Value)
	}
	return nil, nil
}
