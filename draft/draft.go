// Package draft has sessions work on drafts: on layers over the open folders, of which nobody else sees anything until the
// user has reviewed them.
//
// A draft is a sidecar of its own, started where the layers are mounted at the folders' own paths, so that all tools, commands
// and language servers work on it as they do on a workspace. This sidecar is its editor (host.go): it passes the session's calls
// on, and shows the user what the other asks. Set is the entry point; it implements tools.Drafts.
//
// What is below a mounted layer must not change under it: where something in the folders has changed, the sidecar
// of a draft is ended, and started anew with the next call. What lasts is in a folder of the state: the layers, what files had before the
// draft changed them, and draft.json.
//
// Deliberately not here: what goes to a draft (tools.Drafts), how its changes are read (workspace/layer) and reviewed
// (the tool submit_changes).
package draft

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"pillion/internal/fault"
	"pillion/internal/state"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/workspace/layer"
)

// folderName is where drafts are kept, of the state's.
const folderName = "drafts"

// Options are what drafts are made of.
type Options struct {
	Roots    func() []string // the open folders
	Walls    func() process.Walls
	Settings func() json.RawMessage // the user's, as an editor sends them
	// Repositories are git's own folders and files in a folder.
	Repositories func(folder string) []string
	// Ignored says of a folder that git ignores it.
	Ignored func(path string) bool
	// Unsaved are the texts of the open folders' files that the user has not saved, as they would be on disk, by absolute paths.
	Unsaved func() map[string][]byte
	// Settle returns when Moved has been called for what changed before; it may fail.
	Settle func(context.Context) error
	// MaxBytes is how large what a draft holds may become.
	MaxBytes func() int64
	// Look: the drafts are looked into, also those that another program works on.
	Look bool
	// Changed hears of a draft whose files may be others now. It must not block.
	Changed func(session string)
	Logf    func(format string, args ...any)
}

// Set is the drafts of the sessions of one sidecar.
type Set struct {
	o Options

	mu     sync.Mutex // guards all
	all    map[string]*draft
	closed bool
}

// draft is one session's.
type draft struct {
	set  *Set
	dir  string
	lock *flock.Flock
	busy bool // another program has it
	record

	using sync.RWMutex      // held by calls, and by whoever changes what is in it, alone
	mu    sync.Mutex        // guards what follows; taken after using
	host  *host             // nil: it is not running
	stale bool              // something below the layers has changed since it started
	shows map[string][]byte // the unsaved texts when it started
	owed  []owed
}

// record is what is kept of a draft.
type record struct {
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Folders []string  `json:"folders"`
	Started time.Time `json:"started"`
	Began   int64     `json:"began"`
}

// keptFor is how long a draft stays that nobody works on or reviews.
const keptFor = 14 * 24 * time.Hour

// Open knows the drafts that were kept for the folders, and takes away what is too old.
func Open(o Options) *Set {
	s := &Set{o: o, all: map[string]*draft{}}
	base, err := state.Folder(folderName)
	if err != nil {
		return s
	}
	entries, _ := os.ReadDir(base) //nolint:errcheck // then there are none
	roots := o.Roots()
	for _, e := range entries {
		d := &draft{set: s, dir: filepath.Join(base, e.Name())}
		text, err := state.Read(d.about(), 1<<20)
		if err != nil || json.Unmarshal(text, &d.record) != nil || e.Name() != nameOf(d.Session, d.Folders) {
			continue
		}
		info, err := os.Lstat(d.about())
		old := err == nil && time.Since(info.ModTime()) > keptFor
		switch mine := slices.Equal(d.Folders, roots); {
		case !mine && !old, !d.tryLock() && !(mine && o.Look):
		case old && d.busy:
		case old:
			d.remove()
		default:
			s.all[d.Session] = d
		}
	}
	return s
}

func (d *draft) about() string { return filepath.Join(d.dir, "draft.json") }

// tryLock has the draft be this program's alone.
func (d *draft) tryLock() bool {
	d.lock = flock.New(filepath.Join(d.dir, "lock"), flock.SetPermissions(0o600))
	taken, err := d.lock.TryLock()
	if d.busy = !taken || err != nil; d.busy {
		_ = d.lock.Close()
	}
	return !d.busy
}

// Busy says whether another program works on a session's draft.
func (s *Set) Busy(session string) bool {
	d, _ := s.of(session, "", false) //nolint:errcheck // none is made
	return d != nil && d.busy
}

func (d *draft) remove() {
	process.RemoveAll(d.dir)
	_ = d.lock.Close()
}

// nameOf is the folder's name: a session's id may be anything, and the same in several windows.
func nameOf(session string, folders []string) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{session}, folders...), "\x00")))
	return hex.EncodeToString(sum[:12])
}

