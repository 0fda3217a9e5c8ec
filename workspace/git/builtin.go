package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	format "github.com/go-git/go-git/v5/plumbing/format/diff"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/go-git/go-git/v5/storage/transactional"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// builtin is a repository where there is no git program, by go-git. It reads loose and packed objects of SHA-1, follows no
// includes of a configuration, runs nothing, and refuses where files are stored in another form than they have.
type builtin struct {
	gitdir.Place
	location gitdir.Location
	prefix   string // as in repository
	config   gitdir.Config
	files    billy.Filesystem // of the git folder
	store    *filesystem.Storage
	repo     *gogit.Repository
}

// NeedsGit is the answer where there is no git program and only git can do it.
func NeedsGit(what string) *fault.Error {
	return fault.New(fault.GitError, "%s; that needs a git program, and none was found", what).WithHint("ask the user to install git")
}

func openBuiltin(root, dir string) (*builtin, error) {
	location, place, err := find(root, dir)
	if err != nil {
		return nil, err
	}
	b := &builtin{Place: place, location: location, prefix: place.Prefix(location.Dir), files: osfs.New(place.GitDir)}
	if b.config, err = gitdir.ReadConfig(append(gitdir.UsersFiles(), gitdir.Files(place.GitDir, place.CommonDir)...)...); err != nil {
		return nil, err
	}
	for key := range b.config {
		if key == "core.worktree" || strings.HasPrefix(key, "extensions.") && b.config.Get(key) != "sha1" && b.config.Get(key) != "files" {
			return nil, NeedsGit(fmt.Sprintf("this repository uses %s", fault.Quote(key)))
		}
	}
	common := billy.Filesystem(nil)
	if place.CommonDir != place.GitDir {
		common = osfs.New(place.CommonDir)
	}
	b.store = filesystem.NewStorage(dotgit.NewRepositoryFilesystem(b.files, common), cache.NewObjectLRUDefault())
	if b.repo, err = gogit.Open(b.store, osfs.New(place.Top)); err != nil {
		return nil, asFault(err)
	}
	return b, nil
}

func asFault(err error) error {
	if known := (*fault.Error)(nil); err == nil || errors.As(err, &known) {
		return err
	}
	return fault.New(fault.GitError, "without a git program this repository cannot be read: %w", err).WithHint("ask the user to install git")
}

// plain refuses where git converts files between the work tree and what it stores.
func (b *builtin) plain() error {
	if value := b.config.Get("core.autocrlf"); value != "" && value != "false" {
		return NeedsGit("git converts line ends here (core.autocrlf)")
	}
	index, err := b.store.Index()
	if err != nil {
		return asFault(err)
	}
	files := []string{filepath.Join(b.CommonDir, "info", "attributes"), gitdir.ExpandPath(cmp.Or(b.config.Get("core.attributesfile"), "~/.config/git/attributes"), b.Top)}
	seen := map[string]bool{}
	for _, e := range index.Entries {
		for dir := path.Dir(e.Name); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			files = append(files, filepath.Join(b.Top, filepath.FromSlash(dir), ".gitattributes"))
		}
	}
	for _, file := range files {
		text, err := gitfile.Read(file)
		for word := range strings.FieldsSeq(string(text)) {
			name, _, _ := strings.Cut(word, "=")
			if err == nil && slices.Contains([]string{"filter", "text", "eol", "crlf", "ident", "working-tree-encoding"}, name) {
				return NeedsGit(fmt.Sprintf("git converts files here (%s in %s)", fault.Quote(name), fault.Quote(file)))
			}
		}
	}
	return nil
}

func (b *builtin) head() string {
	h, err := b.repo.ResolveRevision(plumbing.Revision(plumbing.HEAD))
	if err != nil {
		return ""
	}
	return h.String()
}

func (b *builtin) branch() string {
	ref, err := b.store.Reference(plumbing.HEAD)
	if err != nil || !ref.Target().IsBranch() {
		return ""
	}
	return ref.Target().Short()
}

// about is as of repository.
func (b *builtin) about(hooks []string) (Repository, error) {
	found, err := hooksOf(b.Place, b.config, hooks)
	return Repository{Top: b.Top, Dir: b.GitDir, Branch: b.branch(), Head: b.head(), Hooks: found}, err
}

