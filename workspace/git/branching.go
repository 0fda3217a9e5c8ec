package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// BranchChange is something that could be done with a branch now.
type BranchChange struct {
	Repository
	Name  string
	Hash  string // of the branch; of a new one, where it begins
	Start string // of a new one: the full name of the remote branch it begins at and follows, else ""
	// Changes are those of a switch, without their text.
	Changes DiffResult
	// Writes is all that a switch makes, changes and takes away in the work tree, but for what the patterns of a sparse checkout
	// do not want any more: of a renamed file both names.
	Writes  []Written
	Filters []string // programs that the files go through, as the configuration has them
	// Beyond is in what a branch that is deleted is contained.
	Beyond string
}

// Written is one entry of a work tree that a switch writes.
type Written struct {
	Path string // relative to the top
	Was  string // its mode as git has it, "" where there is none
	Mode string // afterwards, likewise
	// LeftOut: it is made only if the patterns of the sparse checkout say so now.
	LeftOut bool `json:",omitempty"`
}

// Letter is the state of the entry as git writes it, but for renamed files.
func (w Written) Letter() string {
	switch {
	case w.Was == "":
		return "A"
	case w.Mode == "":
		return "D"
	}
	return "M"
}

// MadeExecutable says that it becomes a program.
func (w Written) MadeExecutable() bool {
	return kinds[w.Mode] == KindExecutable && kinds[w.Was] != KindExecutable
}

// MadeLink says that it becomes a symbolic link, or one that leads elsewhere.
func (w Written) MadeLink() bool { return kinds[w.Mode] == KindSymlink }

// State is another text whenever anything of the change is another.
func (b BranchChange) State() string { return stateOf(b) }

// NewBranch looks at a branch that is to be made, from HEAD unless another revision
// is named.
func (g *Reader) NewBranch(ctx context.Context, root, dir, name, from string) (BranchChange, error) {
	r, err := g.openToWrite(ctx, root, dir)
	if err != nil {
		return BranchChange{}, err
	}
	if r == nil {
		return builtinNewBranch(root, dir, name, from)
	}
	out := BranchChange{Name: name}
	if out.Repository, err = r.about(branchHooks); err == nil {
		r.writing(&out.Repository, nil, Signing{})
		err = r.changeable(name)
	}
	if err != nil {
		return out, err
	}
	if taken, err := r.reference("refs/heads/" + name); err != nil || taken != "" {
		return out, cmp.Or(err, alreadyThere(name))
	}
	if from == "" {
		from = "HEAD"
	}
	if out.Hash, err = r.commit(from); err != nil {
		return out, err
	}
	if full := r.line("rev-parse", "--symbolic-full-name", from); strings.HasPrefix(full, "refs/remotes/") {
		out.Start = full
	}
	return out, nil
}

func alreadyThere(name string) error {
	return fault.New(fault.GitError, "there is a branch %s already; switch to it, or take another name", fault.Quote(name))
}

// changeable refuses what cannot be the name of a branch, and where git would write elsewhere.
func (r *repository) changeable(name string) error {
	if err := checkBranchName(name); err != nil {
		return err
	}
	return r.writable("HEAD", "refs/heads/"+name)
}

// writable refuses references by which git would write elsewhere. Those in tables lead nowhere.
func (r *repository) writable(names ...string) error {
	if r.isReftable() {
		return nil
	}
	return r.Writable(names...)
}

// existing finds a local branch that may be changed.
func (r *repository) existing(name string) (string, error) {
	if err := r.changeable(name); err != nil {
		return "", err
	}
	if h, err := r.reference("refs/heads/" + name); err != nil || h != "" {
		return h, err
	}
	err := fault.New(fault.GitError, "there is no branch %s", fault.Quote(name))
	all, _ := r.output("for-each-ref", "--format=%(refname:lstrip=2)", "refs/remotes/") //nolint:errcheck // then none has one
	for short := range strings.FieldsSeq(all) {
		if remote, has := strings.CutSuffix(short, "/"+name); has {
			return "", err.WithHint("%s has one: create it here first, with from %s", fault.Quote(remote), fault.Quote(short))
		}
	}
	return "", err.WithHint("list shows the branches there are")
}

