package sidecar

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pillion/agents/acp"
	"pillion/config"
	"pillion/internal/fault"
	"pillion/lspbridge"
	"pillion/rpc"
	"pillion/tools"
	"pillion/tools/found"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/tools/skills"
	"pillion/workspace"
)

// liveSettings are what the settings come to now, and who is reported when that changes.
type liveSettings struct {
	layers *config.Layers
	events rpc.Events

	mu       sync.Mutex // guards all below, and the order in which views are taken over
	view     *config.View
	settings tools.Settings
	revision int
	reported map[string]bool   // problems, each once as long as it is there
	asked    map[string]string // the files that the user was reported of, and the hash
	open     bool              // somebody can be reported

	unknown     []string                      // problems with what settings name, and with where tools are found
	languages   map[string]lspbridge.Settings // by the folder, as languagesIn has it
	languagesIn *config.View
}

// newLiveSettings begins with the user's own. open: projects that are not trusted are
// reported at once, for nobody says later that they can be.
func newLiveSettings(own config.Settings, events rpc.Events, open bool) *liveSettings {
	out := &liveSettings{events: events, reported: map[string]bool{}, asked: map[string]string{}, open: open}
	consent, err := config.OpenConsent()
	if err != nil {
		events.Problem(err.Error())
		consent = nil
	}
	out.layers = config.NewLayers(own, consent)
	return out
}

// now looks at the settings on disk. Nothing else makes them right: a watcher only
// has this called sooner.
func (c *Sidecar) now() tools.Settings {
	c.thrift.called()
	s := c.settings
	s.mu.Lock()
	defer s.mu.Unlock()
	view := s.layers.Look(c.workspace.Roots())
	if view == s.view {
		return s.settings
	}
	s.view = view
	s.revision++
	s.settings = tools.Settings{Rules: view.Settings.Rules(), Folders: map[string]policy.Rules{}, Limits: limits(view.Settings), Revision: s.revision}
	s.settings.PrivateHosts = view.Settings.Web.PrivateHosts
	s.settings.Search = webSearch(view.Settings.Web.Search)
	s.settings.Skills = ownSkills(view.Settings)
	s.settings.Runners = runners(view.Settings.Task.Runners)
	sources, problems := foundSources(view, c.workspace.Roots())
	c.Registry.Found.Configure(sources)
	s.settings.Allowed, s.unknown = allowed(view.Settings.Agents, slices.ContainsFunc(sources, func(one found.Source) bool { return one.Alias == "" }))
	s.unknown = append(s.unknown, problems...)
	var err error
	if s.settings.Memory, err = OpenMemory(c.workspace, view.Settings); err != nil {
		s.unknown = append(s.unknown, fmt.Sprintf("the file of memory.file cannot be used, so memories go into the project: %v", err))
	}
	s.settings.Sandbox = sandbox(view.Settings, c.runner, c.draftOf)
	keep(c.journal, view.Settings.Journal)
	for _, f := range view.Folders {
		s.settings.Folders[f.Root] = f.Rules
	}
	c.auditing.Store(cmp.Or(view.Settings.Audit, "full"))
	c.alarms.does.Store(cmp.Or(view.Settings.Unusual, "tell"))
	c.Sessions.SetDefaults(modeAndRate(view.Settings))
	c.alsoGuarded.renew()
	s.notify()
	c.documents.Touched() // what waits for an answer is judged anew
	return s.settings
}

// OpenMemory is where agents' memories go; the zero Path is the project's own file.
func OpenMemory(w *workspace.Workspace, set config.Settings) (workspace.Path, error) {
	home, _ := os.UserHomeDir() //nolint:errcheck // without a home no file begins with ~
	file, err := set.MemoryFile(home)
	if err != nil || file == "" {
		return workspace.Path{}, err
	}
	return w.Apart(file)
}

