package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
)

// SwitchName checks out a branch that was looked at and has the files of the one that is
// checked out, as a new one has: then HEAD has another name, and nothing else changes.
func SwitchName(root, dir string, c BranchChange) error {
	return withBuiltin(root, dir, func(_ *repository, b *builtin) error {
		lock, err := b.lock()
		if err != nil {
			return err
		}
		defer lock.release()
		now, err := Switch(context.Background(), root, dir, c.Name)
		switch {
		case err != nil:
			return err
		case now.State() != c.State():
			return fault.New(fault.ConcurrentModification, "%s has changed; look at it again", fault.Quote(c.Name))
		case c.Changes.FilesChanged > 0:
			return needsGit(fault.Quote(c.Name) + " has other files than what is checked out")
		}
		if err := b.writeHead("ref: refs/heads/" + c.Name + "\n"); err != nil {
			return err
		}
		from := c.Branch
		if from == "" {
			from = c.Head
		}
		b.note("logs/HEAD", b.logLine(plumbing.NewHash(c.Head), plumbing.NewHash(c.Hash), fmt.Sprintf("checkout: moving from %s to %s", from, c.Name)))
		return nil
	})
}

// writeHead replaces HEAD in one step, under git's own lock on it.
func (b *builtin) writeHead(text string) error {
	f, err := b.files.OpenFile("HEAD.lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.GitError, "another git is at work in this repository (HEAD.lock is there); try again when it has ended")
	}
	if err != nil {
		return fault.From(err)
	}
	_, err = f.Write([]byte(text))
	if err = errors.Join(err, f.Close()); err == nil {
		err = b.files.Rename("HEAD.lock", "HEAD")
	}
	if err != nil {
		_ = b.files.Remove("HEAD.lock")
		return fault.New(fault.GitError, "HEAD could not be written: %w", err)
	}
	return nil
}

// logLine is a line of a reflog.
func (b *builtin) logLine(from, to plumbing.Hash, what string) string {
	return fmt.Sprintf("%s %s %s %d +0000\t%s\n", from, to, b.config.identity("committer"), time.Now().Unix(), what)
}