// Switch looks at a switch to another branch. One by which changes would be lost is
// refused: what is staged or not, untracked, or ignored.
func (g *Reader) Switch(ctx context.Context, root, dir, name string) (BranchChange, error) {
	r, err := g.openToWrite(ctx, root, dir)
	if err != nil {
		return BranchChange{}, err
	}
	if r == nil {
		return BranchChange{}, NeedsGit("switching branches changes files in the work tree")
	}
	out := BranchChange{Name: name}
	if out.Repository, err = r.about(switchHooks); err != nil {
		return out, err
	}
	if out.Hash, err = r.existing(name); err != nil {
		return out, err
	}
	target, err := r.Symbolic(r.ctx, "refs/heads/"+name)
	if err != nil {
		return out, err
	}
	operation, other := operationInProgress(r.has), r.otherWorktree(name)
	switch {
	case target != "": // HoldBranch would hold the name alone
		return out, fault.New(fault.GitError, "%s is another name for %s; switch to that", fault.Quote(name), fault.Quote(gitdir.ShortReference(target)))
	case other != "":
		return out, isElsewhere(name, other)
	case out.Branch == name:
		return out, fault.New(fault.GitError, "%s is checked out already", fault.Quote(name))
	case operation != "" && operation != "a bisection":
		return out, fault.New(fault.GitError, "git is in the middle of %s; end that first, or ask the user to", operation)
	}
	if info, err := os.Stat(filepath.Join(r.GitDir, "index")); out.Head != "" && (err != nil || info.ModTime().Unix() == 0) { // as git knows it
		return out, fault.New(fault.GitError, "nothing is checked out here (there is no index), so git would write all files").WithHint("ask the user to check out a branch first")
	}
	if err := r.unmerged(); err != nil {
		return out, err
	}
	head, err := r.orEmptyTree(out.Head)
	if err != nil {
		return out, err
	}
	if out.Changes, err = r.diff(comparison{between: []string{head, out.Hash}, quiet: true}); err != nil {
		return out, err
	}
	if out.Writes, err = r.writes(head, out.Hash); err != nil {
		return out, err
	}
	lost, err := r.losses(out.Writes, out.Hash)
	if err != nil {
		return out, err
	}
	if len(lost) > 0 {
		const most = 20
		return out, fault.New(fault.WorkTreeDirty, "by switching to %s changes would be lost in %s", fault.Quote(name), listed(lost, most)).
			With("paths", lost).WithHint("commit them first, or ask the user what is to become of them")
	}
	leftOut, err := r.leftOut(out.Writes)
	if err != nil {
		return out, err
	}
	out.Writes = append(out.Writes, leftOut...)
	r.withoutChangedHooks(&out.Repository, switchHooks, out.Changes)
	var drivers map[string]bool
	if out.Filters, drivers, err = r.filters(out.Changes.Files, "clean", "smudge"); err == nil {
		out.Reaches = out.Reaches || len(out.Filters) > 0
		r.writing(&out.Repository, drivers, Signing{})
	}
	return out, err
}

// HoldBranch keeps others from moving a branch to which git is about to switch by its name, by the locks that git and what brings
// back the work of commands take. It fails if the branch is not where it was any more. A reftable is locked for git as for the
// others, so there only what brings back the work of commands is held, and not if git's own is.
func (g *Reader) HoldBranch(ctx context.Context, root, dir string, b BranchChange, copied bool) (free func(), err error) {
	r, err := g.openToWrite(ctx, root, dir)
	if err != nil {
		return nil, err
	}
	locks := []string{"refs/heads/" + b.Name, "packed-refs"}
	if r.isReftable() {
		locks = []string{"reftable"}
		if copied {
			locks = nil
		}
	}
	var held []string
	free = func() {
		for _, name := range held {
			_ = os.Remove(name)
		}
	}
	for _, name := range locks {
		file := filepath.Join(r.CommonDir, filepath.FromSlash(name)+".lock")
		if err := lockFile(ctx, file); err != nil {
			free()
			return nil, err
		}
		held = append(held, file)
	}
	now, err := r.reference("refs/heads/" + b.Name)
	if err == nil && now != b.Hash {
		err = fault.New(fault.ConcurrentModification, "%s has moved; nothing was done", fault.Quote(b.Name)).WithHint("call again")
	}
	if err != nil {
		free()
		return nil, err
	}
	return free, nil
}

