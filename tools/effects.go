package tools

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/internal/web"
	"pillion/tools/found"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/workspace/document"
)

// Effects are what an Action may act with.
type Effects struct {
	Processes OwnProcesses
	Human     Human
	ReadsGit  bool             // as policy decided of the command line
	Box       *process.Confine // how a command is held that nobody was asked about; nil: as planned
	Apart     bool             // it is to run in no folder of the workspace
	// Layer puts layers over the workspace into Box, and end brings out what is in them. Nil: there are none.
	Layer  func(held *process.Confine) (end func(context.Context, *Answer), err error)
	Output func(stream, text string) // streamed while it runs; never nil
	// Observe is called before a command is started, and what it gives with its answer.
	Observe func(context.Context) (end func(*Answer))
	// Fetch gets a page, and Search what is found on the web.
	Fetch  func(context.Context, *url.URL) (web.Page, error)
	Search func(ctx context.Context, query string, limit int) ([]web.Found, error)
	// Agents runs sub-agents. Nil: nobody does.
	Agents Agents
	// Found calls a tool of another program; the result has at most so many bytes.
	Found func(ctx context.Context, t found.Tool, arguments json.RawMessage, most int) (found.Result, error)
	// Snapshot is what there is by now.
	Snapshot func() *document.Snapshot
}

// Stream passes a command's output on while it runs.
func (h Effects) Stream(s process.Stream, text []byte) { h.Output(string(s), string(text)) }

// Processes runs commands, and knows those that go on after the call that started
// them; *process.Table does.
type Processes interface {
	Run(ctx context.Context, spec process.Spec, output func(process.Stream, []byte)) (process.Result, error)
	RunFor(ctx context.Context, most time.Duration, o process.Owner, about process.About, spec process.Spec,
		output func(process.Stream, []byte)) (soFar process.Result, next int64, kept *process.Named, err error)
	Start(ctx context.Context, o process.Owner, about process.About, spec process.Spec, output func(process.Stream, []byte)) (*process.Named, error)
	Taken(session, id string) error
	Find(session, id string) (*process.Named, error)
	List(session string) []*process.Named
}

// OwnProcesses are the processes of one session: no tool can name another's.
type OwnProcesses struct {
	all   Processes
	owner process.Owner
}

func (r *Registry) processesOf(s *session.Session) OwnProcesses {
	agent := s.Agent()
	return OwnProcesses{r.Processes, process.Owner{Session: s.ID(), Name: agent.Name, Via: agent.Via, Closed: s.Closed()}}
}

// Run runs a command to its end.
func (o OwnProcesses) Run(ctx context.Context, spec process.Spec, output func(process.Stream, []byte)) (process.Result, error) {
	return o.all.Run(ctx, spec, output)
}

// RunFor runs a command, which becomes a process when it takes longer.
func (o OwnProcesses) RunFor(ctx context.Context, most time.Duration, about process.About, spec process.Spec,
	output func(process.Stream, []byte),
) (soFar process.Result, next int64, kept *process.Named, err error) {
	return o.all.RunFor(ctx, most, o.owner, about, spec, output)
}

// Start starts a process.
func (o OwnProcesses) Start(ctx context.Context, about process.About, spec process.Spec, output func(process.Stream, []byte)) (*process.Named, error) {
	return o.all.Start(ctx, o.owner, about, spec, output)
}

// Taken is why no process of that name can be started now.
func (o OwnProcesses) Taken(id string) error { return o.all.Taken(o.owner.Session, id) }

// Unasked says whether the process of that name was started in a mode that asks for
// nothing.
func (o OwnProcesses) Unasked(id string) bool {
	p, err := o.Find(id)
	return err == nil && p.About.Unasked
}

// Find gives the process of that name.
func (o OwnProcesses) Find(id string) (*process.Named, error) { return o.all.Find(o.owner.Session, id) }

// List gives all processes, in the order of their start.
func (o OwnProcesses) List() []*process.Named { return o.all.List(o.owner.Session) }

// goesOn is what the journal does not have of a process.
const goesOn = "what it changes from now on is not in the journal"

// observe has the journal keep what a command changes, and the answer say what of it the
// journal does not have.
func (p *pending) observe(ctx context.Context) (end func(*Answer)) {
	observed := p.registry.Committer.Observe(ctx)
	return func(a *Answer) {
		unkept := observed.End(ctx, p.origin())
		if a == nil || observed == nil {
			return
		}
		if a.GoesOn {
			unkept = strings.TrimPrefix(unkept+"; "+goesOn, "; ")
		}
		if a.unkept = unkept; unkept != "" {
			a.Notes = append(a.Notes, "("+unkept+")")
			a.Summary += "; " + unkept
		}
	}
}

// fetch gets a page for the call. A redirect to another host is judged as a call for it: only
// who approved this very address need not be asked again, and that not for a private host.
func (p *pending) fetch(ctx context.Context, u *url.URL) (web.Page, error) {
	return p.registry.Web.Fetch(ctx, web.Request{URL: u, Private: p.settings.PrivateHosts, May: func(to *url.URL) error {
		r := policy.Request{Tool: p.tool.Name, Access: policy.Network, Mode: p.call.Session.Mode(), Grants: p.call.Session.Grants(), Host: to.Host, Rules: p.rules(site{})}
		if p.decision.Verdict == policy.Ask && !web.IsNamed(p.settings.PrivateHosts, to.Hostname()) {
			r.Mode = policy.FullAccess
		}
		switch d := policy.Decide(r); d.Verdict {
		case policy.Run:
			return nil
		case policy.Refuse:
			return fault.New(fault.PolicyDenied, "it redirects to %s: %s", fault.Quote(to.Host), d.Why()).WithHint("the user's settings do not let it follow")
		}
		return fault.New(fault.PolicyDenied, "it redirects to %s, which nobody has approved", fault.Quote(fault.Clip(to.String(), MaxAddress))).WithHint("call web_fetch with that address, and the user is asked")
	}})
}

// search asks the provider of the settings under which the call was judged.
func (p *pending) search(ctx context.Context, query string, limit int) ([]web.Found, error) {
	return p.registry.Web.Search(ctx, p.settings.Search, query, limit)
}

// MaxAddress bounds a URL, which a person has to read.
const MaxAddress = 2000
