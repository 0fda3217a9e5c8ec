package process

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"pillion/internal/fault"
)

const (
	// maxRunning bounds the processes that one session may have running at once,
	// and maxRunningAll those of all sessions.
	maxRunning    = 16
	maxRunningAll = 64
	// maxEnded is how many processes that have ended are kept for reading, of each
	// session, and maxEndedAll of all; the oldest are forgotten.
	maxEnded    = 16
	maxEndedAll = 64
	// maxName is the most characters of a process's name.
	maxName = 64
)

// Table is the processes that go on after the call that started them, by session
// and by the name that their agent gave them. A session's end ends its processes;
// so does whatever ends the Runner.
//
// Two readers empty a process's pipes into its capture, whatever anybody else does. All
// others read there by offset, at their own pace: read_process, and for each process a
// goroutine of rpc that sends process/output when the editor has read what was sent
// before. So nobody holds a process up, and a slow reader sees a gap.
type Table struct {
	*Runner

	mu       sync.Mutex // guards what follows
	all      []*Named   // in the order of their start
	reserved map[key]bool
	made     int // names that were made up
	watchers map[*func(*Named)]bool
	followed map[<-chan struct{}]bool // the sessions whose end is waited for
}

// key names a process: a session's agent gives names as it likes.
type key struct{ session, id string }

// Owner is the session that a process belongs to.
type Owner struct {
	Session   string
	Name, Via string          // of its agent
	Closed    <-chan struct{} // closed when the session ends; nil: it ends with the program
}

// About is what is said of a process beside what it runs.
type About struct {
	ID  string // its name; empty: one is made up when it is needed
	Cwd string // the folder, as tools print it
	// Unasked says that it was started in a mode that asks for nothing.
	Unasked bool
}

// Named is a process with a name.
type Named struct {
	*Process
	About
	Owner   Owner
	Command string
	Started time.Time

	byHuman atomic.Bool
}

// NoteHuman notes that the user has it ended, so that its agent can be told.
func (n *Named) NoteHuman() { n.byHuman.Store(true) }

// ByHuman says whether the user had it ended.
func (n *Named) ByHuman() bool { return n.byHuman.Load() }

// NewTable makes an empty table above a Runner.
func NewTable(r *Runner) *Table {
	return &Table{Runner: r, reserved: map[key]bool{}, watchers: map[*func(*Named)]bool{}, followed: map[<-chan struct{}]bool{}}
}

// Watch has a function called with every process that is there and every one that
// comes, until stop is called. The function must not block, nor use the Table.
func (t *Table) Watch(hear func(*Named)) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.all {
		hear(p)
	}
	t.watchers[&hear] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, &hear)
	}
}

// List gives the processes of a session, or with "" of all, in the order of their
// start; those that have ended as long as they are kept.
func (t *Table) List(session string) []*Named {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*Named
	for _, p := range t.all {
		if session == "" || p.Owner.Session == session {
			out = append(out, p)
		}
	}
	return out
}

// Find gives a session's process.
func (t *Table) Find(session, id string) (*Named, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.findLocked(key{session, id}); p != nil {
		return p, nil
	}
	return nil, t.unknownLocked(session, id)
}

func (t *Table) findLocked(k key) *Named {
	for _, p := range t.all {
		if p.Owner.Session == k.session && p.ID == k.id {
			return p
		}
	}
	return nil
}

func (t *Table) unknownLocked(session, id string) error {
	var names []string
	for _, p := range t.all {
		if p.Owner.Session == session {
			names = append(names, p.ID)
		}
	}
	err := fault.New(fault.ProcessNotFound, "this session has no process called %s", fault.Quote(id))
	if len(names) == 0 {
		return err.WithHint("it has no processes; start one with run_persistent")
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fault.Quote(name)
	}
	return err.With("processes", names).WithHint("it has %s", strings.Join(quoted, ", "))
}

// Start starts a process under a name that no other running one of the session has.
// ctx and output are as for Runner.Start.
func (t *Table) Start(ctx context.Context, o Owner, about About, spec Spec, output func(Stream, []byte)) (*Named, error) {
	if err := CheckName(about.ID); err != nil {
		return nil, err
	}
	if err := t.reserve(o.Session, about.ID); err != nil {
		return nil, err
	}
	p, err := t.Runner.Start(ctx, spec, output)
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.reserved, key{o.Session, about.ID})
		return nil, err
	}
	return t.enter(p, o, about, spec), nil
}

