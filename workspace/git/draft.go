package git

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/program"
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
	// deletes, and Converted of one that goes through a filter first.
	Content   map[string]string
	Paths     []string // what to name to git, relative to Top; none of FromStaged
	New       []string // of Paths: those that are not tracked yet
	Left      []string // what is staged besides, and stays so
	Sign      Signing
	Filters   []string // programs that the files go through, as the configuration has them
	Operation string   // what git is in the middle of, such as "a merge"; "" of nothing
	Merges    []string // the commits that it has for parents beside Head

	Author, Committer Identity
}

// Converted is the content of a file that a filter makes.
const Converted = "converted"

// State is another text whenever anything of the draft is another.
func (d Draft) State() string { return stateOf(d) }

// NewDraft looks at what a commit in the repository of o.Dir would hold.
func (g *Reader) NewDraft(ctx context.Context, root string, o CommitOptions) (Draft, error) {
	r, err := g.openToWrite(ctx, root, o.Dir)
	if err != nil {
		return Draft{}, err
	}
	if r == nil {
		return builtinDraft(ctx, root, o)
	}
	about, err := r.about(commitHooks)
	if err != nil {
		return Draft{}, err
	}
	d := &drafting{repository: r, root: root, options: o}
	d.draft = Draft{
		Repository: about, Operation: operationInProgress(r.has), Sign: signs(r.Config, "commit.gpgsign"),
		Author: identityOf(r.Config, "author"), Committer: identityOf(r.Config, "committer"),
	}
	defer d.throwAway()
	err = d.run()
	return d.draft, err
}

// others are what a commit in the middle of something has besides: more parents, and the author of what is picked.
func (d *drafting) others() error {
	if d.has("MERGE_HEAD") {
		text, err := gitfile.Read(filepath.Join(d.GitDir, "MERGE_HEAD"))
		if err != nil {
			return fault.From(err)
		}
		d.draft.Merges = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		for _, line := range d.draft.Merges { // git takes any revision, which may be another one by then
			if hash, err := d.reference(line + "^{commit}"); err != nil || hash != line {
				return fault.New(fault.GitError, "MERGE_HEAD names %s, which is no commit's hash", fault.Quote(fault.Clip(line, 100))).WithHint("ask the user about the merge")
			}
		}
	}
	if !d.has("CHERRY_PICK_HEAD") {
		return nil
	}
	who, err := d.output("log", "-1", "--no-show-signature", "--format=%an%x00%ae", "CHERRY_PICK_HEAD", "--")
	name, address, _ := strings.Cut(strings.TrimSuffix(who, "\n"), "\x00")
	d.draft.Author = Identity{name, address}
	return err
}

// drafting is the making of a draft.
type drafting struct {
	*repository
	root    string
	options CommitOptions
	draft   Draft
	scratch string // a folder with an index and objects of its own, "" until there is one
}

func (d *drafting) run() error {
	if err := d.unmerged(); err != nil {
		return err
	}
	head, err := d.orEmptyTree(d.draft.Head) // git takes one that it cannot read for none
	if err != nil {
		return err
	}
	staged, err := d.repository.diff(comparison{between: []string{"--cached", head}, quiet: true})
	if err != nil {
		return err
	}
	what := comparison{between: []string{"--cached", head}, context: 3, limit: d.options.MaxBytes, lenient: true}
	if err := d.others(); err != nil {
		return err
	}
	if err := d.indexed(); err != nil {
		return err
	}
	merging := len(d.draft.Merges) > 0
	switch {
	case len(d.options.Files) > 0 && merging:
		return fault.New(fault.GitError, "a merge cannot be committed in part; stage what it is to hold, and leave files out")
	case len(d.options.Files) > 0:
		d.draft.From = FromFiles
		err = d.named(&what, head, staged)
	case staged.FilesChanged > 0 || merging:
		d.draft.From = FromStaged
	default:
		d.draft.From = FromTracked
		err = d.tracked(&what)
	}
	if err != nil {
		return err
	}
	changes, err := d.repository.diff(what)
	if err != nil {
		return err
	}
	if changes.FilesChanged == 0 && !merging {
		return nothingToCommit(d.draft.From)
	}
	d.draft.Changes, d.draft.Content = changes, changes.contents()
	if d.draft.From == FromTracked {
		d.draft.Paths = slices.Sorted(maps.Keys(d.draft.Content))
	}
	var drivers map[string]bool
	if d.draft.Filters, drivers, err = d.filters(changes.Files, "clean"); err == nil {
		d.draft.Reaches = d.draft.Reaches || len(d.draft.Filters) > 0
		d.writing(&d.draft.Repository, drivers, d.draft.Sign)
	}
	return err
}