func (b *builtin) commit(revision string) (*object.Commit, error) {
	if revision != "" && !strings.HasPrefix(revision, "-") && !strings.Contains(revision, "..") {
		if h, err := b.repo.ResolveRevision(plumbing.Revision(revision)); err == nil {
			if c, err := b.repo.CommitObject(*h); err == nil {
				return c, nil
			}
		}
	}
	return nil, fault.New(fault.GitError, "%s names no commit of this repository", fault.Quote(revision))
}

// start is the commit from which history is told.
func (b *builtin) start(ref string) (*object.Commit, error) {
	if ref == "" && b.head() == "" {
		return nil, unborn()
	}
	return b.commit(cmp.Or(ref, "HEAD"))
}

func (b *builtin) wants(name string) bool { return isBelow(b.prefix, name) }

// isBelow says whether a path is prefix or below it, "" for all.
func isBelow(prefix, name string) bool {
	return prefix == "" || name == prefix || strings.HasPrefix(name, prefix+"/")
}

func builtinStatus(root string, o StatusOptions) (StatusResult, error) {
	b, err := openBuiltin(root, o.Dir)
	if err == nil {
		err = b.plain()
	}
	if err != nil {
		return StatusResult{}, err
	}
	result := StatusResult{Top: b.Top, Branch: b.branch(), Commit: b.head()}
	result.Detached = result.Branch == ""
	if follows, ok := b.config.Tracked(result.Branch); ok {
		result.Upstream = gitdir.ShortReference(follows)
		if result.UpstreamGone, err = b.gone(follows); err != nil {
			return result, err
		}
	}
	work, err := b.worktree()
	if err != nil {
		return result, err
	}
	found, err := work.Status()
	if err != nil {
		return result, asFault(err)
	}
	states := map[gogit.StatusCode]State{gogit.Modified: Modified, gogit.Added: Added, gogit.Deleted: Deleted, gogit.Renamed: Renamed, gogit.Untracked: Untracked, gogit.UpdatedButUnmerged: Conflicted}
	for name, s := range found {
		f := FileStatus{Path: name, Staged: states[s.Staging], Worktree: states[s.Worktree]}
		if f.Worktree == Untracked {
			f.Staged = ""
		}
		if b.wants(name) && (f.Staged != "" || f.Worktree != "") {
			result.Files = append(result.Files, f)
		}
	}
	slices.SortFunc(result.Files, func(x, y FileStatus) int {
		switch isNew := x.Worktree == Untracked; {
		case isNew == (y.Worktree == Untracked):
			return strings.Compare(x.Path, y.Path)
		case isNew:
			return 1
		}
		return -1
	})
	return result, nil
}

func (b *builtin) gone(reference string) (bool, error) {
	_, err := b.store.Reference(plumbing.ReferenceName(reference))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return true, nil
	}
	return false, asFault(err)
}

// worktree is go-git's, with the user's own rules of what to ignore.
func (b *builtin) worktree() (*gogit.Worktree, error) {
	work, err := b.repo.Worktree()
	if err != nil {
		return nil, asFault(err)
	}
	system, _ := gitignore.LoadSystemPatterns(osfs.New("/")) //nolint:errcheck // then there are none
	users, _ := gitignore.LoadGlobalPatterns(osfs.New("/"))  //nolint:errcheck // likewise
	work.Excludes = append(system, users...)
	return work, nil
}

// ignores says whether git ignores a file.
func (b *builtin) ignores(name string) (bool, error) {
	work, err := b.worktree()
	if err != nil {
		return false, err
	}
	own, err := gitignore.ReadPatterns(work.Filesystem, nil)
	return gitignore.NewMatcher(append(work.Excludes, own...)).Match(strings.Split(name, "/"), false), asFault(err)
}

// entry is a file of a tree, of the index or of the work tree.
type entry struct {
	mode filemode.FileMode
	hash plumbing.Hash
}

func (e entry) content() string {
	return strings.TrimPrefix(e.mode.String(), "0") + " " + e.hash.String()
}

// committed are the files of a commit.
func (b *builtin) committed(c *object.Commit) (map[string]entry, error) {
	files := map[string]entry{}
	if c == nil {
		return files, nil
	}
	tree, err := c.Tree()
	if err != nil {
		return nil, asFault(err)
	}
	walk := object.NewTreeWalker(tree, true, nil)
	defer walk.Close()
	for {
		name, e, err := walk.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, asFault(err)
		}
		if !gitdir.SafePath(name) {
			return nil, leadsOut(name)
		}
		if e.Mode != filemode.Dir {
			files[name] = entry{e.Mode, e.Hash}
		}
	}
}

