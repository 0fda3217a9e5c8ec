// Package lspbridge asks language servers: it starts them, keeps their documents as
// the snapshot has them, asks, and turns what they answer into the words of package
// language. New makes a Bridge, whose questions are the tools' interface Languages.
//
//	Bridge     which server, for which root: one server for each pair
//	server     whether its program runs: one goroutine, started on need
//	client     one life of the program: the connection, and the documents that are open
//	questions  questions.go, symbols.go, actions.go; decode.go reads the answers
//	reports    what servers said is wrong, and when (diagnostics.go)
//
// What servers are told has the types of go.lsp.dev/protocol. What they say has them only
// where servers keep to LSP: protocol takes "diagnostics": null for a clean file and an
// unknown kind of documentChange for edits, and refuses a whole message for one field that
// is otherwise (a code beyond int32, a Command among code actions, a capability).
//
// A question goes to the editor's own servers first (Options.Ask), and to ours if those
// say nothing, fail, take longer than 3 s or answer about another version; a setting turns
// that round. Before client.ask sends it, the server hears what changed on disk
// (Options.Settle), and then, as one step that no other question can come between, what
// the snapshot has and the server has not (sync.go). Positions are counted as the server
// counts only in encoding.go, and as LSP does everywhere else. Edits are refused if a file
// is not the one that the server read.
//
// Deliberately not here: starting programs (Options.Spawn does), changing files (what a
// server wants changed comes back as edits), and what a language is (package language).
package lspbridge

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Options are what a Bridge is put between. All but Ask and Settle must be there.
type Options struct {
	Documents *document.Store
	// Spawn starts a program. What it starts ends with the sidecar.
	Spawn func(Command) (Child, error)
	// LookPath finds a program by its name, never one inside the workspace.
	LookPath func(name string) (string, error)
	// Settings are what counts for a folder now.
	Settings func(folder workspace.Path) Settings
	// Ask asks the editor's own servers: method is "definition", "hover", "references",
	// "symbols" or "diagnostics", params LSP's. Nil: it offers none.
	Ask func(ctx context.Context, method string, params any, result *json.RawMessage) error
	// Report tells the user of a problem, Note of what could be better: of a server that
	// is missing.
	Report func(problem string)
	Note   func(remark string)
	// Logf is for whoever looks for a fault.
	Logf func(format string, args ...any)
	// GiveWay returns when nothing that somebody waits for goes through all folders: what
	// looks through them unasked calls it at each entry. At the latest when ctx ends.
	GiveWay func(ctx context.Context)
	// Settle waits until Changed was told all that happened so far. Nil: nobody knows.
	Settle func(ctx context.Context) error
}

// Command is a program to start, which is argv alone and no shell.
type Command struct {
	Args []string
	Dir  string
	Env  map[string]string // what is set beside the environment that commands get
}

// Child is a program that runs.
type Child struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser
	Stderr func() string   // the end of what it printed there
	Done   <-chan struct{} // closed when it has ended
	Err    func() error    // why it ended, once Done is closed; may be nil
	Kill   func()          // ends it, and all that it started
}

// Bridge asks language servers. It is safe for concurrent use.
type Bridge struct {
	o   Options
	ctx context.Context // ends with the bridge
	end context.CancelFunc

	patience patience

	running       sync.WaitGroup // the goroutines of servers
	entry         sync.Mutex     // guards shut; nothing else is locked within
	shut          bool           // nothing is added to running any more
	installations installations

	mu      sync.Mutex // guards all below
	servers map[serverKey]*server
	lately  map[workspace.Path]finding
	told    map[string]bool // problems that the user was told of once

	late atomic.Int32 // questions that the editor has not answered in time, nor since
}

// New makes a Bridge. Nothing is started before it is needed.
func New(o Options) *Bridge {
	b := &Bridge{o: o, patience: usual, servers: map[serverKey]*server{}, lately: map[workspace.Path]finding{}, told: map[string]bool{}}
	b.ctx, b.end = context.WithCancel(context.Background())
	return b
}

// Close ends every server, and waits until all have.
func (b *Bridge) Close() error {
	b.entry.Lock()
	b.shut = true
	b.entry.Unlock()
	b.end()
	b.running.Wait()
	return nil
}

// Opened notes that the editor opened p: its server is started, and knows p.
func (b *Bridge) Opened(p workspace.Path) {
	b.Prepare(b.o.Documents.Snapshot(warmLimit), []workspace.Path{p})
}

// warmLimit is the largest file that is read only so that a server is warm.
const warmLimit = 1 << 20

// work registers a goroutine, unless the bridge is closed.
func (b *Bridge) work() bool {
	b.entry.Lock()
	defer b.entry.Unlock()
	if !b.shut {
		b.running.Add(1)
	}
	return !b.shut
}

const (
	startTime    = time.Minute      // for a server to answer initialize
	questionTime = 10 * time.Second // for an answer
)

var nobody = language.Server{Status: language.NotInstalled}

// serverKey tells servers apart: one for each program and root.
type serverKey struct {
	name string
	root workspace.Path
}

// serverOf is the server for p, which need not run. Without one the error says why.
func (b *Bridge) serverOf(p workspace.Path) (*server, error) { return b.serverOfFile(target(p)) }

// serverOfFile is serverOf for a file by its own name, which no link leads to.
func (b *Bridge) serverOfFile(p workspace.Path) (*server, error) {
	return b.serverSpeaking(languageOf(p, b.bufferOf(p)), p)
}

