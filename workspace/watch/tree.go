package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A Tree watches all folders of a workspace that are not ignored, and can say
// when it has seen everything that happened so far: Settle. What it tells is
// exact for names: which entries each folder has. Of what is in a file it sees
// writes through the name that lies in the tree, not those through another hard
// link or a memory map; who must know reads the file.
//
// One goroutine does it all: it takes fsnotify's events in their order, adds
// and removes folders, and tells the followers. It never holds anybody up, and
// nothing waits for its first look through the folders.
type Tree struct {
	options TreeOptions
	ctx     context.Context // ends with the tree
	end     context.CancelFunc

	watched atomic.Int64

	mu        sync.Mutex // guards all below
	state     State
	followers map[*func([]Event)]bool
	started   bool
	watching  *watching // nil: not started, ended, or fsnotify has no watcher to give
}

// TreeOptions are what a Tree is made of. All functions are called by one
// goroutine at a time.
type TreeOptions struct {
	// Roots are the folders to watch, absolute and without symbolic links. They are
	// asked for again at each Rescan.
	Roots func() []string
	// Folders visits dir and all folders below it that are to be watched, each
	// before it is listed: what is made in a folder is either listed, or told of by
	// the watch that visit has put on it. It visits nothing if dir itself is ignored.
	Folders func(ctx context.Context, dir string, visit func(dir string) error) error
	// Private is a folder of our own, for the cookie that Settle writes to; "" where nobody
	// wants to settle.
	Private string
	// Budget is how many folders may be watched; 0 is a share of the system's limit.
	Budget int
	// Changed hears of each change of the state, if it is set; it must not block.
	Changed func(State)
}

// State says how far a Tree can be relied on.
type State struct {
	Ready    bool   // everything is watched: Settle works
	Degraded bool   // changes may be missed, for longer than a look through the folders takes
	Reason   string // why it is not ready, for people
	Watched  int    // how many folders
}

// Op is what happened to an entry.
type Op uint8

// What a Tree tells. A folder that was Created is watched already, and all that
// is in it is new. After Lost, whatever is below Dir may have changed in any way.
const (
	Created    Op = iota + 1 // or moved here, perhaps over another
	Deleted                  // or moved away
	Changed                  // something was written
	Attributes               // mode, owner or times
	Lost
)

// Event is one change: of the entry Name of the folder Dir.
type Event struct {
	Dir, Name string // Dir is absolute; Name is empty for Lost
	Op        Op
	Folder    bool
}

// ErrUnsettled is why Settle cannot promise anything: what was seen of the tree
// may be old. Whoever needs to know looks at the disk.
var ErrUnsettled = errors.New("the folders are not watched well enough")

func unsettled(reason string) error { return fmt.Errorf("%w: %s", ErrUnsettled, reason) }

// Tree makes a tree, which begins to watch at Start and ends with the Watcher.
func (w *Watcher) Tree(o TreeOptions) *Tree {
	t := &Tree{options: o, state: State{Reason: "not started"}, followers: map[*func([]Event)]bool{}}
	t.ctx, t.end = context.WithCancel(context.Background())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		t.end()
	}
	w.trees = append(w.trees, t)
	return t
}

// Start begins to watch, in the background. Again does nothing.
func (t *Tree) Start() {
	t.mu.Lock()
	if t.started || t.ctx.Err() != nil {
		t.mu.Unlock()
		return
	}
	t.started = true
	one, err := newWatching(t)
	if err != nil {
		t.mu.Unlock()
		t.become(State{Degraded: true, Reason: err.Error()})
		return
	}
	t.watching = one
	t.state.Reason = lookingThrough
	t.mu.Unlock()
	go one.run()
}

const lookingThrough = "still looking through the folders"

// Rescan has the tree look through all folders again, in the background: the roots
// or the rules of what is ignored may have changed. It is not settled before.
func (t *Tree) Rescan() {
	if one := t.current(); one != nil {
		one.rescan()
	}
}

// Follow has told called with all events, in their order, until stop is called. It
// must not block. It is called by the tree's own goroutine, before any Settle that
// covers those events returns.
func (t *Tree) Follow(told func([]Event)) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.followers[&told] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.followers, &told)
	}
}

// Settle returns nil when the followers have been told of every change that was
// made before it was called. Any error means that nobody knows; it comes at once
// where the tree is not fully watched or cannot be: on network file systems, after
// an overflow.
func (t *Tree) Settle(ctx context.Context) error {
	one, state := t.current(), t.State()
	if one == nil || !state.Ready {
		return unsettled(state.Reason)
	}
	return one.settle(ctx)
}

// State is how far the tree can be relied on now.
func (t *Tree) State() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.state
	s.Watched = int(t.watched.Load())
	return s
}

func (t *Tree) current() *watching {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.watching
}

// become takes a new state over and tells of it.
func (t *Tree) become(s State) {
	s.Watched = 0
	t.mu.Lock()
	same := t.state == s
	t.state = s
	t.mu.Unlock()
	if !same && t.options.Changed != nil {
		t.options.Changed(t.State())
	}
}

func (t *Tree) notify(events []Event) {
	t.mu.Lock()
	followers := make([]func([]Event), 0, len(t.followers))
	for told := range t.followers {
		followers = append(followers, *told)
	}
	t.mu.Unlock()
	for _, told := range followers {
		told(events)
	}
}

// close ends the watching and waits until nobody is told anything any more.
func (t *Tree) close() error {
	t.end()
	t.mu.Lock()
	one := t.watching
	t.watching, t.state = nil, State{Reason: "closed"}
	t.mu.Unlock()
	if one == nil {
		return nil
	}
	return one.close()
}

// How a tree looks through the folders again: at first at once, then, as long as
// events are lost again and again, ever more seldom.
const (
	rescanSoon  = 50 * time.Millisecond
	rescanAtAll = 30 * time.Second
	goneLook    = time.Second // at a root that is gone
)
