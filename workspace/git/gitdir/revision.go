package gitdir

import (
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"
)

// Commit finds the commit that a revision names: a branch, tag, remote branch,
// hash or its beginning, what git describe says, HEAD or @, X@{upstream}, each
// with ~N, ^N, ^{} and ^{commit} behind it. Ranges and entries of the reflog are refused.
func (r *Repository) Commit(revision string) (*object.Commit, error) {
	if strings.Contains(revision, "..") {
		return nil, fault.New(fault.GitError, "%s is a range; give one commit", fault.Quote(revision))
	}
	end := strings.IndexAny(revision, "~^")
	if end < 0 {
		end = len(revision)
	}
	start, ok := r.Named(revision[:end])
	if !ok {
		return nil, r.unknown(revision)
	}
	commit, err := r.Objects.Commit(start)
	if err != nil {
		return nil, err
	}
	for steps := revision[end:]; steps != ""; {
		if commit, steps, err = r.step(commit, steps); err != nil {
			return nil, err
		}
		if commit == nil {
			return nil, r.unknown(revision)
		}
	}
	return commit, nil
}

// step takes one of ~N, ^N and ^{commit} off steps. No commit is returned
// where there is none that way, or for other steps.
func (r *Repository) step(from *object.Commit, steps string) (*object.Commit, string, error) {
	for _, peel := range []string{"^{commit}", "^{}"} {
		if rest, ok := strings.CutPrefix(steps, peel); ok {
			return from, rest, nil
		}
	}
	digits := 1
	for digits < len(steps) && '0' <= steps[digits] && steps[digits] <= '9' {
		digits++
	}
	n := 1
	if digits > 1 {
		var err error
		if n, err = strconv.Atoi(steps[1:digits]); err != nil {
			return nil, "", nil
		}
	}
	rest := steps[digits:]
	if steps[0] == '^' {
		if n == 0 {
			return from, rest, nil
		}
		to, err := r.parent(from, n)
		return to, rest, err
	}
	if steps[0] != '~' {
		return nil, "", nil
	}
	var err error
	turn, next := plumbing.ZeroHash, 1 // a commit that was passed: grafts can lead back to it
	for passed := 0; passed < n && from != nil && err == nil; passed++ {
		if from.Hash == turn {
			return nil, "", fault.New(fault.GitError, "the history goes round in a circle at %s; git replace and the file info/grafts of the git folder say why", turn)
		}
		if passed == next {
			turn, next = from.Hash, 2*next
		}
		from, err = r.parent(from, 1)
	}
	return from, rest, err
}

// parent is the nth parent, counted from 1, or nil.
func (r *Repository) parent(of *object.Commit, n int) (*object.Commit, error) {
	if n > len(of.ParentHashes) {
		return nil, nil
	}
	return r.Objects.Commit(of.ParentHashes[n-1])
}

// Named finds what a revision without steps names, in git's order.
func (r *Repository) Named(name string) (plumbing.Hash, bool) {
	if name == "@" {
		name = "HEAD"
	}
	if h, ok := odb.ParseHash(strings.ToLower(name)); ok {
		return h, true
	}
	for _, suffix := range []string{"@{upstream}", "@{u}"} {
		if branch, ok := strings.CutSuffix(strings.ToLower(name), suffix); ok {
			return r.upstream(name[:len(branch)])
		}
	}
	for _, full := range []string{
		name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD",
	} {
		if h, ok := r.Reference(full); ok {
			return h, true
		}
	}
	if at := strings.LastIndex(name, "-g"); at > 0 { // as git describe names commits
		if h, ok := r.Objects.Abbreviated(strings.ToLower(name[at+2:])); ok {
			return h, true
		}
	}
	return r.Objects.Abbreviated(strings.ToLower(name))
}

// upstream is the remote branch that a branch follows; "" is the current one.
func (r *Repository) upstream(branch string) (plumbing.Hash, bool) {
	if branch == "" || branch == "@" || branch == "HEAD" {
		text, _ := r.Loose("HEAD")
		target, _ := SymbolicTarget(text)
		branch = strings.TrimPrefix(target, "refs/heads/")
	}
	name, ok := r.Tracked(branch)
	if !ok {
		return plumbing.ZeroHash, false
	}
	return r.Reference(name)
}

// unknown is the error for a revision that names no commit; it says what does.
func (r *Repository) unknown(revision string) error {
	err := fault.New(fault.GitError, "%s names no commit of this repository", fault.Quote(revision))
	if _, born := r.Head(); !born {
		return err.WithHint("the repository has no commit yet; git.diff shows, without base or with staged, what there is")
	}
	if strings.Contains(revision, "@{") {
		return err.WithHint("entries of the reflog are not looked up; give a branch, a tag or a hash")
	}
	const most = 20
	names := r.names()
	quoted := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, fault.Quote(name))
	}
	more := ""
	if len(names) > most {
		more = ", and " + strconv.Itoa(len(names)-most) + " more"
	}
	return err.WithHint("branches and tags here: %s%s; also HEAD, HEAD~1 or a hash", strings.Join(quoted, ", "), more)
}
