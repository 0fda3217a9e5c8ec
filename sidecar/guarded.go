package sidecar

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pillion/config"
	"pillion/internal/state"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/git"
)

// makeSettingsFolder makes the folder of the user's settings: one that is there can be closed to
// commands.
func makeSettingsFolder() {
	settings, err := config.UserFile()
	if err != nil {
		return
	}
	if folder := filepath.Dir(settings); !exists(folder) {
		_ = state.MakePrivate(folder) // a home that cannot be written needs none
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// guarded lists what on this machine decides what agents may do and what the user's programs run:
// Pillion's own files, what others read from the home, and what their settings name. written are the
// folders of what is to be written.
func (c *Sidecar) guarded(written []string) []workspace.Guarded {
	var out []workspace.Guarded
	add := func(effect, path string, err error) {
		if err == nil && filepath.IsAbs(path) {
			out = append(out, workspace.Guarded{Path: path, Effect: effect})
		}
	}
	settings, err := config.UserFile()
	add(policy.LoosensPillion, settings, err)
	add(policy.LoosensPillion, filepath.Dir(settings), err)
	folder, err := state.Folder("")
	add(policy.LoosensPillion, folder, err)
	program, err := os.Executable()
	add(policy.LoosensPillion, program, err)
	for _, cache := range process.Caches(os.Environ()) {
		add(policy.ReadByPrograms, cache, nil)
	}
	for variable, effect := range variables {
		add(effect, os.Getenv(variable), nil)
	}
	if gemini := os.Getenv("GEMINI_CLI_HOME"); gemini != "" {
		add(policy.SteersAgents, filepath.Join(gemini, ".gemini"), nil)
	}
	var open []string
	for _, root := range c.workspace.Roots() {
		open = append(open, process.Resolve(root.Abs()))
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return out
	}
	add(policy.RunsInEditor, filepath.Join(home, "Library", "Application Support", "Code"), nil) // of macOS, where it is not hidden
	add(policy.RunsInDesktop, filepath.Join(home, "Library", "LaunchAgents"), nil)
	for _, dir := range pathFolders(home) {
		out = append(out, inPath(dir, home, open)...)
	}
	roots := configRoots(home)
	for _, p := range roots {
		if p.outside {
			out = append(out, workspace.Guarded{Path: p.dir, Effect: policy.ReadByPrograms, Hidden: p.as == "", Free: p.free(open)})
		}
	}
	return append(out, c.alsoGuarded.list(c.lookPath, func(tops []string) []workspace.Guarded { return append(c.linksHere(tops), c.namedHere(open)...) }, home, roots, open, written)...)
}

// pathFolders are those in which this program and, as they are usually set up, shells look for programs.
func pathFolders(home string) []string {
	out := filepath.SplitList(os.Getenv("PATH"))
	for _, dir := range append(filepath.SplitList(os.Getenv("GOPATH")), os.Getenv("CARGO_HOME")) {
		out = append(out, filepath.Join(dir, "bin"))
	}
	out = append(out, os.Getenv("GOBIN"))
	for _, dir := range []string{"bin", ".local/bin", "go/bin", ".cargo/bin"} {
		out = append(out, filepath.Join(home, filepath.FromSlash(dir)))
	}
	return out
}

// inPath guards a folder of PATH. One of a project, such as that of a virtual environment, is the
// project's own, which the documentation says.
func inPath(dir, home string, open []string) []workspace.Guarded {
	at, found := process.Resolve(dir), workspace.Guarded{Path: dir, Effect: policy.RunsByName}
	if !filepath.IsAbs(dir) || filepath.Dir(at) == at {
		return nil
	}
	for _, root := range open {
		if isIn(at, root) && !isIn(process.Resolve(home), root) || at == root {
			return nil
		}
		if below, err := filepath.Rel(at, root); err == nil && filepath.IsLocal(below) {
			found.Free = append(found.Free, below)
		}
	}
	return []workspace.Guarded{found}
}

// variables name a folder from which programs read what they run or obey.
var variables = map[string]string{
	"KITTY_CONFIG_DIRECTORY": policy.RunsInShell, "DOOMDIR": policy.RunsInEditor, "CLAUDE_CONFIG_DIR": policy.SteersAgents, "CODEX_HOME": policy.SteersAgents, "QWEN_HOME": policy.SteersAgents,
}

// configRoot is a folder from which programs read what they run or obey, as the folder of a home that it
// stands for: "" for a home itself, of which that is what is hidden.
type configRoot struct {
	dir, as string
	outside bool // it is not guarded already, as the home's own
}

func configRoots(home string) []configRoot {
	out := []configRoot{{home, "", true}}
	for _, p := range []struct{ variable, as string }{{"ZDOTDIR", ""}, {"XDG_CONFIG_HOME", ".config"}, {"XDG_DATA_HOME", ".local/share"}} {
		usual, dir := filepath.Join(home, filepath.FromSlash(p.as)), os.Getenv(p.variable)
		if !filepath.IsAbs(dir) {
			dir = usual
		}
		if p.as != "" || dir != usual {
			inHome := process.Resolve(dir) == filepath.Join(process.Resolve(home), filepath.FromSlash(p.as)) // and no link leads out of it
			out = append(out, configRoot{dir, p.as, dir != usual || !inHome})
		}
		if name := os.Getenv("NVIM_APPNAME"); p.as != "" && filepath.IsLocal(name) {
			out = append(out, configRoot{filepath.Join(dir, name), p.as + "/nvim", true})
		}
	}
	return out
}

// harmless are hidden entries of a home by which no program comes to run another.
var harmless = strings.Fields(".ds_store .editorconfig .face .gitignore .gitkeep .hidden .hushlogin .ignore .plan .trash")

// effect is what an entry of the folder does, by its name.
func (p configRoot) effect(below string) string {
	return cmp.Or(policy.Effect(p.as+"/"+filepath.ToSlash(below)), policy.ReadByPrograms)
}

// free is what of the folder is as any other: what is harmless, and open folders that may be projects and
// are not known for what programs read from them.
func (p configRoot) free(open []string) []string {
	out := slices.Clone(harmless)
	if p.as != "" {
		out = nil
	}
	for _, root := range open {
		below, err := filepath.Rel(process.Resolve(p.dir), root)
		if err == nil && below != "." && filepath.IsLocal(below) && p.effect(below) == policy.ReadByPrograms && workspace.Unfit(root) == "" {
			out = append(out, below)
		}
	}
	return out
}

// alsoGuarded are what list found a while ago: every plan that writes asks for them.
type alsoGuarded struct {
	mu    sync.Mutex // guards what follows
	tops  []string   // of the repositories that were looked at
	byGit []workspace.Guarded
	named []workspace.Guarded
	until time.Time
	stale atomic.Bool // settings have changed; whoever says so may hold the lock that list takes to read them
}

func (g *alsoGuarded) renew() { g.stale.Store(true) }

// list gives the files elsewhere that are read from guarded folders by way of links and other names,
// and those that settings and the start-up files of shells name; here gives those of this program.
func (g *alsoGuarded) list(lookPath func(string) (string, error), here func(tops []string) []workspace.Guarded, home string, roots []configRoot, open, written []string) []workspace.Guarded {
	const again = time.Minute
	var tops []string
	for _, dir := range slices.Concat(open, written) {
		if top := git.Top(dir); top != "" && !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	isKnown := func(top string) bool { return slices.Contains(g.tops, top) }
	if now := time.Now(); g.stale.Swap(false) || now.After(g.until) || slices.ContainsFunc(tops, func(top string) bool { return !isKnown(top) }) {
		if now.Before(g.until) {
			tops = append(tops, slices.DeleteFunc(g.tops, func(top string) bool { return slices.Contains(tops, top) })...)
		}
		byGit, isWhole := []workspace.Guarded(nil), true
		if program, err := lookPath("git"); err == nil { // none of the workspace's; without git nobody reads what it would
			byGit, isWhole = namedByGit(program, home, tops)
		}
		if isWhole || g.until.IsZero() || !slices.Equal(tops, g.tops) { // else what was known is better
			g.byGit = byGit
		}
		g.named = slices.Concat(linksOf(roots, open), here(tops), namedByStartUp(home, roots, open), namedByOthers(home, open), g.byGit)
		g.tops, g.until = tops, now.Add(again)
	}
	return g.named
}

// linksOf are the entries of roots that are files elsewhere, and those in their folders as far as
// programs are known to read these. A folder in which the user works is none of a program that nobody knows.
func linksOf(roots []configRoot, open []string) (out []workspace.Guarded) {
	var folders []workspace.Guarded
	for _, p := range roots {
		listed, _ := os.ReadDir(p.dir) //nolint:errcheck // then it has none
		for _, e := range listed {
			if p.as == "" && (!strings.HasPrefix(e.Name(), ".") || slices.Contains(harmless, strings.ToLower(e.Name()))) {
				continue
			}
			one := workspace.Guarded{Path: filepath.Join(p.dir, e.Name()), Effect: p.effect(e.Name())}
			known := one.Effect != policy.ReadByPrograms
			if e.Type()&fs.ModeSymlink != 0 || hasSeveralNames(e) {
				target := process.Resolve(one.Path)
				if known || !slices.ContainsFunc(open, func(root string) bool { return isIn(root, target) }) {
					out = append(out, one)
				}
			}
			if (known || p.as == ".config") && !slices.ContainsFunc(roots, func(other configRoot) bool { return other.dir != p.dir && isIn(other.dir, one.Path) }) {
				folders = append(folders, one)
			}
		}
	}
	return append(out, linksIn(folders)...)
}

// linksHere are the links in open folders whose own path is protected, and what may make a folder a repository. Of what
// git ignores and does not track, they are those of the open folder itself and of protected folders in it.
func (c *Sidecar) linksHere(tops []string) (out []workspace.Guarded) {
	ctx, cancel := context.WithTimeout(context.Background(), gitWithin)
	defer cancel()
	known := map[string]bool{}
	add := func(path, root, top string) {
		if known[path] {
			return
		}
		known[path] = true
		below, err := filepath.Rel(root, path)
		if effect := policy.EffectAt(root, top, filepath.ToSlash(below)); err == nil && effect != "" {
			out = append(out, workspace.Guarded{Path: path, Effect: effect})
		}
		if isOfRepository(path) {
			out = append(out, workspace.Guarded{Path: path, IsPart: true})
		}
	}
	for _, root := range c.workspace.Roots() {
		folders, at, top := []workspace.Guarded(nil), root.Abs(), git.Top(root.Abs())
		entries, err := root.ReadDir()
		if err != nil {
			out = append(out, workspace.Guarded{Path: at, Effect: "may be where a protected link leads, as its open folder cannot be listed"})
		}
		for _, e := range entries {
			isLink := e.Type()&fs.ModeSymlink != 0
			if !isLink && !e.IsDir() {
				continue
			}
			one := workspace.Guarded{Path: root.Join(e.Name()).Abs()}
			if isLink {
				add(one.Path, at, top)
			}
			if effect := policy.EffectAt(at, top, e.Name()); effect != "" && !strings.EqualFold(e.Name(), ".git") {
				folders = append(folders, one)
			}
		}
		_ = c.Registry.Files.Visit(ctx, root, workspace.WalkOptions{}, false, func(in *workspace.Contents, e *workspace.Listed) error { // what was seen until an error counts
			if e.Type&fs.ModeSymlink != 0 || strings.EqualFold(e.Name, commonDir) {
				add(in.Folder.Join(e.Name).Abs(), at, top)
			}
			return nil
		})
		for _, one := range linksIn(folders) {
			add(one.Path, at, top)
		}
	}
	for _, top := range tops {
		for _, path := range c.Registry.Git().Linked(ctx, top, commonDir) {
			add(path, top, top)
		}
	}
	return out
}

// commonDir is the file by which a repository shares objects and settings with another.
const commonDir = "commondir"

// isOfRepository says whether it has a name of something that git reads in a repository.
func isOfRepository(path string) bool {
	folder, name := filepath.Split(strings.ToLower(path))
	return slices.Contains([]string{"head", commonDir, "config", "config.worktree", "hooks", "info", "objects", "refs", "reftable", "packed-refs"}, name) ||
		slices.Contains([]string{"hooks", "info"}, filepath.Base(folder))
}

func isIn(path, folder string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

// How much of a guarded folder is looked through for links.
const (
	deepestLink = 4
	mostEntries = 1000 // of each folder
	mostFolders = 300  // of all below one
)

// linksIn follows links to folders as well.
func linksIn(all []workspace.Guarded) (out []workspace.Guarded) {
	for _, one := range all {
		folders, looked := []string{one.Path}, 0
		for depth := 0; depth < deepestLink && len(folders) > 0; depth++ {
			var deeper []string
			for _, folder := range folders {
				if looked++; looked > mostFolders {
					break
				}
				listed, _ := os.ReadDir(folder) //nolint:errcheck // it is no folder, or not there
				for _, e := range listed[:min(len(listed), mostEntries)] {
					path := filepath.Join(folder, e.Name())
					isLink := e.Type()&fs.ModeSymlink != 0
					if isLink || hasSeveralNames(e) {
						out = append(out, workspace.Guarded{Path: path, Effect: one.Effect})
					}
					isFolder := e.IsDir()
					if isLink {
						info, err := os.Stat(path)
						isFolder = err == nil && info.IsDir()
					}
					if isFolder {
						deeper = append(deeper, path)
					}
				}
			}
			folders = deeper
		}
	}
	return out
}

func hasSeveralNames(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && info.Mode().IsRegular() && workspace.HardLinks(info) > 1
}
