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

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
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
	defer repo.close()
	d := &drafting{comparison: comparison{ctx: ctx, repo: repo}, place: place, root: root, options: o}
	d.draft = Draft{
		Repository: repo.about(), Content: map[string]string{}, Doing: repo.doing(), Sign: repo.config.signing(),
		Author: repo.config.identity("author"), Committer: repo.config.identity("committer"),
	}
	if err := d.run(); err != nil {
		return Draft{}, err
	}
	return d.draft, nil
}

// at opens the repository that dir, in the workspace's folder root, lies in.
func at(root, dir string) (place, *repository, error) {
	place, err := locate(root, dir)
	if err != nil {
		return place, nil, err
	}
	repo, err := discover(place)
	return place, repo, err
}

func (r *repository) about() Repository {
	out := Repository{Top: r.top, Dir: r.gitDir, Branch: r.branch(), Fetched: r.config.fetchers()}
	if h, born := r.head(); born {
		out.Head = h.String()
	}
	return out
}

// branch is the one that is checked out, "" for none.
func (r *repository) branch() string {
	text, _ := r.loose("HEAD")
	target, symbolic := strings.CutPrefix(text, "ref:")
	name, isBranch := strings.CutPrefix(strings.TrimSpace(target), "refs/heads/")
	if !symbolic || !isBranch {
		return ""
	}
	return name
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
		if gitfile.Exists(filepath.Join(r.gitDir, one.file)) {
			return one.what
		}
	}
	return ""
}

// drafting is the making of a draft.
type drafting struct {
	comparison
	place   place
	root    string
	options CommitOptions
	draft   Draft
}

