package git

import (
	"os"
	"path/filepath"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// Places are the folders that git itself writes when it works in dir, above the
// workspace as well, and what in them makes git run programs: its settings and
// hooks, those of submodules among them. Both are empty outside a repository.
func Places(dir string) (folders, steering []string) {
	for at := dir; ; at = filepath.Dir(at) {
		if gitDir, err := gitdir.GitDirOf(at); err == nil && gitDir != "" {
			return placesOf(gitDir)
		}
		if filepath.Dir(at) == at {
			return nil, nil
		}
	}
}

func placesOf(gitDir string) (folders, steering []string) {
	common := gitdir.CommonDirOf(gitDir)
	folders = []string{gitDir}
	if common != gitDir {
		folders = append(folders, common)
	}
	repositories := folders
	modules, _ := os.ReadDir(filepath.Join(common, "modules")) //nolint:errcheck // without submodules there is none
	for _, m := range modules {
		repositories = append(repositories, filepath.Join(common, "modules", m.Name()))
	}
	for _, repository := range repositories {
		for _, name := range []string{"config", "config.worktree", "hooks"} {
			if path := filepath.Join(repository, name); gitfile.Exists(path) {
				steering = append(steering, path)
			}
		}
	}
	return folders, steering
}
