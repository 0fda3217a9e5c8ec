package doctor

import (
	"context"
	"fmt"
	"time"

	"pillion/workspace"
	"pillion/workspace/watch"
)

// watched watches the folder as a sidecar does, for a moment, and says how well that
// went.
func watched(ctx context.Context, e exam) Finding {
	f := Finding{ID: "folder.watched", Title: "watching it", Status: Info, Detail: "not looked at"}
	w, err := workspace.Open(workspace.Folder{Dir: e.Folder})
	if err != nil {
		return f
	}
	defer w.Close() //nolint:errcheck // it was only read
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	watcher, known := &watch.Watcher{}, make(chan watch.State, 1)
	defer watcher.Close() //nolint:errcheck // nothing was written
	watcher.Tree(watch.TreeOptions{
		Roots:   func() []string { return []string{w.Roots()[0].Abs()} },
		Folders: w.WatchedFolders,
		Changed: func(s watch.State) {
			if s.Ready || s.Degraded {
				select {
				case known <- s:
				default:
				}
			}
		},
	}).Start()
	select {
	case s := <-known:
		f.Data = map[string]any{"degraded": s.Degraded, "reason": s.Reason, "watched": s.Watched}
		if f.Status, f.Detail = OK, "changes are seen at once, in "+count(s.Watched, "folder"); s.Degraded {
			f.Status, f.Detail, f.Hint = Warning, "changes are seen late: "+s.Reason, "everything works; large folders are slower, and the author of a change may be unknown"
		}
	case <-ctx.Done():
		f.Detail = fmt.Sprintf("too many folders in %s to check", watchTime)
	}
	return f
}

const watchTime = 3 * time.Second
