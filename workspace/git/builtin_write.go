package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	index "github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
)

// What follows writes to a repository where there is no git program: a commit, a new
// branch, the end of one. It runs no hooks, no filters and no signing program, and refuses where filters or signing are configured.
// It writes below the git folder alone, under git's own lock on the index.

// builtinDraft is NewDraft.
func builtinDraft(ctx context.Context, root string, o CommitOptions) (Draft, error) {
	b, err := openBuiltin(root, o.Dir)
	if err == nil {
		err = b.plain()
	}
	if err == nil {
		err = b.Writable("HEAD")
	}
	about := Repository{}
	if err == nil {
		about, err = b.about(commitHooks)
	}
	if err != nil {
		return Draft{}, err
	}
	d := Draft{
		Repository: about, Sign: signs(b.config, "commit.gpgsign"),
		Operation: operationInProgress(func(file string) bool { return gitfile.Exists(filepath.Join(b.GitDir, file)) }),
		Author:    identityOf(b.config, "author"), Committer: identityOf(b.config, "committer"),
	}
	in := b.aside()
	before, after, err := b.contents(in, root, o, &d)
	if err != nil {
		return d, err
	}
	if d.Changes, err = b.compare(ctx, in, "", before, after, 3); err != nil {
		return d, err
	}
	if d.Changes.FilesChanged == 0 {
		return d, nothingToCommit(d.From)
	}
	if o.MaxBytes > 0 && int64(len(d.Changes.Diff)) > o.MaxBytes {
		d.Changes.Diff = ""
	}
	d.Content = d.Changes.contents()
	if d.From == FromTracked {
		d.Paths = slices.Sorted(maps.Keys(d.Content))
	}
	return d, nil
}

// contents are the files of the last commit, and those of the next.
func (b *builtin) contents(in storage.Storer, root string, o CommitOptions, d *Draft) (before, after map[string]entry, err error) {
	staged, err := b.staged()
	if err == nil {
		before, err = b.headFiles()
	}
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(o.Files) > 0:
		d.From = FromFiles
		after, err = b.named(in, root, o.Files, before, staged, d)
	case !maps.Equal(before, staged):
		d.From, after = FromStaged, staged
	default:
		d.From = FromTracked
		after, err = b.onDiskAll(in, staged)
	}
	return before, after, err
}

// named are the files of the last commit with those that were asked for.
func (b *builtin) named(in storage.Storer, root string, files []string, before, staged map[string]entry, d *Draft) (map[string]entry, error) {
	after := maps.Clone(before)
	for _, file := range files {
		name, err := nameIn(b.Place, root, file)
		if err != nil {
			return nil, err
		}
		is, there, err := b.onDisk(in, name, staged[name])
		_, committed := before[name]
		_, tracked := staged[name]
		switch {
		case err != nil:
			return nil, err
		case there && (tracked || committed):
			after[name] = is
		case there:
			isIgnored, err := b.ignores(name)
			if err != nil {
				return nil, err
			}
			if isIgnored {
				return nil, ignored(name)
			}
			after[name], d.New = is, append(d.New, name)
		case !committed && !tracked:
			if info, err := os.Lstat(filepath.Join(b.Top, filepath.FromSlash(name))); err == nil && info.IsDir() {
				return nil, isFolder(name)
			}
			return nil, notThere(name)
		default:
			delete(after, name)
		}
		d.Paths = append(d.Paths, name)
	}
	slices.Sort(d.Paths)
	d.Paths = slices.Compact(d.Paths)
	for _, name := range slices.Sorted(maps.Keys(staged)) {
		if staged[name] != before[name] && !slices.Contains(d.Paths, name) {
			d.Left = append(d.Left, name)
		}
	}
	return after, nil
}

