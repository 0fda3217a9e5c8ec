package search

import (
	"context"
	"errors"

	"pillion/workspace"
)

// Files is the list of files that all searching tools share.
type Files struct{}

// mostListed is how many entries a list may have; what is larger is walked, and
// nothing of it held.
const mostListed = 1_000_000

// List is what lies below the folder p. It fails with workspace.ErrTooMany.
func (f *Files) List(ctx context.Context, p workspace.Path, o workspace.WalkOptions, sizes bool) (*workspace.Contents, error) {
	return p.List(ctx, o, sizes, mostListed)
}

// Visit visits what lies below the folder p, in the order of a walk. Each entry comes
// with its folder, or, where there are too many to be listed, with a folder that is
// made up for it.
func (f *Files) Visit(ctx context.Context, p workspace.Path, o workspace.WalkOptions, sizes bool, visit func(dir *workspace.Contents, e *workspace.Listed) error) error {
	c, err := f.List(ctx, p, o, sizes)
	switch {
	case errors.Is(err, workspace.ErrTooMany):
		return Walk(ctx, p, o, visit)
	case err != nil:
		return err
	}
	return c.Walk(visit)
}

// Walk is Visit where nothing is to be held.
func Walk(ctx context.Context, p workspace.Path, o workspace.WalkOptions, visit func(dir *workspace.Contents, e *workspace.Listed) error) error {
	return p.Walk(ctx, o, func(e workspace.Entry) error {
		listed := workspace.Listed{Name: e.Path.Base(), Type: e.Type}
		if info, err := e.Path.Lstat(); err == nil { // it may be gone by now
			listed = workspace.Of(info)
		}
		return visit(&workspace.Contents{Folder: e.Path.Dir()}, &listed)
	})
}
