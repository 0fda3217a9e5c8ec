package lspbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/language"
)

// state is how a server stands.
type state int

const (
	stopped    state = iota // nobody needed it, or not for long
	starting                // for the first time
	running                 // client is there
	restarting              // it ended by itself, and comes back
	failed                  // it ended too often
	stopping                // it was not needed for long
)

// How often a server comes back, and how soon.
const (
	mostCrashes = 5       // within patience.crashes, or in a row; one more, and it has failed
	reopenLimit = 8 << 20 // bytes of a file that is opened again
)

// server is one program for one root. While it is wanted a goroutine (run) takes it
// through its lives; everybody else looks at what that goroutine last said (become).
type server struct {
	bridge *Bridge
	spec   Server
	root   workspace.Path

	ctx context.Context // ends when it is not wanted any more
	end context.CancelFunc

	open []workspace.Path // what was open in the last life; the goroutine's own
	log  quota

	mu      sync.Mutex // guards all below
	life    state
	client  *client       // while running
	why     string        // it failed
	turned  chan struct{} // closed at the next turn of life
	crashes []time.Time
	vain    int  // lives in a row in which it did nothing for anybody
	told    bool // the user knows that it failed
	used    time.Time
}

func newServer(b *Bridge, spec Server, root workspace.Path) *server {
	s := &server{bridge: b, spec: spec, root: root, turned: make(chan struct{}), used: time.Now()}
	s.ctx, s.end = context.WithCancel(b.ctx)
	return s
}

func (s *server) lastUsed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// status is how it stands, for people.
func (s *server) status() language.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := language.Server{Name: s.spec.Name, Status: language.Starting}
	switch s.life {
	case running:
		out.Status = language.Running
	case restarting:
		out.Status = language.Restarting
	case failed:
		out.Status = language.Failed
	case stopped, starting, stopping:
		if _, err := s.program(); err != nil {
			out.Status = language.NotInstalled
		}
	}
	return out
}

// program is the file to run.
func (s *server) program() (string, error) { return s.bridge.programOf(s.spec) }

// warm is the client if the server runs.
func (s *server) warm() *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// use is the client, for which the server is started if need be.
func (s *server) use(ctx context.Context) (*client, error) {
	for {
		c, turned, err := s.want()
		if c != nil || err != nil {
			return c, err
		}
		select {
		case <-turned:
		case <-s.ctx.Done():
			return nil, errClosed
		case <-ctx.Done():
			return nil, s.notThere(ctx)
		}
	}
}

// want looks once. Without a client and an error there is something to wait for.
func (s *server) want() (*client, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
	switch s.life {
	case running:
		if silent, asked := s.client.pulse.silent(); asked && silent >= s.bridge.patience.question {
			return nil, nil, hangs(s.spec, silent)
		}
		return s.client, nil, nil
	case failed:
		if s.recent() > 0 {
			return nil, nil, gaveUp(s.spec, s.bridge.patience.crashes, s.why)
		}
		s.vain = 0
	case starting, restarting, stopping:
		return nil, s.turned, nil
	case stopped:
	}
	program, err := s.program()
	if err != nil {
		return nil, nil, err
	}
	if !s.bridge.work() {
		return nil, nil, errClosed
	}
	s.turnLocked(starting, nil)
	go s.run(program)
	return nil, s.turned, nil
}

// lost notes that a client has ended, before the goroutine that follows it knows.
func (s *server) lost(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == c {
		s.turnLocked(restarting, nil)
	}
}

// notThere says why a question ended before there was anybody to ask.
func (s *server) notThere(ctx context.Context) error {
	if ctx.Err() == context.Canceled { //nolint:errorlint // a context's error is one of two
		return ctx.Err()
	}
	state := s.status().Status
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why == "" {
		return fault.New(fault.LSPUnavailable, "%s is not ready yet (%s)", s.spec.Name, state).WithHint("ask again in a moment, or %s", instead)
	}
	return fault.New(fault.LSPUnavailable, "%s is not ready yet (%s); before, %s", s.spec.Name, state, s.why).WithHint("ask again in a moment, or %s", instead)
}

// run is the server's goroutine: it starts the program, follows it to its end, and
// starts it again, until it is not wanted or has ended too often.
func (s *server) run(program string) {
	defer s.bridge.running.Done()
	defer s.turn(stopped, nil)
	s.open = nil
	for {
		served, why := s.live(program)
		if s.ctx.Err() != nil || why == nil {
			return
		}
		s.logf("%v", why)
		if !s.crashed(served, why) {
			s.giveUp()
			return
		}
		if !s.pause() {
			return
		}
	}
}

// live is one life of the program. It returns why it ended, nil if we ended it, and
// whether it was of any use.
func (s *server) live(program string) (served bool, why error) {
	child, err := s.bridge.o.Spawn(s.command(program))
	if err != nil {
		return false, fmt.Errorf("it cannot be started: %w", err)
	}
	c := newClient(s, child)
	defer func() {
		c.end()
		served = c.served.Load()
		s.open = nil
		if served { // else it may be the documents that ended it
			s.open = c.open()
		}
	}()
	ctx, cancel := context.WithTimeout(s.ctx, s.bridge.patience.start)
	defer cancel()
	if err := c.initialize(ctx); err != nil {
		return false, c.lastWords(err)
	}
	s.reopen(c)
	s.turn(running, c)
	return false, s.attend(c)
}

