package watch

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// below watches dir and the folders below it, and notes those that it came upon.
func (w *watching) below(dir string, visited map[string]bool) error {
	err := w.tree.options.Folders(w.tree.ctx, dir, func(folder string) error {
		if w.full {
			return fs.SkipAll
		}
		if w.add(folder) {
			visited[folder] = true
		}
		return nil
	})
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// add watches one folder, and reports whether it is watched. One that is gone again,
// or is not ours to read, is not.
func (w *watching) add(dir string) bool {
	now, err := identify(dir)
	if err != nil {
		return false
	}
	known, watched := w.folders[dir]
	if watched && known != now {
		w.drop(dir) // of another folder, that was here
		watched = false
	}
	if other := w.paths[now.id]; other != "" && other != dir {
		if there, err := identify(other); err == nil && there.id == now.id {
			w.twice = dir
		}
		w.drop(other) // it has moved, and is known by its old path
	}
	if !watched && len(w.folders) >= w.budget {
		w.full = true
		return false
	}
	if err := w.ask(w.kernel.Add, dir); err != nil {
		w.full = w.full || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE)
		return false
	}
	w.folders[dir], w.paths[now.id] = now, dir
	w.tree.watched.Store(int64(len(w.folders)))
	return true
}

// drop ends the watching of one folder.
func (w *watching) drop(dir string) {
	known, watched := w.folders[dir]
	if !watched {
		return
	}
	delete(w.folders, dir)
	if w.paths[known.id] == dir {
		delete(w.paths, known.id)
	}
	if !w.parents[dir] {
		w.ask(w.kernel.Remove, dir) //nolint:errcheck // it may be gone
	}
	w.tree.watched.Store(int64(len(w.folders)))
}

// dropAll ends the watching of dir and what is below it: it is elsewhere now.
func (w *watching) dropAll(dir string) {
	for folder := range w.folders {
		if folder == dir || strings.HasPrefix(folder, dir+string(filepath.Separator)) {
			w.drop(folder)
		}
	}
}
