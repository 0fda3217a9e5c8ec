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
