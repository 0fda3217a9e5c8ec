package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// repository is an open repository with a work tree.
type repository struct {
	top       string // the work tree
	gitDir    string // HEAD, index
	commonDir string // objects, refs, config: gitDir, but for linked work trees
	config    config
	objects   *odb.Objects
	work      *workTree

	packedOnce sync.Once
	packedRefs map[string]plumbing.Hash
}

// discover opens the repository that p lies in: the nearest folder at or above
// it that holds a .git, above the workspace as well.
func discover(p place) (*repository, error) {
	for at := p.dir; ; at = filepath.Dir(at) {
		gitDir, err := gitDirOf(at)
		if err != nil {
			return nil, err
		}
		if gitDir != "" {
			base := at
			if !inside(p.root, at) {
				base = p.root
			}
			return open(at, gitDir, base)
		}
		if filepath.Dir(at) == at {
			return nil, notInitialized(p)
		}
	}
}

func notInitialized(p place) *fault.Error {
	for dir := p.dir; ; dir = filepath.Dir(dir) {
		if isGitDir(dir) {
			return fault.New(fault.GitNotInitialized, "%s is a repository without a work tree; its history can be read in a clone of it, or by git with run_command", fault.Quote(dir))
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	err := fault.New(fault.GitNotInitialized, "there is no git repository here")
	var below []string
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		if gitfile.Exists(filepath.Join(p.dir, e.Name(), ".git")) {
			below = append(below, fault.Quote(e.Name()))
		}
	}
	if len(below) > 0 {
		return err.WithHint("repositories below: %s; give one of them as path", strings.Join(below[:min(len(below), 10)], ", "))
	}
	return err.WithHint("git init makes this folder one; without a repository, compare with what read_file showed before")
}

// gitDirOf returns the git folder that top's .git is or, as in linked work
// trees and submodules, names. It is "" where top is no repository.
func gitDirOf(top string) (string, error) {
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
	if target = strings.TrimRight(target, "\r\n"); ok && !filepath.IsAbs(target) {
		target = filepath.Join(top, filepath.FromSlash(target))
	}
	if !ok || !isGitDir(target) {
		return "", fault.New(fault.GitError, "the file %s does not name a git folder; git worktree repair may mend it", fault.Quote(dotGit))
	}
	return filepath.Clean(target), nil
}

// isGitDir is as strict as git is: of what it passes over it would take another
// repository, one that a stranger has laid out in the work tree or above it.
func isGitDir(dir string) bool {
	common := commonDirOf(dir)
	return isHead(filepath.Join(dir, "HEAD")) && gitfile.IsDir(filepath.Join(common, "objects")) && gitfile.IsDir(filepath.Join(common, "refs"))
}

// isHead reports whether a file may be a repository's HEAD.
func isHead(name string) bool {
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
	const shortest = odb.HexSize
	return len(text) >= shortest && strings.Trim(string(text[:shortest]), "0123456789abcdefABCDEF") == ""
}

func commonDirOf(gitDir string) string {
	text, err := gitfile.Read(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	common := filepath.FromSlash(strings.TrimSpace(string(text)))
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return filepath.Clean(common)
}

// open opens the repository whose work tree is top. Of its files only those
// below base are read.
func open(top, gitDir, base string) (*repository, error) {
	r := &repository{top: top, gitDir: gitDir, commonDir: commonDirOf(gitDir)}
	var err error
	if r.config, err = readConfig(r.gitDir, r.commonDir); err != nil {
		return nil, err
	}
	if err := r.supported(); err != nil {
		return nil, err
	}
	r.work = newWorkTree(top, base)
	r.objects = odb.Open(r.commonDir)
	r.objects.Replaced = r.readReplaced()
	r.work.conversion = conversion{config: r.config, attributes: newAttributes(r), objects: r.objects}
	r.work.fileMode = r.config.bool("core.filemode", true)
	r.work.symlinks = r.config.bool("core.symlinks", true)
	return r, nil
}

func (r *repository) close() {
	r.work.close()
	r.objects.Close()
}

// supported refuses what would be read wrongly.
func (r *repository) supported() error {
	refuse := func(what, do string) error {
		return fault.New(fault.GitError, "this repository uses %s, which is not supported; %s", what, do)
	}
	const useGit = "run git with run_command instead"
	c := r.config
	if format := c.get("core.repositoryformatversion"); !slices.Contains([]string{"", "0", "1"}, format) {
		return refuse("format version "+fault.Quote(format), useGit)
	}
	switch {
	case !slices.Contains([]string{"", "sha1"}, strings.ToLower(c.get("extensions.objectformat"))):
		return refuse("another hash than SHA-1", useGit)
	case !slices.Contains([]string{"", "files"}, strings.ToLower(c.get("extensions.refstorage"))):
		return refuse("the reference storage "+fault.Quote(c.get("extensions.refstorage")), useGit)
	case c.get("core.repositoryformatversion") == "1" && c.unknownExtension() != "":
		return refuse("the extension "+fault.Quote(c.unknownExtension()), useGit)
	case c.bool("core.bare", false):
		return fault.New(fault.GitError, "this repository is bare: it has no work tree to compare; give base and path in a clone of it")
	}
	if tree := c.get("core.worktree"); tree != "" {
		if !filepath.IsAbs(tree) {
			tree = filepath.Join(r.gitDir, tree)
		}
		if resolved, err := filepath.EvalSymlinks(tree); err != nil || resolved != r.top {
			return refuse("a work tree in another folder (core.worktree)", useGit)
		}
	}
	return nil
}

// unknownExtension is one that may change how the repository is to be read.
func (c config) unknownExtension() string {
	known := []string{
		"noop", "noop-v1", "partialclone", "preciousobjects", "worktreeconfig",
		"objectformat", "refstorage", "compatobjectformat", "relativeworktrees",
	}
	for key := range c {
		if name, ok := strings.CutPrefix(key, "extensions."); ok && !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// prefix is dir as a path of the repository, "" for all of it.
func (r *repository) prefix(dir string) string {
	rel, err := filepath.Rel(r.top, dir)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}