// lockFile makes a lock of git's, for which it waits as long as others hold one for a moment.
func lockFile(ctx context.Context, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil { // the branch may be packed
		return fault.From(err)
	}
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case err == nil:
			return f.Close()
		case !errors.Is(err, fs.ErrExist):
			return fault.From(err)
		case time.Now().After(end) || ctx.Err() != nil:
			return isLocked(name)
		}
	}
}

// otherWorktree is the other work tree in which a branch is checked out, "" for none.
func (r *repository) otherWorktree(branch string) string {
	out, _ := r.output("worktree", "list", "--porcelain", "-z") //nolint:errcheck // git before 2.36 does not know -z, and switch itself refuses
	where := ""
	for _, line := range fields(out) {
		if path, is := strings.CutPrefix(line, "worktree "); is {
			where = path
		}
		if line == "branch refs/heads/"+branch && !gitfile.IsSame(where, r.Top) && filepath.Clean(where) != filepath.Clean(r.Top) {
			return where
		}
	}
	return ""
}

func isElsewhere(branch, dir string) error {
	return fault.New(fault.GitError, "%s is checked out in another work tree, that of %s", fault.Quote(branch), fault.Quote(dir))
}

// leftOut are the entries beside these that a sparse checkout has left out: a switch may bring back each of them, as the patterns say
// then, which only git reads as git does.
func (r *repository) leftOut(besides []Written) (out []Written, err error) {
	if !r.Config.Bool("core.sparsecheckout", false) {
		return nil, nil
	}
	said, err := r.output("ls-files", "-t", "-s", "-z")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, w := range besides {
		known[w.Path] = true
	}
	for _, line := range fields(said) {
		head, name, _ := strings.Cut(line, "\t")
		part := strings.Fields(head) // whether it is left out (S), its mode, …
		if len(part) != 4 {
			return nil, unexpected(line)
		}
		if part[0] == "S" && !known[name] {
			out = append(out, Written{Path: name, Mode: part[1], LeftOut: true})
		}
	}
	return out, nil
}

// writes are the entries in which two commits differ.
func (r *repository) writes(head, target string) (out []Written, err error) {
	said, err := r.output("diff-tree", "-r", "-z", "--raw", "--no-renames", head, target)
	if err != nil {
		return nil, err
	}
	for pair := range slices.Chunk(fields(said), 2) {
		part := strings.Fields(strings.TrimPrefix(pair[0], ":")) // modes, hashes, the state
		if len(pair) < 2 || len(part) != 5 {
			return nil, unexpected(pair[0])
		}
		mode := func(of string) string {
			if strings.Trim(of, "0") == "" {
				return ""
			}
			return of
		}
		out = append(out, Written{Path: pair[1], Was: mode(part[0]), Mode: mode(part[1])})
	}
	return out, nil
}

// losses are the paths of a switch at which somebody else's would be overwritten, also what is ignored. Git looks again when it
// switches, but would overwrite that.
func (r *repository) losses(writes []Written, target string) ([]string, error) {
	tracked, err := r.names("ls-files", "-z")
	if err != nil {
		return nil, err
	}
	changes := map[string]bool{}
	var lost []string
	for _, w := range writes {
		if changes[w.Path] = true; w.Was == "" && r.occupied(tracked, w.Path) {
			lost = append(lost, w.Path)
		}
	}
	now, err := r.statusOf("", "no", "--no-renames")
	for _, f := range now.Files {
		if changes[f.Path] && !slices.Contains(lost, f.Path) && !r.isStaged(f, target) {
			lost = append(lost, f.Path)
		}
	}
	return lost, err
}

// occupied says whether something that is not committed stands where a file is to be, or on the way to it.
func (r *repository) occupied(tracked map[string]bool, name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := os.Lstat(filepath.Join(r.Top, filepath.FromSlash(at)))
		switch {
		case err != nil:
		case !info.IsDir():
			return !tracked[at]
		case at == name:
			others, err := r.output(append([]string{"ls-files", "-z", "--others"}, pathspec(name)...)...)
			return err != nil || others != ""
		default:
			return false
		}
	}
	return false
}

