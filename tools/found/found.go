// Package found is the tools of other programs: MCP servers (over their pipes or over
// HTTP), and a command that prints what it can do.
//
// A Set is made of Sources, which come from the settings (Configure). List gives the tools
// and notes on what was refused, Find gives one, and Call makes a call. Nothing is started
// before it is needed. A server is kept warm, comes back when it ends, at most five times in
// three minutes (server.go), and ends with the Set, with everything that it started.
//
// All that a program says is hostile. Names are ASCII and cannot be taken for another's
// (declared.go); schemas are made such that models take them (schema.go); descriptions are
// bounded and have nothing invisible in them; what it claims of itself is a claim.
//
// Deliberately not here: whether a call may be made, and the question to the user (package
// tools, which makes a Tool of each and sends its calls through the one door).
package found

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/fault"
	"pillion/tools/process"
)

// Kind is what kind of program tools come from.
type Kind string

// The kinds.
const (
	MCP     Kind = "mcp"
	Command Kind = "command"
)

// Source is one place that tools come from.
type Source struct {
	Kind   Kind
	Alias  string // leads its tools' names; empty: they have their own
	Origin string // whose settings it comes from, for people
	Dir    string // where its programs run, absolute

	Args    []string // of a server that is started: the program and its arguments
	Line    string   // instead of Args: a command line for the shell
	Call    string   // the command line that calls a tool that Line printed
	Env     map[string]string
	URL     string // of a server over HTTP
	Headers map[string]string
	Timeout time.Duration     // of a call; 0: the caller's
	Access  map[string]string // classes that the user gave to tools, by their own names; "*": to all others
}

// name is what people and models know the source by.
func (s *Source) name() string {
	switch {
	case s.Alias != "":
		return s.Alias
	case s.Kind == Command:
		return "tools.toolDiscoveryCommand"
	}
	return "mcp.mcpServerCommand"
}

// Tool is one that was found.
type Tool struct {
	Name        string // by which agents call it
	Own         string // by which its program does
	Title       string
	Description string
	Schema      json.RawMessage // of its arguments, as models take it
	Claims      []string        // what its program says of it, each a clause: "only reads"
	Definition  string          // names what its program declared: another one is another tool
	Closed      bool            // it takes no arguments but those of Schema
	Access      string          // the class that the user gave it; empty: none
	Source      *Source

	declared *jsonschema.Resolved
}

// Check holds arguments to the schema that the program declared.
func (t Tool) Check(arguments map[string]any) error { return t.declared.Validate(arguments) }

// From is where it comes from, without what may be secret in it.
func (t Tool) From() string { return t.Source.name() }

// Place is the command line or the address behind it, for people: without what stands behind
// the address's path, and a user's name in it, which may be keys.
func (s *Source) Place() string {
	switch {
	case s.URL != "":
		u, err := url.Parse(s.URL)
		if err != nil {
			return ""
		}
		return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	case s.Kind == Command:
		return s.Call
	case s.Line != "":
		return s.Line
	}
	return strings.Join(s.Args, " ")
}

// Note says what is wrong with a source, or with one tool of it.
type Note struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// Options are what a Set needs.
type Options struct {
	Runner *process.Runner
	// LookPath finds the file of a program.
	LookPath func(name string) (string, error)
	// Taken are the names that no tool can have.
	Taken []string
	// Changed is called when the list may be another one. It must not block. Nil: nobody
	// needs to know.
	Changed func()
	Version string

	listing time.Duration // how long List waits; 0: listTime
	backoff time.Duration // before a server is started again for the first time; 0: firstBackoff
	ready   time.Duration // for a server to be ready; 0: startTime
	leaving time.Duration // for a server to end by itself, and a quarter of it to be seen to have ended; 0: leaveTime
}

// listTime bounds the wait of List for programs that have not said yet what they can do.
const listTime = 5 * time.Second

// provider is what a source's tools are made of.
type provider interface {
	of() *Source
	// offer is what is on offer, which is found out if need be.
	offer(ctx context.Context) (offer, error)
	// last is what is known to be on offer.
	last() offer
	// renew has the list taken anew when it is needed next.
	renew()
	call(ctx context.Context, t Tool, arguments json.RawMessage, most int) (Result, error)
	close()
}

// offer is what a program declared.
type offer struct {
	tools []Tool
	notes []Note
}

// shelf keeps what was on offer last.
type shelf struct {
	mu     sync.Mutex // guards all below
	kept   offer
	known  bool // something was
	missed bool // somebody did without it
}

func (s *shelf) last() offer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

// miss notes that somebody did not wait for it, and says so to them.
func (s *shelf) miss(who string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed = true
	return fault.New(fault.Timeout, "%s is not ready yet", who).WithHint("list the tools again in a moment")
}

// put says whether somebody has to know.
func (s *shelf) put(o offer) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isSame := func(a, b Tool) bool { return a.Name == b.Name && a.Definition == b.Definition } // to agents
	changed = s.missed || s.known && !slices.EqualFunc(o.tools, s.kept.tools, isSame)
	s.kept, s.known, s.missed = o, true, false
	return changed
}

// Set is the tools of all sources.
type Set struct {
	o Options

	mu        sync.Mutex // guards all below
	providers []provider // one a source
	closed    bool
	refreshed time.Time
	ending    sync.WaitGroup
}

// New makes a Set without sources.
func New(o Options) *Set {
	o.listing, o.ready, o.leaving = cmp.Or(o.listing, listTime), cmp.Or(o.ready, startTime), cmp.Or(o.leaving, leaveTime)
	o.backoff = cmp.Or(o.backoff, firstBackoff)
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Set{o: o}
}

