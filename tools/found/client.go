package found

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
	"pillion/tools/process"
)

// client is the connection to a server that runs.
type client struct {
	session *sdk.ClientSession
	child   *process.Service // nil: it is reached over HTTP
	changed chan struct{}    // signalled when its list has changed
	ended   chan struct{}    // closed when the connection is of no use any more
	once    sync.Once
	why     error         // from ended on
	settled chan struct{} // closed when the session's end has been noticed
}

// leaveTime is how long a server has to end by itself, once its input has ended.
const leaveTime = time.Second

// connect starts the server, or reaches it, and says hello.
func (s *server) connect(ctx context.Context) (*client, error) {
	c := &client{changed: make(chan struct{}, 1), ended: make(chan struct{}), settled: make(chan struct{})}
	transport, err := s.transport(c)
	if err != nil {
		return nil, err
	}
	protocol := sdk.NewClient(&sdk.Implementation{Name: "pillion", Title: "Pillion", Version: cmp.Or(s.o.Version, "dev")}, &sdk.ClientOptions{
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &sdk.ClientCapabilities{}, // it is asked nothing, and told nothing but its folder
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case c.changed <- struct{}{}:
			default:
			}
		},
	})
	c.session, err = protocol.Connect(ctx, transport, nil)
	if err != nil {
		err = c.lastWords(err)
		c.close()
		return nil, err
	}
	go func() {
		defer close(c.settled)
		c.fail(c.session.Wait())
	}()
	return c, nil
}

// transport is the way to the server, which is started where it is a program.
func (s *server) transport(c *client) (sdk.Transport, error) {
	if s.source.URL != "" {
		return &sdk.StreamableClientTransport{Endpoint: s.source.URL, HTTPClient: s.httpClient(), MaxRetries: 2}, nil
	}
	args := s.source.Args
	switch {
	case s.source.Line == "":
		file, err := s.o.LookPath(args[0])
		if err != nil {
			return nil, fmt.Errorf("the program %s was not found", fault.Quote(args[0]))
		}
		args = append([]string{file}, args[1:]...)
	case runtime.GOOS == "windows":
		file, err := s.o.LookPath("cmd")
		if err != nil {
			return nil, errors.New("cmd was not found")
		}
		args = []string{file, "/C", s.source.Line}
	default:
		args = []string{"/bin/sh", "-c", s.source.Line}
	}
	child, err := s.o.Runner.Serve(process.Program{Args: args, Dir: s.source.Dir, Env: s.source.Env})
	if err != nil {
		return nil, err
	}
	c.child = child
	return &sdk.IOTransport{Reader: &lines{Closer: child.Stdout, in: bufio.NewReaderSize(child.Stdout, 64<<10), fail: c.fail}, Writer: child.Stdin}, nil
}

// fail notes that the connection is of no use any more.
func (c *client) fail(err error) {
	c.once.Do(func() {
		c.why = err
		close(c.ended)
	})
}

// lastWords is why it ended, with the end of what it printed: it is asked for when it has.
func (c *client) lastWords(err error) error {
	select {
	case <-c.ended:
		if err == nil || errors.Is(c.why, errTooLong) {
			err = c.why
		}
	default:
	}
	if c.child == nil || errors.Is(err, errTooLong) {
		return plainError(err)
	}
	select {
	case <-c.child.Done():
		err = c.child.Err()
	case <-time.After(leaveTime / 4): // it still runs
	}
	if said := lastLine(c.child.Said()); said != "nothing" {
		return fmt.Errorf("%w; it printed: %s", plainError(err), said)
	}
	return plainError(err)
}

// plainError is an error without the address, in which there may be a secret.
func plainError(err error) error {
	if err == nil {
		return errors.New("it ended the connection")
	}
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err
	}
	return errors.New(fault.Line(fault.Clip(err.Error(), 300)))
}

// close ends the server, and all that it started.
func (c *client) close() {
	c.fail(nil)
	if c.child != nil {
		c.child.Stdin.Close()
		select {
		case <-c.child.Done():
		case <-time.After(leaveTime):
			c.child.Kill()
			<-c.child.Done()
		}
		c.child.Stdout.Close()
	}
	if c.session == nil {
		return
	}
	go c.session.Close() //nolint:errcheck // nobody is left to tell
	select {
	case <-c.settled:
	case <-time.After(leaveTime): // a server far away that does not answer
	}
}

// list gives what the server declares.
func (c *client) list(ctx context.Context) ([]declared, error) {
	var out []declared
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		out = append(out, declared{
			Name: t.Name, Title: cmp.Or(t.Title, title(t.Annotations)), Description: t.Description, Schema: t.InputSchema,
			Claims: claims(t.Annotations), Rest: []any{t.OutputSchema, t.Annotations},
		})
		if len(out) > mostTools {
			break
		}
	}
	return out, nil
}

func title(a *sdk.ToolAnnotations) string {
	if a == nil {
		return ""
	}
	return a.Title
}

// claims are what a server says of a tool.
func claims(a *sdk.ToolAnnotations) (out []string) {
	if a == nil {
		return nil
	}
	if a.ReadOnlyHint {
		out = append(out, "only reads")
	}
	if a.DestructiveHint != nil && !a.ReadOnlyHint {
		out = append(out, map[bool]string{true: "may destroy something", false: "destroys nothing"}[*a.DestructiveHint])
	}
	if a.IdempotentHint && !a.ReadOnlyHint {
		out = append(out, "changes nothing more when it is called again")
	}
	if a.OpenWorldHint != nil {
		out = append(out, map[bool]string{true: "reaches beyond this machine", false: "reaches nothing beyond its own domain"}[*a.OpenWorldHint])
	}
	return out
}

func (c *client) call(ctx context.Context, name string, arguments json.RawMessage) (*sdk.CallToolResult, error) {
	return c.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments})
}

// longestMessage bounds what a server may send at once.
const longestMessage = 16 << 20

var errTooLong = fmt.Errorf("it sent a message of more than %d bytes", longestMessage)

// lines passes on the lines of a program that are messages: many print others, too.
type lines struct {
	io.Closer
	in   *bufio.Reader
	rest []byte // of the line that is being read
	fail func(error)
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] == '{' && json.Valid(text) {
			l.rest = append(text, '\n')
			break
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > longestMessage {
			l.fail(errTooLong)
			return nil, errTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// httpClient sends the headers of the settings to their host alone, and reads no more of an
// answer than a message may have.
func (s *server) httpClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // nothing here puts another in its place
	transport.ResponseHeaderTimeout = startTime
	return &http.Client{
		Transport: &headed{transport, s.source},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host || len(via) > 5 {
				return errors.New("it redirects to another host")
			}
			return nil
		},
	}
}

// headed adds the headers of the settings.
type headed struct {
	under  *http.Transport
	source *Source
}

func (h *headed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.source.Headers {
		r.Header.Set(name, value)
	}
	answer, err := h.under.RoundTrip(r)
	if err == nil && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") { // of which the SDK bounds each event
		answer.Body = &bounded{answer.Body, longestMessage}
	}
	return answer, err
}

func (h *headed) CloseIdleConnections() { h.under.CloseIdleConnections() }

// bounded is a body that ends with an error when it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
