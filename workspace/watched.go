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

// IsIgnored reports whether a Walk of the folder that holds p would leave p out:
// the rules for it alone, not those for the folders above it.
func (p Path) IsIgnored(isDir bool) bool {
	if p.IsRoot() {
		return false
	}
	if !p.root.closed.none() && p.root.closed.refusal(p.Abs()) != "" {
		return true
	}
	return slices.Contains(versionStores, p.Base()) || ignoreRulesAt(p.Dir()).ignores(p.Base(), isDir)
}
