package search

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"pillion/workspace"
)

// walk hands on every file to search, and counts those that need not be: the index knows
// that they cannot match.
type walk struct {
	*search
	roots []workspace.Path
	queue *queue

	since  *kept                   // of the list that is walked
	open   map[workspace.Path]bool // folders with files of which the index does not know the text
	sifted [][]verdict             // room for those of a folder, by depth
	passed int                     // since the last job
}

func (w *walk) run(ctx context.Context) {
	if w.index != nil {
		w.open = map[workspace.Path]bool{}
		for _, p := range w.opened {
			w.open[p.Dir()] = true
		}
	}
	for _, root := range w.roots {
		if err := w.root(ctx, root); err != nil {
			_ = w.add(ctx, job{path: root, explicit: len(w.roots) == 1, err: err}) // fails only when nobody waits for it
		}
	}
	if w.passed > 0 {
		_ = w.add(ctx, job{}) // likewise
	}
}

func (w *walk) add(ctx context.Context, j job) error {
	j.passed, w.passed = w.passed, 0
	return w.queue.add(ctx, j)
}

func (w *walk) root(ctx context.Context, root workspace.Path) error {
	info, err := root.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return w.add(ctx, job{path: root, named: true, explicit: len(w.roots) == 1})
	}
	options := workspace.WalkOptions{IncludeIgnored: w.ignored, Unreadable: func(p workspace.Path, err error) {
		_ = w.add(ctx, job{path: p, err: err}) // the walk notices the end of the context
	}}
	list, since, err := w.files.list(ctx, root, options, false)
	switch {
	case errors.Is(err, workspace.ErrTooMany):
		return root.WalkListed(ctx, options, false, func(dir *workspace.Contents, e *workspace.Listed) error {
			if e.Type.IsDir() && slices.Contains(w.roots, dir.Folder.Join(e.Name)) {
				return fs.SkipDir
			}
			return w.file(ctx, root, dir, e, verdict{})
		})
	case err != nil:
		return err
	}
	w.since = since
	return w.folder(ctx, root, list, 0)
}

// folder walks what was listed.
func (w *walk) folder(ctx context.Context, root workspace.Path, c *workspace.Contents, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	known := w.sift(c, depth)
	for i := range c.Entries {
		e := &c.Entries[i]
		var err error
		switch {
		case e.Type.IsDir() && (e.Below == nil || slices.Contains(w.roots, e.Below.Folder)): // a root inside another is searched by itself
		case e.Type.IsDir() && e.Below.Err != nil:
			err = w.add(ctx, job{path: e.Below.Folder, err: e.Below.Err})
		case e.Type.IsDir():
			err = w.folder(ctx, root, e.Below, depth+1)
		case known == nil:
			err = w.file(ctx, root, c, e, verdict{})
		default:
			err = w.file(ctx, root, c, e, known[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sift asks the index about the files of a folder; nil: it says nothing.
func (w *walk) sift(c *workspace.Contents, depth int) []verdict {
	if w.index == nil {
		return nil
	}
	if depth == len(w.sifted) {
		w.sifted = append(w.sifted, nil)
	}
	known, behind := w.index.sift(c, w.since, w.sieve, w.sifted[depth])
	w.sifted[depth] = known
	if behind {
		w.behind.Store(true)
	}
	return known
}

func (w *walk) file(ctx context.Context, root workspace.Path, dir *workspace.Contents, e *workspace.Listed, known verdict) error {
	if !e.Type.IsRegular() {
		return nil
	}
	isKnown := known.kind != kindUnknown && !w.open[dir.Folder]
	if isKnown && known.stamp == 0 && w.glob == nil {
		w.pass(known)
		return nil
	}
	p := dir.Folder.Join(e.Name)
	switch {
	case w.glob != nil && !w.glob.selects(root, p):
		return nil
	case known.kind == kindUnknown || !isKnown && w.source.IsApart(p):
		return w.add(ctx, job{path: p})
	case known.stamp != 0:
		return w.add(ctx, job{path: p, known: known, since: w.since})
	}
	w.pass(known)
	return nil
}

func (w *walk) pass(known verdict) {
	if known.kind == kindText {
		w.passed++
	}
}
