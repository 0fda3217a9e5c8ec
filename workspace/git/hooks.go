package git

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/way"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// Hook is a program that git runs on its way.
type Hook struct {
	Name    string // pre-commit
	Path    string // absolute; "" of one that the configuration names
	Command string // of one that the configuration names
	Version string // tells its content apart
}

// What runs, by what git does.
var (
	commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction"}
	switchHooks = []string{"post-checkout", "post-index-change", "reference-transaction"}
	branchHooks = []string{"reference-transaction"}
	pushHooks   = []string{"pre-push", "reference-transaction"}
)

// hooksOf are those of the names that would run.
func hooksOf(place gitdir.Place, config gitdir.Config, names []string) ([]Hook, error) {
	if set := config.Get("core.hookspath"); strings.HasPrefix(set, "%(") || strings.HasPrefix(set, ":(") {
		return nil, fault.New(fault.GitError, "the setting core.hooksPath begins with %s, which git replaces: which hooks would run is not known", set[:2]).
			WithHint("ask the user to set the folder itself")
	}
	dir := gitdir.Physical(hooksFolder(place, config), "")
	var out []Hook
	for _, name := range names {
		out = append(out, configuredHooks(config, name)...)
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		hook := Hook{Name: name, Path: file, Version: "unreadable"}
		if text, err := gitfile.Read(file); err == nil {
			sum := sha256.Sum256(text)
			hook.Version = hex.EncodeToString(sum[:])
		}
		out = append(out, hook)
	}
	return out, nil
}

// configuredHooks are those that the configuration names: newer versions of git run them.
func configuredHooks(c gitdir.Config, event string) []Hook {
	var out []Hook
	for key, events := range c {
		name, ok := strings.CutPrefix(key, "hook.")
		if !ok {
			continue
		}
		if name, ok = strings.CutSuffix(name, ".event"); !ok || !slices.Contains(events, event) || !c.Bool("hook."+name+".enabled", true) {
			continue
		}
		command := c.Get("hook." + name + ".command")
		out = append(out, Hook{Name: event, Command: command, Version: command})
	}
	slices.SortFunc(out, func(a, b Hook) int { return strings.Compare(a.Command, b.Command) })
	return out
}

// filters are the programs that the content of files may go through on its ways, which
// are clean and smudge, and their drivers: not those of the changes alone, for git looks again at each file
// whose times are others. Where attributes change as well, any driver counts.
func (r *repository) filters(changes []FileChange, ways ...string) (programs []string, drivers map[string]bool, err error) {
	drivers = map[string]bool{}
	all := slices.ContainsFunc(changes, func(f FileChange) bool { return path.Base(f.Path) == ".gitattributes" })
	for key := range r.Config {
		driver, ok := strings.CutPrefix(key, "filter.")
		if at := strings.LastIndexByte(driver, '.'); ok && at > 0 && len(filterCommands(r.Config, driver[:at], ways)) > 0 {
			drivers[driver[:at]] = all
		}
	}
	if len(drivers) == 0 {
		return nil, drivers, nil
	}
	index, err := r.output("ls-files", "-z")
	if err != nil {
		return nil, drivers, err
	}
	names := fields(index)
	for _, f := range changes {
		names = append(names, f.Path)
	}
	for _, from := range [][]string{{"filter"}, {"--cached", "filter"}} { // on disk, and in the index
		err = errors.Join(err, r.attributes(names, func(_, driver string) {
			if _, known := drivers[driver]; known {
				drivers[driver] = true
			}
		}, from...))
	}
	for driver, used := range drivers {
		if used {
			programs = append(programs, filterCommands(r.Config, driver, ways)...)
		}
	}
	slices.Sort(programs)
	return slices.Compact(programs), drivers, err
}

func filterCommands(c gitdir.Config, driver string, ways []string) []string {
	if command := c.Get("filter." + driver + ".process"); command != "" {
		return []string{command}
	}
	var out []string
	for _, way := range ways {
		if command := c.Get("filter." + driver + "." + way); command != "" {
			out = append(out, command)
		}
	}
	return out
}

// hooksFolder is where git looks for hooks, with the links on the way.
func hooksFolder(place gitdir.Place, config gitdir.Config) string {
	if set := config.Get("core.hookspath"); set != "" {
		return gitdir.ExpandPath(set, place.Top)
	}
	return filepath.Join(place.CommonDir, "hooks")
}

// withoutChangedHooks leaves out all hooks where a switch changes one of them, or brings one: what they do then nobody has seen.
func (r *repository) withoutChangedHooks(about *Repository, names []string, changes DiffResult) {
	folder := hooksFolder(r.Place, r.Config)
	at := []string{filepath.Clean(folder)}
	for _, name := range append([]string{"."}, names...) {
		path := folder + string(filepath.Separator) + name
		links, leads := linksOn(path)
		if !leads && gitfile.Exists(path) {
			about.Hooks, about.HooksChange = nil, true // what it may lead to then nobody knows
			return
		}
		at = append(append(at, filepath.Clean(path)), links...)
	}
	for _, f := range changes.Files {
		for _, changed := range []string{f.Path, f.OldPath} {
			file := filepath.Join(r.Top, filepath.FromSlash(changed))
			if changed != "" && slices.ContainsFunc(at, func(path string) bool { return gitdir.Inside(path, file) || gitdir.Inside(file, path) }) {
				about.Hooks, about.HooksChange = nil, true
				return
			}
		}
	}
}

// linksOn are the links that a path leads through and where it ends, and whether it leads to something.
func linksOn(path string) (out []string, leads bool) {
	end, leads := new(way.Walker).Follow(path, func(at, rest string) {
		name, _, _ := strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(at, name)
		if info, err := os.Lstat(next); err == nil && name != "" && name != ".." && info.Mode()&fs.ModeSymlink != 0 {
			out = append(out, next)
		}
	})
	return append(out, end), leads && gitfile.IsThere(end)
}
