package git

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
	"pillion/workspace/git/worktree"
)

// CommitOptions says what is to be committed.
type CommitOptions struct {
	Dir      string   // absolute: a folder or file of the repository
	Files    []string // absolute; none: what is staged, else what changed in tracked files below Dir
	MaxBytes int64    // of the diff that shows it; a longer one is left out
}

// What a commit is made from.
const (
	FromStaged  = "staged"  // the index as it is
	FromTracked = "tracked" // the work tree's files that the index has, as nothing is staged
	FromFiles   = "files"   // the files that were named, whatever is staged
)

// Draft is a commit that could be made now, as git would make it.
type Draft struct {
	Repository
	From    string
	Changes DiffResult // what it holds, compared with its parent
	// Content is the mode and the hash of each file that it changes, "" of one that it
	// deletes.
	Content map[string]string
	Paths   []string // what to name to git, relative to Top; none of FromStaged
	New     []string // of Paths: those that are not tracked yet
	Left    []string // what is staged besides, and stays so
	Sign    Signing
	Filters []string // programs that the files go through, as the configuration has them
	Doing   string   // what git is in the middle of, such as "a merge"; "" of nothing

	Author, Committer Identity
}

// Repository is where a write happens.
type Repository struct {
	Top    string // of its work tree, absolute
	Dir    string // of git itself, absolute; that of a linked work tree
	Branch string // "" where none is checked out
	Head   string // the commit that is checked out; "" before the first
	// Fetched is by what git fetches objects that a partial clone has not, when it comes
	// upon them.
	Fetched []string
}

// State is another text whenever anything of the draft is another.
func (d Draft) State() string { return stateOf(d) }

func stateOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// NewDraft looks at what a commit in the repository of o.Dir would hold.
func NewDraft(ctx context.Context, root string, o CommitOptions) (Draft, error) {
	place, repo, err := at(root, o.Dir)
	if err != nil {
		return Draft{}, err
	}
	defer repo.Close()
	if err := repo.Writable("HEAD"); err != nil {
		return Draft{}, err
	}
	d := &drafting{Comparison: worktree.Comparison{Ctx: ctx, Repo: repo.Checkout}, place: place, root: root, options: o}
	d.draft = Draft{
		Repository: repo.about(), Content: map[string]string{}, Doing: repo.doing(), Sign: signingOf(repo.Config),
		Author: identityOf(repo.Config, "author"), Committer: identityOf(repo.Config, "committer"),
	}
	if err := d.run(); err != nil {
		return Draft{}, err
	}
	return d.draft, nil
}

func (r *repository) about() Repository {
	out := Repository{Top: r.Top, Dir: r.GitDir, Branch: r.Branch(), Fetched: fetchersOf(r.Config)}
	if h, born := r.Head(); born {
		out.Head = h.String()
	}
	return out
}

// doing is what git is in the middle of.
func (r *repository) doing() string {
	for _, one := range []struct{ file, what string }{
		{"MERGE_HEAD", "a merge"},
		{"CHERRY_PICK_HEAD", "a cherry-pick, whose author the commit gets"},
		{"REVERT_HEAD", "a revert"},
		{"rebase-merge", "a rebase"},
		{"rebase-apply", "a rebase or git am"},
		{"BISECT_LOG", "a bisection"},
	} {
		if gitfile.Exists(filepath.Join(r.GitDir, one.file)) {
			return one.what
		}
	}
	return ""
}

// drafting is the making of a draft.
type drafting struct {
	worktree.Comparison
	place   gitdir.Location
	root    string
	options CommitOptions
	draft   Draft
}

func (d *drafting) run() error {
	index, err := d.Index()
	if err != nil {
		return err
	}
	staged, err := d.SinceCommit(worktree.DiffOptions{Staged: true})
	if err != nil {
		return err
	}
	if err := unmerged(index); err != nil {
		return err
	}
	var changes []worktree.Difference
	switch merging := gitfile.Exists(filepath.Join(d.Repo.GitDir, "MERGE_HEAD")); {
	case len(d.options.Files) > 0 && merging:
		return fault.New(fault.GitError, "a merge cannot be committed in part; stage what it is to hold, and leave files out")
	case len(d.options.Files) > 0:
		d.draft.From = FromFiles
		changes, err = d.named(index, staged)
	case len(staged) > 0 || merging:
		d.draft.From, changes = FromStaged, staged
	default:
		d.draft.From = FromTracked
		changes, err = d.tracked()
	}
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(ch worktree.Difference) bool { // a submodule with changes of its own
		return ch.Old.Mode == ch.New.Mode && ch.Old.Hash == ch.New.Hash
	})
	if len(changes) == 0 && !gitfile.Exists(filepath.Join(d.Repo.GitDir, "MERGE_HEAD")) {
		return d.nothing()
	}
	return d.show(index, changes)
}

