// Package workspace is the ground that every other package stands on: the
// folders that the user opened, and the one resolver that turns a name from an
// agent into a Path inside them.
//
// Every access goes through os.Root, so the kernel decides what is inside a
// root; names are checked first only to give a clear refusal. The one exception
// are ignore rules: git keeps some above the folder and in the user's home. Links
// are followed inside a folder and never out of it. The package reads; it never
// writes. Writing is package change's work.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"pillion/internal/fault"
)

// Folder is a workspace folder as the editor names it.
type Folder struct {
	Name string // empty: the last element of Dir
	Dir  string // absolute
}

// Workspace is the set of folders that are open. It is safe for concurrent use;
// a Path stays usable for as long as its folder is open.
type Workspace struct {
	multi atomic.Bool // several folders are open

	mu    sync.RWMutex // guards all below
	roots []*root
	apart []Path // see Apart
}

// root is one open folder. All but opened and nested is fixed when it is opened, so that a
// Path stays equal to itself whatever folders come and go around it.
type root struct {
	name   string
	asked  string // the name that the editor gave it, before it was made unique
	dir    string // absolute, symbolic links resolved
	given  string // absolute, as the editor spelled it
	closed closedPlaces
	multi  *atomic.Bool
	apart  bool // it holds one file that is a Path, and is no open folder: see Apart

	opened atomic.Pointer[os.Root] // see fs

	// nested are the open folders inside this one, deepest first. What lies in
	// them is named through them alone.
	nested atomic.Pointer[[]*root]
}

// Open opens the folders. It fails when one of them is not a readable folder.
func Open(folders ...Folder) (*Workspace, error) {
	w := &Workspace{}
	if err := w.SetFolders(folders...); err != nil {
		return nil, err
	}
	return w, nil
}

// SetFolders makes folders the workspace's folders. Those that were open before
// stay open and keep their Paths valid; one that is named twice is taken once;
// on error nothing changes.
func (w *Workspace) SetFolders(folders ...Folder) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var opened, next []*root
	for _, f := range folders {
		if slices.ContainsFunc(next, f.isOpenAs) {
			continue
		}
		if i := slices.IndexFunc(w.roots, f.isOpenAs); i >= 0 && (f.Name == w.roots[i].asked || f.Name == w.roots[i].name) {
			next = append(next, w.roots[i])
			continue
		}
		r, err := w.openRoot(f)
		if err != nil {
			closeAll(opened)
			return err
		}
		if slices.ContainsFunc(next, func(other *root) bool { return other.dir == r.dir }) {
			closeAll([]*root{r})
			continue
		}
		opened, next = append(opened, r), append(next, r)
	}
	for _, r := range w.roots {
		if !slices.Contains(next, r) {
			closeAll([]*root{r})
		}
	}
	nameApart(opened, next)
	nest(next)
	w.multi.Store(len(next) > 1)
	w.roots = next
	return nil
}

func (f Folder) isOpenAs(r *root) bool { return r.given == filepath.Clean(f.Dir) }

func (w *Workspace) openRoot(f Folder) (*root, error) {
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
	if name == "" || strings.ContainsAny(name, "/\\\x00") || name == "." || name == ".." {
		name = filepath.Base(f.Dir)
	}
	r := &root{name: name, asked: f.Name, dir: real, given: filepath.Clean(f.Dir), closed: closedPlacesBelow(real), multi: &w.multi}
	r.opened.Store(opened)
	return r, nil
}

// nameApart tells new folders from those of the same name, in order: app, app-2,
// app-3. A folder that was open before keeps its name.
func nameApart(opened, all []*root) {
	taken := map[string]bool{}
	for _, r := range all {
		if !slices.Contains(opened, r) {
			taken[r.name] = true
		}
	}
	for _, r := range opened {
		name := r.name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", r.name, n)
		}
		r.name, taken[name] = name, true
	}
}

// nest tells each folder which others lie inside it.
func nest(roots []*root) {
	for _, r := range roots {
		var inside []*root
		for _, other := range roots {
			if _, ok := within(r.dir, other.dir); ok && other != r {
				inside = append(inside, other)
			}
		}
		slices.SortFunc(inside, func(a, b *root) int { return len(b.dir) - len(a.dir) })
		r.nested.Store(&inside)
	}
}

func closeAll(roots []*root) {
	for _, r := range roots {
		r.fs().Close()
	}
}

// Close closes every folder.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, r := range w.roots {
		errs = append(errs, r.fs().Close())
	}
	for _, p := range w.apart {
		errs = append(errs, p.root.fs().Close())
	}
	w.roots, w.apart = nil, nil
	return errors.Join(errs...)
}

// Roots returns the folders' own paths, in the editor's order.
func (w *Workspace) Roots() []Path {
	var out []Path
	for _, r := range w.snapshot() {
		out = append(out, Path{root: r, rel: "."})
	}
	return out
}

// Folders are the open folders as the editor gave them.
func (w *Workspace) Folders() []Folder {
	var out []Folder
	for _, r := range w.snapshot() {
		out = append(out, Folder{Name: r.asked, Dir: r.given})
	}
	return out
}

func (w *Workspace) snapshot() []*root {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.roots
}

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
