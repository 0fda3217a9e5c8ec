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
	defer repo.close()
	return repo.hooks(names), nil
}

func (r *repository) hooks(names []string) []Hook {
	dir := filepath.Join(r.commonDir, "hooks")
	if set := r.config.get("core.hookspath"); set != "" {
		dir = expandPath(set, r.top)
	}
	var out []Hook
	for _, name := range names {
		out = append(out, r.config.hooks(name)...)
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
func (c config) hooks(event string) []Hook {
	var out []Hook
	for key, events := range c {
		name, ok := strings.CutPrefix(key, "hook.")
		if !ok {
			continue
		}
		if name, ok = strings.CutSuffix(name, ".event"); !ok || !slices.Contains(events, event) || !c.bool("hook."+name+".enabled", true) {
			continue
		}
		command := c.get("hook." + name + ".command")
		out = append(out, Hook{Name: event, Command: command, Version: command})
	}
	slices.SortFunc(out, func(a, b Hook) int { return strings.Compare(a.Command, b.Command) })
	return out
}

// filters are the programs that the content of files may go through on its ways, which
// are clean and smudge: not that of the changes alone, for git looks again at each file
// whose times are others.
func (r *repository) filters(index *stagedFiles, changes []change, ways ...string) []string {
	commands := map[string][]string{} // by driver
	for key := range r.config {
		driver, ok := strings.CutPrefix(key, "filter.")
		if at := strings.LastIndexByte(driver, '.'); ok && at > 0 {
			commands[driver[:at]] = r.config.filter(driver[:at], ways)
		}
	}
	if len(commands) == 0 {
		return nil
	}
	var out []string
	for driver := range r.filtersNamed(index, changes) {
		out = append(out, commands[driver]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c config) filter(driver string, ways []string) []string {
	if command := c.get("filter." + driver + ".process"); command != "" {
		return []string{command}
	}
	var out []string
	for _, way := range ways {
		if command := c.get("filter." + driver + "." + way); command != "" {
			out = append(out, command)
		}
	}
	return out
}

// filtersNamed are the filters in all attributes, those too that come with the changes.
func (r *repository) filtersNamed(index *stagedFiles, changes []change) map[string]bool {
	a := r.work.conversion.attributes
	a.load()
	for name := range index.files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, known := a.folders[dir]; known {
				break
			}
			a.folder(dir)
		}
	}
	all := slices.Concat(a.lowest, a.highest)
	for _, rules := range a.folders {
		all = append(all, rules...)
	}
	for _, settings := range a.macros {
		all = append(all, rule{settings: settings})
	}
	named := map[string]bool{}
	for _, ch := range changes {
		if path.Base(ch.path) != ".gitattributes" || ch.new.absent() {
			continue
		}
		text, _ := r.objects.Blob(ch.new.hash, gitfile.MaxSize)
		for word := range strings.FieldsSeq(string(text)) {
			if name, ok := strings.CutPrefix(word, "filter="); ok {
				named[name] = true
			}
		}
	}
	for _, rule := range all {
		for _, s := range rule.settings {
			if s.name == "filter" {
				named[s.value] = true
			}
		}
	}
	return named
}
