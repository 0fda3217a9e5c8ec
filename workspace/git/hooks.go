package git

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/worktree"
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
	CommitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction"}
	SwitchHooks = []string{"post-checkout", "post-index-change", "reference-transaction"}
	BranchHooks = []string{"reference-transaction"}
	PushHooks   = []string{"pre-push", "reference-transaction"}
)

// Hooks are those of the names that would run in the repository of dir.
func Hooks(root, dir string, names []string) ([]Hook, error) {
	_, repo, err := at(root, dir)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	return repo.hooks(names), nil
}

func (r *repository) hooks(names []string) []Hook {
	dir := filepath.Join(r.CommonDir, "hooks")
	if set := r.Config.Get("core.hookspath"); set != "" {
		dir = gitdir.ExpandPath(set, r.Top)
	}
	var out []Hook
	for _, name := range names {
		out = append(out, configuredHooks(r.Config, name)...)
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
	return out
}

// hooks are those that the configuration names: newer versions of git run them.
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
// are clean and smudge: not that of the changes alone, for git looks again at each file
// whose times are others.
func filters(r *worktree.Checkout, index *worktree.StagedFiles, changes []worktree.Difference, ways ...string) []string {
	commands := map[string][]string{} // by driver
	for key := range r.Config {
		driver, ok := strings.CutPrefix(key, "filter.")
		if at := strings.LastIndexByte(driver, '.'); ok && at > 0 {
			commands[driver[:at]] = filterCommands(r.Config, driver[:at], ways)
		}
	}
	if len(commands) == 0 {
		return nil
	}
	var out []string
	for driver := range filtersNamed(r, index, changes) {
		out = append(out, commands[driver]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
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

// filtersNamed are the filters in all attributes, those too that come with the changes.
func filtersNamed(r *worktree.Checkout, index *worktree.StagedFiles, changes []worktree.Difference) map[string]bool {
	named := r.Work.Conversion.Attributes.Anywhere("filter", index)
	for _, ch := range changes {
		if path.Base(ch.Path) != ".gitattributes" || ch.New.Absent() {
			continue
		}
		text, _ := r.Objects.Blob(ch.New.Hash, gitfile.MaxSize)
		for word := range strings.FieldsSeq(string(text)) {
			if name, ok := strings.CutPrefix(word, "filter="); ok {
				named[name] = true
			}
		}
	}
	return named
}