// attend waits for the end of a life, and brings it about when it is time.
func (s *server) attend(c *client) error {
	look := time.NewTicker(s.bridge.patience.look)
	defer look.Stop()
	for {
		select {
		case <-s.ctx.Done():
			c.shutdown()
			return nil
		case <-c.ended:
			return c.lastWords(nil)
		case <-look.C:
			if s.isIdle() {
				c.shutdown()
				return nil
			}
			if silent, asked := c.pulse.silent(); asked && silent >= s.bridge.patience.silence {
				return fmt.Errorf("it owed an answer and said nothing for %v", silent.Round(time.Second))
			}
		}
	}
}

// isIdle says if nobody has used the server for long, or it was switched off. From then
// on nobody gets it.
func (s *server) isIdle() bool {
	set := s.bridge.o.Settings(s.root.Top())
	isSet := slices.ContainsFunc(set.Servers, func(t Server) bool { return t.Name == s.spec.Name && t.Held == "" })
	s.mu.Lock()
	defer s.mu.Unlock()
	if isSet && (set.Idle <= 0 || time.Since(s.used) < set.Idle) {
		return false
	}
	s.turnLocked(stopping, nil)
	return true
}

// reopen opens what was open in the life before.
func (s *server) reopen(c *client) {
	snapshot := s.bridge.o.Documents.Snapshot(reopenLimit)
	for _, p := range s.open {
		_, _ = c.syncText(snapshot, p) //nolint:errcheck // it is gone
	}
}

func (s *server) command(program string) Command {
	return Command{Args: append([]string{program}, s.spec.Command[1:]...), Dir: s.root.Abs(), Env: s.spec.Env}
}

// crashed notes an end, and says if the server may come back.
func (s *server) crashed(served bool, why error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes = append(s.crashes, time.Now())
	s.why = why.Error()
	if s.vain++; served {
		s.vain = 0
	}
	if s.recent() > mostCrashes || s.vain > mostCrashes {
		return false
	}
	s.turnLocked(restarting, nil)
	return true
}

// recent forgets the crashes that are long ago and counts the others.
func (s *server) recent() int {
	for len(s.crashes) > 0 && time.Since(s.crashes[0]) > s.bridge.patience.crashes {
		s.crashes = s.crashes[1:]
	}
	return len(s.crashes)
}

// pause waits before the next life, longer each time and never quite as long as
// others do. It says whether there is to be one.
func (s *server) pause() bool {
	s.mu.Lock()
	wait := min(s.bridge.patience.first<<max(0, s.recent()-1), s.bridge.patience.longest)
	s.mu.Unlock()
	timer := time.NewTimer(wait/2 + rand.N(wait/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// giveUp tells the user, once for each server that is set up.
func (s *server) giveUp() {
	s.turn(failed, nil)
	s.mu.Lock()
	told, why := s.told, s.why
	s.told = true
	s.mu.Unlock()
	if !told {
		s.bridge.o.Report(fmt.Sprintf("[LSP] %s has ended too often and is not started again for now: %s", s.spec.Name, why))
	}
}

func (s *server) turn(to state, c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turnLocked(to, c)
}

// turnLocked tells all who wait. A server that failed stays so until it is wanted again.
func (s *server) turnLocked(to state, c *client) {
	if s.life == failed && to == stopped {
		return
	}
	s.life, s.client = to, c
	close(s.turned)
	s.turned = make(chan struct{})
}

// patience is how long is waited for servers, and how often they come back.
type patience struct {
	question time.Duration // for an answer
	start    time.Duration // for the answer to initialize
	editor   time.Duration // for an answer of the editor
	silence  time.Duration // for any sign of life from a server that owes an answer
	ending   time.Duration // for its end, when it was asked to or has closed its output
	look     time.Duration // between two looks at whether a server is silent, or idle

	crashes time.Duration // the time within which mostCrashes are too many
	first   time.Duration // before the first restart; doubled each time
	longest time.Duration // before any
}

var usual = patience{
	question: questionTime, editor: editorTime, start: startTime, silence: time.Minute, ending: time.Second, look: 15 * time.Second,
	crashes: 3 * time.Minute, first: 200 * time.Millisecond, longest: 10 * time.Second,
}

// pulse tells a server that is at work from one that hangs: which of them owes
// something, and has said nothing at all since. Zero is one that owes nothing.
type pulse struct {
	mu    sync.Mutex // guards all below
	since time.Time  // when it was asked first of what it owes; zero: it owes nothing
	asked bool       // it owes an answer to a question, not to a probe alone
}

// owe notes that the server was sent something that it has to answer.
func (p *pulse) owe(question bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		p.since = time.Now()
	}
	p.asked = p.asked || question
}

// beat notes that it said something.
func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.asked = time.Time{}, false
}

// silent is for how long it has owed something and not said a word. asked: it owes the
// answer to a question.
func (p *pulse) silent() (length time.Duration, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		return 0, false
	}
	return time.Since(p.since), p.asked
}