// serverSpeaking is serverOfFile for a file whose language is known.
func (b *Bridge) serverSpeaking(lang string, p workspace.Path) (*server, error) {
	set := b.o.Settings(p.Top())
	if s := b.foundLately(p, lang, set.Servers); s != nil {
		return s, nil
	}
	spec, ok := b.serverFor(set, lang)
	if !ok {
		return nil, noServer(p, lang)
	}
	key := serverKey{spec.Name, rootOf(p, spec.RootMarkers)}
	adapted, err := b.adapt(spec, key.root)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return nil, errClosed
	}
	s := b.servers[key]
	if s == nil || !s.spec.same(adapted) {
		if s != nil {
			s.end()
			delete(b.servers, key)
		}
		b.makeRoomLocked()
		s = newServer(b, adapted, key.root)
		b.servers[key] = s
	}
	if len(b.lately) >= mostLately {
		clear(b.lately)
	}
	b.lately[p] = finding{s, lang, set.Servers, time.Now()}
	return s, nil
}

const (
	latelyTime  = 2 * time.Second // for which it holds which server a file has
	mostLately  = 256             // files of which that is kept
	mostServers = 16              // of a sidecar; another takes the place of the one that was not used for longest
)

// finding is which server a file has, and what that rests on.
type finding struct {
	server   *server
	language string
	set      []Server
	at       time.Time
}

// foundLately is the server of p if it was looked for just now, among the same. Where
// programs and roots are is looked up in many places.
func (b *Bridge) foundLately(p workspace.Path, lang string, set []Server) *server {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.lately[p]
	if f.server == nil || b.ctx.Err() != nil || f.language != lang || time.Since(f.at) > latelyTime || len(set) != len(f.set) || &set[0] != &f.set[0] {
		return nil
	}
	if b.servers[serverKey{f.server.spec.Name, f.server.root}] != f.server {
		return nil // another took its place
	}
	return f.server
}

// makeRoomLocked ends the server that nobody used for longest if there are too many:
// each folder with a marker of a project in it has its own.
func (b *Bridge) makeRoomLocked() {
	if len(b.servers) < mostServers {
		return
	}
	var oldest serverKey
	var when time.Time
	for key, s := range b.servers {
		if used := s.lastUsed(); oldest == (serverKey{}) || used.Before(when) {
			oldest, when = key, used
		}
	}
	b.servers[oldest].end()
	delete(b.servers, oldest)
}

// FoldersChanged ends the servers of folders that are not open any more.
func (b *Bridge) FoldersChanged() {
	roots := b.o.Documents.Workspace().Roots()
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, s := range b.servers {
		if !slices.Contains(roots, key.root.Top()) {
			s.end()
			delete(b.servers, key)
		}
	}
}

func (b *Bridge) bufferOf(p workspace.Path) *document.Buffer { return b.o.Documents.Buffer(p) }

// target is the file itself, so that one that is reached by a link is one document.
func target(p workspace.Path) workspace.Path {
	if real, err := p.Target(); err == nil {
		return real
	}
	return p
}

// rootOf is the innermost folder above p that holds one of the markers, else the
// workspace folder.
func rootOf(p workspace.Path, markers []string) workspace.Path {
	for dir := p; !dir.IsRoot(); {
		dir = dir.Dir()
		for _, m := range markers {
			if dir.Join(m).Exists() {
				return dir
			}
		}
	}
	return p.Top()
}

// languageOf is the language of a file, as its buffer, its name or its first line say.
func languageOf(p workspace.Path, b *document.Buffer) string {
	if b != nil {
		return language.Of(b.Language, p.Base(), b.Text)
	}
	if id := language.ByName(p.Base()); id != "" {
		return id
	}
	return language.Of("", p.Base(), beginning(p))
}

// languageIn is languageOf for what p leads to. A text that the snapshot has is not read
// again.
func languageIn(s *document.Snapshot, p workspace.Path) string {
	file, buffer := s.Real(p), s.Buffer(p)
	if known := s.Known(p); known != nil && buffer == nil {
		return language.Of("", file.Base(), known.Text)
	}
	return languageOf(file, buffer)
}

// beginning is the first bytes of a file, "" if they cannot be read.
func beginning(p workspace.Path) string {
	file, _, err := p.OpenFile()
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, language.ShebangBytes))
	return string(text)
}

// serverFor finds the server of a language: the first that is installed, else the
// first.
func (b *Bridge) serverFor(set Settings, lang string) (spec Server, ok bool) {
	for _, s := range set.Servers {
		if !slices.Contains(s.Languages, lang) {
			continue
		}
		if !ok {
			spec, ok = s, true
		}
		if b.installed(s) {
			return s, true
		}
	}
	return spec, ok
}

// lookTime is for how long it holds that a program is there, or is not.
const lookTime = 2 * time.Second

// installations is which programs were found, for a moment.
type installations struct {
	mu    sync.Mutex // guards found
	found map[string]installation
}

type installation struct {
	there bool
	until time.Time
}

// programOf is the file of a server that is installed.
func (b *Bridge) programOf(s Server) (string, error) {
	if len(s.Command) == 0 {
		return "", notInstalled(s)
	}
	program, err := b.o.LookPath(s.Command[0])
	if err != nil || s.Name == "typescript" && !isNativeTypeScript(program) {
		return "", notInstalled(s)
	}
	return program, nil
}

func (b *Bridge) installed(s Server) bool {
	if len(s.Command) == 0 || s.Held != "" {
		return false
	}
	name, now := s.Command[0], time.Now()
	b.installations.mu.Lock()
	defer b.installations.mu.Unlock()
	if l, ok := b.installations.found[name]; ok && now.Before(l.until) {
		return l.there
	}
	_, err := b.programOf(s)
	there := err == nil
	if b.installations.found == nil {
		b.installations.found = map[string]installation{}
	}
	b.installations.found[name] = installation{there, now.Add(lookTime)}
	return there
}