// indexed refuses an index of which git would commit something else than its entries: it keeps the hashes of folders beside them, and
// looks at them again only where its own tests ask for that, as this does with a copy.
func (d *drafting) indexed() error {
	var what comparison
	if err := d.prepare(&what); err != nil {
		return err
	}
	defer d.throwAway()
	what.env = append(what.env, "GIT_TEST_CHECK_CACHE_TREE=true")
	_, err := d.outputWith(what, "update-index", "--force-write-index")
	if program.Aborts(err) {
		return fault.New(fault.GitError, "the index is not as git made it: a commit of it would hold something else than what is staged").
			WithHint("ask the user to look at it")
	}
	return err
}

func nothingToCommit(from string) error {
	if from == FromFiles {
		return fault.New(fault.GitError, "there is nothing to commit: the files are as the last commit has them")
	}
	return fault.New(fault.GitError, "there is nothing to commit: nothing is staged, and no tracked file has changed").
		WithHint("name new files in files; git.status lists them")
}

// prepare makes an index to be thrown away, and a folder for the objects that come into it.
func (d *drafting) prepare(what *comparison) (err error) {
	if d.scratch, err = d.Scratch(); err != nil {
		return fault.From(err)
	}
	objects := filepath.Join(d.scratch, "objects")
	if err := os.Mkdir(objects, 0o700); err != nil {
		return fault.From(err)
	}
	if err := copyIndex(filepath.Join(d.GitDir, "index"), filepath.Join(d.scratch, "index")); err != nil {
		return fault.From(err)
	}
	what.env = []string{
		"GIT_INDEX_FILE=" + filepath.Join(d.scratch, "index"), "GIT_OBJECT_DIRECTORY=" + objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoted(filepath.Join(d.CommonDir, "objects")),
	}
	return nil
}

// quoted is a path as git reads one in a list.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// copyIndex copies an index, if there is one, with its time: by that git knows which files may have changed since without
// another time.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := gitfile.ReadWithin(from, mostIndex)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

func (d *drafting) throwAway() {
	if d.scratch != "" {
		_ = os.RemoveAll(d.scratch) // else it lies among other temporary files
		d.scratch = ""
	}
}

// tracked takes what has changed in tracked files. Not by git add --update, which goes into submodules.
func (d *drafting) tracked(what *comparison) error {
	changed, err := d.repository.diff(comparison{path: d.prefix, quiet: true})
	if err != nil {
		return err
	}
	var names []string
	for _, f := range changed.Files {
		names = append(names, f.Path)
		if f.OldPath != "" {
			names = append(names, f.OldPath)
		}
	}
	if err := d.prepare(what); err != nil || len(names) == 0 {
		return err
	}
	return d.update(*what, names)
}

