// Package kept is where sessions are kept beyond the program: one file a session in a folder
// of the user's state, for the agent that comes back.
//
// Open gives the Store of a workspace, which is a session.Keeper; All lists what is kept of
// every workspace. A file is named by the hash of whose session it is, so that nobody else's
// question finds it, and a lock beside it tells whether a program has the session now: two
// never have the same one, and the lock ends with its program, however that ends. OpenKey
// has what an agent proves itself by.
//
// What is read is somebody's claim: a file that is a link, another user's, too large or not
// what its name says does not exist here. Deliberately not here: what a session makes of it.
package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"pillion/internal/state"
	"pillion/tools/session"
)

// Bounds of what is kept.
const (
	maxRecords = 200
	maxRecord  = 1 << 20  // bytes
	maxBytes   = 32 << 20 // of all
	maxAge     = 30 * 24 * time.Hour
)

const (
	recordSuffix = ".json"
	lockSuffix   = ".lock"
)

// Folder is where sessions are kept.
func Folder() (string, error) { return state.Folder("sessions") }

// Store is the places of the sessions on one workspace.
type Store struct {
	dir   string
	roots func() []string
	logf  func(format string, args ...any)
}

// Open opens the store of the workspace that has these folders, and drops what is old.
func Open(roots func() []string, logf func(format string, args ...any)) (*Store, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	if err := state.MakePrivate(dir); err != nil {
		return nil, err
	}
	prune(dir, time.Now())
	return &Store{dir: dir, roots: roots, logf: logf}, nil
}

// folders are those of the workspace, whatever their order.
func (s *Store) folders() []string { return slices.Sorted(slices.Values(s.roots())) }

// nameOf is the same for the same owner on the same folders alone.
func nameOf(o session.Owner, folders []string) string {
	text, _ := json.Marshal([]any{o, folders}) // cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:20])
}

// Hold implements session.Keeper.
func (s *Store) Hold(o session.Owner, known bool) session.Slot {
	folders := s.folders()
	path := filepath.Join(s.dir, nameOf(o, folders))
	if known {
		if _, err := os.Lstat(path + recordSuffix); err != nil {
			return nil // a guess leaves no trace
		}
	}
	lock := take(path+lockSuffix, holdTime)
	if lock == nil {
		return nil
	}
	return &slot{store: s, path: path, folders: folders, owner: o, lock: lock}
}

// holdTime is how long a lock is waited for that somebody only looks at.
const holdTime = 50 * time.Millisecond

// List implements session.Keeper.
func (s *Store) List() []session.Kept {
	folders := s.folders()
	var out []session.Kept
	for _, r := range read(s.dir) {
		if !r.Open && slices.Equal(r.Folders, folders) {
			out = append(out, r.Kept)
		}
	}
	return out
}

// Forget implements session.Keeper.
func (s *Store) Forget(o session.Owner) bool {
	return forget(filepath.Join(s.dir, nameOf(o, s.folders())))
}

// Record is what is kept of one session.
type Record struct {
	session.Kept
	Open bool // a program has it now
	path string
}

// Forget drops it, unless a program has it.
func (r Record) Forget() bool { return forget(r.path) }

// All is what is kept of sessions, whatever their workspace, the newest first.
func All() ([]Record, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	return read(dir), nil
}

// read gives what is kept in a folder, the newest first.
func read(dir string) (out []Record) {
	names, _ := filepath.Glob(filepath.Join(dir, "*"+recordSuffix)) // the pattern is good
	for _, name := range names {
		path := strings.TrimSuffix(name, recordSuffix)
		if k, ok := readOne(path); ok {
			out = append(out, Record{Kept: k, Open: isTaken(path + lockSuffix), path: path})
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return b.Saved.Compare(a.Saved) })
	return out
}

// readOne reads a record that is what its name says.
func readOne(path string) (k session.Kept, ok bool) {
	text, err := state.Read(path+recordSuffix, maxRecord)
	if err != nil || json.Unmarshal(text, &k) != nil {
		return session.Kept{}, false
	}
	if session.CheckID(k.Owner.ID) != nil || nameOf(k.Owner, k.Folders) != filepath.Base(path) || k.Agent.Name != k.Owner.Name {
		return session.Kept{}, false
	}
	return k, true
}

// forget drops a record that no program has.
func forget(path string) bool {
	lock := take(path+lockSuffix, holdTime)
	if lock == nil {
		return false
	}
	err := os.Remove(path + recordSuffix)
	drop(lock)
	return err == nil
}

// take takes a lock that nobody has: nil, if somebody has it after that time too.
func take(name string, within time.Duration) *flock.Flock {
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return nil
		}
		lock := flock.New(name, flock.SetPermissions(0o600))
		taken, err := lock.TryLock()
		if taken && isStill(lock) {
			return lock
		}
		_ = lock.Close()
		if err != nil || time.Now().After(end) {
			return nil
		}
	}
}

// isStill: nobody has removed the file between its opening and the lock.
func isStill(lock *flock.Flock) bool {
	have, err := lock.Stat()
	there, gone := os.Lstat(lock.Path())
	return err == nil && gone == nil && os.SameFile(have, there)
}

// drop ends a lock that nobody needs any more.
func drop(lock *flock.Flock) {
	_ = os.Remove(lock.Path()) // before it is free: see isStill
	_ = lock.Close()
}

// isTaken says whether a program has the lock.
func isTaken(name string) bool {
	if _, err := os.Lstat(name); err != nil {
		return false
	}
	lock := flock.New(name, flock.SetFlag(os.O_RDONLY))
	defer lock.Close() //nolint:errcheck // it was only looked at
	free, err := lock.TryRLock()
	return err == nil && !free
}
