package process

import (
	"context"
	"sync"
	"time"
)

// Staged is a folder in which programs make files beside those that they change, so that it
// has to be writable as a whole, and of which only what is on a list may change. Bubblewrap
// shows the command a copy of the folder's own entries; when all of the command is gone, its
// guardian brings back what is on the list, unless git.HarmlessState says that it would harm, and what git.HarmlessIndex makes of an index.
// The other levels have no such thing.
type Staged struct {
	Dir       string
	Files     string   // regular expression: names of files that may be made, changed and removed
	Trees     []string // folders of which each file is like one of Dir's own, its name with slashes
	Folders   []string // folders that may be, with all in them
	Forgotten []string // folders that look empty and files that look missing: they may be written, nothing comes back, and nothing is said
	Open      []string // folders that are no copies: they are written where they are, but for links and other odd files
	Closed    []string // folders that look empty where they are not there, and cannot be made
}

// turns has commands that work in the same staged folder wait for each other: of two copies
// one would be lost.
type turns struct {
	mu   sync.Mutex // guards busy
	busy map[string]chan struct{}
}

// turnTime is how long a command waits for the one before it, which may be a server.
const turnTime = 10 * time.Second

// take waits for the folders, at most for turnTime, and gives what frees them. After that
// the command goes on: what both change is not brought back twice.
func (t *turns) take(ctx context.Context, list []Staged) (free func()) {
	ctx, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	mine := make(chan struct{})
	var taken []string
	for _, s := range list {
		if t.claim(ctx, s.Dir, mine) {
			taken = append(taken, s.Dir)
		}
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, dir := range taken {
			delete(t.busy, dir)
		}
		close(mine)
	}
}

// claim waits for one folder, and says whether it is ours.
func (t *turns) claim(ctx context.Context, dir string, mine chan struct{}) bool {
	for {
		t.mu.Lock()
		before := t.busy[dir]
		if before == nil {
			if t.busy == nil {
				t.busy = map[string]chan struct{}{}
			}
			t.busy[dir] = mine
		}
		t.mu.Unlock()
		if before == nil {
			return true
		}
		select {
		case <-before:
		case <-ctx.Done():
			return false
		}
	}
}
