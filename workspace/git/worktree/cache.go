package worktree

import (
	"context"
	"path/filepath"
	"sync"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
)

// Cache keeps what Status found out about repositories for as long as it is certain to
// be right. Whoever watches the folders of a workspace tells of all changes (Watching,
// Changed, Lost), and settle says when they have been told. Without it, or where it
// fails, everything is looked at anew; so is, each time, what nobody watches: the
// repository's own folder, ignored folders, submodules, and files that have several
// names. A nil Cache keeps nothing.
//
// A change that is written through a memory map may be seen late.
type Cache struct {
	settle func(context.Context) error
	turn   chan struct{} // to look or to look again: one after the other

	mu      sync.Mutex      // guards all below
	watched map[string]bool // absolute names of folders
	kept    map[string]*keptStatus
	finding map[string]bool     // see Tracked
	ignored map[string][]string // likewise, by workspace folder
	asked   map[string]bool     // see askedBefore
}

const (
	// mostRepositories is how many repositories are kept, mostKeptEntries how large an index.
	mostRepositories = 4
	mostKeptEntries  = 500_000
	// mostChanged is how many names are looked at one by one.
	mostChanged = 2000
)

// NewCache makes a Cache. settle returns nil when Watching, Changed and Lost have been
// called for all that happened before.
func NewCache(settle func(context.Context) error) *Cache {
	return &Cache{
		settle: settle, turn: make(chan struct{}, 1), watched: map[string]bool{}, kept: map[string]*keptStatus{},
		finding: map[string]bool{}, ignored: map[string][]string{}, asked: map[string]bool{},
	}
}

// Finding takes that the folders to watch below the folder root, an absolute name, are
// going to be found anew.
func (c *Cache) Finding(root string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(root)
	c.finding[root] = true
	delete(c.ignored, root)
}

// forget needs c.mu.
func (c *Cache) forget(dir string) {
	for name := range c.watched {
		if gitdir.Inside(dir, name) {
			delete(c.watched, name)
		}
	}
}

// Watching takes that the folder dir is watched from now on.
func (c *Cache) Watching(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched[dir] = true
}

func (c *Cache) watches(dir string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.watched[dir]
}

// Change is what happened to an entry of a folder: it came or went, or was only written,
// or its mode was changed.
type Change struct {
	CameOrWent, Went, Folder bool
}

// Changed takes that something happened to the entry name of the folder dir.
func (c *Cache) Changed(dir, name string, e Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Folder && e.Went {
		c.forget(filepath.Join(dir, name))
	}
	for top, k := range c.kept {
		if gitdir.Inside(top, dir) {
			k.note(dir, name, event{e.CameOrWent, e.Folder})
		}
	}
}

// Lost takes that anything may have happened.
func (c *Cache) Lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.kept)
}

// Status is the package's Status, with what is kept.
func (c *Cache) Status(ctx context.Context, root string, o StatusOptions) (StatusResult, error) {
	place, repo, err := Open(root, o.Dir)
	if err != nil {
		return StatusResult{}, err
	}
	defer repo.Close()
	s := &status{Comparison: Comparison{Ctx: ctx, Repo: repo, Prefix: repo.Prefix(place.Dir)}, whole: place.Dir == place.Root || place.Dir == repo.Top}
	result := StatusResult{Top: repo.Top}
	if err := s.branch(&result); err != nil {
		return result, err
	}
	repo.Config = forStatus(repo.Config)
	var known bool
	if result.Files, known, err = c.changes(s, place); err == nil && !known {
		result.Files, err = s.changes()
	}
	if err == nil && len(result.Files) == 0 && !s.matched && !place.Exists {
		err = fault.New(fault.FileNotFound, "%s is neither in the work tree nor in the index", fault.Quote(s.Prefix))
	}
	return result, err
}

// changes answers from what is kept, or keeps what it found out. known is false where
// nothing can be kept.
func (c *Cache) changes(s *status, p gitdir.Location) (files []FileStatus, known bool, err error) {
	if c == nil || !s.keepable() || c.settle(s.Ctx) != nil {
		return nil, false, nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-s.Ctx.Done():
		return nil, false, fault.From(s.Ctx.Err())
	}
	scope := s.Repo.scope(p)
	k, changed := c.take(scope)
	if k == nil && !s.whole {
		return nil, false, nil // a part is not worth looking at all
	}
	all := *s
	if all.Prefix = s.Repo.Prefix(scope); all.Prefix != s.Prefix {
		all.whole = true
	}
	fresh := k == nil
	if fresh {
		if k = c.begin(scope); k == nil {
			return nil, false, nil
		}
		err = k.look(&all, c.watches)
	} else {
		err = k.lookAgain(&all, c.watches, changed)
	}
	if err != nil || len(all.index.Entries) > mostKeptEntries || len(k.shared) > mostChanged {
		c.drop(scope, k)
		if err != nil {
			return nil, false, err
		}
	}
	if s.Prefix == all.Prefix {
		files, err = k.answer(&all)
		return files, true, err
	}
	return k.part(s, &all)
}

// scope is the part of a repository that is looked at and kept: all of it, or what lies
// in the workspace folder.
func (r *Checkout) scope(p gitdir.Location) string {
	if gitdir.Inside(p.Root, r.Top) {
		return r.Top
	}
	return p.Root
}

// keepable leaves out what is seldom, and hard to keep.
func (s *status) keepable() bool {
	all := s.Repo.Config.Get("status.showuntrackedfiles") == "all"
	return !all && !s.Repo.Config.Bool("core.ignorecase", false)
}

// take gives what is kept, and what has changed since, which is the caller's to see to.
func (c *Cache) take(scope string) (*keptStatus, map[string]map[string]event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kept[scope]
	if k == nil || k.spoilt || k.index == nil {
		return nil, nil
	}
	changed := k.changed
	k.changed, k.names = map[string]map[string]event{}, 0
	return k, changed
}

// begin notes what changes from now on. It is nil where enough is kept already.
func (c *Cache) begin(scope string) *keptStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[scope] == nil && len(c.kept) >= mostRepositories {
		return nil
	}
	k := &keptStatus{changed: map[string]map[string]event{}}
	c.kept[scope] = k
	return k
}

func (c *Cache) drop(scope string, k *keptStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[scope] == k {
		delete(c.kept, scope)
	}
}

// event is what happened to an entry.
type event struct{ cameOrWent, isFolder bool }

// note needs the Cache's mu. Files that say how others are read spoil all.
func (k *keptStatus) note(dir, name string, e event) {
	switch {
	case k.spoilt:
		return
	case k.names >= mostChanged, name == ".git", name == ".gitignore", name == ".gitattributes", name == ".gitmodules":
		k.spoilt = true
		return
	}
	names := k.changed[dir]
	if names == nil {
		names = map[string]event{}
		k.changed[dir] = names
	}
	was := names[name]
	names[name] = event{was.cameOrWent || e.cameOrWent, was.isFolder || e.isFolder}
	k.names++
}
