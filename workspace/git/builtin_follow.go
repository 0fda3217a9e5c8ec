package git

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// follows says whether a branch follows a remote's.
func (c config) follows(branch, remote, merge string) bool {
	return slices.Equal(c["branch."+branch+".merge"], []string{merge}) && c.get("branch."+branch+".remote") == remote
}

func (c config) followsAny(branch string) bool {
	return len(c["branch."+branch+".remote"])+len(c["branch."+branch+".merge"]) > 0
}

// sourceOf is the one remote, and the branch of it, that is kept here under a name; "" if
// there is none, or more than one.
func (c config) sourceOf(tracking string) (remote, merge string) {
	for _, name := range c.remotes() {
		for _, spec := range c["remote."+name+".fetch"] {
			from, to, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
			if source, ok := mapped(tracking, to, from); ok && to != "" {
				if remote != "" {
					return "", ""
				}
				remote, merge = name, source
			}
		}
	}
	return remote, merge
}

// toFollow is what a new branch of a name follows that begins at a remote's, as git sets
// it up; "" for nothing.
func (r *repository) toFollow(branch, start string) (remote, merge string, err error) {
	setup := cmp.Or(strings.ToLower(r.config.get("branch.autosetupmerge")), "true")
	if start == "" || !slices.Contains([]string{"always", "simple", "inherit"}, setup) && !r.config.bool("branch.autosetupmerge", true) {
		return "", "", nil
	}
	remote, merge = r.config.sourceOf(start)
	switch {
	case remote == "" || setup == "simple" && merge != "refs/heads/"+branch || r.config.follows(branch, remote, merge):
		return "", "", nil
	case r.config.followsAny(branch):
		return "", "", needsGit("the configuration says already what " + fault.Quote(branch) + " follows")
	}
	return remote, merge, nil
}

// writeFollow has a branch follow a remote's: lines at the end of the configuration, which
// has none of the kind.
func (r *repository) writeFollow(branch, remote, merge string) error {
	return r.editConfig(func(text string) string {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += fmt.Sprintf("%s\n\tremote = \"%s\"\n\tmerge = \"%s\"\n", sectionOf(branch), escaped(remote), escaped(merge))
		if slices.Contains([]string{"always", "remote"}, r.config.get("branch.autosetuprebase")) {
			text += "\trebase = true\n"
		}
		return text
	})
}

// forget takes out of the configuration what it says of a branch, where it says it in
// lines of its own.
func (r *repository) forget(branch string) error {
	return r.editConfig(func(text string) string {
		var out strings.Builder
		within := false
		for line := range strings.Lines(text) {
			if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "[") {
				within = trimmed == sectionOf(branch)
			}
			if within && strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`) { // the next line goes on with it
				return text
			}
			if !within {
				out.WriteString(line)
			}
		}
		return out.String()
	})
}

func sectionOf(branch string) string { return `[branch "` + escaped(branch) + `"]` }

func escaped(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
}

// editConfig writes the repository's configuration anew, under git's lock on it.
func (r *repository) editConfig(edit func(text string) string) error {
	name := filepath.Join(r.commonDir, "config")
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return needsGit("the configuration is a link")
	}
	lock, err := os.OpenFile(name+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	text, err := readSmall(name) // under the lock
	now := ""
	if err == nil {
		now = edit(string(text))
		_, err = lock.WriteString(now)
	}
	if err = errors.Join(err, lock.Close()); err == nil && now != string(text) {
		err = os.Rename(name+".lock", name)
	}
	if err != nil || now == string(text) {
		_ = os.Remove(name + ".lock")
	}
	return err
}
