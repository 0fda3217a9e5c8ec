package git

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	format "github.com/go-git/go-git/v5/plumbing/format/index"

	"pillion/internal/fault"
)

// CheckOut checks out a branch that was looked at. Prepare gets what has to be written,
// and looks at what is there; then is looked whether anything would be lost, and what
// prepare gave writes it, all or nothing. The files come first, the index next, HEAD last:
// whoever is ended in between finds the files of the branch as changes that are not
// committed, and nothing lost.
func CheckOut(ctx context.Context, root, dir string, c BranchChange, prepare func([]CheckoutFile) (write func(context.Context) error, err error)) error {
	return withBuiltin(root, dir, func(_ *repository, b *builtin) error {
		lock, err := b.lock("index")
		if err != nil {
			return err
		}
		defer lock.release()
		head, err := b.lock("HEAD")
		if err != nil {
			return err
		}
		defer head.release()
		if _, err := head.Write([]byte("ref: refs/heads/" + c.Name + "\n")); err != nil {
			return fault.New(fault.GitError, "HEAD could not be written: %w", err)
		}
		files, err := b.checkout(ctx, plumbing.NewHash(c.Hash))
		if err != nil {
			return err
		}
		write := func(context.Context) error { return nil }
		if len(files) > 0 {
			if write, err = prepare(files); err != nil {
				return err
			}
		}
		now, err := Switch(ctx, root, dir, c.Name)
		switch {
		case err != nil:
			return err
		case now.State() != c.State():
			return fault.New(fault.ConcurrentModification, "%s has changed; look at it again", fault.Quote(c.Name))
		}
		if err := write(ctx); err != nil {
			return err
		}
		return b.checkedOut(lock, head, c, files)
	})
}

// checkedOut notes in the repository what stands in the work tree now.
func (b *builtin) checkedOut(lock, head *gitLock, c BranchChange, files []CheckoutFile) error {
	if err := b.stage(lock, files); err != nil {
		return fault.New(fault.GitError, "the files are those of %s now, but the index could not be written: %w", fault.Quote(c.Name), err).
			WithHint("git.status shows them as changes; nothing is lost")
	}
	if err := head.take(); err != nil {
		return fault.New(fault.GitError, "the files and the index are those of %s now, but HEAD could not be written: %w", fault.Quote(c.Name), err).
			WithHint("the same switch once more does the rest")
	}
	from := c.Branch
	if from == "" {
		from = c.Head
	}
	b.note("logs/HEAD", b.logLine(plumbing.NewHash(c.Head), plumbing.NewHash(c.Hash), fmt.Sprintf("checkout: moving from %s to %s", from, c.Name)))
	return nil
}

// stage puts what was checked out into the index.
func (b *builtin) stage(lock *gitLock, files []CheckoutFile) error {
	if len(files) == 0 {
		return nil
	}
	read, err := b.readForWriting()
	if err != nil {
		return err
	}
	written := make(map[string]bool, len(files))
	for _, f := range files {
		written[f.Path] = true
	}
	kept := read.Entries[:0]
	for _, e := range read.Entries {
		if !written[e.Name] {
			kept = append(kept, e)
		}
	}
	read.Entries = kept
	b.work.folders = map[string]bool{".": true} // there are others now
	for _, f := range files {
		if !f.New {
			continue
		}
		e := read.Add(f.Path)
		e.Hash, e.Mode = f.to.hash, filemode.FileMode(f.to.mode)
		b.recognise(e, f)
	}
	if err := format.NewEncoder(lock).Encode(read); err != nil {
		return err
	}
	return lock.take()
}

// readForWriting reads the index to write it anew. An entry that git would not trust by
// its times, because the index is no younger, must not be trusted the more for it: one
// whose file is another is given no size, and git looks into the file.
func (b *builtin) readForWriting() (*format.Index, error) {
	c := &comparison{ctx: context.Background(), repo: b.repository}
	now, err := c.index()
	if err != nil {
		return nil, err
	}
	read, err := b.store.Index()
	if err != nil {
		return nil, err
	}
	for _, e := range read.Entries {
		if e.ModifiedAt.Unix() < now.written.Unix() || e.Stage != 0 {
			continue
		}
		if known := now.files[e.Name]; known != nil && e.Mode != filemode.Submodule {
			if is, err := c.current(now, known.any()); err != nil || !is.same(side{mode: known.any().mode, hash: known.any().hash}) {
				e.Size = 0
			}
		}
	}
	return read, nil
}

// recognise notes by what git knows that a file is the one that was written. One that is
// another by now gets nothing, so that git looks into it.
func (b *builtin) recognise(e *format.Entry, f CheckoutFile) {
	info, err := b.work.lstat(f.Path)
	if err != nil || info == nil || b.work.mode(info, f.to.mode) != f.to.mode {
		return
	}
	if f.Link {
		if to, err := b.work.readlink(f.Path); err != nil || to != string(f.Data) {
			return
		}
	} else if !b.holds(f) {
		return
	}
	again, err := b.work.lstat(f.Path)
	if err != nil || again == nil || !again.ModTime().Equal(info.ModTime()) || again.Size() != info.Size() {
		return
	}
	e.ModifiedAt, e.Size = info.ModTime(), uint32(info.Size())
	if changed, inode, ok := identity(info); ok {
		e.CreatedAt, e.Inode = time.Unix(int64(changed.sec), int64(changed.nsec)), inode
		e.Dev, e.UID, e.GID = owner(info)
	}
}

func (b *builtin) holds(f CheckoutFile) bool {
	file, err := b.work.open(f.Path)
	if err != nil {
		return false
	}
	defer file.Close()
	data, err := readAll(file, int64(len(f.Data)))
	return err == nil && string(data) == string(f.Data)
}

// logLine is a line of a reflog.
func (b *builtin) logLine(from, to plumbing.Hash, what string) string {
	return fmt.Sprintf("%s %s %s %d +0000\t%s\n", from, to, b.config.identity("committer"), time.Now().Unix(), what)
}