func (d *drafting) run() error {
	index, err := d.index()
	if err != nil {
		return err
	}
	staged, err := d.withCommit(index, DiffOptions{Staged: true})
	if err != nil {
		return err
	}
	if err := unmerged(index); err != nil {
		return err
	}
	var changes []change
	switch merging := gitfile.Exists(filepath.Join(d.repo.gitDir, "MERGE_HEAD")); {
	case len(d.options.Files) > 0 && merging:
		return fault.New(fault.GitError, "a merge cannot be committed in part; stage what it is to hold, and leave files out")
	case len(d.options.Files) > 0:
		d.draft.From = FromFiles
		changes, err = d.named(index, staged)
	case len(staged) > 0 || merging:
		d.draft.From, changes = FromStaged, staged
	default:
		d.draft.From = FromTracked
		changes, err = d.tracked(index)
	}
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(ch change) bool { // a submodule with changes of its own
		return ch.old.mode == ch.new.mode && ch.old.hash == ch.new.hash
	})
	if len(changes) == 0 && !gitfile.Exists(filepath.Join(d.repo.gitDir, "MERGE_HEAD")) {
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
func unmerged(index *stagedFiles) error {
	var names []string
	for _, name := range index.paths {
		if !index.files[name].merged() {
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
func (d *drafting) tracked(index *stagedFiles) ([]change, error) {
	limited := comparison{ctx: d.ctx, repo: d.repo, prefix: d.repo.prefix(d.place.dir)}
	all, err := limited.withCommit(limited.among(index), DiffOptions{})
	if err != nil {
		return nil, err
	}
	for _, ch := range all {
		d.draft.Paths = append(d.draft.Paths, ch.path)
	}
	slices.Sort(d.draft.Paths)
	return all, nil
}

// among is the part of the index that the comparison is about.
func (c *comparison) among(index *stagedFiles) *stagedFiles {
	out := &stagedFiles{index: index.index, files: index.files}
	for _, name := range index.paths {
		if c.wants(name) {
			out.paths = append(out.paths, name)
		}
	}
	return out
}

// named are the changes of the files that were asked for.
func (d *drafting) named(index *stagedFiles, staged []change) ([]change, error) {
	var out []change
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
		if !ch.old.same(ch.new) {
			out = append(out, ch)
		}
		gone, err := d.replaced(ch, index, asked)
		if err != nil {
			return nil, err
		}
		out = append(out, gone...)
	}
	for _, ch := range staged {
		if !asked[ch.path] {
			d.draft.Left = append(d.draft.Left, ch.path)
		}
	}
	slices.Sort(d.draft.Paths)
	slices.SortFunc(out, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return out, nil
}

// nameOf is a file's path in the repository.
func (d *drafting) nameOf(file string) (string, error) {
	at, err := locate(d.root, file)
	if err != nil {
		return "", err
	}
	name := d.repo.prefix(at.dir)
	if at.dir == d.repo.top {
		return "", isFolder(name)
	}
	if inside(d.repo.top, at.dir) && !odb.SafePath(name) {
		return "", fault.New(fault.PolicyDenied, "%s belongs to a git repository itself; it cannot be committed", fault.Quote(name))
	}
	if !inside(d.repo.top, at.dir) {
		return "", fault.New(fault.GitError, "%s is no file of the repository in %s; commit in one repository at a time", fault.Quote(file), fault.Quote(d.repo.top))
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if gitDir, err := gitDirOf(d.repo.work.abs(dir)); err != nil || gitDir != "" {
			return "", fault.New(fault.GitError, "%s is in another repository, that of %s; commit there first", fault.Quote(name), fault.Quote(dir)).
				WithHint("give path, the folder of that repository")
		}
	}
	return name, nil
}

// file is the change of one file that was asked for.
func (d *drafting) file(name string, index *stagedFiles) (change, error) {
	old, err := d.committed(name)
	ch := change{path: name, oldPath: name, old: old}
	if err != nil {
		return ch, err
	}
	if entry := index.files[name]; entry != nil {
		ch.new, err = d.current(index, entry.any())
		return ch, err
	}
	info, err := d.repo.work.lstat(name)
	switch {
	case err != nil:
		return ch, err
	case info == nil && ch.old.absent():
		return ch, fault.New(fault.FileNotFound, "%s is neither there nor tracked; there is nothing of it to commit", fault.Quote(name))
	case info == nil:
		return ch, nil
	case info.IsDir():
		return ch, isFolder(name)
	case d.repo.work.mode(info, odb.ModeFile) == odb.ModeAbsent:
		return ch, fault.New(fault.NotAFile, "%s is neither a file nor a link; git cannot commit it", fault.Quote(name))
	}
	if d.repo.ignores(name) {
		return ch, fault.New(fault.GitError, "git ignores %s; it cannot be committed like this", fault.Quote(name)).
			WithHint("leave it out, or ask the human, who can stage it with git add -f")
	}
	if ch.old.absent() {
		d.draft.New = append(d.draft.New, name)
	}
	ch.new = side{mode: d.repo.work.mode(info, odb.ModeFile), onDisk: true}
	ch.new.hash, err = d.repo.work.hash(name, ch.new, info.Size())
	return ch, err
}

// committed is the file as the last commit has it.
func (c *comparison) committed(name string) (side, error) {
	h, born := c.repo.head()
	if !born {
		return side{}, nil
	}
	commit, err := c.repo.objects.Commit(h)
	if err != nil {
		return side{}, err
	}
	at := namedEntry{odb.ModeDir, commit.TreeHash}
	for step := range strings.SplitSeq(name, "/") {
		entries, err := c.entries(at.tree())
		if err != nil {
			return side{}, err
		}
		at = entries[step]
	}
	return at.file(), nil
}

func isFolder(name string) error {
	return fault.New(fault.NotAFile, "%s is a folder; name the files to commit, or stage them and leave files out", fault.Quote(cmp.Or(name, ".")))
}

// show fills the draft with the changes.
func (d *drafting) show(index *stagedFiles, changes []change) error {
	for _, ch := range changes {
		d.draft.Content[ch.path] = ch.new.content()
	}
	d.draft.Filters = d.repo.filters(index, changes, "clean")
	result, err := d.print(changes, d.options.MaxBytes)
	d.draft.Changes = result
	return err
}

// print shows changes, renames found; without the text if that is too long.
func (c *comparison) print(changes []change, most int64) (DiffResult, error) {
	changes, err := c.renames(changes)
	if err != nil {
		return DiffResult{}, err
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	p := &printer{ctx: c.ctx, repo: c.repo, context: 3, limit: most}
	result, err := p.print(changes)
	if fault.CodeOf(err) == fault.FileTooLarge {
		return p.result, nil
	}
	return result, err
}

// content tells what a commit holds of a file apart.
func (s side) content() string {
	if s.absent() {
		return ""
	}
	return modeText(s.mode) + " " + s.hash.String()
}

func modeText(mode uint32) string {
	switch mode {
	case odb.ModeExecutable:
		return "100755"
	case odb.ModeSymlink:
		return "120000"
	case odb.ModeSubmodule:
		return "160000"
	}
	return "100644"
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
	defer repo.close()
	made := Committed{Repository: repo.about(), Content: map[string]string{}}
	h, born := repo.head()
	if !born {
		return made, nil
	}
	commit, err := repo.objects.Commit(h)
	if err != nil {
		return made, err
	}
	var parent plumbing.Hash
	if len(commit.ParentHashes) > 0 {
		before, err := repo.objects.Commit(commit.ParentHashes[0])
		if err != nil {
			return made, err
		}
		parent = before.TreeHash
	}
	c := &comparison{ctx: ctx, repo: repo}
	changes, err := c.trees(parent, commit.TreeHash, "")
	if err != nil {
		return made, err
	}
	for _, ch := range changes {
		made.Content[ch.path] = ch.new.content()
	}
	made.Changes, err = c.print(changes, 1)
	return made, err
}
