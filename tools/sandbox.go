package tools

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/git"
)

// Sandbox is how commands are to be held, as the settings say now.
type Sandbox struct {
	Mode       SandboxMode
	Walls      func() process.Walls // what works here; it may try for a moment
	Writable   []string             // folders beside the workspace that commands may write
	Hidden     []string             // folders that they must not see
	Network    Network
	NetworkFor []policy.Rule // commands that get a network all the same
	// Hosts can be reached by every command, as policy.Hosts has them, and PrivateHosts as
	// process.Confine has them.
	Hosts, PrivateHosts []string
	// Box is where commands run that nobody is asked about: that only look or, with layers over the folders, others.
	// It reports false where they ask. Nil: all do.
	Box func(process.Box) (process.Confine, bool)
	// Layers makes these, as process.Runner does.
	Layers func(folders []string) (layers []process.Layer, remove func(), ok bool)
}

// SandboxMode says what happens where no sandbox works.
type SandboxMode string

// The modes of the sandbox. The zero value is SandboxOff.
const (
	SandboxRequire SandboxMode = "require" // then nothing runs
	SandboxPrefer  SandboxMode = "prefer"  // then commands run without one
	SandboxOff     SandboxMode = "off"     // there is none
)

// Hold is the sandbox by itself: the workspace can be written, without what is
// protected in it.
func (s Sandbox) Hold(in Input, offline bool) (process.Confine, error) {
	walls := s.Walls()
	if err := s.missing(walls, offline); err != nil || walls.Level == process.None {
		return process.Confine{Level: process.None}, err
	}
	held := process.Confine{Level: walls.Level, Session: in.Session.ID(), Hidden: s.Hidden, Offline: offline && walls.Offline}
	for _, dir := range s.Writable {
		held.Writable = append(held.Writable, process.Resolve(dir))
	}
	for _, root := range in.Snapshot.Workspace().Roots() {
		held.Writable = append(held.Writable, root.Abs()) // a link that stands there now is a command's
		held.ReadOnly = append(held.ReadOnly, in.protected(root)...)
	}
	named := held.Writable[:len(s.Writable)] // the user has opened these
	held.ReadOnly = slices.DeleteFunc(held.ReadOnly, func(path string) bool { return slices.Contains(named, path) })
	return held, nil
}

// mostProtected is how many protected paths are closed to a command. Each is a mount:
// of a thousand the start of every command takes seconds, and bubblewrap takes no
// more than three thousand.
const mostProtected = 256

// Shallowest are protected paths, without those that lie deepest where they are too many.
func Shallowest(paths []string) []string {
	if len(paths) <= mostProtected {
		return paths
	}
	sorted := slices.Clone(paths)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return cmp.Compare(strings.Count(a, string(filepath.Separator)), strings.Count(b, string(filepath.Separator)))
	})
	return sorted[:mostProtected]
}

// missing is why a command does not run at all where a sandbox is required.
func (s Sandbox) missing(walls process.Walls, offline bool) error {
	switch {
	case s.Mode != SandboxRequire:
	case walls.Level == process.None:
		return fault.New(fault.PolicyDenied, "the settings require a sandbox for commands, and none works here: bubblewrap: %s; Landlock: %s",
			walls.Bubblewrap.Why, walls.Landlock.Why).
			WithHint("ask the user to install bubblewrap (Debian, Fedora, Arch: the package bubblewrap), to run pillion doctor, or to set sandbox to prefer")
	case offline && !walls.Offline:
		return fault.New(fault.PolicyDenied, "the settings require a sandbox that blocks the network, and %s cannot block the network here", walls.Level).
			WithHint("ask the user to install bubblewrap, or to set sandboxNetwork to on")
	}
	return nil
}

