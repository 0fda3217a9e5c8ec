// Package sidecar wires the parts that every way in shares: an editor (ForEditor), an
// agent without one (Alone), a person in a terminal or at a page (ForPerson). New makes a
// Sidecar of its Options and hands each part what it needs of the settings, which are
// looked at anew before every call. Also here: what becomes of changes on disk
// (tracking.go), of alarms and of the audit log. Deliberately not here: flags and what is
// printed (package cli), and whatever one part could do by itself.
package sidecar

import (
	"cmp"
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pillion/audit"
	"pillion/config"
	"pillion/conversation"
	"pillion/draft"
	"pillion/internal/state"
	"pillion/lspbridge"
	"pillion/rpc"
	"pillion/tools"
	_ "pillion/tools/all"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/tools/session/kept"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/git"
	"pillion/workspace/tracking"
	"pillion/workspace/watch"
)

// Options are what a sidecar is put between: the user, however they are asked, and the
// editor, if there is one.
type Options struct {
	Folders  []workspace.Folder
	Settings config.Settings
	Asker    approval.Asker
	Human    tools.Human
	Editor   change.Editor // nil: nothing is ever open
	// Passing: no rule is remembered beyond the session. What asks may be the agent's
	// own program, whose word must not outlive it.
	Passing bool

	// DraftOf says that the folders are a draft, and gives the state's folder of the sidecar whose it is.
	DraftOf string

	// Events is where the sidecar reports what happens by itself. Nil: it logs what a
	// person should know, and nobody follows the rest.
	Events rpc.Events
	// Languages asks the language servers that the editor runs. Nil: it offers none.
	Languages rpc.Languages
}

// Sidecar is the parts that every way in shares, wired together.
type Sidecar struct {
	workspace *workspace.Workspace
	documents *document.Store
	Registry  *tools.Registry
	Sessions  *session.Set
	// Conversations are those with agents that come by a gateway.
	Conversations *conversation.Set
	runner        *process.Runner
	held          *process.Held
	processes     *process.Table
	watcher       *watch.Watcher
	tree          *watch.Tree
	tracker       *tracking.Tracker // nil: nobody is told of changes
	degraded      degraded
	indexing      func(rpc.Index) // nil: nobody is to know
	audit         *audit.Log
	auditing      atomic.Value // string: what is kept of a call
	alarms        alarms
	thrift        thrift
	events        rpc.Events
	settings      *liveSettings
	journal       *change.Journal
	languages     *lspbridge.Bridge
	toolsChanged  atomic.Pointer[func()] // nil: nobody is to know
	recovered     []string               // what became of sets that were interrupted, until the user can be told
	alsoGuarded   alsoGuarded
	atOnce        time.Time // until then whoever asks at once is not disturbed: see giveWay

	drafts  *draft.Set // nil: there are none
	draftOf string     // see Options

	unkeep func() // saves the sessions, and keeps no more

	following sync.Mutex // guards unfollow
	unfollow  func()     // ends the watching of settings
}