func leadsOut(name string) error {
	return fault.New(fault.GitError, "the repository holds the path %s, which leads out of the work tree or into its own folder", fault.Quote(name))
}

// headFiles are the files of what is checked out, none before the first commit.
func (b *builtin) headFiles() (map[string]entry, error) {
	c, err := b.commit("HEAD")
	if err != nil {
		c = nil
	}
	return b.committed(c)
}

// staged are the files of the index.
func (b *builtin) staged() (map[string]entry, error) {
	index, err := b.store.Index()
	if err != nil {
		return nil, asFault(err)
	}
	files := map[string]entry{}
	var conflicts []string
	for _, e := range index.Entries {
		switch {
		case !gitdir.SafePath(e.Name):
			return nil, leadsOut(e.Name)
		case e.Stage != 0:
			conflicts = append(conflicts, e.Name)
		case e.SkipWorktree || e.Mode == filemode.Dir:
			return nil, NeedsGit("the checkout is sparse")
		case !e.IntentToAdd:
			files[e.Name] = entry{e.Mode, e.Hash}
		}
	}
	if len(conflicts) > 0 {
		return nil, unmerged(slices.Compact(conflicts))
	}
	return files, nil
}

// onDisk is what git would store of a file of the work tree, put into a store; false: it is not there.
func (b *builtin) onDisk(into storage.Storer, name string, was entry) (entry, bool, error) {
	file := filepath.Join(b.Top, filepath.FromSlash(name))
	at, err := gitdir.Locate(b.location.Root, file)
	if err != nil || at.Dir != file {
		return entry{}, false, nil // a folder on the way to it is a link now, or it is outside
	}
	info, err := os.Lstat(file)
	switch {
	case err != nil, info.IsDir() && was.mode != filemode.Submodule:
		return entry{}, false, nil
	case was.mode == filemode.Submodule:
		return was, true, nil
	case info.Size() > mostFile:
		return entry{}, false, fault.New(fault.FileTooLarge, "%s is too large to be compared without a git program", fault.Quote(name))
	}
	is := entry{mode: filemode.Regular}
	if info.Mode()&0o100 != 0 {
		is.mode = filemode.Executable
	}
	var data []byte
	if info.Mode()&fs.ModeSymlink != 0 {
		is.mode = filemode.Symlink
		target, linkErr := os.Readlink(file)
		data, err = []byte(target), linkErr
	} else if info.Mode().IsRegular() {
		data, err = os.ReadFile(file)
	} else {
		return entry{}, false, nil
	}
	if err == nil {
		is.hash, err = store(into, plumbing.BlobObject, data)
	}
	return is, true, asFault(err)
}

func store(into storage.Storer, kind plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	o := into.NewEncodedObject()
	o.SetType(kind)
	w, err := o.Writer()
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return into.SetEncodedObject(o)
}

// folder stores the tree of a folder, "" or ending with a slash.
func folder(into storage.Storer, files map[string]entry, dir string) (plumbing.Hash, error) {
	tree := object.Tree{}
	below := map[string]map[string]entry{}
	for name, f := range files {
		rest := name[len(dir):]
		if first, _, deeper := strings.Cut(rest, "/"); deeper {
			if below[first] == nil {
				below[first] = map[string]entry{}
			}
			below[first][name] = f
			continue
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: rest, Mode: f.mode, Hash: f.hash})
	}
	for first, some := range below {
		h, err := folder(into, some, dir+first+"/")
		if err != nil {
			return h, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: first, Mode: filemode.Dir, Hash: h})
	}
	slices.SortFunc(tree.Entries, func(x, y object.TreeEntry) int { return strings.Compare(sortName(x), sortName(y)) })
	out := into.NewEncodedObject()
	if err := tree.Encode(out); err != nil {
		return plumbing.ZeroHash, err
	}
	return into.SetEncodedObject(out)
}

// sortName is by what git orders a tree.
func sortName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// aside is a store in which what comes is in memory alone.
func (b *builtin) aside() storage.Storer {
	return transactional.NewStorage(b.store, memory.NewStorage())
}

