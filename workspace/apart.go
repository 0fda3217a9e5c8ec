package workspace

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Apart is the Path of a file outside the open folders that the user named in their
// settings. No name leads there that an agent could give, nor to what lies beside it:
// Resolve knows the folders alone, and whoever holds the Path holds that one file. A file
// in an open folder has its usual Path. The file, and folders above it, need not exist;
// links on the way are followed now, and not again.
func (w *Workspace) Apart(abs string) (Path, error) {
	if !filepath.IsAbs(abs) {
		return Path{}, fmt.Errorf("%q is not an absolute path", abs)
	}
	dir, rel := deepestFolder(filepath.Clean(abs))
	name := filepath.Join(dir, rel)
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, err := placeAbsolute(w.roots, name); err == nil {
		return p, nil
	}
	if i := slices.IndexFunc(w.apart, func(p Path) bool { return p.Abs() == name }); i >= 0 {
		w.apart[i].root.reopen()
		return w.apart[i], nil
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return Path{}, err
	}
	p := Path{root: &root{name: belowHome(dir), dir: dir, given: dir, multi: &w.multi, apart: true}, rel: filepath.ToSlash(rel)}
	p.root.opened.Store(opened)
	w.apart = append(w.apart, p)
	return p, nil
}

// deepestFolder splits a name into the deepest folder on its way that there is, without
// links, and the rest.
func deepestFolder(abs string) (dir, rel string) {
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return filepath.Dir(real), filepath.Base(real)
	}
	dir, rel = filepath.Dir(abs), filepath.Base(abs)
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return real, rel
		}
		if filepath.Dir(dir) == dir {
			return dir, rel
		}
		dir, rel = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rel)
	}
}

// belowHome is a folder as people write it.
func belowHome(dir string) string {
	for _, home := range spellings(homeDir()) {
		if rel, ok := within(home, dir); ok {
			return path.Join("~", filepath.ToSlash(rel))
		}
	}
	return filepath.ToSlash(dir)
}

// IsApart reports whether p is in none of the folders that the user opened: see Apart.
func (p Path) IsApart() bool { return p.root.apart }

// ApartAt is the Path that Apart gave for an absolute name.
func (w *Workspace) ApartAt(abs string) (Path, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	i := slices.IndexFunc(w.apart, func(p Path) bool { return p.Abs() == filepath.Clean(abs) })
	if i < 0 {
		return Path{}, false
	}
	return w.apart[i], true
}

// Known is the Path of an absolute name that Pillion itself wrote down: of an entry of an
// open folder, as ResolveEntry has it, or of a file apart.
func (w *Workspace) Known(abs string) (Path, error) {
	p, err := w.ResolveEntry(abs)
	if err != nil {
		if at, ok := w.ApartAt(abs); ok {
			return at, nil
		}
	}
	return p, err
}