// isStaged: the file is as a commit has it, in the index and on disk. Git leaves it so.
func (r *repository) isStaged(f FileStatus, commit string) bool {
	staged, err := r.reference(":0:" + f.Path)
	there, otherErr := r.reference(commit + ":" + f.Path)
	return f.Worktree == "" && err == nil && otherErr == nil && staged == there
}

// Delete looks at the deletion of a branch. One whose commits would be lost is refused:
// they must be in what it follows or, if it follows nothing, in what is checked out.
func (g *Reader) Delete(ctx context.Context, root, dir, name string) (BranchChange, error) {
	r, err := g.openToWrite(ctx, root, dir)
	if err != nil {
		return BranchChange{}, err
	}
	if r == nil {
		return builtinDelete(root, dir, name)
	}
	out := BranchChange{Name: name, Beyond: "HEAD"}
	if out.Repository, err = r.about(branchHooks); err != nil {
		return out, err
	}
	r.writing(&out.Repository, nil, Signing{})
	if out.Hash, err = r.existing(name); err != nil {
		return out, err
	}
	if out.Branch == name {
		return out, fault.New(fault.GitError, "%s is checked out; switch to another branch first", fault.Quote(name))
	}
	if other := r.otherWorktree(name); other != "" {
		return out, isElsewhere(name, other)
	}
	base := out.Head
	if upstream, follows := r.Config.Tracked(name); follows {
		h, err := r.reference(upstream)
		if err != nil {
			return out, err
		}
		if h != "" {
			base, out.Beyond = h, gitdir.ShortReference(upstream)
		}
	}
	ahead := "1"
	if base != "" {
		if ahead, err = r.output("rev-list", "--count", base+".."+out.Hash); err != nil {
			return out, err
		}
	}
	if n, _ := strconv.Atoi(strings.TrimSpace(ahead)); n > 0 { //nolint:errcheck // git writes a number
		return out, lostCommits(name, n, out.Beyond)
	}
	return out, nil
}

func lostCommits(name string, n int, beyond string) error {
	are := "1 commit is"
	if n != 1 {
		are = fmt.Sprintf("%d commits are", n)
	}
	return fault.New(fault.GitError, "the work of %s would be lost: %s not in %s", fault.Quote(name), are, fault.Quote(beyond)).
		WithHint("merge it first, or ask the user to delete it")
}

// Head is what is checked out.
type Head struct {
	Branch string // "" when detached
	Hash   string // "" before the first commit
}

// Branch is a local branch.
type Branch struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"`
	Upstream string `json:"upstream,omitempty"` // such as origin/main, whether or not it exists
}

// BranchList is what git branch lists, by name.
type BranchList struct {
	Head     Head
	Branches []Branch
}

// Branches lists the local branches of the repository that dir, inside the
// workspace's folder root, lies in.
func (g *Reader) Branches(ctx context.Context, root, dir string) (BranchList, error) {
	r, err := g.open(ctx, root, dir)
	if err != nil {
		return BranchList{}, err
	}
	if r == nil {
		return builtinBranches(root, dir)
	}
	list := BranchList{}
	if list.Head.Branch, err = r.branch(); err != nil {
		return list, err
	}
	if list.Head.Hash, err = r.head(); err != nil {
		return list, err
	}
	out, err := r.output("for-each-ref", "--format=%(refname:lstrip=2)%00%(objectname)%00%(upstream:short)", "refs/heads/")
	for line := range strings.Lines(out) {
		if part := strings.Split(strings.TrimSuffix(line, "\n"), "\x00"); len(part) == 3 {
			list.Branches = append(list.Branches, Branch{part[0], part[1], part[2]})
		}
	}
	return list, err
}

// checkBranchName holds a name to git check-ref-format --branch, without the
// abbreviations of other names (@{-1}).
func checkBranchName(name string) error {
	if problem := badReference(name); problem != "" {
		return fault.Invalid("no branch can be called %s: %s", fault.Quote(name), problem)
	}
	return nil
}

// badReference is why no branch has the name; "" if one may.
func badReference(name string) string {
	switch {
	case name == "":
		return "the name is empty"
	case name == "HEAD" || name == "@":
		return "that is another name for what is checked out"
	case strings.HasPrefix(name, "-"):
		return "it begins with -"
	}
	return gitdir.NameProblem(name)
}
