package kept

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"

	"pillion/internal/state"
	"pillion/tools/session"
)

// slot is the place of a session that this program has.
type slot struct {
	store   *Store
	path    string // without a suffix
	folders []string
	owner   session.Owner
	lock    *flock.Flock
	failed  bool // and it was said
}

// Kept implements session.Slot.
func (s *slot) Kept() (session.Kept, bool) { return readOne(s.path) }

// Save implements session.Slot.
func (s *slot) Save(k session.Kept) {
	k.Folders = s.folders
	_, err := os.Lstat(s.path + recordSuffix)
	isNew := errors.Is(err, fs.ErrNotExist)
	text, err := encode(k)
	if err == nil {
		err = state.Replace(s.path+recordSuffix, text)
	}
	if err != nil && !s.failed {
		s.store.logf("what session %s has is not kept: %v", s.owner.ID, err)
	}
	s.failed = err != nil
	if isNew && err == nil {
		prune(s.store.dir, k.Saved)
	}
}

// encode leaves out what is too much: what agents of other tool sets give an item.
func encode(k session.Kept) ([]byte, error) {
	text, err := json.Marshal(k)
	if err != nil || len(text) <= maxRecord {
		return text, err
	}
	k.Todos, k.Known = plain(k.Todos), plain(k.Known)
	if text, err = json.Marshal(k); err != nil || len(text) <= maxRecord {
		return text, err
	}
	k.Todos, k.Known, k.Unaware = nil, nil, false
	return json.Marshal(k)
}

func plain(list []session.Todo) []session.Todo {
	out := make([]session.Todo, len(list))
	for i, t := range list {
		t.Extra = nil
		out[i] = t
	}
	return out
}

// Release implements session.Slot.
func (s *slot) Release() {
	if _, err := os.Lstat(s.path + recordSuffix); err != nil {
		drop(s.lock) // there is nothing that it guards
		return
	}
	_ = s.lock.Close()
}

// Forget implements session.Slot.
func (s *slot) Forget() {
	_ = os.Remove(s.path + recordSuffix)
	drop(s.lock)
}
