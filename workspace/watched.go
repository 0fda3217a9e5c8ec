package workspace

import (
	"context"
	"io/fs"
	"slices"
)

// WatchedFolders visits dir, an absolute name without symbolic links, and all
// folders below it that a Walk would enter, each before it is listed. Of a folder
// that is ignored, or is in no open one, it visits nothing.
func (w *Workspace) WatchedFolders(ctx context.Context, dir string, visit func(dir string) error) error {
	p, err := placeAbsolute(w.snapshot(), dir)
	if err != nil || p.IsIgnored(true) {
		return nil
	}
	if err := visit(dir); err != nil {
		return err
	}
	return p.Walk(ctx, WalkOptions{}, func(e Entry) error {
		if e.Type != fs.ModeDir {
			return nil
		}
		return visit(e.Path.Abs())
	})
}

// Place is the Path of an absolute name that the system told, if it is in an open
// folder. Nothing is looked at.
func (w *Workspace) Place(abs string) (Path, bool) {
	p, err := placeAbsolute(w.snapshot(), abs)
	return p, err == nil
}

// IsClosed reports whether nothing may be seen of an absolute name: it is in no open
// folder, or closed to everybody.
func (w *Workspace) IsClosed(abs string) bool {
	p, ok := w.Place(abs)
	return !ok || !p.root.closed.none() && p.root.closed.refusal(abs) != ""
}

// Ignored tells for many paths whether they are ignored, as the rules are now. It is
// for one goroutine.
type Ignored struct {
	folders map[Path]bool
	rules   map[Path]rulesOf
}

type rulesOf struct {
	rules *ignoreRules
	base  string
}

// NewIgnored has looked at nothing yet.
func NewIgnored() *Ignored {
	return &Ignored{map[Path]bool{}, map[Path]rulesOf{}}
}

// Has reports whether a Walk of the workspace would not come to p.
func (i *Ignored) Has(p Path, isDir bool) bool {
	if p.IsRoot() {
		return false
	}
	dir := p.Dir()
	above, known := i.folders[dir]
	if !known {
		above = i.Has(dir, true)
		i.folders[dir] = above
	}
	if above || slices.Contains(versionStores, p.Base()) {
		return true
	}
	of, known := i.rules[dir]
	if !known {
		of.rules, of.base = ignoreRulesAt(dir)
		i.rules[dir] = of
	}
	return of.rules.ignores(of.base, p.Base(), isDir)
}

// IsIgnored reports whether a Walk of the folder that holds p would leave p out:
// the rules for it alone, not those for the folders above it.
func (p Path) IsIgnored(isDir bool) bool {
	if p.IsRoot() {
		return false
	}
	if !p.root.closed.none() && p.root.closed.refusal(p.Abs()) != "" {
		return true
	}
	rules, base := ignoreRulesAt(p.Dir())
	return isLeftOut(rules, base, p.Base(), isDir)
}