// New opens the folders and wires the parts; nothing is watched yet, see Announce.
func New(o Options) (*Sidecar, error) {
	alone := o.Events == nil
	if alone {
		o.Events = Logged{}
	}
	if dir, err := state.Folder(""); err == nil {
		if err := state.Check(dir); err != nil {
			return nil, err
		}
	}
	w, err := workspace.Open(o.Folders...)
	if err != nil {
		return nil, err
	}
	runner, err := process.NewRunner()
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	journal, err := OpenJournal(o.Settings.Journal)
	if err != nil {
		return nil, errors.Join(err, runner.Close(), w.Close())
	}
	c := &Sidecar{
		workspace: w,
		documents: document.NewStore(w),
		Sessions:  session.NewSet(policy.Default),

		Conversations: &conversation.Set{},

		runner:    runner,
		held:      &process.Held{},
		processes: process.NewTable(runner),
		watcher:   &watch.Watcher{},
		settings:  newLiveSettings(o.Settings, o.Events, alone),
		journal:   journal,
		events:    o.Events,
		atOnce:    time.Now().Add(atOnce),
		unkeep:    func() {},
		draftOf:   o.DraftOf,
	}
	makeSettingsFolder()
	c.tree = c.newTree()
	c.audit = newAudit()
	c.Registry = &tools.Registry{
		Documents: c.documents,
		Committer: &change.Committer{Documents: c.documents, Editor: o.Editor, Journal: journal, Locks: change.Locks{Dir: LocksFolder()}},
		Processes: c.processes,
		Human:     o.Human,
		Settings:  c.now,
		Audit:     c.audited,
		Watch:     c.watcher.Folders,
		Files:     c.newFiles(),
		Found:     c.newFound(),

		Guarded:    c.guarded,
		SearchPath: searchPath(),
		LookPath:   c.lookPath,
		GitStarter: c.held,

		IsDraft: o.DraftOf != "",
	}
	c.Registry.Committer.Git = c.Registry.Git()
	c.Registry.Committer.Observer = &change.Observer{List: c.Registry.Files.List, Told: c.Registry.Files.Told}
	journal.Tell = o.Events.Problem
	if !alone {
		c.Registry.Activity, journal.Changed = o.Events.Activity, o.Events.Journal
	}
	if !o.Passing {
		c.Registry.Remember = c.remember
	}
	c.now()
	c.Registry.Approvals = approval.NewQueue(o.Asker, c.settings.view.Settings.Approvals.Expiry())
	c.follow()
	c.languages = c.newLanguages(o.Languages)
	c.Registry.Languages = c.languages
	c.Registry.Agents = c.subAgents()
	c.tree.Follow(c.languages.Changed)
	if o.Editor != nil && o.DraftOf == "" {
		c.openDrafts(false)
		c.tree.Follow(func([]watch.Event) { c.drafts.Moved() })
	}
	if !o.Passing { // else what asks may be the agent's own program, and its word must not last
		if store, err := kept.Open(c.Roots, logf); err != nil {
			c.events.Remark("sessions are not kept: " + err.Error())
		} else {
			c.unkeep = c.Sessions.Keep(store)
		}
	}
	c.recovered = c.Registry.Committer.Recover(context.Background())
	if alone {
		c.reportRecovered()
	}
	return c, nil
}

func (c *Sidecar) openDrafts(look bool) {
	c.drafts = draft.Open(draft.Options{
		Roots: c.Roots, Walls: c.runner.Walls, Settings: c.sent, Repositories: git.Repositories, Ignored: c.ignored, Settle: c.tree.Settle, Unsaved: c.unsaved,
		MaxBytes: c.draftBytes, Changed: c.events.DraftChanged, Look: look, Logf: logf,
	})
	c.Registry.Drafts = c.drafts
}

// ignored says of a folder of the workspace that git ignores it.
func (c *Sidecar) ignored(dir string) bool {
	at, inside := c.workspace.Place(dir)
	return inside && at.IsIgnored(true)
}

// Draft is one of a folder's.
type Draft struct {
	Owner *session.Session
	Free  bool // no other program works on it
}

// LookIntoDrafts gives the drafts of the folders, for a person without an editor.
func (c *Sidecar) LookIntoDrafts() []Draft {
	c.openDrafts(true)
	var out []Draft
	for _, id := range slices.Sorted(slices.Values(c.drafts.Sessions())) {
		kept, _ := c.drafts.Of(id)
		out = append(out, Draft{session.New(id, session.Agent{Name: kept.Agent, Via: "draft"}, policy.Draft), !c.drafts.Busy(id)})
	}
	return out
}

// unsaved are texts that the user has not saved, as they would be on disk.
func (c *Sidecar) unsaved() map[string][]byte {
	out := map[string][]byte{}
	snapshot := c.documents.Snapshot(tools.DefaultLimits.ReadBytes)
	for _, b := range snapshot.Dirty() {
		if f, err := snapshot.Read(b.Path, ""); err == nil {
			if data, err := f.Encode(); err == nil {
				out[b.Path.Abs()] = data
			}
		}
	}
	return out
}