func builtinHeadCommit(root, dir string) (Committed, error) {
	b, err := openBuiltin(root, dir)
	if err != nil {
		return Committed{}, err
	}
	made := Committed{}
	if made.Repository, err = b.about(nil); err != nil || made.Head == "" {
		return made, err
	}
	c, err := b.commit("HEAD")
	if err != nil {
		return made, err
	}
	parent, err := c.Parent(0)
	if err != nil {
		parent = nil
	}
	before, err := b.committed(parent)
	if err != nil {
		return made, err
	}
	after, err := b.committed(c)
	if err == nil {
		made.Changes, err = b.compare(context.Background(), b.aside(), "", before, after, 0)
	}
	made.Changes.Diff, made.Content = "", made.Changes.contents()
	return made, err
}

// MakeCommit makes the commit of a draft, which must still be the one that there is.
func (g *Reader) MakeCommit(ctx context.Context, root string, o CommitOptions, d Draft, message string) error {
	b, err := openBuiltin(root, o.Dir)
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
	defer lock.rollback()
	if now, err := builtinDraft(ctx, root, o); err != nil || now.State() != d.State() {
		return errors.Join(fault.New(fault.ConcurrentModification, "the files to commit have changed; review them again"), err)
	}
	_, files, err := b.contents(b.store, root, o, &Draft{})
	if err != nil {
		return err
	}
	tree, err := folder(b.store, files, "")
	if err != nil {
		return asFault(err)
	}
	made, err := b.writeCommit(d, tree, message)
	if err != nil {
		return asFault(err)
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
	case b.GitDir != b.CommonDir:
		return NeedsGit("this is a linked work tree")
	case d.Sign.On:
		return NeedsGit("commits are signed here (commit.gpgSign)")
	case d.Operation != "":
		return NeedsGit("git is in the middle of " + d.Operation)
	case d.Author.Name == "" || d.Author.Email == "" || d.Committer.Name == "" || d.Committer.Email == "":
		return fault.New(fault.GitError, "it is not known who commits; ask the user to set user.name and user.email")
	}
	return nil
}

// gitLock is git's lock on a file of its folder, and what the file will hold. Whoever has
// that on the index changes what is committed and checked out.
type gitLock struct {
	billy.File
	files billy.Filesystem
	name  string
	done  bool // it is the file: a lock that is there now is another's
}

func (b *builtin) lock(name string) (*gitLock, error) {
	f, err := b.files.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, isLocked(name + ".lock")
	}
	if err != nil {
		return nil, fault.From(err)
	}
	return &gitLock{File: f, files: b.files, name: name}, nil
}

func isLocked(lock string) error {
	return fault.New(fault.GitError, "another git is at work in this repository (%s is there); try again when it has ended", fault.Quote(lock))
}

// commit has what was written be the file.
func (l *gitLock) commit() error {
	err := l.Close()
	if err == nil {
		err = l.files.Rename(l.name+".lock", l.name)
	}
	l.done = err == nil
	return err
}

func (l *gitLock) rollback() {
	if !l.done {
		_ = l.Close() // it may be closed
		_ = l.files.Remove(l.name + ".lock")
	}
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
	read, err := b.store.Index()
	if err != nil {
		return fault.New(fault.GitError, "the commit is made, but the index could not be read: %w", err)
	}
	written, err := b.files.Stat("index")
	if err != nil {
		return fault.New(fault.GitError, "the commit is made, but the index could not be looked at: %w", err)
	}
	for _, e := range read.Entries {
		if !e.ModifiedAt.Before(written.ModTime().Truncate(time.Second)) {
			e.Size = 0 // git does not trust its times, and must not once the index is younger: it looks into the file
		}
	}
	for name, content := range d.Content {
		if _, err := read.Remove(name); err != nil && !errors.Is(err, index.ErrEntryNotFound) {
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
	if err = index.NewEncoder(lock).Encode(read); err == nil {
		err = lock.commit()
	}
	if err != nil {
		return fault.New(fault.GitError, "the commit is made, but the index could not be written: %w", err)
	}
	return nil
}

// logLine is a line of a reflog.
func (b *builtin) logLine(from, to plumbing.Hash, what string) string {
	return fmt.Sprintf("%s %s %s %d +0000\t%s\n", from, to, identityOf(b.config, "committer"), time.Now().Unix(), what)
}

// MakeBranch makes the branch that was looked at. It follows no other: that is a change of
// the configuration, which git makes.
func (g *Reader) MakeBranch(root, dir string, c BranchChange) error {
	b, err := openBuiltin(root, dir)
	if err == nil {
		err = b.changeable(c.Name)
	}
	if err != nil {
		return err
	}
	full := "refs/heads/" + c.Name
	refs, err := b.repo.Branches()
	if err != nil {
		return asFault(err)
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if other := ref.Name().String(); strings.HasPrefix(other, full+"/") || strings.HasPrefix(full, other+"/") || other == full {
			return fault.New(fault.GitError, "there is a branch %s, beside which there cannot be this one", fault.Quote(ref.Name().Short()))
		}
		return nil
	})
	if err != nil {
		return asFault(err)
	}
	return asFault(b.store.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(full), plumbing.NewHash(c.Hash))))
}

