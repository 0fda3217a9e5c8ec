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

// writeFollow has a branch follow a remote's: lines at the end of the configuration, which has
// none of the kind.
func (r *repository) writeFollow(branch, remote, merge string) error {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
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
	if err == nil {
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		text = fmt.Appendf(text, "[branch \"%s\"]\n\tremote = \"%s\"\n\tmerge = \"%s\"\n", escape.Replace(branch), escape.Replace(remote), escape.Replace(merge))
		if slices.Contains([]string{"always", "remote"}, r.config.get("branch.autosetuprebase")) {
			text = append(text, "\trebase = true\n"...)
		}
		_, err = lock.Write(text)
	}
	if err = errors.Join(err, lock.Close()); err == nil {
		err = os.Rename(name+".lock", name)
	}
	if err != nil {
		_ = os.Remove(name + ".lock")
	}
	return err
}