// LetGitWork opens the repositories in which git works, as far as a commit, a fetch or a
// merge needs them: what would make the user's next git run programs stays closed, and is
// not made either.
func LetGitWork(held *process.Confine, dir string) {
	for _, folder := range git.Repositories(dir) {
		if slices.ContainsFunc(held.Staged, func(s process.Staged) bool { return s.Dir == folder }) {
			continue // of another open folder
		}
		info, ok := git.ObjectsInfo(folder)
		if !ok {
			continue // it stays closed
		}
		held.Writable = append(held.Writable, folder)
		held.ReadOnly = slices.DeleteFunc(held.ReadOnly, func(path string) bool { return path == folder })
		if info != "" { // first, since it is in an open folder of the other
			held.Staged = append(held.Staged, process.Staged{Dir: info, Files: git.WritableInfo, Forgotten: git.ForgottenInfo})
		}
		held.Staged = append(held.Staged, process.Staged{
			Dir: folder, Files: git.WritableFiles, Trees: git.ReferenceFolders, Folders: git.StateFolders,
			Forgotten: git.ForgottenFolders, Open: git.OpenFolders, Closed: git.ClosedFolders,
		})
	}
}

// protectedPaths finds what in the workspace no command may write. Of what lies
// deeper than a folder's own entries it knows what the last look showed; each use
// starts the next look.
type protectedPaths struct {
	mu    sync.Mutex // guards below
	below map[workspace.Path]*deeper
}

// deeper are the protected paths below one folder, without its own entries.
type deeper struct {
	paths   []string // outside of what git ignores
	ignored []string // repositories in what git ignores
	looked  time.Time
	looking bool
}

// A look goes through so many entries. The first one, for which a command waits, ends after
// lookTime as well: that is for a slow disk, and long enough that on a busy machine nothing
// stays open that is closed on a quiet one. What git ignores is much, and changes little:
// it is looked at again after ignoredTime.
const (
	lookEntries = 100_000
	lookTime    = 10 * time.Second
	ignoredTime = time.Minute
)

// in gives the protected paths of a workspace folder that are there. A folder that cannot be listed is one, whatever is in it.
func (p *protectedPaths) in(root workspace.Path) []string {
	var out []string
	entries, err := root.ReadDir()
	if err != nil { // whoever owns it can open it again
		return []string{root.Abs()}
	}
	top := git.Top(root.RootDir())
	for _, e := range entries {
		if policy.EffectAt(root.RootDir(), top, e.Name()) != "" {
			out = append(out, root.Join(e.Name()).Abs())
		}
	}
	return append(out, p.deeper(root)...)
}

func (p *protectedPaths) deeper(root workspace.Path) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.below[root]
	if known == nil {
		known = &deeper{looked: time.Now()}
		if p.below == nil {
			p.below = map[workspace.Path]*deeper{}
		}
		p.below[root] = known
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		defer cancel()
		known.paths, known.ignored = scanDeeper(ctx, root), scanIgnored(ctx, root)
	} else if !known.looking {
		known.looking = true
		go p.scan(root, known, time.Since(known.looked) > ignoredTime)
	}
	return slices.Concat(known.paths, known.ignored)
}

