// Package mcp is `pillion mcp`: the MCP server that an agent's own configuration
// starts, on stdin and stdout.
//
// Serve is the entry point. MCP ends here: a call goes on, as it is, to the
// sidecar of the editor that is open on the agent's folder (package relay), where
// the user is asked. Which editor that is is looked up at the first call, and
// again when the editor has gone. With no editor open the tools run here, and
// what needs asking is asked by MCP's elicitation where the client has it.
//
// The agent's folders are the client's roots, or else the working folder
// (folders.go). In a home or a system place nothing is served.
//
// The official SDK keeps the protocol: handshake, versions, elicitation, progress.
// Calls alone go around it (call.go): our transport takes them off the input and
// writes their results as they came, because the SDK would parse a call four
// times and a result, which may be megabytes, twice.
//
// A call is a pending call (pending_calls.go), apart from the requests that wait for it: shortly
// before a client would give up its request is answered, and wait_for_answer, or the
// same call again, collects the result. In the newest revision of the protocol,
// in which a server asks nothing while a call runs, the question is the answer to the
// request, and the call that comes with the user's answer joins the pending call (input.go).
// What answers to older revisions must not have is taken out in revision.go.
//
// Deliberately not here: tools, policy and approvals.
package mcp

import (
	"cmp"
	"context"
	"io"
	"log"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
)

// Options say what to serve. In, Out and Cwd are needed.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Cwd     string // the folder that the agent was started in
	Version string
	Dialect string // empty: the canonical tools
	// Structured gives structuredContent beside the text. Agents that get it show their
	// model one line of escaped JSON in place of the text, or both.
	Structured bool
	// Tools are those on offer, by the names of the contract; nil: all.
	Tools []string
	// Alone starts the tools on the folders without an editor; nil: there is no such thing.
	Alone func(folders []string, agent session.Agent, asker approval.Asker, human tools.Human) (*Door, error)
	Logf  func(format string, args ...any)
	// Key gives where the agent keeps what it proves its session by, when it works in a
	// folder; nil: in memory alone. It is asked once for each folder.
	Key func(agent, folder string) Key
	// AnswerWithin is how long the client waits for a call, 0 for ever; nil: it is known by
	// the client's name.
	AnswerWithin *time.Duration

	now       func() time.Time
	find      func(cwd string) (sidecar, bool, error) // the registry
	beat      time.Duration                           // between two signs of life
	rootsTime time.Duration                           // for the client to name its roots
	lookAgain time.Duration                           // between two looks for a sidecar that hangs up
	comeBack  time.Duration                           // for a sidecar that was there to start anew
	drainTime time.Duration                           // for answers after the end of the input
	changed   func()                                  // hears that the list of tools is another one
}

// Key is where what an agent proves its session by outlives this program.
type Key interface {
	Load() session.Proof
	Save(p session.Proof) error
}

// Door is the tools on the agent's folders, without an editor.
type Door struct {
	Registry *tools.Registry
	Session  *session.Session
	// OnToolsChanged has changed called when the list of tools is another one; nil: it never is.
	OnToolsChanged func(changed func())
	Structured     func() bool // the settings want the structure of results; nil: they do not
	Close          func() error
}

const beatTime = 5 * time.Second

func (o Options) withDefaults() Options {
	if o.Logf == nil {
		o.Logf = log.Printf
	}
	if o.find == nil {
		o.find = findSidecar
	}
	if o.beat == 0 {
		o.beat = beatTime
	}
	if o.rootsTime == 0 {
		o.rootsTime = rootsTime
	}
	o.lookAgain, o.comeBack, o.drainTime = cmp.Or(o.lookAgain, lookAgain), cmp.Or(o.comeBack, comeBack), cmp.Or(o.drainTime, drainTime)
	return o
}

const instructions = "These tools work on this project in the user's own editor: they see unsaved changes, and the user approves edits and commands there. " +
	"Use them for files, search, commands and git. A call may wait for the user; do not repeat it meanwhile. If the user rejects a call, follow their reason."

// server is one MCP connection.
type server struct {
	o     Options
	ctx   context.Context // ends the calls
	out   *stdio
	route *route
	names names

	pendingCalls pendingCalls

	ready  chan struct{} // closed when client is set
	client *sdk.ServerSession
}

// Serve answers until the agent closes In or ctx ends.
func Serve(ctx context.Context, o Options) error {
	o = o.withDefaults()
	if err := tools.CheckDialect(o.Dialect); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	protocol := sdk.NewServer(&sdk.Implementation{Name: "pillion", Title: "Pillion", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
	})
	// The SDK says so in the way of the client's revision when a tool is added. Nobody sees this
	// one: the middleware answers for all tools.
	o.changed = func() {
		protocol.AddTool(&sdk.Tool{Name: "changed", InputSchema: map[string]any{"type": "object"}}, nil)
	}
	s := &server{o: o, ctx: ctx, route: newRoute(o), ready: make(chan struct{})}
	s.out = newStdio(wire.Stdio(o.In, o.Out), s.handleCall)
	s.out.drainTime = o.drainTime
	s.out.batches = func() bool { return s.revision() == revisionBatches }
	defer s.route.close()
	defer s.pendingCalls.wait()
	defer cancel()

	protocol.AddReceivingMiddleware(s.middleware)
	connection, err := protocol.Connect(ctx, s.out, nil)
	if err != nil {
		return err
	}
	s.client = connection
	close(s.ready)
	stop := context.AfterFunc(ctx, func() { s.end(connection) })
	err = connection.Wait()
	if stop() || ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// session is the connection as the SDK has it. What it reads may come before Connect is back.
func (s *server) session() *sdk.ServerSession {
	<-s.ready
	return s.client
}

// revision is the revision of the protocol that is spoken; empty: none yet.
func (s *server) revision() string {
	if p := s.session().InitializeParams(); p != nil {
		return p.ProtocolVersion
	}
	return ""
}

// endGrace is how long the last answers may take to be written.
const endGrace = time.Second

// end closes the connection: politely, and then by force, should the agent not
// read its answers.
func (s *server) end(connection *sdk.ServerSession) {
	force := time.AfterFunc(endGrace, func() { _ = s.out.Close() })
	defer force.Stop()
	_ = connection.Close()
}

// middleware takes what is about tools; the rest is the SDK's.
func (s *server) middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		var result sdk.Result
		var err error
		switch r := req.(type) {
		case *sdk.CallToolRequest:
			return s.slowCall(ctx, r)
		case *sdk.ListToolsRequest:
			result, err = s.list(ctx, r)
		case *sdk.ServerRequest[*sdk.InitializeParams]:
			fitParams(r.Params)
			result, err = next(ctx, method, req)
		default:
			result, err = next(ctx, method, req)
		}
		if err != nil || method == "server/discover" {
			return result, err
		}
		return fit(s.revision(), result)
	}
}

// until gives a context that also ends with the server: the SDK's own do not.
func (s *server) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, sync.OnceFunc(func() { stop(); cancel() })
}
