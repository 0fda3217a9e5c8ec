// Package git reads repositories, and says what a write to one would do: Reader is the entry point.
//
// Where there is a git program, it is asked (program.Repository), so that every form of repository is read as git reads it:
// other hashes and references, split and sparse indexes, partial clones, replaced objects, mailmaps. Nothing runs that a
// configuration names, of the repository or the user; where the kernel can, git is held by it as well (Reader.Starter): it
// writes nowhere and has no network. A file that a filter would have to convert, as Git LFS does, is said to be changed as soon as
// its size or times are others, and its content is not shown. Into submodules nobody looks, but which commit of them is checked out.
//
// Where there is none, builtin.go does by go-git what that can: status, diff, log, show, branches, commits; what would change files
// or speak to a remote needs git (NeedsGit).
//
// For the tools that write, NewDraft, Switch and NewPush say what git would do, which the user's own git then does. A draft is made
// by git itself, in an index and a folder of objects that are thrown away.
package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/program"
)

// Starter is program.Starter.
type Starter = program.Starter

// Reader asks the git program. The zero value takes the one in PATH.
type Reader struct {
	// Program finds the git program; "" is none.
	Program func() string
	// Starter starts it; nil just starts it.
	Starter Starter
}

func (g *Reader) program() string {
	if g != nil && g.Program != nil {
		return g.Program()
	}
	return program.Look()
}

// repository is one that is asked about one file or folder.
type repository struct {
	*program.Repository
	ctx      context.Context
	location gitdir.Location
	prefix   string   // location.Dir as a path of the repository, "" for all of it
	fetching []string // settings by which objects would be fetched, which what is shown of a write names
}

// open opens the repository that dir, in the workspace's folder root, lies in. It is nil where there is no git program.
func (g *Reader) open(ctx context.Context, root, dir string) (*repository, error) {
	location, place, err := find(root, dir)
	if err != nil {
		return nil, err
	}
	file := g.program()
	if file == "" {
		return nil, nil
	}
	var starter Starter
	if g != nil {
		starter = g.Starter
	}
	opened, err := program.Open(ctx, file, place, starter)
	if err != nil {
		return nil, err
	}
	r := &repository{Repository: opened, ctx: ctx, location: location, prefix: place.Prefix(location.Dir)}
	if place.GitDir != place.CommonDir {
		return r, nil // of a linked work tree git takes neither setting
	}
	if r.Config.Bool("core.bare", false) {
		return nil, fault.New(fault.GitError, "this repository is bare: it has no work tree to compare; give base and path in a clone of it")
	}
	if tree := r.Config.Get("core.worktree"); tree != "" {
		resolved, err := filepath.EvalSymlinks(gitdir.ExpandPath(tree, place.GitDir))
		if err != nil || resolved != place.Top {
			return nil, fault.New(fault.GitError, "the work tree of this repository is in another folder, %s (core.worktree)", fault.Quote(tree)).
				WithHint("give path, that folder, if it is open; else run git with run_command")
		}
	}
	return r, nil
}

func find(root, dir string) (gitdir.Location, gitdir.Place, error) {
	location, err := gitdir.Locate(root, dir)
	if err != nil {
		return location, gitdir.Place{}, err
	}
	place, err := gitdir.Discover(location)
	return location, place, err
}

// output is what a command printed.
func (r *repository) output(args ...string) (string, error) {
	return r.Output(r.ctx, program.Call{Args: args})
}

// input has a command read its input.
func (r *repository) input(text string, args ...string) (string, error) {
	return r.Output(r.ctx, program.Call{Args: args, Stdin: text})
}

// line is the one line that a command prints, "" where it fails.
func (r *repository) line(args ...string) string {
	out, err := r.output(args...)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(out, "\n")
}

// fields are texts that are each ended by a NUL.
func fields(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
}

// names are what a command lists, each ended by a NUL.
func (r *repository) names(args ...string) (map[string]bool, error) {
	out, err := r.output(args...)
	names := map[string]bool{}
	for _, name := range fields(out) {
		names[name] = true
	}
	return names, err
}

// pathspec limits a command to a path of the repository and what is below; none for all of it.
func pathspec(path string) []string {
	if path == "" {
		return []string{"--"}
	}
	return []string{"--", ":(top,literal)" + path}
}