func (p *protectedPaths) scan(root workspace.Path, known *deeper, ignored bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	paths := scanDeeper(ctx, root)
	var others []string
	if ignored {
		others = scanIgnored(ctx, root)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known.paths, known.looking = paths, false
	if ignored {
		known.ignored, known.looked = others, time.Now()
	}
}

func scanDeeper(ctx context.Context, root workspace.Path) []string {
	top := git.Top(root.RootDir())
	return scanFor(ctx, root, workspace.WalkOptions{}, func(p workspace.Path) bool {
		return !p.Dir().IsRoot() && policy.EffectAt(root.RootDir(), top, p.Rel()) != ""
	})
}

// scanIgnored looks for repositories alone, in the rest as well: packages bring thousands of
// other protected paths along, which nobody's editor opens.
func scanIgnored(ctx context.Context, root workspace.Path) []string {
	return scanFor(ctx, root, workspace.WalkOptions{IncludeIgnored: true}, func(workspace.Path) bool { return false })
}

// scanFor gives the repositories below a folder, whatever they are called, folders that cannot be listed, and what else is wanted.
func scanFor(ctx context.Context, root workspace.Path, o workspace.WalkOptions, wanted func(workspace.Path) bool) []string {
	var out []string
	seen, laid := 0, workspace.NewLayout()
	o.Unreadable = func(p workspace.Path, _ error) { out = append(out, p.Abs()) }
	_ = root.Walk(ctx, o, func(e workspace.Entry) error { // what was seen until an error counts
		if seen++; seen > lookEntries {
			return fs.SkipAll
		}
		if git := e.Path.Join(".git"); e.Type.IsDir() && git.Exists() {
			out = append(out, git.Abs())
		}
		if (!e.Type.IsDir() || !laid.IsRepository(e.Path)) && !wanted(e.Path) {
			return nil
		}
		out = append(out, e.Path.Abs())
		if e.Type.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// SandboxHint says that the sandbox may be why a command failed, "" where nothing
// speaks for it.
func SandboxHint(held process.Confine, got process.Result) string {
	if len(got.Dropped) > 0 {
		const most = 20
		names := QuoteAll(got.Dropped[:min(most, len(got.Dropped))])
		if more := len(got.Dropped) - most; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		return "in the repository's own folder, these were changed by the command and left as they were before: " + strings.Join(names, ", ") +
			"; only what git needs to commit, fetch and merge can be changed there; ask the user to do the rest"
	}
	if got.ExitCode == 0 && !got.TimedOut || got.Sandbox == process.None || got.Sandbox == "" {
		return ""
	}
	said := strings.ToLower(got.Stderr + "\n" + got.Stdout)
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
	}
	if held.Home != "" && len(held.Writable) > 0 {
		return "nobody was asked about this command, so it ran without a network, saw no secrets, nothing of what git keeps and little of the home, and could write only in the workspace, but not to .git nor other protected paths; " +
			"call again with network, naming the hosts, or use git.commit and the other tools (in a draft, after submit_changes), and the user is asked"
	}
	if held.Home != "" {
		if !says("permission denied", "read-only file system", "no such file", "network", "resolve") {
			return ""
		}
		return "nobody was asked about this command, so it could write nothing, reach nothing and see no secrets, and little of the home"
	}
	var out []string
	switch {
	case len(got.Refused) > 0:
		return "the command was not let to " + strings.Join(QuoteAll(got.Refused), ", ") + "; call again with network, naming the hosts that it needs, and the user is asked"
	case held.Offline && says("could not resolve", "name resolution", "network is unreachable", "enotfound", "eai_again", "no such host", "connection refused", "econnrefused"):
		return "the command ran without a network; call again with network, naming the hosts that it needs (such as example.org, or * for all), and the user is asked. " +
			"If that is not possible, the user can allow hosts with a rule such as network(example.org)"
	case held.Offline && len(held.Hosts) == 0: // some programs wait, and say nothing
		out = append(out, "the command had no network; if it needs one, call again with network, naming the hosts")
	}
	if says("read-only file system", "erofs", "permission denied", "eacces", "operation not permitted", "eperm", "device or resource busy", "ebusy", "cross-device link") {
		out = append(out, "the command ran in a sandbox ("+string(got.Sandbox)+"), which may be why: it can write only to the workspace, the temporary folder and its tools' own caches, "+
			"and not to protected paths such as .git (except git, in a line of its own) or .vscode, nor to folders that cannot be listed (chmod u+rwx opens them, outside the sandbox); give a file elsewhere its full path after >, use the tool for it, or ask the user (settings sandboxWritable, sandbox)")
	}
	return strings.Join(out, "; ")
}

// Network is what of it commands in the sandbox have.
type Network string

// What they can have. The zero value is NetworkOn.
const (
	NetworkHosts Network = "hosts" // what you approved, by rule or in a dialog
	NetworkOff   Network = "off"   // none, whatever an agent asks for
	NetworkOn    Network = "on"
)
