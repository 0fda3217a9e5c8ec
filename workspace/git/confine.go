package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/worktree"
)

// What git changes of a repository's own entries when it commits, fetches, switches or
// merges. Nothing else may be changed by a command that runs git: settings, hooks and the
// files that lead to another repository make the user's next git run programs.
const WritableFiles = `^([A-Z][A-Z_]*|index|packed-refs|shallow|sharedindex\.[0-9a-f]+|gc\.log)$`

var (
	// OpenFolders have data alone.
	OpenFolders = []string{"objects", "refs", "reftable", "lfs", "rr-cache"}
	// StateFolders are of a merge, rebase or series of commits that is not finished; and logs,
	// in which git appends what a commit's message says, so that no link may stand there.
	StateFolders = []string{"rebase-merge", "rebase-apply", "sequencer", "logs"}
	// ClosedFolders cannot be made either.
	ClosedFolders = []string{"hooks", "info", "modules", "worktrees"}
)

// Bounds of Repositories: below one repository, so many others are opened, and so deep.
const (
	mostRepositories = 32
	deepestName      = 6 // parts of a submodule's name
)

// Repositories are the git folders in which git works when it runs in dir, above the
// workspace as well: the work tree's own, the one that it shares with others, and those of
// submodules and linked work trees below. There are none outside a repository.
func Repositories(dir string) []string {
	for at := dir; ; at = filepath.Dir(at) {
		if gitDir, err := gitdir.GitDirOf(at); err == nil && gitDir != "" {
			return below(ownOf(at, gitDir))
		}
		if filepath.Dir(at) == at {
			return nil
		}
	}
}

// ownOf are the folders of the repository of top that are its own: a command can name any other
// repository where there was no .git before. What lies elsewhere has to name top as well.
func ownOf(top, named string) (out []string) {
	top, err := filepath.EvalSymlinks(top)
	gitDir, otherErr := filepath.EvalSymlinks(named)
	dotGit := filepath.Join(top, ".git")
	if err != nil || otherErr != nil || gitDir != dotGit && !pointsBack(gitDir, top) {
		return nil
	}
	out = append(out, gitDir)
	switch common := gitdir.CommonDirOf(gitDir); {
	case common == gitDir:
		return out
	case filepath.Base(filepath.Dir(gitDir)) == "worktrees" && filepath.Dir(filepath.Dir(gitDir)) == common:
		return append(out, common)
	}
	return nil
}

// pointsBack says whether a repository elsewhere is that of a linked work tree or submodule
// at top.
func pointsBack(gitDir, top string) bool {
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
	r, err := gitdir.Open(top, gitDir)
	if err != nil {
		return false
	}
	workTree := r.Config.Get("core.worktree")
	return workTree != "" && same(workTree)
}

// below adds the repositories in the modules and worktrees of others.
func below(found []string) []string {
	for i := 0; i < len(found) && len(found) < mostRepositories; i++ {
		for _, name := range []string{"modules", "worktrees"} {
			top := filepath.Join(found[i], name)
			_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error { // what cannot be read stays closed
				rel, relErr := filepath.Rel(top, path)
				switch {
				case err != nil || relErr != nil || !e.IsDir() || path == top:
					return nil
				case len(found) >= mostRepositories || strings.Count(rel, string(os.PathSeparator)) >= deepestName:
					return fs.SkipDir
				case gitfile.Exists(filepath.Join(path, "HEAD")):
					if !slices.Contains(found, path) {
						found = append(found, path)
					}
					return fs.SkipDir
				}
				return nil
			})
		}
	}
	return found
}

// HarmlessState says whether an entry on the list above, as a command left it at now, may take
// the place of the one at before: it makes the user's next git neither run programs, write
// elsewhere, nor take the folder for none.
func HarmlessState(name, before, now string) bool {
	switch {
	case name == "HEAD":
		return gitdir.IsHead(now)
	case name == "index", strings.HasPrefix(name, "sharedindex."):
		return worktree.IndexStaysInside(now)
	}
	for file, runs := range running {
		if folder, base, _ := strings.Cut(file, "/"); folder == name && addsLine(filepath.Join(before, base), filepath.Join(now, base), runs) {
			return false
		}
	}
	return true
}

// running are the lines of an unfinished rebase or series of commits from which git runs a
// program. A strategy is one: git runs it by its name, and by its path if that has a slash.
var running = map[string]*regexp.Regexp{
	"rebase-merge/git-rebase-todo": regexp.MustCompile(`(?m)^[ \t]*(x|exec)([ \t]|$)`),
	"rebase-merge/strategy":        regexp.MustCompile(`/`),
	"sequencer/opts":               regexp.MustCompile(`[/\\]`), // settings, in which \ joins lines
}

// addsLine says whether a file has a line of a kind that it had not before. What cannot be
// read may have one.
func addsLine(before, now string, kind *regexp.Regexp) bool {
	text, err := gitfile.Read(now)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	known := map[string]bool{}
	if was, err := gitfile.Read(before); err == nil {
		for line := range strings.Lines(string(was)) {
			known[strings.TrimSpace(line)] = true
		}
	}
	for line := range strings.Lines(string(text)) {
		if kind.MatchString(line) && !known[strings.TrimSpace(line)] {
			return true
		}
	}
	return false
}
