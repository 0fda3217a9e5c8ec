package sidecar

import (
	"context"
	"sync"
	"time"

	"pillion/internal/state"
	"pillion/rpc"
	"pillion/workspace"
	"pillion/workspace/search"
	"pillion/workspace/tracking"
	"pillion/workspace/watch"
)

// newTree is the watching of all folders that are open, which begins once the
// editor is ready and holds nothing up.
func (c *Sidecar) newTree() *watch.Tree {
	private := ""
	if dir, err := state.Folder("watch"); err == nil {
		private = dir
	}
	return c.watcher.Tree(watch.TreeOptions{
		Roots: c.rootsNow, Folders: c.watchedFolders, Private: private, Changed: func(s watch.State) { c.degraded.note(s) },
	})
}

// watchedFolders are those that are not ignored, or hold what git tracks all the same. It
// notes which rules say so. While it is new it lets lists go first.
func (c *Sidecar) watchedFolders(ctx context.Context, dir string, visit func(string) error) error {
	if p, ok := c.workspace.Place(dir); ok && p.IsRoot() {
		c.Registry.Files.Finding(p)
	}
	patient, cancel := context.WithTimeout(ctx, givesWay)
	defer cancel()
	c.giveWay(patient)
	one := func(dir string) error {
		c.giveWay(patient)
		return visit(dir)
	}
	if err := c.workspace.WatchedFolders(ctx, dir, one); err != nil {
		return err
	}
	if p, ok := c.workspace.Place(dir); !ok || !p.IsRoot() {
		return nil // of a folder that is new nothing is tracked yet
	}
	return c.Registry.Committer.Git.Tracked(ctx, dir, func(dir string) error {
		if c.workspace.IsClosed(dir) {
			return nil
		}
		return one(dir)
	})
}

// givesWay is how long a look for the folders to watch can be held up by lists.
const givesWay = 2 * time.Second

// giveWay is asked by what goes through all folders and is waited for by nobody. It lets
// go first what somebody waits for, and whatever is asked as soon as there is a sidecar,
// as of one that was started to be asked.
func (c *Sidecar) giveWay(ctx context.Context) {
	if left := time.Until(c.atOnce); left > 0 {
		select {
		case <-time.After(left):
		case <-ctx.Done():
		}
	}
	c.Registry.Files.GiveWay(ctx)
}

const atOnce = 40 * time.Millisecond

// newFiles is the list of files, kept for as long as the tree is certain that it is right.
func (c *Sidecar) newFiles() *search.Files {
	files := search.NewFiles(c.settle, c.tree.Rescan)
	files.Indexed(c.indexed)
	c.tree.Follow(func(events []watch.Event) {
		for _, e := range events {
			if e.Op == watch.Lost {
				files.Lost()
			} else {
				files.Changed(e.Dir, e.Name, e.Op == watch.Created || e.Op == watch.Deleted || e.Op == watch.Attributes && e.Folder)
			}
		}
	})
	return files
}

// settle waits until all that happened has been told of, or fails.
func (c *Sidecar) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	return c.tree.Settle(ctx)
}

// settleTime is how long a list is waited for that is known already: making it anew
// takes no longer in most folders.
const settleTime = 100 * time.Millisecond

// rootsNow are the folders as they are: one that was removed and made again is opened
// again.
func (c *Sidecar) rootsNow() []string {
	c.workspace.Reopen()
	return c.Roots()
}

// indexed hears how it stands with the index of what is in files.
func (c *Sidecar) indexed(s search.IndexState) {
	collectMore(s.Bytes)
	if c.indexing != nil {
		c.indexing(rpc.Index{Building: s.Building, Percent: s.Percent, Files: s.Files, Bytes: s.Bytes})
	}
}

// track reports changes, how well they are known, and how it stands with the index. It is
// called before the tree is started.
func (c *Sidecar) track(changed func([]tracking.Change), state func(rpc.Tracking), index func(rpc.Index)) {
	c.indexing = index
	c.tracker = tracking.New(c.documents, changed)
	c.Registry.Committer.Making = c.tracker.Making
	c.tree.Follow(c.tracker.Follow)
	c.degraded.report = state
}

// saved takes that the editor wrote a file.
func (c *Sidecar) saved(p workspace.Path) {
	c.tracker.Saved(p)
	c.Registry.Committer.Observer.Claim(p)
}

// watchedFiles takes the word of the editor's own watcher, where ours sees less.
func (c *Sidecar) watchedFiles(uris []string) {
	if !c.tree.State().Ready {
		c.tracker.Changed(uris)
	}
}

// degraded is what was reported of the tree last.
type degraded struct {
	report func(rpc.Tracking)

	mu       sync.Mutex // guards all below
	reported bool
	last     watch.State
}

// note reports the state when it is known for the first time, and when it becomes
// worse, or better again. A look through the folders now and then is neither.
func (d *degraded) note(s watch.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := s.Ready || s.Degraded
	if d.report == nil || !known || d.reported && s.Degraded == d.last.Degraded && s.Reason == d.last.Reason {
		return
	}
	d.reported, d.last = true, s
	d.report(rpc.Tracking{Degraded: s.Degraded, Reason: s.Reason, Watched: s.Watched})
}