// compare is the diff of two lists of files, below the prefix.
func (b *builtin) compare(ctx context.Context, in storage.Storer, prefix string, from, to map[string]entry, lines int) (DiffResult, error) {
	result := DiffResult{Top: b.Top}
	var trees [2]*object.Tree
	for i, files := range []map[string]entry{from, to} {
		some := map[string]entry{}
		for name, f := range files {
			if isBelow(prefix, name) {
				some[name] = f
			}
		}
		h, err := folder(in, some, "")
		if err != nil {
			return result, asFault(err)
		}
		if trees[i], err = object.GetTree(in, h); err != nil {
			return result, asFault(err)
		}
	}
	changes, err := object.DiffTreeWithOptions(ctx, trees[0], trees[1], object.DefaultDiffTreeOptions)
	if err != nil {
		return result, asFault(err)
	}
	patch, err := changes.PatchContext(ctx)
	if err != nil {
		return result, asFault(err)
	}
	var out strings.Builder
	if err := format.NewUnifiedEncoder(&out, lines).Encode(patch); err != nil {
		return result, asFault(err)
	}
	result.Diff = strings.ToValidUTF8(out.String(), "\ufffd")
	for _, p := range patch.FilePatches() {
		result.add(p)
	}
	return result, nil
}

// add notes the file of a patch and its numbers.
func (d *DiffResult) add(p format.FilePatch) {
	from, to := p.Files()
	f := FileChange{Status: "M", Binary: p.IsBinary()}
	switch {
	case from == nil:
		f.Path, f.Status = to.Path(), "A"
	case to == nil:
		f.Path, f.Status = from.Path(), "D"
	case from.Path() != to.Path():
		f.Path, f.OldPath, f.Status = to.Path(), from.Path(), "R"
	default:
		f.Path = to.Path()
	}
	if to != nil {
		f.Content = entry{to.Mode(), to.Hash()}.content()
	}
	for _, c := range p.Chunks() {
		n := strings.Count(strings.TrimSuffix(c.Content(), "\n"), "\n") + 1
		switch c.Type() {
		case format.Add:
			f.Additions += n
		case format.Delete:
			f.Deletions += n
		}
	}
	d.Files = append(d.Files, f)
	d.FilesChanged++
	d.Additions += f.Additions
	d.Deletions += f.Deletions
}

// onDiskAll are the files of the work tree that are tracked, as a list has them.
func (b *builtin) onDiskAll(into storage.Storer, tracked map[string]entry) (map[string]entry, error) {
	now := map[string]entry{}
	for name, was := range tracked {
		if !b.wants(name) {
			now[name] = was
			continue
		}
		is, there, err := b.onDisk(into, name, was)
		if err != nil {
			return nil, err
		}
		if there {
			now[name] = is
		}
	}
	return now, nil
}

func builtinDiff(ctx context.Context, root string, o DiffOptions) (DiffResult, error) {
	b, err := openBuiltin(root, o.Dir)
	if err == nil {
		err = b.plain()
	}
	if err != nil {
		return DiffResult{}, err
	}
	in := b.aside()
	from, err := b.staged()
	if err != nil {
		return DiffResult{}, err
	}
	to := from
	if !o.Staged {
		if to, err = b.onDiskAll(in, from); err != nil {
			return DiffResult{}, err
		}
	}
	switch {
	case o.Base != "":
		c, commitErr := b.commit(o.Base)
		if commitErr != nil {
			return DiffResult{}, commitErr
		}
		from, err = b.committed(c)
	case o.Staged:
		from, err = b.headFiles()
	}
	if err != nil {
		return DiffResult{}, err
	}
	result, err := b.compare(ctx, in, b.prefix, from, to, o.Context)
	if size := int64(len(result.Diff)); err == nil && o.MaxBytes > 0 && size > o.MaxBytes {
		return DiffResult{}, result.tooLarge(size, o.MaxBytes)
	}
	return result, err
}

func describe(c *object.Commit) LogCommit {
	subject, body, _ := strings.Cut(strings.TrimLeft(c.Message, "\n"), "\n\n")
	out := LogCommit{
		Hash: c.Hash.String(), Short: c.Hash.String()[:7], Author: Person{name(c.Author.Name), name(c.Author.Email)}, Date: c.Author.When.Format(dateFormat),
		Subject: readable(strings.ReplaceAll(strings.TrimRight(subject, "\n"), "\n", " ")), Body: strings.Trim(readable(body), "\n"), Parents: []string{},
	}
	for _, p := range c.ParentHashes {
		out.Parents = append(out.Parents, p.String())
	}
	return out
}

