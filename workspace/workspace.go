// Package workspace is the ground that every other package stands on: the
// folders that the human opened, and the one resolver that turns a name from an
// agent into a Path inside them.
//
// Every access goes through os.Root, so the kernel decides what is inside a
// root; names are checked first only to give a clear refusal. The package reads;
// it never writes. Writing is package change's work.
package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Folder is a workspace folder as the editor names it.
type Folder struct {
	Name string // empty: the last element of Dir
	Dir  string // absolute
}

// Limits that Resolve and Open hold. The zero value is replaced by the defaults.
type Limits struct {
	PathLength int // bytes
}

// Workspace is the set of folders that are open. It is safe for concurrent use;
// a Path stays usable for as long as its folder is open.
type Workspace struct {
	limits Limits

	mu    sync.RWMutex // guards roots
	roots []*root
}

type root struct {
	name  string
	dir   string // absolute, symbolic links resolved
	given string // absolute, as the editor spelled it
	fs    *os.Root
}

// Open opens the folders. It fails when one of them is not a readable folder.
func Open(folders ...Folder) (*Workspace, error) {
	w := &Workspace{limits: Limits{PathLength: 4096}}
	if err := w.SetFolders(folders...); err != nil {
		return nil, err
	}
	return w, nil
}

// SetFolders makes folders the workspace's folders. Those that were open before
// stay open and keep their Paths valid; on error nothing changes.
func (w *Workspace) SetFolders(folders ...Folder) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var opened, next []*root
	for _, f := range folders {
		if i := slices.IndexFunc(w.roots, func(r *root) bool { return r.given == filepath.Clean(f.Dir) }); i >= 0 {
			next = append(next, w.roots[i])
			continue
		}
		r, err := openRoot(f)
		if err != nil {
			closeAll(opened)
			return err
		}
		opened, next = append(opened, r), append(next, r)
	}
	for _, r := range w.roots {
		if !slices.Contains(next, r) {
			closeAll([]*root{r})
		}
	}
	w.roots = uniqueNames(next)
	return nil
}

func openRoot(f Folder) (*root, error) {
	if !filepath.IsAbs(f.Dir) {
		return nil, fmt.Errorf("workspace folder %q is not an absolute path", f.Dir)
	}
	real, err := filepath.EvalSymlinks(f.Dir)
	if err != nil {
		return nil, fmt.Errorf("workspace folder: %w", err)
	}
	opened, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("workspace folder: %w", err)
	}
	name := f.Name
	if name == "" || strings.ContainsAny(name, "/\x00") {
		name = filepath.Base(f.Dir)
	}
	return &root{name: name, dir: real, given: filepath.Clean(f.Dir), fs: opened}, nil
}

// uniqueNames tells folders of one name apart, in order: app, app-2, app-3.
func uniqueNames(roots []*root) []*root {
	taken := map[string]bool{}
	for _, r := range roots {
		name := r.name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", r.name, n)
		}
		r.name, taken[name] = name, true
	}
	return roots
}

func closeAll(roots []*root) {
	for _, r := range roots {
		r.fs.Close()
	}
}

// Close closes every folder.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, r := range w.roots {
		errs = append(errs, r.fs.Close())
	}
	w.roots = nil
	return errors.Join(errs...)
}

// Roots returns the folders' own paths, in the editor's order.
func (w *Workspace) Roots() []Path {
	var out []Path
	for _, r := range w.snapshot() {
		out = append(out, Path{root: r, rel: ".", multi: w.isMulti()})
	}
	return out
}

func (w *Workspace) snapshot() []*root {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.roots
}

func (w *Workspace) isMulti() bool { return len(w.snapshot()) > 1 }