// RunFor runs a command as Run does, but for so long at most: a command that runs
// on then becomes a process of the session, whose name is made up. The result says
// what was printed until then, next where the joined text goes on.
func (t *Table) RunFor(ctx context.Context, most time.Duration, o Owner, about About, spec Spec, output func(Stream, []byte),
) (soFar Result, next int64, kept *Named, err error) {
	about.ID = t.makeName(o.Session)
	if err := t.reserve(o.Session, about.ID); err != nil {
		return Result{}, 0, nil, err
	}
	defer func() {
		if kept == nil {
			t.mu.Lock()
			defer t.mu.Unlock()
			delete(t.reserved, key{o.Session, about.ID})
		}
	}()
	spec.Keep = KeepBoth
	p, err := t.Runner.Start(ctx, spec, output)
	if err != nil {
		return Result{}, 0, nil, err
	}
	over, stop := after(most)
	defer stop()
	select {
	case <-p.Done():
	case <-ctx.Done():
	case <-over:
		if p.Running() {
			soFar, next = p.Detach()
			return soFar, next, t.enter(p, o, about, spec), nil
		}
	}
	soFar, err = p.Wait(ctx)
	return soFar, 0, nil, err
}

// makeName makes a name up that the session does not have.
func (t *Table) makeName(session string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		t.made++
		k := key{session, fmt.Sprintf("command-%d", t.made)}
		if t.findLocked(k) == nil && !t.reserved[k] {
			return k.id
		}
	}
}

// CheckName refuses what is no name of a process: it stands in lists and dialogs.
func CheckName(id string) error {
	switch {
	case strings.TrimSpace(id) == "":
		return fault.Invalid("process_id is empty; give the process a name of your own")
	case utf8.RuneCountInString(id) > maxName:
		return fault.Invalid("process_id has more than %d characters", maxName)
	case !utf8.ValidString(id) || fault.Escape(id) != id || strings.ContainsAny(id, "\n\t"):
		return fault.Invalid("process_id %s has invisible characters; use letters, digits and punctuation", fault.Quote(id))
	}
	return nil
}

// Taken is why a session cannot start a process of that name now; nil if it can.
func (t *Table) Taken(session, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.takenLocked(session, id)
}

func (t *Table) takenLocked(session, id string) error {
	k := key{session, id}
	if p := t.findLocked(k); t.reserved[k] || p != nil && p.Running() {
		return fault.Invalid("this session already has a running process called %s", fault.Quote(id)).
			WithHint("use another name, or end it first with kill_process")
	}
	own, others := 0, 0
	for r := range t.reserved {
		if r.session == session {
			own++
		} else {
			others++
		}
	}
	for _, p := range t.all {
		switch {
		case !p.Running():
		case p.Owner.Session == session:
			own++
		default:
			others++
		}
	}
	if own >= maxRunning || own+others >= maxRunningAll {
		return fault.New(fault.ExecutionFailed, "%d processes of this session and %d of others are running, which is the limit", own, others).
			WithHint("list_processes lists yours; end unneeded ones with kill_process")
	}
	return nil
}

// reserve keeps a name for a process that is about to start.
func (t *Table) reserve(session, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.takenLocked(session, id); err != nil {
		return err
	}
	t.reserved[key{session, id}] = true
	return nil
}

// enter puts a process that was started under its reserved name.
func (t *Table) enter(p *Process, o Owner, about About, spec Spec) *Named {
	n := &Named{Process: p, About: about, Owner: o, Command: spec.Command, Started: p.begin}
	t.mu.Lock()
	defer t.mu.Unlock()
	k := key{o.Session, about.ID}
	delete(t.reserved, k)
	t.all = slices.DeleteFunc(t.all, func(old *Named) bool { return key{old.Owner.Session, old.ID} == k })
	t.all = append(t.all, n)
	slices.SortStableFunc(t.all, func(a, b *Named) int { return cmp.Compare(a.Started.UnixNano(), b.Started.UnixNano()) })
	t.forgetLocked(o.Session)
	for hear := range t.watchers {
		(*hear)(n)
	}
	t.followLocked(o)
	t.launcher.refill() // it has taken the spare guardian for long
	return n
}

// forgetLocked lets go of a session's oldest processes that have ended, and of the
// oldest of all.
func (t *Table) forgetLocked(session string) {
	own, all := 0, 0
	for _, p := range slices.Backward(slices.Clone(t.all)) {
		if p.Running() {
			continue
		}
		all++
		if p.Owner.Session == session {
			own++
		}
		if all > maxEndedAll || own > maxEnded && p.Owner.Session == session {
			t.all = slices.DeleteFunc(t.all, func(other *Named) bool { return other == p })
		}
	}
}

// followLocked has the processes of a session end with it.
func (t *Table) followLocked(o Owner) {
	if o.Closed == nil || t.followed[o.Closed] {
		return
	}
	t.followed[o.Closed] = true
	go func() {
		select {
		case <-o.Closed:
			t.endAll(o)
		case <-t.closing:
		}
	}()
}

// endAll ends the processes of a session that is gone, and forgets them.
func (t *Table) endAll(o Owner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.followed, o.Closed)
	t.all = slices.DeleteFunc(t.all, func(p *Named) bool {
		if p.Owner.Closed != o.Closed {
			return false
		}
		p.End()
		return true
	})
}
