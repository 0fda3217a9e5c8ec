package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	format "github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
	"pillion/workspace/git/worktree"
)

// What follows writes to a repository where there is no git program: a commit, a new
// branch, the end of one. It runs no hooks, no filters and no signing program, and refuses where filters or signing are configured.
// It writes below the git folder alone, under git's own lock on the index.

// builtin is a repository that is written to.
type builtin struct {
	*repository
	files billy.Filesystem // of the git folder
	store *filesystem.Storage
}

// NeedsGit is the answer where there is no git program and only git can do it.
func NeedsGit(what string) error {
	return fault.New(fault.GitError, "%s; that needs a git program, and none was found", what).WithHint("ask the user to install git")
}

func (r *repository) builtin() (*builtin, error) {
	if r.GitDir != r.CommonDir {
		return nil, NeedsGit("this is a linked work tree")
	}
	files := osfs.New(r.GitDir)
	return &builtin{r, files, filesystem.NewStorage(files, cache.NewObjectLRUDefault())}, nil
}

// gitLock is git's lock on a file of its folder, and what the file will hold. Whoever has
// that on the index changes what is committed and checked out.
type gitLock struct {
	billy.File
	files billy.Filesystem
	name  string
	taken bool // it is the file: a lock that is there now is another's
}

func (b *builtin) lock(name string) (*gitLock, error) {
	f, err := b.files.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fault.New(fault.GitError, "another git is at work in this repository (%s.lock is there); try again when it has ended", name)
	}
	if err != nil {
		return nil, fault.From(err)
	}
	return &gitLock{File: f, files: b.files, name: name}, nil
}

// take has what was written be the file.
func (l *gitLock) take() error {
	err := l.Close()
	if err == nil {
		err = l.files.Rename(l.name+".lock", l.name)
	}
	l.taken = err == nil
	return err
}

func (l *gitLock) release() {
	if !l.taken {
		_ = l.Close() // it may be closed
		_ = l.files.Remove(l.name + ".lock")
	}
}

// MakeCommit makes the commit of a draft, which must still be the one that there is.
func MakeCommit(ctx context.Context, root string, o CommitOptions, d Draft, message string) error {
	_, r, err := at(root, o.Dir)
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := r.builtin()
	if err == nil {
		err = b.makeable(d)
	}
	if err != nil {
		return err
	}
	lock, err := b.lock("index")
	if err != nil {
		return err
	}
	defer lock.release()
	if now, err := NewDraft(ctx, root, o); err != nil || now.State() != d.State() {
		return errors.Join(fault.New(fault.ConcurrentModification, "the files to commit have changed; review them again"), err)
	}
	tree, err := b.writeTree(ctx, d)
	if err != nil {
		return err
	}
	made, err := b.writeCommit(d, tree, message)
	if err != nil {
		return err
	}
	subject, _, _ := strings.Cut(cleaned(message), "\n")
	if err := b.move(d, made, "commit: "+subject); err != nil {
		return err
	}
	if d.From == FromStaged {
		return nil
	}
	return b.writeIndex(lock, d)
}

// makeable refuses what only git can commit.
func (b *builtin) makeable(d Draft) error {
	switch {
	case d.Sign.On:
		return NeedsGit("commits are signed here (commit.gpgSign)")
	case d.Doing != "":
		return NeedsGit("git is in the middle of " + d.Doing)
	case d.Author.Name == "" || d.Author.Email == "" || d.Committer.Name == "" || d.Committer.Email == "":
		return fault.New(fault.GitError, "it is not known who commits; ask the user to set user.name and user.email")
	case len(d.Filters) > 0:
		return NeedsGit("the files go through filters")
	}
	for name, content := range d.Content {
		attributes := b.Work.Conversion.Attributes.Of(name)
		if content != "" && (attributes["filter"] == "lfs" || attributes["working-tree-encoding"] != "") {
			return NeedsGit(fault.Quote(name) + " is stored in another form than it has")
		}
	}
	read, err := b.ReadIndex()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(read.Entries, func(e worktree.IndexEntry) bool { return e.AssumeValid || e.Mode == odb.ModeDir }) {
		return NeedsGit("the index is sparse, or has files that git does not look at")
	}
	return nil
}

// writeTree stores the new files, and the trees of the last commit with the draft's
// changes.
func (b *builtin) writeTree(ctx context.Context, d Draft) (plumbing.Hash, error) {
	files, err := (&worktree.Comparison{Ctx: ctx, Repo: b.Checkout}).Base("")
	if err != nil {
		return plumbing.ZeroHash, err
	}
	for name, content := range d.Content {
		delete(files, name)
		if content == "" {
			continue
		}
		s, err := b.storeFile(name, content, d.From != FromStaged)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		files[name] = s
	}
	return b.folder(files, "")
}