// update takes files as they are on disk into the index of the draft.
func (d *drafting) update(what comparison, names []string) error {
	var gone, there []string // git refuses what is gone behind a link, unless it is told so
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(d.Top, filepath.FromSlash(name))); err != nil || !gitfile.IsStraight(d.Top, path.Dir(name)) {
			gone = append(gone, name)
		} else {
			there = append(there, name)
		}
	}
	for _, one := range []struct {
		names   []string
		options []string
	}{{gone, []string{"--force-remove"}}, {there, []string{"--add", "--remove", "--replace"}}} {
		if len(one.names) == 0 {
			continue
		}
		call := what.call(slices.Concat([]string{"update-index"}, one.options, []string{"-z", "--stdin"}))
		call.Stdin = strings.Join(one.names, "\x00") + "\x00"
		if _, err := d.Output(d.ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// named takes the files that were asked for into what the last commit holds.
func (d *drafting) named(what *comparison, head string, staged DiffResult) error {
	for _, file := range d.options.Files {
		name, err := nameIn(d.Place, d.root, file)
		if err != nil {
			return err
		}
		if !slices.Contains(d.draft.Paths, name) {
			d.draft.Paths = append(d.draft.Paths, name)
		}
	}
	slices.Sort(d.draft.Paths)
	if err := d.check(); err != nil {
		return err
	}
	for _, f := range staged.Files {
		for _, name := range []string{f.OldPath, f.Path} {
			if name != "" && !slices.Contains(d.draft.Paths, name) && !(name == f.OldPath && f.Status != "R") {
				d.draft.Left = append(d.draft.Left, name)
			}
		}
	}
	if err := d.prepare(what); err != nil {
		return err
	}
	if _, err := d.outputWith(*what, "read-tree", head); err != nil {
		return err
	}
	return d.update(*what, d.draft.Paths)
}

// check refuses files that cannot be committed by their names, and notes those that are new.
func (d *drafting) check() error {
	tracked, err := d.names("ls-files", "-z")
	if err != nil {
		return err
	}
	var committed map[string]bool // nil: not asked for
	var others []string
	for _, name := range d.draft.Paths {
		info, statErr := os.Lstat(filepath.Join(d.Top, filepath.FromSlash(name)))
		if committed == nil && !tracked[name] {
			committed = map[string]bool{}
			if d.draft.Head != "" {
				if committed, err = d.names("ls-tree", "-r", "-z", "--full-tree", "--name-only", d.draft.Head); err != nil {
					return err
				}
			}
		}
		switch {
		case statErr != nil && !errors.Is(statErr, fs.ErrNotExist) && !gitfile.IsNotDir(statErr):
			return fault.From(statErr)
		case statErr != nil && !tracked[name] && !committed[name]:
			return notThere(name)
		case statErr != nil || tracked[name]:
			continue
		case info.IsDir():
			return isFolder(name)
		case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
			return fault.New(fault.NotAFile, "%s is neither a file nor a link; git cannot commit it", fault.Quote(name))
		}
		others = append(others, name)
		if !committed[name] {
			d.draft.New = append(d.draft.New, name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	// "./" in front, because a leading colon would begin a pattern, also where the environment says that there are none.
	found, err := d.input("./"+strings.Join(others, "\x00./")+"\x00", "check-ignore", "-z", "--stdin")
	switch names := fields(found); {
	case program.SaysNo(err):
		return nil
	case err != nil || len(names) == 0:
		return err
	default:
		return ignored(strings.TrimPrefix(names[0], "./"))
	}
}

func ignored(name string) error {
	return fault.New(fault.GitError, "git ignores %s; it cannot be committed like this", fault.Quote(name)).
		WithHint("leave it out, or ask the user, who can stage it with git add -f")
}

func notThere(name string) error {
	return fault.New(fault.FileNotFound, "%s is neither there nor tracked; there is nothing of it to commit", fault.Quote(name))
}

// nameIn is a file's path in a repository.
func nameIn(d gitdir.Place, root, file string) (string, error) {
	at, err := gitdir.Locate(root, file)
	if err != nil {
		return "", err
	}
	name := d.Prefix(at.Dir)
	switch {
	case at.Dir == d.Top:
		return "", isFolder(name)
	case !gitdir.Inside(d.Top, at.Dir):
		return "", fault.New(fault.GitError, "%s is no file of the repository in %s; commit in one repository at a time", fault.Quote(file), fault.Quote(d.Top))
	case !gitdir.SafePath(name):
		return "", fault.New(fault.PolicyDenied, "%s belongs to a git repository itself; it cannot be committed", fault.Quote(name))
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if gitDir, err := gitdir.GitDirOf(filepath.Join(d.Top, filepath.FromSlash(dir))); err != nil || gitDir != "" {
			return "", fault.New(fault.GitError, "%s is in another repository, that of %s; commit there first", fault.Quote(name), fault.Quote(dir)).
				WithHint("give path, the folder of that repository")
		}
	}
	return name, nil
}

func isFolder(name string) error {
	return fault.New(fault.NotAFile, "%s is a folder; name the files to commit, or stage them and leave files out", fault.Quote(cmp.Or(name, ".")))
}

// Committed is a commit that was made.
type Committed struct {
	Repository
	Changes DiffResult // against its first parent, without their text
	Content map[string]string
}

// HeadCommit looks at the commit that is checked out in dir.
func (g *Reader) HeadCommit(ctx context.Context, root, dir string) (Committed, error) {
	r, err := g.openToWrite(ctx, root, dir)
	if err != nil {
		return Committed{}, err
	}
	if r == nil {
		return builtinHeadCommit(root, dir)
	}
	made := Committed{}
	if made.Repository, err = r.where(); err != nil || made.Head == "" {
		return made, err
	}
	parent, err := r.reference(made.Head + "^1")
	if err == nil {
		parent, err = r.orEmptyTree(parent)
	}
	if err == nil {
		made.Changes, err = r.diff(comparison{between: []string{parent, made.Head}, quiet: true})
	}
	made.Content = made.Changes.contents()
	return made, err
}
