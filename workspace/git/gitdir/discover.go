// Package gitdir finds a repository's git folder (Discover), says whether it is that of its work tree (CheckOwn), and what may
// stand in its files: names of references, settings. It knows no objects, runs nothing and writes nothing.
package gitdir

import (
	"os"
	"path/filepath"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/way"
	"pillion/workspace/git/gitfile"
)

// Discover finds the repository that p lies in: the nearest folder at or above
// it that holds a .git, above the workspace as well.
func Discover(p Location) (Place, error) {
	for at := p.Dir; ; at = filepath.Dir(at) {
		gitDir, err := GitDirOf(at)
		if err != nil {
			return Place{}, err
		}
		if gitDir != "" {
			return Place{Top: at, GitDir: gitDir, CommonDir: CommonDirOf(gitDir)}, CheckOwn([]string{p.Root}, at, gitDir)
		}
		if filepath.Dir(at) == at {
			return Place{}, notInitialized(p)
		}
	}
}

func notInitialized(p Location) *fault.Error {
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		if isGitDir(dir) {
			return fault.New(fault.GitNotInitialized, "%s is a repository without a work tree; its history can be read in a clone of it, or by git with run_command", fault.Quote(dir))
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	err := fault.New(fault.GitNotInitialized, "there is no git repository here")
	var below []string
	entries, _ := os.ReadDir(p.Dir)
	for _, e := range entries {
		if gitfile.Exists(filepath.Join(p.Dir, e.Name(), ".git")) {
			below = append(below, fault.Quote(e.Name()))
		}
	}
	if len(below) > 0 {
		return err.WithHint("repositories below: %s; give one of them as path", strings.Join(below[:min(len(below), 10)], ", "))
	}
	return err.WithHint("git init makes this folder one; without a repository, compare with what read_file showed before")
}

// GitDirOf returns the git folder that top's .git is or, as in linked work
// trees and submodules, names. It is "" where top is no repository.
func GitDirOf(top string) (string, error) {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err != nil:
		return "", nil
	case info.IsDir():
		if isGitDir(dotGit) {
			return dotGit, nil
		}
		return "", nil
	case !info.Mode().IsRegular():
		return "", nil
	}
	text, err := gitfile.Read(dotGit)
	if err != nil {
		return "", fault.From(err)
	}
	target, ok := strings.CutPrefix(string(text), "gitdir: ")
	if target = strings.TrimRight(target, "\r\n"); ok && (!filepath.IsAbs(target) || filepath.Clean(target) != target) {
		target = Physical(target, top)
	}
	if !ok || !isGitDir(target) {
		return "", fault.New(fault.GitError, "the file %s does not name a git folder; git worktree repair may fix it", fault.Quote(dotGit))
	}
	return filepath.Clean(target), nil
}

// isGitDir is as strict as git is: of what it passes over it would take another
// repository, one that a stranger has laid out in the work tree or above it.
func isGitDir(dir string) bool {
	common := CommonDirOf(dir)
	return IsHead(filepath.Join(dir, "HEAD")) && gitfile.IsDir(filepath.Join(common, "objects")) && gitfile.IsDir(filepath.Join(common, "refs"))
}

// IsHead reports whether a file may be a repository's HEAD.
func IsHead(name string) bool {
	if target, err := os.Readlink(name); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	text, err := gitfile.Read(name)
	if err != nil {
		return false
	}
	if target, symbolic := strings.CutPrefix(string(text), "ref:"); symbolic {
		return strings.HasPrefix(strings.TrimLeft(target, " \t\r\n"), "refs/")
	}
	const shortest = 40 // hex digits of SHA-1
	return len(text) >= shortest && strings.Trim(string(text[:shortest]), "0123456789abcdefABCDEF") == ""
}

// Read are the files and folders that git reads of a folder that is laid out as a repository, there and in the folder that its
// file commondir names, as that is written.
func Read(gitDir string) (out []string) {
	dirs := []string{gitDir}
	if text, err := gitfile.Read(filepath.Join(gitDir, "commondir")); err == nil {
		dirs = append(dirs, way.Join(gitDir, strings.TrimRight(string(text), "\r\n")))
	}
	for _, dir := range dirs {
		for _, name := range strings.Fields("HEAD commondir config config.worktree hooks info objects refs reftable packed-refs shallow logs modules worktrees") {
			out = append(out, way.Join(dir, name))
		}
	}
	return out
}

// CommonDirOf is the folder that a repository's file commondir names, read as git does; without one, gitDir itself.
func CommonDirOf(gitDir string) string {
	file := filepath.Join(gitDir, "commondir")
	text, err := gitfile.Read(file)
	switch {
	case os.IsNotExist(err) || err != nil && gitfile.IsNotDir(err):
		return gitDir
	case err != nil:
		return file // git stops at it, and it is no folder
	}
	return Physical(strings.TrimRight(string(text), "\r\n"), gitDir)
}

// Physical is where a path leads, which may be relative to dir, as the kernel goes it: through a link before a "..".
func Physical(path, dir string) string {
	return way.Resolve(way.Join(dir, path))
}
