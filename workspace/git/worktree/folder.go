package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// dirEntry is a name in a folder. Its kind is one of git's modes without permissions, 0
// for what git does not track.
type dirEntry struct {
	name string
	kind uint32
}

// fileStat is what the index keeps of a file.
type fileStat struct {
	kind              uint32
	executable        bool
	size              int64
	links             uint64 // names of the file; 0: not known
	inode             uint32 // 0: not known, and neither is changed
	modified, changed timestamp
}

// openFolder opens a folder of the work tree, a path that ends in a slash or is "".
func (w *workTree) openFolder(dir string) (*os.File, error) {
	name := strings.TrimSuffix(w.local(dir), string(filepath.Separator))
	if name == "" {
		name = "."
	}
	return w.openLocal(name)
}