func builtinLog(root string, o LogOptions) ([]LogCommit, error) {
	b, err := openBuiltin(root, o.Dir)
	if err != nil {
		return nil, err
	}
	start, err := b.start(o.Ref)
	if err != nil {
		return nil, err
	}
	options := &gogit.LogOptions{From: start.Hash, Order: gogit.LogOrderCommitterTime}
	prefix := ""
	if o.Limited && b.prefix != "" {
		prefix, options.PathFilter = b.prefix, b.wants
	}
	walk, err := b.repo.Log(options)
	if err != nil {
		return nil, asFault(err)
	}
	defer walk.Close()
	found := []LogCommit{}
	for len(found) < o.Limit {
		c, err := walk.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, asFault(err)
		}
		found = append(found, describe(c))
	}
	return o.check(found, prefix, b.location.Exists)
}

func builtinShow(ctx context.Context, root string, o ShowOptions) (Shown, error) {
	b, err := openBuiltin(root, o.Dir)
	if err != nil {
		return Shown{}, err
	}
	revision, file, inside := cutFile(o.Ref)
	if revision == "" {
		return Shown{}, noRevision()
	}
	c, err := b.commit(revision)
	if err != nil {
		return Shown{}, err
	}
	shown := Shown{Commit: describe(c)}
	if !inside && o.File && b.prefix != "" {
		file, inside = b.prefix, true
	}
	if inside {
		return shown, b.showFile(&shown, c, path.Clean(file), o.MaxBytes)
	}
	parent, err := c.Parent(0)
	if err == nil {
		shown.Parent = parent.Hash.String()
	} else {
		parent = nil
	}
	if gitdir.Inside(b.Top, b.location.Root) {
		shown.Within = b.Prefix(b.location.Root)
	}
	from, err := b.committed(parent)
	if err != nil {
		return shown, err
	}
	to, err := b.committed(c)
	if err == nil {
		shown.Diff, err = b.compare(ctx, b.aside(), shown.Within, from, to, o.Context)
	}
	if size := int64(len(shown.Diff.Diff)); err == nil && o.MaxDiff > 0 && size > o.MaxDiff {
		err = shown.Diff.tooLarge(size, o.MaxDiff)
	}
	return shown, err
}

func (b *builtin) showFile(shown *Shown, c *object.Commit, name string, most int64) (err error) {
	if shown.Path, err = within(b.location, b.Top, name); err != nil {
		return err
	}
	tree, err := c.Tree()
	if err != nil {
		return asFault(err)
	}
	e := &object.TreeEntry{Mode: filemode.Dir, Hash: tree.Hash}
	if name != "." && name != "" {
		if e, err = tree.FindEntry(name); err != nil {
			return notInCommit(name, shown.Commit)
		}
	}
	shown.Kind, shown.Hash = kindOf(e.Mode.String()[1:]), e.Hash.String()
	switch shown.Kind {
	case KindFolder:
		if tree, err = b.repo.TreeObject(e.Hash); err != nil {
			return asFault(err)
		}
		shown.Entries = []ShownEntry{}
		for _, below := range tree.Entries {
			shown.Entries = append(shown.Entries, ShownEntry{below.Name, kindOf(below.Mode.String()[1:])})
		}
		return nil
	case KindSubmodule:
		return nil
	}
	blob, err := b.repo.BlobObject(e.Hash)
	if err != nil {
		return asFault(err)
	}
	if most == 0 || most > mostFile {
		most = mostFile
	}
	if blob.Size > most {
		return tooLargeInCommit(shown.Path, shown.Commit, most)
	}
	in, err := blob.Reader()
	if err == nil {
		defer in.Close()
		shown.Content, err = io.ReadAll(in)
	}
	return asFault(err)
}

func builtinBranches(root, dir string) (BranchList, error) {
	b, err := openBuiltin(root, dir)
	if err != nil {
		return BranchList{}, err
	}
	list := BranchList{Head: Head{Branch: b.branch(), Hash: b.head()}}
	refs, err := b.repo.Branches()
	if err != nil {
		return list, asFault(err)
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		one := Branch{Name: ref.Name().Short(), Hash: ref.Hash().String()}
		if upstream, ok := b.config.Tracked(one.Name); ok {
			one.Upstream = gitdir.ShortReference(upstream)
		}
		list.Branches = append(list.Branches, one)
		return nil
	})
	slices.SortFunc(list.Branches, func(x, y Branch) int { return strings.Compare(x.Name, y.Name) })
	return list, asFault(err)
}
