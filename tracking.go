package main

import (
	"path/filepath"

	"pillion/workspace/watch"
)

// newTree is the watching of all folders that are open, which begins once the
// editor is ready and holds nothing up.
func (c *sidecar) newTree() *watch.Tree {
	private := ""
	if journal, err := journalFolder(); err == nil {
		private = filepath.Join(filepath.Dir(journal), "watch")
	}
	return c.watcher.Tree(watch.TreeOptions{Roots: c.roots, Folders: c.workspace.WatchedFolders, Private: private})
}