// Configure has tools come from these sources. What stays as it was stays warm; what is
// gone is ended. It does not wait.
func (s *Set) Configure(sources []Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || slices.EqualFunc(s.providers, sources, isOf) {
		return
	}
	old := s.providers
	s.providers = nil
	for _, source := range sources {
		at := slices.IndexFunc(old, func(p provider) bool { return isOf(p, source) })
		switch {
		case at >= 0:
			s.providers = append(s.providers, old[at])
			old = slices.Delete(slices.Clone(old), at, at+1)
		case source.Kind == Command:
			s.providers = append(s.providers, &program{o: s.o, source: &source})
		default:
			s.providers = append(s.providers, newServer(s.o, &source))
		}
	}
	for _, p := range old {
		s.ending.Go(p.close)
	}
	s.o.Changed()
}

func isOf(p provider, source Source) bool { return reflect.DeepEqual(*p.of(), source) }

// Empty says that there is nothing to find anything in.
func (s *Set) Empty() bool { return s == nil || len(s.all()) == 0 }

func (s *Set) all() []provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.providers
}

// List gives the tools, by name, and what was refused. Programs that are slow to say what
// they can do are waited for a few seconds, and missing then; Changed tells of them later.
func (s *Set) List(ctx context.Context) ([]Tool, []Note) {
	if s == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.listing)
	defer cancel()
	providers := s.all()
	offers := make([]offer, len(providers))
	var asked sync.WaitGroup
	for i, p := range providers {
		asked.Go(func() {
			var err error
			if offers[i], err = p.offer(ctx); err != nil {
				offers[i] = p.last()
				offers[i].notes = append(slices.Clone(offers[i].notes), Note{p.of().name(), fault.From(err).Message})
			}
		})
	}
	asked.Wait()
	return s.merge(offers)
}

// longMerged bounds what agents see of all tools, in bytes: a list has to fit into a message.
const longMerged = 16 << 20

// merge puts the sources' tools together. Of two that could be taken for each other the
// later is refused, and so is one that could be taken for a tool of Pillion's.
func (s *Set) merge(offers []offer) (tools []Tool, notes []Note) {
	taken, size := map[string]string{}, 0
	for _, name := range s.o.Taken {
		taken[Skeleton(name)] = "Pillion's own tool " + name
	}
	for _, o := range offers {
		for _, t := range o.tools {
			if other, is := taken[Skeleton(t.Name)]; is {
				notes = append(notes, Note{t.From(), "the tool " + fault.Quote(t.Own) + " is refused: its name can be taken for that of " + other})
				continue
			}
			if size += t.size(); size > longMerged {
				notes = append(notes, Note{t.From(), "the tool " + fault.Quote(t.Own) + " is not listed: all definitions are longer than 16 MiB together"})
				break
			}
			taken[Skeleton(t.Name)] = "the tool " + t.Name + " of " + t.From()
			tools = append(tools, t)
		}
		notes = append(notes, o.notes...)
	}
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, notes
}

// Find gives the tool of that name, in the spelling of any agent. The source that it would
// be of is waited for. An error is why it could not be found out whether there is one.
func (s *Set) Find(ctx context.Context, name string) (Tool, bool, error) {
	if s == nil {
		return Tool{}, false, nil
	}
	providers, offers, failed := s.all(), []offer{}, error(nil)
	for _, p := range providers {
		if !p.of().mayHave(name) {
			offers = append(offers, p.last())
			continue
		}
		o, err := p.offer(ctx)
		if err != nil {
			failed, o = err, p.last()
		}
		offers = append(offers, o)
	}
	tools, _ := s.merge(offers)
	for _, t := range tools {
		if t.Name == name || plain(t.Name) == name {
			return t, true, nil
		}
	}
	return Tool{}, false, failed
}

// mayHave says whether the name is one that its tools have.
func (s *Source) mayHave(name string) bool {
	return s.Alias == "" && !strings.Contains(name, separator) || s.Alias != "" && strings.HasPrefix(plain(name), plain(s.Alias)+separator)
}

// Call calls the tool as it was found: one that is another by now is not called. most
// bounds the result, in bytes.
func (s *Set) Call(ctx context.Context, t Tool, arguments json.RawMessage, most int) (Result, error) {
	now, there, err := s.Find(ctx, t.Name)
	switch {
	case err != nil:
		return Result{}, err
	case !there:
		return Result{}, fault.New(fault.ToolNotFound, "unknown tool: %s does not offer %s any more", t.From(), fault.Quote(t.Name)).WithHint("tools/list lists the tools")
	case now.Definition != t.Definition:
		return Result{}, fault.New(fault.ConcurrentModification, "the definition of %s changed while it was called; nothing was called", fault.Quote(t.Name)).
			WithHint("list the tools again, and call it as it is now")
	}
	for _, p := range s.all() {
		if p.of() == now.Source {
			return p.call(ctx, now, arguments, most)
		}
	}
	return Result{}, fault.New(fault.ToolNotFound, "unknown tool: %s", fault.Quote(t.Name))
}

// refreshPause is the least time between two refreshes: agents can ask for them, too.
const refreshPause = time.Second

// Refresh has all lists taken anew when they are needed next.
func (s *Set) Refresh() {
	if s == nil {
		return
	}
	s.mu.Lock()
	soon := time.Since(s.refreshed) < refreshPause
	if !soon {
		s.refreshed = time.Now()
	}
	s.mu.Unlock()
	if soon {
		return
	}
	for _, p := range s.all() {
		p.renew()
	}
	s.o.Changed()
}

// Close ends everything that was started.
func (s *Set) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	for _, p := range s.providers {
		s.ending.Go(p.close)
	}
	s.providers = nil
	s.mu.Unlock()
	s.ending.Wait()
}