// of gives a session's draft, and makes it if it is wanted.
func (s *Set) of(session, agent string, wanted bool) (*draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[session]; d != nil || !wanted {
		if d != nil && wanted && !slices.Equal(d.Folders, s.o.Roots()) {
			return nil, fault.New(fault.ExecutionFailed, "the open folders are others now than those of the draft").WithHint("ask the user to review the draft, or to discard it")
		}
		return d, nil
	}
	if s.closed {
		return nil, fault.New(fault.Cancelled, "the sidecar is ending")
	}
	d, err := s.make(session, agent)
	if err != nil {
		return nil, fault.New(fault.ExecutionFailed, "no draft can be made here: %w", err).WithHint("ask the user to choose another mode than draft; `pillion doctor` says what is missing")
	}
	s.all[session] = d
	return d, nil
}

func (s *Set) make(session, agent string) (*draft, error) {
	if walls := s.o.Walls(); !walls.Layers.Works {
		return nil, errors.New("no layer can be mounted over the workspace: " + walls.Layers.Why)
	}
	folders := s.o.Roots()
	if len(folders) == 0 {
		return nil, errors.New("no folder is open")
	}
	dir, err := state.Folder(filepath.Join(folderName, nameOf(session, folders)))
	if err != nil {
		return nil, err
	}
	d := &draft{set: s, dir: dir, record: record{Session: session, Agent: agent, Folders: folders, Started: time.Now().UTC().Truncate(time.Second)}}
	for _, one := range folders {
		for _, other := range folders {
			if strings.HasPrefix(one, other+"/") {
				return nil, errors.New("the open folders lie in each other")
			}
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if !d.tryLock() {
		return nil, errors.New("another window works on a draft of this session")
	}
	if text, err := state.Read(d.about(), 1<<20); err == nil && json.Unmarshal(text, &d.record) == nil {
		return d, nil // another window has made it, and left
	}
	if err := d.makeFolders(); err != nil {
		d.remove()
		return nil, err
	}
	return d, nil
}

func (d *draft) makeFolders() error {
	for i, folder := range d.Folders {
		info, err := os.Stat(folder)
		if err == nil {
			err = errors.Join(os.Mkdir(d.changes(i), info.Mode().Perm()|0o700), os.Mkdir(d.work(i), 0o700))
		}
		if err != nil {
			return err
		}
	}
	d.Began = layer.Made(d.changes(0))
	text, err := json.Marshal(d.record)
	return errors.Join(err, d.linkConsent(), state.ReplaceSynced(d.about(), text))
}

// linkConsent has the other sidecar know what the user trusts and allows in the folders.
func (d *draft) linkConsent() error {
	const consent = "folders"
	own, err := state.Folder(consent)
	if err != nil {
		return err
	}
	theirs := filepath.Join(d.dir, "state", "pillion")
	return errors.Join(os.MkdirAll(theirs, 0o700), os.Symlink(own, filepath.Join(theirs, consent)))
}

func (d *draft) changes(i int) string { return filepath.Join(d.dir, strconv.Itoa(i)) }

func (d *draft) work(i int) string { return filepath.Join(d.dir, strconv.Itoa(i)+"-work") }

func (d *draft) layers() (mounts []process.Layer, kept []layer.Layer) {
	for i, folder := range d.Folders {
		mounts = append(mounts, process.Layer{Folder: folder, Changes: d.changes(i), Work: d.work(i), Fixed: d.set.o.Repositories(folder)})
		kept = append(kept, layer.Layer{Folder: folder, Changes: d.changes(i)})
	}
	return mounts, kept
}

// Call does a call on the draft: see tools.Drafts.
func (s *Set) Call(ctx context.Context, c tools.Call, ask func(context.Context, approval.Plan) (approval.Answer, error)) (json.RawMessage, error) {
	owner := tools.DraftOwner(c.Session)
	d, err := s.of(owner.ID(), owner.Agent().Name, true)
	if err != nil {
		return nil, err
	}
	d.using.RLock()
	defer d.using.RUnlock()
	_ = s.o.Settle(ctx) // where nobody knows, the files are as they were seen last
	h, err := d.running()
	if err != nil {
		return nil, fault.New(fault.ExecutionFailed, "the draft cannot be worked on: %w", err).WithHint("what is in it is kept; ask the user to look into it")
	}
	defer h.leave()
	now := time.Now()
	_ = os.Chtimes(d.about(), now, now) // it is in use
	if !c.Changes() {
		return h.call(ctx, c, ask)
	}
	bounded, stop := d.bounded(ctx)
	result, err := h.call(bounded, c, ask)
	if over := context.Cause(bounded); err != nil && errors.Is(over, errTooLarge) {
		err = over
	}
	stop()
	d.keepBases(context.WithoutCancel(ctx), h)
	s.o.Changed(d.Session)
	return result, err
}

var errTooLarge = fault.New(fault.FileTooLarge, "the draft has become too large, and the command was ended").
	WithHint("make it smaller: delete what it need not have, or have the user review it; the setting drafts.maxBytes is the limit")

// bounded ends with errTooLarge when the draft becomes too large.
func (d *draft) bounded(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	ticks := time.NewTicker(time.Second)
	go func() {
		for {
			select {
			case <-ticks.C:
				if d.bytes() > d.set.o.MaxBytes() {
					end(errTooLarge)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() {
		ticks.Stop()
		end(nil)
	}
}

// bytes is what is in the layers.
func (d *draft) bytes() (sum int64) {
	for i := range d.Folders {
		_ = filepath.WalkDir(d.changes(i), func(_ string, e fs.DirEntry, err error) error { // what goes meanwhile does not count
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					sum += info.Size()
				}
			}
			return nil
		})
	}
	return sum
}

// running is the draft's sidecar, until leave. One that is stale is ended first, unless something still runs in it.
func (d *draft) running() (*host, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	unsaved := d.set.o.Unsaved()
	if !maps.EqualFunc(unsaved, d.shows, bytes.Equal) {
		d.stale = true
	}
	if d.host != nil && (d.host.ended() || d.stale && d.host.idle()) {
		d.host.close()
		d.host = nil
	}
	if d.host == nil {
		d.stale, d.shows = false, unsaved
		for _, one := range d.owed {
			if err := d.settled(one.gone, one.left); err != nil {
				return nil, err
			}
		}
		d.owed = nil
		if err := d.refresh(unsaved); err != nil {
			return nil, err
		}
		had, err := d.changed()
		if err != nil {
			return nil, err
		}
		mounts, _ := d.layers()
		h, err := start(d, mounts)
		if err != nil {
			return nil, err
		}
		h.had = had
		d.host = h
	}
	d.host.mu.Lock()
	defer d.host.mu.Unlock()
	d.host.users++
	return d.host, nil
}

// Configured has the drafts' sidecars take over the user's settings.
func (s *Set) Configured() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.all {
		d.mu.Lock()
		if d.host != nil {
			_ = d.host.conn.Notify("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"pillion": s.o.Settings()}}) // one that has ended gets them at its start
		}
		d.mu.Unlock()
	}
}

// Moved has the drafts see, from the next call on, what has changed in the folders.
func (s *Set) Moved() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.all {
		d.mu.Lock()
		d.stale = true
		d.mu.Unlock()
	}
}

// Open makes a session's draft: see tools.Drafts.
func (s *Set) Open(owner *session.Session) error {
	_, err := s.of(owner.ID(), owner.Agent().Name, true)
	return err
}

// Of gives a session's draft: see tools.Drafts.
func (s *Set) Of(session string) (tools.Draft, bool) {
	d, _ := s.of(session, "", false) //nolint:errcheck // none is made
	if d == nil {
		return tools.Draft{}, false
	}
	_, kept := d.layers()
	return tools.Draft{Session: session, Agent: d.Agent, Started: d.Started, Layers: kept, Began: d.Began, Base: d.base}, true
}

// Settle is told what became of a review: see tools.Drafts.
func (s *Set) Settle(session string, gone []string, left map[string]tools.Rest) error {
	d, _ := s.of(session, "", false) //nolint:errcheck // none is made
	if d == nil {
		return nil
	}
	if !d.using.TryLock() { // a call goes on, or waits for the user: it is done when that is over
		d.mu.Lock()
		defer d.mu.Unlock()
		d.owed, d.stale = append(d.owed, owed{gone, left}), true
		return nil
	}
	defer d.using.Unlock()
	d.stopSidecar() // nothing is to be mounted on what changes
	err := d.settled(gone, left)
	s.o.Changed(session)
	return err
}

// owed is a Settle that is still to be done.
type owed struct {
	gone []string
	left map[string]tools.Rest
}

// stopSidecar ends the sidecar, which starts anew with the next call.
func (d *draft) stopSidecar() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.host != nil {
		d.host.close()
		d.host = nil
	}
}

// End takes a draft away: see tools.Drafts.
func (s *Set) End(session string) error {
	s.mu.Lock()
	d := s.all[session]
	delete(s.all, session)
	s.mu.Unlock()
	switch {
	case d == nil:
		return nil
	case d.busy:
		return errors.New("another program works on the draft")
	}
	d.stopSidecar() // which ends its calls
	d.using.Lock()
	defer d.using.Unlock()
	d.stopSidecar()
	d.remove()
	s.o.Changed(session)
	return nil
}

// Sessions are those that have drafts, in no order.
func (s *Set) Sessions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.all))
	for session := range s.all {
		out = append(out, session)
	}
	return out
}

// Close ends what runs. Drafts stay.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	all := s.all
	s.all = map[string]*draft{}
	s.mu.Unlock()
	for _, d := range all {
		d.stopSidecar()
		_ = d.lock.Close()
	}
}