// allowed are the lists of tools that are on, and what is wrong with them: nothing with a name
// that is unknown where tools with any name may be found.
func allowed(agents config.Agents, anyName bool) (out []tools.Allowed, problems []string) {
	for _, a := range agents {
		chosen, unknown := tools.Choose(a.Tools)
		out = append(out, tools.Allowed{Agent: a.Name, Tools: chosen, Where: a.Key()})
		for _, name := range unknown {
			if anyName {
				break
			}
			problems = append(problems, fmt.Sprintf("unknown tool %q in %s is ignored; `pillion tools` lists them", name, fault.Quote(a.Key())))
		}
	}
	return out, problems
}

// structured says that the user wants the structure of results in every agent.
func (c *Sidecar) structured() bool {
	c.settings.mu.Lock()
	defer c.settings.mu.Unlock()
	return c.settings.view.Settings.MCP.Structured
}

// text are the settings in force as JSON: yours, and what counts of projects.
func (s *liveSettings) text() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []config.Settings{s.view.Own}
	for _, f := range s.view.Folders {
		all = append(all, f.Counts)
	}
	out, _ := json.Marshal(all) //nolint:errcheck // they were read from JSON
	return out
}

// Rules is rules/changed.
type Rules struct {
	Rules []config.ListedRule `json:"rules"`
	// Untrusted are the projects whose looser settings do not count, ignored ones too.
	Untrusted []rpc.Untrusted `json:"untrusted"`
}

// notify needs the lock. Whoever is reported must not block.
func (s *liveSettings) notify() {
	asks, reported, listed := map[string]string{}, s.reported, Rules{s.view.List(), []rpc.Untrusted{}}
	s.reported = map[string]bool{}
	report := func(problems []string) {
		for _, p := range problems {
			if s.reported[p] = true; !reported[p] {
				s.events.Problem(p)
			}
		}
	}
	report(s.unknown)
	for _, f := range s.view.Folders {
		report(f.Problems)
		untrusted := rpc.Untrusted{Path: f.File, Hash: f.Hash, Rules: f.Loosens, Problems: f.Ineffective}
		if f.Untrusted() {
			listed.Untrusted = append(listed.Untrusted, untrusted)
		}
		if f.Asks() {
			asks[f.File] = f.Hash
		}
		if s.open && f.Asks() && s.asked[f.File] != f.Hash {
			s.asked[f.File] = f.Hash
			s.events.Untrusted(untrusted)
		}
	}
	if s.open {
		s.events.Rules(listed)
	}
	for file, hash := range s.asked {
		if asks[file] == "" {
			delete(s.asked, file)
			s.events.Untrusted(rpc.Untrusted{Path: file, Hash: hash})
		}
	}
}

// sent are the user's own settings, as an editor sends them.
func (c *Sidecar) sent() json.RawMessage {
	c.settings.mu.Lock()
	defer c.settings.mu.Unlock()
	out, _ := json.Marshal(c.settings.view.Own) //nolint:errcheck // they were read from JSON
	return out
}

// draftBytes is how large a draft may be.
func (c *Sidecar) draftBytes() int64 {
	return cmp.Or(c.ownSettings().Drafts.MaxBytes, 2<<30)
}

// Announce begins to tell of files that are not trusted, and to watch all folders:
// the editor is ready.
func (c *Sidecar) Announce() {
	c.settings.mu.Lock()
	c.settings.open, c.settings.view = true, nil
	c.settings.mu.Unlock()
	c.now()
	c.reportRecovered()
	c.tree.Start()
	c.languages.FoldersChanged()
	c.languages.TellMissing()
}

// configure takes other settings of the user's own.
func (c *Sidecar) configure(own config.Settings) {
	c.settings.layers.SetOwn(own)
	c.now()
	if c.drafts != nil {
		c.drafts.Configured()
	}
}

// trust has exactly the text of that hash trusted, if the file holds it now.
func (c *Sidecar) trust(path, hash string) error {
	defer c.now()
	return c.settings.layers.Trust(c.workspace.Roots(), path, hash)
}

// ignore has nobody asked about it.
func (c *Sidecar) ignore(path, hash string) error {
	defer c.now()
	return c.settings.layers.Ignore(c.workspace.Roots(), path, hash)
}

