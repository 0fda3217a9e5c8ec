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
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
	"pillion/tools/process"
)

// client is the connection to a server that runs.
type client struct {
	source  *Source
	leaving time.Duration
	session *sdk.ClientSession
	child   *process.Service // nil: it is reached over HTTP
	changed chan struct{}    // signalled when its list has changed
	ended   chan struct{}    // closed when the connection is of no use any more
	once    sync.Once
	why     error         // from ended on
	settled chan struct{} // closed when the session's end has been noticed
	left    chan struct{} // closed when nothing of it is left, after an end that nobody wanted
}

// How long a server has to end by itself once its input has ended, and to read what it is sent.
const (
	leaveTime = time.Second
	readTime  = 30 * time.Second
)

// legacy is the revision of MCP that servers are greeted in. Most do not know the newer way,
// and some neither answer nor survive it.
const legacy = "2025-11-25"

// connect starts the server, or reaches it, and says hello: in the newer way to one that
// refuses the older.
func (s *server) connect(ctx context.Context) (c *client, err error) {
	var refused *jsonrpc.Error
	for _, revision := range []string{legacy, ""} {
		if c, err = s.connectIn(ctx, revision); !errors.As(err, &refused) {
			break
		}
	}
	return c, err
}

func (s *server) connectIn(ctx context.Context, revision string) (*client, error) {
	c := &client{source: s.source, leaving: s.o.leaving, changed: make(chan struct{}, 1), ended: make(chan struct{}), settled: make(chan struct{}), left: make(chan struct{})}
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
	c.session, err = protocol.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: revision})
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
	args := process.Shell(s.source.Line)
	if s.source.Line == "" {
		file, err := s.o.LookPath(s.source.Args[0])
		if err != nil {
			return nil, fmt.Errorf("the program %s was not found", fault.Quote(s.source.Args[0]))
		}
		args = append([]string{file}, s.source.Args[1:]...)
	}
	child, err := s.o.Runner.Serve(process.Program{Args: args, Dir: s.source.Dir, Env: s.source.Env})
	if err != nil {
		return nil, err
	}
	c.child = child
	in := &lines{Closer: child.Stdout, in: bufio.NewScanner(child.Stdout), fail: c.fail}
	in.in.Buffer(make([]byte, 64<<10), longestMessage)
	return &sdk.IOTransport{Reader: in, Writer: &patient{child.Stdin, c.fail}}, nil
}

// fail notes that the connection is of no use any more.
func (c *client) fail(err error) {
	c.once.Do(func() {
		c.why = err
		close(c.ended)
	})
}

// runs says that it has not ended, as far as is known.
func (c *client) runs() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// lastWords is why it ended, with the end of what it printed: it is asked for when it has.
func (c *client) lastWords(err error) error {
	if !c.runs() && c.why != nil {
		err = c.why
	}
	var refused *jsonrpc.Error
	if c.child == nil || errors.Is(err, errTooLong) || errors.Is(err, errDeaf) || errors.As(err, &refused) {
		return c.source.plainError(err)
	}
	select {
	case <-c.child.Done():
		err = c.child.Err()
	case <-time.After(c.leaving / 4): // it still runs
	}
	if said := lastLine(c.child.Said()); said != "nothing" {
		return fmt.Errorf("%w; it printed: %s", c.source.plainError(err), c.source.hide(said))
	}
	return c.source.plainError(err)
}

// plainError is an error in a line, without what may be secret.
func (s *Source) plainError(err error) error {
	if err == nil {
		return errors.New("it ended the connection")
	}
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err
	}
	var refused *jsonrpc.Error
	text := s.hide(fault.Line(fault.Clip(err.Error(), 300)))
	if errors.As(err, &refused) {
		return &jsonrpc.Error{Code: refused.Code, Message: text}
	}
	return errors.New(text)
}

// secretName is a variable's name which says that its value is to be kept.
var secretName = regexp.MustCompile(`(?i)token|key|secret|pass|auth|cred|cookie|session|private`)

// hide takes out of a text what the settings have for the program alone: the values of headers
// and of variables that have the name of a secret, and what stands behind an address.
func (s *Source) hide(text string) string {
	var secrets []string
	for _, value := range s.Headers {
		secrets = append(append(secrets, value), strings.Fields(value)...)
	}
	for name, value := range s.Env {
		if secretName.MatchString(name) {
			secrets = append(secrets, value)
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		password, _ := u.User.Password()
		secrets = append(secrets, s.URL, u.RequestURI(), u.RawQuery, password)
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if len(secret) >= 6 { // a shorter one is no secret, and stands in other words
			text = strings.ReplaceAll(text, secret, "(hidden)")
		}
	}
	return text
}

// close ends the server, and all that it started.
func (c *client) close() {
	c.fail(nil)
	if c.child != nil {
		c.child.Stdin.Close()
		select {
		case <-c.child.Done():
		case <-time.After(c.leaving):
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
	case <-time.After(c.leaving): // a server far away that does not answer
	}
}

// list gives what the server declares.
func (c *client) list(ctx context.Context, source *Source) (offer, error) {
	all := collection{source: source}
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return offer{}, err
		}
		if !all.add(declared{
			Name: t.Name, Title: cmp.Or(t.Title, title(t.Annotations)), Description: t.Description, Schema: t.InputSchema,
			Claims: claims(t.Annotations), Rest: []any{t.OutputSchema, t.Annotations},
		}) {
			break
		}
	}
	return all.out, nil
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

// longestMessage bounds what a server may send at once.
const longestMessage = 16 << 20

var (
	errTooLong = fmt.Errorf("it sent a message of more than %d bytes", longestMessage)
	errDeaf    = fmt.Errorf("it did not read for %s what it was sent", readTime)
)

// lines passes on the lines of a program that are messages: many print others, too.
type lines struct {
	io.Closer
	in   *bufio.Scanner
	rest []byte // of the line that is being read
	fail func(error)
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if !l.in.Scan() {
			err := cmp.Or(l.in.Err(), io.EOF)
			if errors.Is(err, bufio.ErrTooLong) {
				err = errTooLong
				l.fail(err)
			}
			return 0, err
		}
		if text := bytes.TrimSpace(l.in.Bytes()); len(text) > 0 && text[0] == '{' && json.Valid(text) {
			l.rest = append(slices.Clone(text), '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// patient gives up on a program that does not read.
type patient struct {
	*os.File
	fail func(error)
}

func (w *patient) Write(p []byte) (int, error) {
	_ = w.SetWriteDeadline(time.Now().Add(readTime)) // where a pipe cannot have one it waits on
	n, err := w.File.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.fail(errDeaf)
	}
	return n, err
}

// httpClient sends the headers of the settings to their host alone, and as they were to be
// sent, and reads no more of an answer than a message may have.
func (s *server) httpClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // nothing here puts another in its place
	transport.ResponseHeaderTimeout = startTime
	return &http.Client{
		Transport: &headed{transport, s.source},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch first := via[0].URL; {
			case r.URL.Host != first.Host || r.URL.Scheme != first.Scheme:
				return errors.New("it redirects to another host")
			case len(via) > 5:
				return errors.New("it redirects again and again")
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
	if err == nil { // of a stream, too, which is opened again then
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
