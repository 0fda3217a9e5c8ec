package gitdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
)

// CheckOwn refuses a repository that lies outside of its work tree top and of the open folders,
// and is that of another work tree: a folder that came from anywhere would have it read. That of a
// linked work tree or submodule names top as well, and one made with --separate-git-dir is no work
// tree's .git. So it does links out of the repository: git would read another's through them, or
// print lines of what it takes for a file of its own.
func CheckOwn(open []string, top, gitDir string) error {
	own, err := filepath.EvalSymlinks(gitDir)
	if err != nil {
		return fault.From(err)
	}
	common, err := filepath.EvalSymlinks(CommonDirOf(own))
	if err != nil {
		return fault.From(err)
	}
	isOpen := func(path string) bool {
		return slices.ContainsFunc(open, func(folder string) bool { return Inside(folder, path) })
	}
	if !isOpen(own) && !isTops(own, top) && mayBeAnothers(own, common) && !PointsBack(own, top) {
		return elsewhere(top, own)
	}
	if common != own && !IsCommonOf(common, own) && !isOpen(common) {
		return elsewhere(top, common)
	}
	isIts := func(path string) bool { return Inside(own, path) || Inside(common, path) }
	for _, dir := range slices.Compact([]string{own, common}) {
		if err := linkOut(dir, isIts, isOpen); err != nil {
			return err
		}
	}
	return checkAlternates(filepath.Join(common, "objects"), 0)
}

func elsewhere(top, at string) error {
	return fault.New(fault.GitError, "the repository of %s leads out of it, to %s, which does not name this folder", fault.Quote(top), fault.Quote(at)).
		WithHint("ask the user: of a linked work tree that was moved, git worktree repair fixes that")
}

// isTops: it is the folder .git of the work tree itself.
func isTops(own, top string) bool {
	real, err := filepath.EvalSymlinks(top)
	return err == nil && own == filepath.Join(real, ".git")
}

// mayBeAnothers: it is, or lies in, some work tree's .git, or has none.
func mayBeAnothers(own, common string) bool {
	if slices.Contains(strings.Split(filepath.ToSlash(own), "/"), ".git") {
		return true
	}
	config, err := ReadConfig(Files(own, common)...)
	return err != nil || config.Bool("core.bare", false)
}

// mostLooked bounds a look for links. Tests have less.
var mostLooked = 200_000

// linkOut refuses a link that leads out of a repository. Objects may be shared within the open
// folders; loose ones, which hold what their names say, are not looked at.
func linkOut(dir string, isIts, isOpen func(path string) bool) error {
	found, tooMany := "", false
	objects, looked := filepath.Join(dir, "objects"), 0
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // what cannot be read git does not read either
		if looked++; looked > mostLooked {
			tooMany = true
			return fs.SkipAll
		}
		if err != nil || path == dir {
			return nil
		}
		rel, inObjects := strings.CutPrefix(path, objects+string(filepath.Separator))
		switch {
		case path == filepath.Join(dir, "hooks") || path == filepath.Join(dir, "modules") || path == filepath.Join(dir, "lfs"):
			return skip(e) // runs, is looked at by itself, or is not git's
		case e.Type()&fs.ModeSymlink != 0 && path != filepath.Join(dir, "info", "exclude"):
			if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, "refs/") {
				return nil // a symbolic reference of old
			}
			at, err := filepath.EvalSymlinks(path)
			if err != nil || !isIts(at) && !(isOpen(at) && (inObjects && !strings.HasPrefix(rel, "info") || path == objects)) {
				found = path
				return fs.SkipAll
			}
		case e.IsDir() && inObjects && len(rel) == 2:
			return fs.SkipDir
		}
		return nil
	})
	switch {
	case found != "":
		return fault.New(fault.GitError, "%s leads out of the repository, and git would read what is there", fault.Quote(found)).WithHint("ask the user about it")
	case tooMany:
		return fault.New(fault.GitError, "the repository in %s has more than %d files beside its objects, too many to look at each", fault.Quote(dir), mostLooked).
			WithHint("git pack-refs --all and git gc make them fewer")
	}
	return nil
}

func skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// mostNested is how deep git follows alternates.
const mostNested = 5

// checkAlternates follows the objects that are taken from elsewhere: git prints a line that names no
// folder.
func checkAlternates(objects string, depth int) error {
	file := filepath.Join(objects, "info", "alternates")
	if depth > 0 {
		if err := linkOut(filepath.Join(objects, "info"), func(at string) bool { return Inside(objects, at) }, func(string) bool { return false }); err != nil {
			return err
		}
	}
	text, err := gitfile.Read(file)
	if err != nil || depth == mostNested {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(objects, line)
		}
		if info, err := os.Stat(line); err != nil || !info.IsDir() {
			return fault.New(fault.GitError, "%s names what is no folder", fault.Quote(file)).WithHint("ask the user about it")
		}
		if err := checkAlternates(line, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// PointsBack says whether a repository elsewhere is that of a linked work tree or submodule at top.
func PointsBack(gitDir, top string) bool {
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return false
	}
	same := func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(gitDir, path)
		}
		at, err := filepath.EvalSymlinks(path)
		return err == nil && at == real
	}
	if text, err := gitfile.Read(filepath.Join(gitDir, "gitdir")); err == nil && same(filepath.Dir(strings.TrimSpace(string(text)))) {
		return true
	}
	config, err := ReadConfig(Files(gitDir, CommonDirOf(gitDir))...)
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