// quota keeps what a server has us write to the log from filling it. Zero is ready.
type quota struct {
	mu      sync.Mutex // guards all below
	began   time.Time
	written int
	left    int
}

const (
	mostLines = 50 // within linesTime
	linesTime = 10 * time.Second
)

// spend says if a line may be written now, and how many were left out before it.
func (b *quota) spend(now time.Time) (left int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.began) > linesTime {
		b.began, b.written = now, 0
	}
	if b.written == mostLines {
		b.left++
		return 0, false
	}
	b.written++
	left, b.left = b.left, 0
	return left, true
}

// logf writes to our log, under the server's name.
func (s *server) logf(format string, args ...any) {
	left, ok := s.log.spend(time.Now())
	if !ok {
		return
	}
	if left > 0 {
		s.bridge.o.Logf("%s: %d more lines were left out", s.spec.Name, left)
	}
	s.bridge.o.Logf(s.spec.Name+": "+format, args...)
}

// note keeps what a server says to people, in our log alone.
func (s *server) note(message string) { s.logf("%s", clip(message, 1000)) }

// capabilities is what we tell of ourselves, and nothing that is not so.
const capabilities = `{
"general":{"positionEncodings":["utf-16","utf-8","utf-32"]},
"workspace":{"configuration":true,"workspaceFolders":true,"didChangeConfiguration":{"dynamicRegistration":false},
 "didChangeWatchedFiles":{"dynamicRegistration":true,"relativePatternSupport":true},
 "symbol":{"symbolKind":{"valueSet":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]}},
 "workspaceEdit":{"documentChanges":true},"applyEdit":false},
"window":{"workDoneProgress":true,"showDocument":{"support":false}},
"textDocument":{
 "synchronization":{"dynamicRegistration":false,"didSave":true},
 "definition":{"dynamicRegistration":false,"linkSupport":true},
 "references":{"dynamicRegistration":false},
 "hover":{"dynamicRegistration":false,"contentFormat":["markdown","plaintext"]},
 "documentSymbol":{"dynamicRegistration":false,"hierarchicalDocumentSymbolSupport":true,
  "symbolKind":{"valueSet":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]}},
 "rename":{"dynamicRegistration":false,"prepareSupport":true},
 "codeAction":{"dynamicRegistration":false,"isPreferredSupport":true,"disabledSupport":true,"dataSupport":true,
  "resolveSupport":{"properties":["edit"]},
  "codeActionLiteralSupport":{"codeActionKind":{"valueSet":["","quickfix","refactor","refactor.extract","refactor.inline","refactor.rewrite","source","source.organizeImports","source.fixAll"]}}},
 "publishDiagnostics":{"relatedInformation":false,"versionSupport":true},
 "diagnostic":{"dynamicRegistration":true,"relatedDocumentSupport":false}}}`

// abilities are a server's capabilities, as far as we use them. protocol's type would
// refuse all of them for one that is not as LSP has it.
type abilities struct {
	PositionEncoding        encoding `json:"positionEncoding"`
	TextDocumentSync        syncing  `json:"textDocumentSync"`
	DefinitionProvider      ability  `json:"definitionProvider"`
	HoverProvider           ability  `json:"hoverProvider"`
	ReferencesProvider      ability  `json:"referencesProvider"`
	DocumentSymbolProvider  ability  `json:"documentSymbolProvider"`
	WorkspaceSymbolProvider ability  `json:"workspaceSymbolProvider"`
	RenameProvider          ability  `json:"renameProvider"`
	CodeActionProvider      ability  `json:"codeActionProvider"`
	DiagnosticProvider      ability  `json:"diagnosticProvider"`
}

// ability is a boolean, or an object of options.
type ability struct {
	offered bool
	options json.RawMessage
}

func (a *ability) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case 't':
		a.offered = true
	case '{':
		a.offered, a.options = true, append(json.RawMessage(nil), raw...)
	}
	return nil
}

// has looks for a boolean in the options.
func (a ability) has(name string) bool {
	var options map[string]json.RawMessage
	return json.Unmarshal(a.options, &options) == nil && string(options[name]) == "true"
}

// syncing is textDocumentSync: a number, or an object.
type syncing struct {
	Change protocol.TextDocumentSyncKind
	Save   bool
}

func (s *syncing) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		s.Save = true
		return json.Unmarshal(raw, &s.Change)
	}
	var options struct {
		Change protocol.TextDocumentSyncKind `json:"change"`
		Save   ability                       `json:"save"`
	}
	err := json.Unmarshal(raw, &options)
	s.Change, s.Save = options.Change, options.Save.offered
	return err
}

// text looks for a string in the options.
func (a ability) text(name string) (out string) {
	var options map[string]json.RawMessage
	if json.Unmarshal(a.options, &options) == nil {
		_ = json.Unmarshal(options[name], &out) //nolint:errcheck // then there is none
	}
	return out
}