// commit finds the commit that a revision names.
func (r *repository) commit(revision string) (string, error) {
	if strings.Contains(revision, "..") {
		return "", fault.New(fault.GitError, "%s is a range; give one commit", fault.Quote(revision))
	}
	hash, err := r.reference(revision + "^{commit}")
	if err == nil && (hash == "" || strings.HasPrefix(revision, "^")) {
		err = r.unknown(revision)
	}
	return hash, err
}

// unknown is the error for a revision that names no commit; it says what does.
func (r *repository) unknown(revision string) error {
	err := fault.New(fault.GitError, "%s names no commit of this repository", fault.Quote(revision))
	if head, headErr := r.head(); headErr == nil && head == "" {
		return err.WithHint("the repository has no commit yet; git.diff shows, without base or with staged, what there is")
	}
	const most = 20
	all, _ := r.output("for-each-ref", "--format=%(refname)", "refs/heads/", "refs/tags/", "refs/remotes/") //nolint:errcheck // then none is named
	var names []string
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		for name := range strings.FieldsSeq(all) {
			if strings.HasPrefix(name, prefix) && !strings.HasSuffix(name, "/HEAD") {
				names = append(names, gitdir.ShortReference(name))
			}
		}
	}
	names = slices.Compact(names)
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(", and %d more", len(names)-most)
	}
	return err.WithHint("branches and tags here: %s%s; also HEAD, HEAD~1 or a hash", listed(names, most), more)
}

// head is the commit that is checked out, "" before the first.
func (r *repository) head() (string, error) { return r.reference("HEAD") }

// branch is the one that is checked out, "" for none.
func (r *repository) branch() (string, error) {
	target, err := r.Symbolic(r.ctx, "HEAD")
	name, isBranch := strings.CutPrefix(target, "refs/heads/")
	if !isBranch {
		name = ""
	}
	return name, err
}

// reference is the object that a full name leads to, "" for none.
func (r *repository) reference(name string) (string, error) { return r.Resolve(r.ctx, name) }

// emptyTree is a folder without anything in it, by the hash that the repository has.
func (r *repository) emptyTree() (string, error) {
	out, err := r.output("hash-object", "-t", "tree", "--stdin")
	return strings.TrimSpace(out), err
}

func (r *repository) orEmptyTree(commit string) (string, error) {
	if commit != "" {
		return commit, nil
	}
	return r.emptyTree()
}

// has says whether git is in the middle of what this file or reference stands for.
func (r *repository) has(name string) bool {
	_, err := os.Lstat(filepath.Join(r.GitDir, name))
	if err == nil || !r.isReftable() {
		return err == nil
	}
	h, err := r.reference(name)
	return err != nil || h != ""
}

// isReftable: git reads the format of a repository in its own file alone, without what that includes.
func (r *repository) isReftable() bool {
	config, err := gitdir.ReadConfig(filepath.Join(r.CommonDir, "config"))
	return err == nil && config.Get("extensions.refstorage") == "reftable" && config.Bool("core.repositoryformatversion", false) // git heeds no extension of version 0
}

// filtered are those of the paths that would have to go through a filter, which nobody runs here.
func (r *repository) filtered(paths []string) (map[string]bool, error) {
	hasFilter := false
	for key := range r.Config {
		hasFilter = hasFilter || strings.HasPrefix(key, "filter.")
	}
	out := map[string]bool{}
	if !hasFilter || len(paths) == 0 {
		return out, nil
	}
	err := r.attributes(paths, func(path, driver string) {
		if len(filterCommands(r.Config, driver, []string{"clean"})) > 0 {
			out[path] = true
		}
	}, "filter")
	return out, err
}

// attributes calls each for the values that paths have of attributes.
func (r *repository) attributes(paths []string, each func(path, value string), attributes ...string) error {
	text, err := r.input(strings.Join(paths, "\x00")+"\x00", append([]string{"check-attr", "-z", "--stdin"}, attributes...)...)
	for part := range slices.Chunk(fields(text), 3) {
		if len(part) == 3 {
			each(part[0], part[2])
		}
	}
	return err
}

func listed(names []string, most int) string {
	quoted := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, fault.Quote(name))
	}
	return strings.Join(quoted, ", ")
}