// storeFile stores a file as the draft has it; what is staged is stored already.
func (b *builtin) storeFile(name, content string, onDisk bool) (worktree.Side, error) {
	mode, hash, _ := strings.Cut(content, " ")
	var s worktree.Side
	if _, err := fmt.Sscanf(mode, "%o", &s.Mode); err != nil {
		return s, err
	}
	s.Hash = plumbing.NewHash(hash)
	if !onDisk || s.Mode == odb.ModeSubmodule {
		return s, nil
	}
	data, err := b.Work.Content(name, worktree.Side{Mode: s.Mode, OnDisk: true, Staged: s.Hash})
	if err != nil {
		return s, err
	}
	blob := b.store.NewEncodedObject()
	blob.SetType(plumbing.BlobObject)
	w, err := blob.Writer()
	if err != nil {
		return s, err
	}
	if _, err := w.Write(data); err != nil {
		return s, err
	}
	got, err := b.store.SetEncodedObject(blob)
	if err == nil && got != s.Hash {
		err = fault.New(fault.ConcurrentModification, "%s has changed; look at it again", fault.Quote(name))
	}
	return s, err
}

// folder stores the tree of a folder, "" or ending with a slash.
func (b *builtin) folder(files map[string]worktree.Side, dir string) (plumbing.Hash, error) {
	tree := object.Tree{}
	below := map[string]map[string]worktree.Side{}
	for name, s := range files {
		rest := name[len(dir):]
		if first, _, deeper := strings.Cut(rest, "/"); deeper {
			if below[first] == nil {
				below[first] = map[string]worktree.Side{}
			}
			below[first][name] = s
			continue
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: rest, Mode: filemode.FileMode(s.Mode), Hash: s.Hash})
	}
	for first, some := range below {
		h, err := b.folder(some, dir+first+"/")
		if err != nil {
			return h, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: first, Mode: filemode.Dir, Hash: h})
	}
	slices.SortFunc(tree.Entries, func(x, y object.TreeEntry) int { return strings.Compare(sortName(x), sortName(y)) })
	out := b.store.NewEncodedObject()
	if err := tree.Encode(out); err != nil {
		return plumbing.ZeroHash, err
	}
	return b.store.SetEncodedObject(out)
}

// sortName is by what git orders a tree.
func sortName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

func (b *builtin) writeCommit(d Draft, tree plumbing.Hash, message string) (plumbing.Hash, error) {
	now := time.Now()
	signature := func(i Identity) object.Signature {
		plain := strings.NewReplacer("<", "", ">", "", "\n", " ")
		return object.Signature{Name: strings.TrimSpace(plain.Replace(i.Name)), Email: strings.TrimSpace(plain.Replace(i.Email)), When: now}
	}
	commit := object.Commit{Author: signature(d.Author), Committer: signature(d.Committer), Message: cleaned(message), TreeHash: tree}
	if d.Head != "" {
		commit.ParentHashes = []plumbing.Hash{plumbing.NewHash(d.Head)}
	}
	out := b.store.NewEncodedObject()
	if err := commit.Encode(out); err != nil {
		return plumbing.ZeroHash, err
	}
	return b.store.SetEncodedObject(out)
}