// forget drops a rule that was remembered for a folder. A call that waits is judged again.
func (c *Sidecar) forget(folder, rule string) error {
	defer c.now()
	return c.settings.layers.Forget(c.workspace.Roots(), folder, rule)
}

// remember keeps a rule for a folder; where it cannot be kept, the user hears of it.
func (c *Sidecar) remember(root string, rule policy.Rule) error {
	err := c.settings.layers.Remember(root, rule)
	if err != nil {
		c.settings.events.Problem("the rule " + rule.String() + " applies only to this session, because it could not be saved: " + err.Error())
	}
	return err
}

// follow looks at the settings whenever a file that they come from may have changed,
// in the folders that are open now.
func (c *Sidecar) follow() {
	c.following.Lock()
	defer c.following.Unlock()
	if c.unfollow != nil {
		c.unfollow()
	}
	signal := make(chan struct{}, 1)
	var dirs []string
	for _, root := range c.workspace.Roots() {
		dirs = append(dirs, root.Join(config.ProjectFolder).Abs())
	}
	if consent, err := config.OpenConsent(); err == nil {
		dirs = append(dirs, consent.Dir())
	}
	stop := c.watcher.Folders(signal, dirs)
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case <-signal:
				c.now()
			case <-ended:
				return
			}
		}
	}()
	c.unfollow = func() {
		stop()
		close(ended)
	}
}

// foldersChanged has the settings of other folders hold, and those folders watched.
func (c *Sidecar) foldersChanged() {
	c.follow()
	c.now()
	c.tree.Rescan()
	c.languages.FoldersChanged()
	c.languages.TellMissing()
}

func modeAndRate(s config.Settings) (policy.Mode, session.Limits) {
	mode := s.Mode
	if mode == "" {
		mode = policy.Default
	}
	rate := session.DefaultLimits
	if s.Limits.ChangesAMinute > 0 {
		rate.Changes = s.Limits.ChangesAMinute
	}
	if s.Limits.ReadsAMinute > 0 {
		rate.Reads = s.Limits.ReadsAMinute
	}
	if s.Limits.Preset == config.CodeLab {
		rate.All = tools.CodeLabRate
	}
	return mode, rate
}

// ownSkills reads the user's own skills, which no project has.
func ownSkills(set config.Settings) func(only string) []skills.Skill {
	home, _ := os.UserHomeDir() //nolint:errcheck // without a home no folder begins with ~
	folders := set.OwnSkills(home)
	return func(only string) []skills.Skill {
		var out []skills.Skill
		for _, dir := range folders {
			out = append(out, skills.Outside(fromHome(home, dir), dir, only)...)
		}
		return out
	}
}

// fromHome is a folder as people write it.
func fromHome(home, dir string) string {
	if rest, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok && home != "" {
		return path.Join("~", filepath.ToSlash(rest))
	}
	return dir
}

// runners are the sub-agents that are set.
func runners(set config.Runners) map[string]tools.Runner {
	home, _ := os.UserHomeDir() //nolint:errcheck // without a home no folder begins with ~
	out := map[string]tools.Runner{}
	for name, r := range set {
		made := tools.Runner{Args: r.Command, Env: r.Env, Inherit: r.InheritEnv, WritesItself: r.WritesItself, Mode: r.Mode, Timeout: r.Timeout()}
		made.Writable = config.Folders(r.Writable, home)
		if len(r.ACP) > 0 {
			made.Args, made.ACP = r.ACP, true
		}
		out[name] = made
	}
	return out
}

// subAgents runs those that speak ACP.
func (c *Sidecar) subAgents() *acp.Host {
	return &acp.Host{Registry: c.Registry, Sessions: c.Sessions, Start: c.runner.Start, Relative: c.relative}
}

// relative is a path of the workspace as tools print it, any other as it is.
func (c *Sidecar) relative(path string) string {
	if at, inside := c.workspace.Place(path); inside {
		return at.String()
	}
	return path
}