// reportRecovered says once what was found interrupted.
func (c *Sidecar) reportRecovered() {
	for _, what := range c.recovered {
		c.events.Problem(what)
	}
	c.recovered = nil
}

// searchPath is the PATH that commands get, also by the folders' real names.
func searchPath() []string {
	var out []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		out = append(out, dir)
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			out = append(out, real)
		}
	}
	return out
}

func (c *Sidecar) Roots() []string {
	var out []string
	for _, p := range c.workspace.Roots() {
		out = append(out, p.Abs())
	}
	return out
}

// Close ends everything that the sidecar started.
func (c *Sidecar) Close() error {
	c.alarms.stop()
	if c.drafts != nil {
		c.drafts.Close()
	}
	c.unkeep()
	c.following.Lock()
	c.unfollow()
	c.following.Unlock()
	if c.tracker != nil {
		defer c.tracker.Close()
	}
	c.Registry.Found.Close()
	c.Registry.Files.Close()
	return errors.Join(c.languages.Close(), c.runner.Close(), c.held.Close(), c.journal.Store.Close(), c.watcher.Close(), c.workspace.Close(), c.audit.Close())
}

// sandbox is how commands are confined. They never see the registry: with what
// is in it a program can call tools as an agent.
func sandbox(s config.Settings, runner *process.Runner, draftOf string) tools.Sandbox {
	home, _ := os.UserHomeDir() //nolint:errcheck // without a home no folder begins with ~
	out := tools.Sandbox{
		Mode:       cmp.Or(tools.SandboxMode(s.Sandbox), tools.SandboxPrefer),
		Walls:      runner.Walls,
		Writable:   config.Folders(s.SandboxWritable, home),
		Network:    cmp.Or(tools.Network(s.SandboxNetwork), tools.NetworkHosts),
		NetworkFor: s.NetworkRules(),
		Hosts:      policy.Hosts(s.Rules()), PrivateHosts: s.Web.PrivateHosts,
	}
	out.Box = func(b process.Box) (process.Confine, bool) {
		if draftOf == "" && !b.Writes && s.Commands.ReadOnly != nil && !*s.Commands.ReadOnly {
			return process.Confine{}, false
		}
		b.Home = config.Folders(s.Box.Home, home)
		return runner.Box(b)
	}
	out.Layers = runner.NewLayers
	// What files held before they were changed is no command's business either, nor the
	// audit log, the locks (who holds one holds up everybody's calls) and what is kept of
	// sessions: with the key of one a program could be its agent.
	for _, name := range []string{"relay", "journal", "audit", "locks", "sessions", "drafts"} {
		if dir, err := state.Folder(name); err == nil {
			out.Hidden = append(out.Hidden, process.Resolve(dir))
		}
		if draftOf != "" {
			out.Hidden = append(out.Hidden, process.Resolve(filepath.Join(draftOf, name)))
		}
	}
	return out
}

// limits puts what is set in place of the contract's defaults.
func limits(s config.Settings) tools.Limits {
	l, set := tools.DefaultLimits, s.Limits
	if megabytes := s.Search.IndexMegabytes; megabytes != nil {
		l.IndexBytes = int64(*megabytes * (1 << 20))
	}
	for _, size := range []struct {
		set  int64
		into *int64
	}{
		{set.ReadBytes, &l.ReadBytes},
		{set.WriteBytes, &l.WriteBytes},
		{set.DiffBytes, &l.DiffBytes},
		{set.OutputBytes, &l.OutputBytes},
	} {
		if size.set > 0 {
			*size.into = size.set
		}
	}
	if set.CallSeconds > 0 {
		l.CallTime = set.Call()
	}
	if set.CommandSeconds > 0 {
		l.CommandTime = min(set.Command(), l.CommandMax)
	}
	l.CleanPatches = set.Patches == config.CleanPatches
	if set.Preset == config.CodeLab {
		l = tools.CodeLab(l)
	}
	return l
}

// logf writes to stderr, which editors show in their log of the sidecar; stdout
// carries frames and nothing else.
func logf(format string, args ...any) { log.Printf(format, args...) }