// cleaned is a message as git stores it: without blanks at the ends of lines, and no
// more than one empty line in a row.
func cleaned(message string) string {
	var out []string
	for line := range strings.Lines(message) {
		line = strings.TrimRight(line, " \t\r\n\v\f")
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// move has the branch, or HEAD without one, name the new commit.
func (b *builtin) move(d Draft, to plumbing.Hash, what string) error {
	name := plumbing.HEAD
	if d.Branch != "" {
		name = plumbing.NewBranchReferenceName(d.Branch)
	}
	var old *plumbing.Reference
	if d.Head != "" {
		old = plumbing.NewHashReference(name, plumbing.NewHash(d.Head))
	}
	if err := b.store.CheckAndSetReference(plumbing.NewHashReference(name, to), old); err != nil {
		return fault.New(fault.GitError, "the branch could not be moved: %w", err)
	}
	line := b.logLine(plumbing.NewHash(d.Head), to, what)
	for _, log := range slices.Compact([]string{"HEAD", name.String()}) {
		b.note(path.Join("logs", log), line)
	}
	return nil
}

// note adds a line to a reflog that is there: it is for people, and nothing fails for it.
func (b *builtin) note(log, line string) {
	if !gitfile.Exists(filepath.Join(b.GitDir, filepath.FromSlash(log))) {
		return
	}
	if f, err := b.files.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0o644); err == nil {
		_, _ = f.Write([]byte(line)) //nolint:errcheck // see above
		_ = f.Close()
	}
}

// writeIndex puts what was committed into the index, by way of its lock.
func (b *builtin) writeIndex(lock *gitLock, d Draft) error {
	read, err := b.readForWriting()
	if err != nil {
		return fault.New(fault.GitError, "the commit is made, but the index could not be read: %w", err)
	}
	for name, content := range d.Content {
		if _, err := read.Remove(name); err != nil && !errors.Is(err, format.ErrEntryNotFound) {
			return err
		}
		if content == "" {
			continue
		}
		mode, hash, _ := strings.Cut(content, " ")
		e := read.Add(name)
		e.Hash = plumbing.NewHash(hash)
		if e.Mode, err = filemode.New(mode); err != nil {
			return err
		}
	}
	if err = format.NewEncoder(lock).Encode(read); err == nil {
		err = lock.take()
	}
	if err != nil {
		return fault.New(fault.GitError, "the commit is made, but the index could not be written: %w", err)
	}
	return nil
}

// readForWriting reads the index to write it anew. An entry that git would not trust by
// its times, because the index is no younger, must not be trusted the more for it: one
// whose file is another is given no size, and git looks into the file.
func (b *builtin) readForWriting() (*format.Index, error) {
	c := &worktree.Comparison{Ctx: context.Background(), Repo: b.Checkout}
	now, err := c.Index()
	if err != nil {
		return nil, err
	}
	read, err := b.store.Index()
	if err != nil {
		return nil, err
	}
	for _, e := range read.Entries {
		if e.ModifiedAt.Unix() < now.Written.Unix() || e.Stage != 0 {
			continue
		}
		if known := now.Files[e.Name]; known != nil && e.Mode != filemode.Submodule {
			if is, err := c.Current(now, known.Any()); err != nil || !is.Same(worktree.Side{Mode: known.Any().Mode, Hash: known.Any().Hash}) {
				e.Size = 0
			}
		}
	}
	return read, nil
}

// logLine is a line of a reflog.
func (b *builtin) logLine(from, to plumbing.Hash, what string) string {
	return fmt.Sprintf("%s %s %s %d +0000\t%s\n", from, to, identityOf(b.Config, "committer"), time.Now().Unix(), what)
}

// withBuiltin does something with a repository that is open, and with go-git on it.
func withBuiltin(root, dir string, c BranchChange, do func(*repository, *builtin) error) error {
	_, r, err := at(root, dir)
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := r.builtin()
	if err == nil {
		err = r.changeable(c.Name)
	}
	if err != nil {
		return err
	}
	return do(r, b)
}

// MakeBranch makes the branch that was looked at. It follows no other: that is a change of
// the configuration, which git makes.
func MakeBranch(root, dir string, c BranchChange) error {
	return withBuiltin(root, dir, c, func(r *repository, b *builtin) error { return r.makeBranch(b, c) })
}

func (r *repository) makeBranch(b *builtin, c BranchChange) error {
	full := "refs/heads/" + c.Name
	for _, other := range r.List("refs/heads/") {
		if strings.HasPrefix(other.Name, full+"/") || strings.HasPrefix(full, other.Name+"/") || other.Name == full {
			return fault.New(fault.GitError, "there is a branch %s, beside which there cannot be this one", fault.Quote(gitdir.ShortReference(other.Name)))
		}
	}
	if err := b.store.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(full), plumbing.NewHash(c.Hash))); err != nil {
		return fault.New(fault.GitError, "the branch could not be made: %w", err)
	}
	return nil
}

// RemoveBranch deletes the branch that was looked at.
func RemoveBranch(root, dir string, c BranchChange) error {
	return withBuiltin(root, dir, c, func(r *repository, b *builtin) error { return r.removeBranch(b, c) })
}

func (r *repository) removeBranch(b *builtin, c BranchChange) error {
	if h, there := r.Reference("refs/heads/" + c.Name); !there || h.String() != c.Hash {
		return fault.New(fault.ConcurrentModification, "%s has moved; look at it again", fault.Quote(c.Name))
	}
	if len(r.Config["branch."+c.Name+".remote"])+len(r.Config["branch."+c.Name+".merge"]) > 0 {
		return NeedsGit("the configuration says what this branch follows, and must be changed with it")
	}
	if err := b.store.RemoveReference(plumbing.NewBranchReferenceName(c.Name)); err != nil {
		return fault.New(fault.GitError, "the branch could not be deleted: %w", err)
	}
	// What is left of it would be in the way of another of its name.
	if err := b.files.Remove("logs/refs/heads/" + c.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.GitError, "the branch is deleted, but not its reflog: %w", err)
	}
	return nil
}
