package gitdir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
)

// CheckOwn refuses a repository that lies outside of its work tree top and of the folder root,
// and is that of another work tree: a folder that came from anywhere would have it read. That of a
// linked work tree or submodule names top as well, and one made with --separate-git-dir is no work
// tree's .git. So it does what git would print lines of, or
// follow to elsewhere, by links.
func CheckOwn(root, top, gitDir string) error {
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return fault.From(err)
	}
	own, err := filepath.EvalSymlinks(gitDir)
	if err != nil {
		return fault.From(err)
	}
	isNear := func(path string) bool { return Inside(real, path) || Inside(root, path) }
	anothers := slices.Contains(strings.Split(filepath.ToSlash(own), "/"), ".git")
	trusted := !anothers || PointsBack(own, real)
	if !isNear(own) && !trusted {
		return elsewhere(top, own)
	}
	common := CommonDirOf(own)
	places := []string{common, filepath.Join(common, "objects"), filepath.Join(common, "refs")}
	for _, place := range places {
		at, err := filepath.EvalSymlinks(place)
		if err != nil {
			return fault.From(err)
		}
		if !isNear(at) && !(trusted && (Inside(own, at) || IsCommonOf(common, own) && Inside(common, at))) {
			return elsewhere(top, at)
		}
	}
	for _, dir := range []string{own, common} {
		if link := linkIn(dir, isNear); link != "" {
			return fault.New(fault.GitError, "%s is a link, which git would follow", fault.Quote(link)).WithHint("ask the user if they trust this repository")
		}
	}
	return nil
}

func elsewhere(top, at string) error {
	return fault.New(fault.GitError, "the repository of %s leads out of it, to %s, which does not name this folder", fault.Quote(top), fault.Quote(at)).
		WithHint("ask the user; git config core.worktree in that repository names the folder")
}

// linkIn finds a link to elsewhere where git reads lines of its own.
func linkIn(dir string, isNear func(path string) bool) string {
	isLink := func(name string) bool {
		info, err := os.Lstat(name)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			return false
		}
		at, err := filepath.EvalSymlinks(name)
		return err != nil || !isNear(at)
	}
	for _, name := range []string{"packed-refs", "shallow", "config", "info", "objects/info", "rebase-merge", "rebase-apply", "sequencer", "commondir", "gitdir", "MERGE_HEAD", "FETCH_HEAD", "BISECT_LOG", "BISECT_START"} {
		if isLink(filepath.Join(dir, name)) {
			return filepath.Join(dir, name)
		}
	}
	for _, name := range []string{"info", "objects/info", "rebase-merge", "rebase-apply", "sequencer"} {
		entries, _ := os.ReadDir(filepath.Join(dir, name)) //nolint:errcheck // it is not there
		for _, e := range entries {
			if path := filepath.Join(dir, name, e.Name()); isLink(path) {
				return path
			}
		}
	}
	return ""
}

// PointsBack says whether a repository elsewhere is that of a linked work tree or submodule at top.
func PointsBack(gitDir, top string) bool {
	same := func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(gitDir, path)
		}
		real, err := filepath.EvalSymlinks(path)
		return err == nil && real == top
	}
	if text, err := gitfile.Read(filepath.Join(gitDir, "gitdir")); err == nil && same(filepath.Dir(strings.TrimSpace(string(text)))) {
		return true
	}
	config, err := readConfig(gitDir, CommonDirOf(gitDir))
	if err != nil {
		return false
	}
	workTree := config.Get("core.worktree")
	return workTree != "" && same(workTree)
}

// IsCommonOf says whether common is the folder that a linked work tree's shares with others.
func IsCommonOf(common, gitDir string) bool {
	return filepath.Base(filepath.Dir(gitDir)) == "worktrees" && filepath.Dir(filepath.Dir(gitDir)) == common
}
