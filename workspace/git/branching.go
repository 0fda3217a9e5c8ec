package git

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/worktree"
)

// BranchChange is something that could be done with a branch now.
type BranchChange struct {
	Repository
	Name  string
	Hash  string // of the branch; of a new one, where it begins
	Start string // of a new one: the full name of the remote branch it begins at and follows, else ""
	// Changes are those of a switch, without their text.
	Changes DiffResult
	Filters []string // programs that the files go through, as the configuration has them
	// Beyond is in what a branch that is deleted is contained.
	Beyond string
}

// State is another text whenever anything of the change is another.
func (b BranchChange) State() string { return stateOf(b) }

// NewBranch looks at a branch that is to be made, from HEAD unless another revision
// is named.
func NewBranch(_ context.Context, root, dir, name, from string) (BranchChange, error) {
	_, r, err := at(root, dir)
	if err != nil {
		return BranchChange{}, err
	}
	defer r.Close()
	out := BranchChange{Repository: r.about(), Name: name}
	if err := r.changeable(name); err != nil {
		return out, err
	}
	if _, taken := r.Reference("refs/heads/" + name); taken {
		return out, fault.New(fault.GitError, "there is a branch %s already; switch to it, or take another name", fault.Quote(name))
	}
	if from == "" {
		from = "HEAD"
	}
	commit, err := r.Commit(from)
	if err != nil {
		return out, err
	}
	out.Hash = commit.Hash.String()
	for _, full := range []string{from, "refs/" + from, "refs/remotes/" + from} {
		_, local := r.Reference("refs/heads/" + from)
		if _, ok := r.Reference(full); ok && !local && strings.HasPrefix(full, "refs/remotes/") {
			out.Start = full
		}
	}
	return out, nil
}

// changeable refuses what cannot be the name of a branch, and where git would write elsewhere.
func (r *repository) changeable(name string) error {
	if err := checkBranchName(name); err != nil {
		return err
	}
	return r.Writable("HEAD", "refs/heads/"+name)
}

// existing finds a local branch that may be changed.
func (r *repository) existing(name string) (plumbing.Hash, error) {
	if err := r.changeable(name); err != nil {
		return plumbing.ZeroHash, err
	}
	h, ok := r.Reference("refs/heads/" + name)
	if ok {
		return h, nil
	}
	err := fault.New(fault.GitError, "there is no branch %s", fault.Quote(name))
	for _, remote := range r.List("refs/remotes/") {
		if short := gitdir.ShortReference(remote.Name); strings.HasSuffix(short, "/"+name) {
			return h, err.WithHint("%s has one: create it here first, with from %s", fault.Quote(strings.TrimSuffix(short, "/"+name)), fault.Quote(short))
		}
	}
	return h, err.WithHint("list shows the branches there are")
}

// Switch looks at a switch to another branch. One by which changes would be lost is
// refused: what is staged or not, untracked, or ignored.
func Switch(ctx context.Context, root, dir, name string) (BranchChange, error) {
	_, r, err := at(root, dir)
	if err != nil {
		return BranchChange{}, err
	}
	defer r.Close()
	out := BranchChange{Repository: r.about(), Name: name}
	target, err := r.existing(name)
	if err != nil {
		return out, err
	}
	out.Hash = target.String()
	switch doing, elsewhere := r.doing(), r.elsewhere(name); {
	case elsewhere != "":
		return out, isElsewhere(name, elsewhere)
	case out.Branch == name:
		return out, fault.New(fault.GitError, "%s is checked out already", fault.Quote(name))
	case doing != "" && doing != "a bisection":
		return out, fault.New(fault.GitError, "git is in the middle of %s; end that first, or ask the user to", doing)
	}
	c := &worktree.Comparison{Ctx: ctx, Repo: r.Checkout}
	changes, err := towards(c, target)
	if err != nil {
		return out, err
	}
	index, err := c.Index()
	if err != nil {
		return out, err
	}
	lost, err := losses(c, index, changes)
	if err != nil {
		return out, err
	}
	if len(lost) > 0 {
		const most = 20
		return out, fault.New(fault.WorkTreeDirty, "by switching to %s changes would be lost in %s", fault.Quote(name), listed(lost, most)).
			With("paths", lost).WithHint("commit them first, or ask the user what is to become of them")
	}
	out.Filters = filters(r.Checkout, index, changes, "clean", "smudge")
	out.Changes, err = printChanges(c, changes, 1)
	return out, err
}

// elsewhere is the other work tree in which a branch is checked out, "" for none.
func (r *repository) elsewhere(branch string) string {
	dirs := []string{r.CommonDir}
	trees, _ := os.ReadDir(filepath.Join(r.CommonDir, "worktrees")) //nolint:errcheck // without others there is none
	for _, t := range trees {
		dirs = append(dirs, filepath.Join(r.CommonDir, "worktrees", t.Name()))
	}
	for _, dir := range dirs {
		if dir != r.GitDir && (&gitdir.Repository{GitDir: dir, CommonDir: r.CommonDir}).Branch() == branch {
			return dir
		}
	}
	return ""
}

