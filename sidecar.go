package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"pillion/agents/relay"
	"pillion/audit"
	"pillion/config"
	"pillion/lspbridge"
	"pillion/rpc"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/tracking"
	"pillion/workspace/watch"
)

// surroundings are what a sidecar is put between: the human, however they are
// asked, and the editor, if there is one.
type surroundings struct {
	folders  []workspace.Folder
	settings config.Settings
	asker    approval.Asker
	human    tools.Human
	editor   change.Editor // nil: nothing is ever open
	activity func(tools.Activity)
	// passing: no rule is remembered beyond the session. What asks may be the agent's
	// own program, whose word must not outlive it.
	passing bool

	// How the human hears of what is wrong with the settings, and of a project that asks
	// for more than they trust. Nil: by the log.
	report    func(problem string)
	note      func(remark string) // what is no problem; nil: by the log
	untrusted func(u untrusted)
	// languages asks the language servers that the editor runs. Nil: it offers none.
	languages rpc.Languages
	// journal hears of each change set that was made or put back. Nil: nobody does.
	journal func(change.JournalChanged)
}

// sidecar is the parts that every way in shares, wired together.
type sidecar struct {
	workspace *workspace.Workspace
	documents *document.Store
	registry  *tools.Registry
	sessions  *session.Set
	runner    *process.Runner
	processes *process.Table
	watcher   *watch.Watcher
	tree      *watch.Tree
	tracker   *tracking.Tracker // nil: nobody is told of changes
	degraded  degraded
	audit     *audit.Log
	auditing  atomic.Value // string: what is kept of a call
	alarms    alarms
	standing  *standing
	journal   *change.Journal
	languages *lspbridge.Bridge
	repaired  []string  // what became of sets that were interrupted, until the human can be told
	atOnce    time.Time // until then whoever asks at once is not disturbed: see giveWay

	following sync.Mutex // guards unfollow
	unfollow  func()     // ends the watching of settings
}

func newSidecar(s surroundings) (*sidecar, error) {
	w, err := workspace.Open(s.folders...)
	if err != nil {
		return nil, err
	}
	runner, err := process.NewRunner()
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	kept, err := newJournal()
	if err != nil {
		return nil, errors.Join(err, runner.Close(), w.Close())
	}
	c := &sidecar{
		workspace: w,
		documents: document.NewStore(w),
		sessions:  session.NewSet(policy.Default),
		runner:    runner,
		processes: process.NewTable(runner),
		watcher:   &watch.Watcher{},
		standing:  newStanding(s.settings, s),
		journal:   kept,
		atOnce:    time.Now().Add(atOnce),
	}
	c.tree = c.newTree()
	c.audit = newAudit()
	c.registry = &tools.Registry{
		Documents: c.documents,
		Committer: &change.Committer{Documents: c.documents, Editor: s.editor, Journal: kept, Locks: change.Locks{Dir: locksFolder()}},
		Processes: c.processes,
		Human:     s.human,
		Settings:  c.now,
		Activity:  s.activity,
		Audit:     c.audited,
		Watch:     c.watcher.Folders,
		Files:     c.newFiles(),
		Git:       c.newGitCache(),

		SearchPath: searchPath(),
		LookPath:   c.lookPath,
	}
	kept.Changed, kept.Tell = s.journal, c.standing.report
	if !s.passing {
		c.registry.Remember = c.remember
	}
	c.now()
	c.registry.Approvals = approval.NewQueue(s.asker, c.standing.view.Settings.Approvals.Expiry())
	c.follow()
	c.languages = c.newLanguages(s.languages, s.note)
	c.registry.Languages = c.languages
	c.tree.Follow(c.languages.Changed)
	c.repaired = c.registry.Committer.Recover(context.Background())
	if s.report == nil {
		c.tellRepaired()
	}
	return c, nil
}

// tellRepaired says once what was found interrupted.
func (c *sidecar) tellRepaired() {
	for _, what := range c.repaired {
		c.standing.report(what)
	}
	c.repaired = nil
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

func (c *sidecar) roots() []string {
	var out []string
	for _, p := range c.workspace.Roots() {
		out = append(out, p.Abs())
	}
	return out
}

// Close ends everything that the sidecar started.
func (c *sidecar) Close() error {
	c.alarms.end()
	c.following.Lock()
	c.unfollow()
	c.following.Unlock()
	if c.tracker != nil {
		defer c.tracker.Close()
	}
	return errors.Join(c.languages.Close(), c.runner.Close(), c.journal.Store.Close(), c.watcher.Close(), c.workspace.Close(), c.audit.Close())
}

// sandbox is how commands are to be held. They never see the registry: with what
// is in it a program can call tools as an agent.
func sandbox(s config.Settings, runner *process.Runner) tools.Sandbox {
	home, _ := os.UserHomeDir() //nolint:errcheck // without a home no folder begins with ~
	out := tools.Sandbox{
		Mode:       cmp.Or(tools.SandboxMode(s.Sandbox), tools.SandboxPrefer),
		Walls:      runner.Walls,
		Writable:   s.WritableFolders(home),
		Offline:    s.SandboxNetwork == "off",
		NetworkFor: s.NetworkRules(),
	}
	if registry, err := relay.Folder(); err == nil {
		out.Hidden = append(out.Hidden, process.Resolve(registry))
	}
	// What files held before they were changed is no command's business either, nor the
	// audit log and the locks: who holds a lock there holds up everybody's calls.
	for _, folder := range []func() (string, error){journalFolder, auditFolder, besideJournal("locks")} {
		if dir, err := folder(); err == nil {
			out.Hidden = append(out.Hidden, process.Resolve(dir))
		}
	}
	return out
}

// limits puts what is set in place of the contract's defaults.
func limits(set config.Limits) tools.Limits {
	l := tools.DefaultLimits
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

// settingsFrom lays the editor's settings over the user's own.
func settingsFrom(raw json.RawMessage) (config.Settings, []string) {
	user, problems := config.ReadUser()
	editor, more := config.Parse(raw)
	return editor.Over(user), append(problems, more...)
}

// logf writes to stderr, which editors show in their log of the sidecar; stdout
// carries frames and nothing else.
func logf(format string, args ...any) { log.Printf(format, args...) }

func init() {
	log.SetPrefix("pillion: ")
	log.SetFlags(log.Ltime)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "pillion:", err)
	return 1
}