// RemoveBranch deletes the branch that was looked at.
func (g *Reader) RemoveBranch(root, dir string, c BranchChange) error {
	b, err := openBuiltin(root, dir)
	if err == nil {
		err = b.changeable(c.Name)
	}
	if err != nil {
		return err
	}
	ref := plumbing.NewBranchReferenceName(c.Name)
	if now, err := b.store.Reference(ref); err != nil || now.Hash().String() != c.Hash {
		return fault.New(fault.ConcurrentModification, "%s has moved; look at it again", fault.Quote(c.Name))
	}
	if len(b.config["branch."+c.Name+".remote"])+len(b.config["branch."+c.Name+".merge"]) > 0 {
		return NeedsGit("the configuration says what this branch follows, and must be changed with it")
	}
	if err := b.store.RemoveReference(ref); err != nil {
		return asFault(err)
	}
	// What is left of it would be in the way of another of its name.
	if err := b.files.Remove("logs/refs/heads/" + c.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.GitError, "the branch is deleted, but not its reflog: %w", err)
	}
	return nil
}

// changeable is as of repository.
func (b *builtin) changeable(name string) error {
	if err := checkBranchName(name); err != nil {
		return err
	}
	if b.GitDir != b.CommonDir {
		return NeedsGit("this is a linked work tree")
	}
	return b.Writable("HEAD", "refs/heads/"+name)
}

func builtinNewBranch(root, dir, name, from string) (BranchChange, error) {
	b, err := openBuiltin(root, dir)
	if err == nil {
		err = b.changeable(name)
	}
	if err != nil {
		return BranchChange{}, err
	}
	out := BranchChange{Name: name}
	if out.Repository, err = b.about(branchHooks); err != nil {
		return out, err
	}
	if _, err := b.store.Reference(plumbing.NewBranchReferenceName(name)); err == nil {
		return out, alreadyThere(name)
	}
	c, err := b.start(from)
	if err == nil {
		out.Hash = c.Hash.String()
	}
	return out, err
}

func builtinDelete(root, dir, name string) (BranchChange, error) {
	b, err := openBuiltin(root, dir)
	if err == nil {
		err = b.changeable(name)
	}
	if err != nil {
		return BranchChange{}, err
	}
	out := BranchChange{Name: name, Beyond: "HEAD"}
	if out.Repository, err = b.about(branchHooks); err != nil {
		return out, err
	}
	tip, err := b.commit("refs/heads/" + name)
	if err != nil {
		return out, fault.New(fault.GitError, "there is no branch %s", fault.Quote(name)).WithHint("list shows the branches there are")
	}
	if out.Hash = tip.Hash.String(); out.Branch == name {
		return out, fault.New(fault.GitError, "%s is checked out; switch to another branch first", fault.Quote(name))
	}
	if head, err := b.commit("HEAD"); err == nil {
		if contained, err := tip.IsAncestor(head); err == nil && contained {
			return out, nil
		}
	}
	return out, lostCommits(name, 1, out.Beyond)
}
