package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// handle is the open folder of a root. It can be opened anew, while others use it, when
// the folder was removed and made again: Paths stay as they are.
type handle struct{ now atomic.Pointer[os.Root] }

func newHandle(r *os.Root) *handle {
	h := &handle{}
	h.now.Store(r)
	return h
}

func (h *handle) Stat(name string) (fs.FileInfo, error)  { return h.now.Load().Stat(name) }
func (h *handle) Lstat(name string) (fs.FileInfo, error) { return h.now.Load().Lstat(name) }
func (h *handle) Readlink(name string) (string, error)   { return h.now.Load().Readlink(name) }
func (h *handle) Close() error                           { return h.now.Load().Close() }

func (h *handle) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return h.now.Load().OpenFile(name, flag, mode)
}

// Reopen opens the folders anew that are others now than they were: removed and made
// again, or replaced. What they are called must lead to them without a symbolic link,
// as it did: a link must not move a root.
func (w *Workspace) Reopen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.roots {
		r.reopen()
	}
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
	if was, err := r.fs.Stat("."); err == nil && os.SameFile(was, there) {
		return
	}
	if opened, err := os.OpenRoot(r.dir); err == nil {
		r.fs.now.Store(opened) // who still uses the old one is not disturbed; it closes itself
	}
}