func isElsewhere(branch, dir string) error {
	return fault.New(fault.GitError, "%s is checked out in another work tree, that of %s", fault.Quote(branch), fault.Quote(dir))
}

func listed(names []string, most int) string {
	quoted := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, fault.Quote(name))
	}
	return strings.Join(quoted, ", ")
}

// towards are the changes from what is checked out to another commit.
func towards(c *worktree.Comparison, target plumbing.Hash) ([]worktree.Difference, error) {
	to, err := c.Repo.Objects.Commit(target)
	if err != nil {
		return nil, err
	}
	var from plumbing.Hash
	if h, born := c.Repo.Head(); born {
		at, err := c.Repo.Objects.Commit(h)
		if err != nil {
			return nil, err
		}
		from = at.TreeHash
	}
	return c.Trees(from, to.TreeHash, "")
}

// losses are the paths of the changes at which somebody else's would be overwritten.
func losses(c *worktree.Comparison, index *worktree.StagedFiles, changes []worktree.Difference) ([]string, error) {
	if err := unmerged(index); err != nil {
		return nil, err
	}
	var out []string
	goes := map[string]bool{}
	for _, ch := range changes {
		goes[ch.Path] = ch.New.Absent()
	}
	for _, ch := range changes {
		lost, err := overwrites(c, index, ch, goes)
		if err != nil && !strings.HasPrefix(ch.Path, c.Repo.Work.Strip) {
			return nil, fault.New(fault.GitError, "the switch changes %s, which lies outside of the workspace folder, and may have been changed there", fault.Quote(ch.Path)).
				WithHint("ask the user to make the switch")
		}
		if err != nil {
			return nil, err
		}
		if lost {
			out = append(out, ch.Path)
		}
	}
	return out, nil
}

func overwrites(c *worktree.Comparison, index *worktree.StagedFiles, ch worktree.Difference, goes map[string]bool) (bool, error) {
	entry := index.Files[ch.Path]
	if entry == nil {
		if !ch.Old.Absent() && ch.New.Absent() {
			return false, nil // its removal is staged, and the branch has it no more
		}
		return !ch.Old.Absent() || occupied(c, index, ch.Path, goes), nil
	}
	e := entry.Any()
	staged := worktree.Side{Mode: e.Mode, Hash: e.Hash}
	if e.IntentToAdd {
		staged = worktree.Side{}
	}
	if staged.Same(ch.New) {
		return false, nil // git leaves the file as it is
	}
	if !staged.Same(ch.Old) {
		return true, nil
	}
	now, err := c.Current(index, e)
	return err == nil && !now.Absent() && !now.Same(staged), err
}

// occupied says whether something that is not committed stands where a file is to be. A
// folder may, of which all that is tracked goes: what is staged in it alone git would take
// away with it.
func occupied(c *worktree.Comparison, index *worktree.StagedFiles, name string, goes map[string]bool) bool {
	info, err := c.Repo.Work.Lstat(name)
	if err != nil {
		return true
	}
	if info != nil {
		tracked, stays := false, false
		for _, p := range index.Paths {
			if strings.HasPrefix(p, name+"/") {
				tracked, stays = true, stays || !goes[p]
			}
		}
		return !info.IsDir() || !tracked || stays
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := c.Repo.Work.Lstat(dir)
		if err == nil && info != nil && !info.IsDir() && index.Files[dir] == nil {
			return true
		}
	}
	return false
}

// Delete looks at the deletion of a branch. One whose commits would be lost is refused:
// they must be in what it follows or, if it follows nothing, in what is checked out.
func Delete(ctx context.Context, root, dir, name string) (BranchChange, error) {
	_, r, err := at(root, dir)
	if err != nil {
		return BranchChange{}, err
	}
	defer r.Close()
	out := BranchChange{Repository: r.about(), Name: name, Beyond: "HEAD"}
	tip, err := r.existing(name)
	if err != nil {
		return out, err
	}
	out.Hash = tip.String()
	if out.Branch == name {
		return out, fault.New(fault.GitError, "%s is checked out; switch to another branch first", fault.Quote(name))
	}
	if elsewhere := r.elsewhere(name); elsewhere != "" {
		return out, isElsewhere(name, elsewhere)
	}
	base, ok := r.Head()
	if upstream, follows := r.Tracked(name); follows {
		if h, exists := r.Reference(upstream); exists {
			base, ok, out.Beyond = h, true, gitdir.ShortReference(upstream)
		}
	}
	ahead := 1
	if ok {
		if ahead, err = r.Ahead(ctx, tip, base); err != nil {
			return out, err
		}
	}
	if ahead > 0 {
		return out, fault.New(fault.GitError, "the work of %s would be lost: %s not in %s", fault.Quote(name), commits(ahead), fault.Quote(out.Beyond)).
			WithHint("merge it first, or ask the user to delete it")
	}
	return out, nil
}

func commits(n int) string {
	if n == 1 {
		return "1 commit is"
	}
	return strconv.Itoa(n) + " commits are"
}
