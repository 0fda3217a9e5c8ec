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

	"pillion/internal/fault"
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
	dir := filepath.Join(place.CommonDir, "hooks")
	set := config.Get("core.hookspath")
	if strings.HasPrefix(set, "%(") {
		return nil, fault.New(fault.GitError, "the setting core.hooksPath begins with %%(, which stands for a folder of git's: which hooks would run is not known").
			WithHint("ask the user to set the folder itself")
	}
	if set != "" {
		dir = gitdir.ExpandPath(set, place.Top)
	}
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
// are clean and smudge: not that of the changes alone, for git looks again at each file
// whose times are others. Those too count that come with changed attributes.
func (r *repository) filters(changes []FileChange, ways ...string) ([]string, error) {
	commands := map[string][]string{} // by driver
	for key := range r.Config {
		driver, ok := strings.CutPrefix(key, "filter.")
		if at := strings.LastIndexByte(driver, '.'); ok && at > 0 {
			commands[driver[:at]] = filterCommands(r.Config, driver[:at], ways)
		}
	}
	if len(commands) == 0 {
		return nil, nil
	}
	index, err := r.output("ls-files", "-z")
	if err != nil {
		return nil, err
	}
	names := fields(index)
	for _, f := range changes {
		names = append(names, f.Path)
	}
	used := map[string]bool{}
	if err := r.attributes(names, func(_, driver string) { used[driver] = true }, "filter"); err != nil {
		return nil, err
	}
	var out []string
	for driver := range used {
		out = append(out, commands[driver]...)
	}
	for _, f := range changes {
		if _, hash, _ := strings.Cut(f.Content, " "); path.Base(f.Path) == ".gitattributes" && hash != "" {
			text := r.line("cat-file", "blob", hash)
			for word := range strings.FieldsSeq(text) {
				if name, ok := strings.CutPrefix(word, "filter="); ok {
					out = append(out, commands[name]...)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
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
