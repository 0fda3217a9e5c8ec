package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// What git changes of a repository's own entries when it commits, fetches, switches or
// merges. Nothing else may be changed by a command that runs git: settings, hooks and the
// files that lead to another repository make the user's next git run programs.
const WritableFiles = `^([A-Z][A-Z_]*|index|packed-refs|shallow|sharedindex\.[0-9a-f]+|gc\.log)$`

var (
	// OpenFolders have data alone.
	OpenFolders = []string{"objects", "refs", "logs", "reftable", "lfs", "rr-cache"}
	// StateFolders are of a merge, rebase or series of commits that is not finished.
	StateFolders = []string{"rebase-merge", "rebase-apply", "sequencer"}
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
			out := []string{gitDir}
			if common := gitdir.CommonDirOf(gitDir); common != gitDir {
				out = append(out, common)
			}
			return below(out)
		}
		if filepath.Dir(at) == at {
			return nil
		}
	}
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