func (d *drafting) nothing() error {
	if d.draft.From == FromFiles {
		return fault.New(fault.GitError, "there is nothing to commit: the files are as the last commit has them")
	}
	return fault.New(fault.GitError, "there is nothing to commit: nothing is staged, and no tracked file has changed").
		WithHint("name new files in files; git.status lists them")
}

// unmerged refuses what git refuses, and says which files it is about.
func unmerged(index *worktree.StagedFiles) error {
	var names []string
	for _, name := range index.Paths {
		if !index.Files[name].Merged() {
			names = append(names, fault.Quote(name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	const most = 20
	return fault.New(fault.GitError, "there are conflicts that nobody has resolved: %s", strings.Join(names[:min(most, len(names))], ", ")).
		WithHint("resolve them and stage the files with git add; then commit")
}

// tracked are the changes of the work tree that nobody has staged.
func (d *drafting) tracked() ([]worktree.Difference, error) {
	limited := worktree.Comparison{Ctx: d.Ctx, Repo: d.Repo, Prefix: d.Repo.Prefix(d.place.Dir)}
	all, err := limited.SinceCommit(worktree.DiffOptions{})
	if err != nil {
		return nil, err
	}
	for _, ch := range all {
		d.draft.Paths = append(d.draft.Paths, ch.Path)
	}
	slices.Sort(d.draft.Paths)
	return all, nil
}

// named are the changes of the files that were asked for.
func (d *drafting) named(index *worktree.StagedFiles, staged []worktree.Difference) ([]worktree.Difference, error) {
	var out []worktree.Difference
	asked := map[string]bool{}
	for _, file := range d.options.Files {
		name, err := d.nameOf(file)
		if err != nil {
			return nil, err
		}
		if asked[name] {
			continue
		}
		asked[name] = true
		ch, err := d.file(name, index)
		if err != nil {
			return nil, err
		}
		d.draft.Paths = append(d.draft.Paths, name)
		if !ch.Old.Same(ch.New) {
			out = append(out, ch)
		}
		gone, err := d.replaced(ch, index, asked)
		if err != nil {
			return nil, err
		}
		out = append(out, gone...)
	}
	for _, ch := range staged {
		if !asked[ch.Path] {
			d.draft.Left = append(d.draft.Left, ch.Path)
		}
	}
	slices.Sort(d.draft.Paths)
	slices.SortFunc(out, func(a, b worktree.Difference) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// nameOf is a file's path in the repository.
func (d *drafting) nameOf(file string) (string, error) {
	at, err := gitdir.Locate(d.root, file)
	if err != nil {
		return "", err
	}
	name := d.Repo.Prefix(at.Dir)
	if at.Dir == d.Repo.Top {
		return "", isFolder(name)
	}
	if gitdir.Inside(d.Repo.Top, at.Dir) && !odb.SafePath(name) {
		return "", fault.New(fault.PolicyDenied, "%s belongs to a git repository itself; it cannot be committed", fault.Quote(name))
	}
	if !gitdir.Inside(d.Repo.Top, at.Dir) {
		return "", fault.New(fault.GitError, "%s is no file of the repository in %s; commit in one repository at a time", fault.Quote(file), fault.Quote(d.Repo.Top))
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if gitDir, err := gitdir.GitDirOf(d.Repo.Work.Abs(dir)); err != nil || gitDir != "" {
			return "", fault.New(fault.GitError, "%s is in another repository, that of %s; commit there first", fault.Quote(name), fault.Quote(dir)).
				WithHint("give path, the folder of that repository")
		}
	}
	return name, nil
}

// file is the change of one file that was asked for.
func (d *drafting) file(name string, index *worktree.StagedFiles) (worktree.Difference, error) {
	old, err := d.Committed(name)
	ch := worktree.Difference{Path: name, OldPath: name, Old: old}
	if err != nil {
		return ch, err
	}
	if entry := index.Files[name]; entry != nil {
		ch.New, err = d.Current(index, entry.Any())
		return ch, err
	}
	info, err := d.Repo.Work.Lstat(name)
	switch {
	case err != nil:
		return ch, err
	case info == nil && ch.Old.Absent():
		return ch, fault.New(fault.FileNotFound, "%s is neither there nor tracked; there is nothing of it to commit", fault.Quote(name))
	case info == nil:
		return ch, nil
	case info.IsDir():
		return ch, isFolder(name)
	case d.Repo.Work.Mode(info, odb.ModeFile) == odb.ModeAbsent:
		return ch, fault.New(fault.NotAFile, "%s is neither a file nor a link; git cannot commit it", fault.Quote(name))
	}
	if d.Repo.Ignores(name) {
		return ch, fault.New(fault.GitError, "git ignores %s; it cannot be committed like this", fault.Quote(name)).
			WithHint("leave it out, or ask the user, who can stage it with git add -f")
	}
	if ch.Old.Absent() {
		d.draft.New = append(d.draft.New, name)
	}
	ch.New = worktree.Side{Mode: d.Repo.Work.Mode(info, odb.ModeFile), OnDisk: true}
	ch.New.Hash, err = d.Repo.Work.Hash(name, ch.New, info.Size())
	return ch, err
}

func isFolder(name string) error {
	return fault.New(fault.NotAFile, "%s is a folder; name the files to commit, or stage them and leave files out", fault.Quote(cmp.Or(name, ".")))
}

// show fills the draft with the changes.
func (d *drafting) show(index *worktree.StagedFiles, changes []worktree.Difference) error {
	for _, ch := range changes {
		d.draft.Content[ch.Path] = ch.New.Content()
	}
	d.draft.Filters = filters(d.Repo, index, changes, "clean")
	result, err := printChanges(&d.Comparison, changes, d.options.MaxBytes)
	d.draft.Changes = result
	return err
}

// print shows changes, renames found; without the text if that is too long.
func printChanges(c *worktree.Comparison, changes []worktree.Difference, most int64) (DiffResult, error) {
	changes, err := c.Renames(changes)
	if err != nil {
		return DiffResult{}, err
	}
	slices.SortStableFunc(changes, func(a, b worktree.Difference) int { return cmp.Compare(a.Path, b.Path) })
	p := &printer{ctx: c.Ctx, repo: c.Repo, context: 3, limit: most}
	result, err := p.print(changes)
	if fault.CodeOf(err) == fault.FileTooLarge {
		return p.result, nil
	}
	return result, err
}

// Committed is a commit that was made.
type Committed struct {
	Repository
	Changes DiffResult // against its first parent, without their text
	Content map[string]string
}

// HeadCommit looks at the commit that is checked out in dir.
func HeadCommit(ctx context.Context, root, dir string) (Committed, error) {
	_, repo, err := at(root, dir)
	if err != nil {
		return Committed{}, err
	}
	defer repo.Close()
	made := Committed{Repository: repo.about(), Content: map[string]string{}}
	h, born := repo.Head()
	if !born {
		return made, nil
	}
	commit, err := repo.Objects.Commit(h)
	if err != nil {
		return made, err
	}
	var parent plumbing.Hash
	if len(commit.ParentHashes) > 0 {
		before, err := repo.Objects.Commit(commit.ParentHashes[0])
		if err != nil {
			return made, err
		}
		parent = before.TreeHash
	}
	c := &worktree.Comparison{Ctx: ctx, Repo: repo.Checkout}
	changes, err := c.Trees(parent, commit.TreeHash, "")
	if err != nil {
		return made, err
	}
	for _, ch := range changes {
		made.Content[ch.Path] = ch.New.Content()
	}
	made.Changes, err = printChanges(c, changes, 1)
	return made, err
}

// replaced are the files that go because another has come in the place of a folder of
// theirs, or as one in a folder where they were.
func (d *drafting) replaced(ch worktree.Difference, index *worktree.StagedFiles, asked map[string]bool) ([]worktree.Difference, error) {
	if !ch.Old.Absent() || ch.New.Absent() {
		return nil, nil
	}
	var out []worktree.Difference
	gone := func(name string) error {
		old, err := d.Committed(name)
		if err == nil && !old.Absent() && !asked[name] {
			asked[name] = true
			out = append(out, worktree.Difference{Path: name, OldPath: name, Old: old})
		}
		return err
	}
	for dir := path.Dir(ch.Path); dir != "."; dir = path.Dir(dir) {
		if err := gone(dir); err != nil {
			return nil, err
		}
	}
	for _, name := range index.Paths {
		if strings.HasPrefix(name, ch.Path+"/") {
			if err := gone(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
