package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"pillion/internal/fault"
)

// fs is the open folder. It may be opened anew while others use it, when the folder was
// removed and made again: Paths stay as they are.
func (r *root) fs() *os.Root { return r.opened.Load() }

// Reopen opens the folders anew that were removed and made again. What they are called
// must lead to them without a symbolic link, as it did: a link must not move a root. One
// that still is somewhere, under another name, stays what it is: see CheckFolders.
func (w *Workspace) Reopen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.roots {
		if r.isRemoved() {
			r.reopen()
		}
	}
}

// OpenAgain opens what a folder's name leads to now: the editor says that it means that.
func (w *Workspace) OpenAgain(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.roots {
		if r.given == filepath.Clean(dir) || r.dir == filepath.Clean(dir) {
			r.reopen()
		}
	}
}

// CheckFolders fails while an open folder has another name than it had: files would be
// changed there, and commands run in whatever has its name now. One that was removed and
// made again is opened again.
func (w *Workspace) CheckFolders() error {
	for _, r := range w.snapshot() {
		was, err := r.fs().Stat(".")
		there, failed := os.Lstat(r.dir)
		switch {
		case err == nil && failed == nil && os.SameFile(was, there):
		case r.isRemoved():
			w.Reopen()
		case failed == nil || errors.Is(failed, fs.ErrNotExist):
			return fault.New(fault.ConcurrentModification, "the workspace folder %s was renamed or moved after it was opened; nothing was done, as it is unclear which folder is meant", fault.Quote(r.dir)).
				WithHint("ask the user to open the folder again in the editor, then call again")
		}
	}
	return nil
}

// isRemoved: the folder that was opened is nowhere any more.
func (r *root) isRemoved() bool {
	was, err := r.fs().Stat(".")
	return err != nil || factsOf(was).links == 0
}

func (r *root) reopen() {
	real, err := filepath.EvalSymlinks(r.dir)
	if err != nil || real != r.dir {
		return
	}
	there, err := os.Stat(r.dir)
	if err != nil || !there.IsDir() {
		return
	}
	if was, err := r.fs().Stat("."); err == nil && os.SameFile(was, there) {
		return
	}
	if opened, err := os.OpenRoot(r.dir); err == nil {
		r.opened.Store(opened) // who still uses the old one is not disturbed; it closes itself
	}
}
