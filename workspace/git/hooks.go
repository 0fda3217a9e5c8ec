package git

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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
		if text, err := readSmall(file); err == nil {
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

// filters are the programs that the content of the files goes through on its way, which
// is clean or smudge.
func (r *repository) filters(changes []change, way string) []string {
	var out []string
	for _, ch := range changes {
		driver := r.work.conversion.attributes.of(ch.path)["filter"]
		if ch.new.absent() || driver == attrUnspecified || driver == attrSet || driver == attrUnset {
			continue
		}
		for _, key := range []string{".process", "." + way} {
			if command := r.config.get("filter." + driver + key); command != "" {
				out = append(out, command)
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
