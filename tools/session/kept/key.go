package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"pillion/internal/state"
	"pillion/tools/session"
)

// Key is where an agent's end keeps what it proves itself by, under a name of the agent's
// own for its session. One program has a key at a time.
type Key struct {
	path string
	lock *flock.Flock
}

// keyFolder is below Folder, so that whatever hides the sessions hides the keys.
const (
	keyFolder = "keys"
	maxKeys   = 1000
	maxKey    = 4096 // bytes
)

// OpenKey gives the key of an agent in a folder under a name. Nil: another program has it,
// or it cannot be kept.
func OpenKey(agent, folder, name string) *Key {
	path := keyPath(agent, folder, name)
	dir := filepath.Dir(path)
	if path == "" || state.MakePrivate(filepath.Dir(dir)) != nil || state.MakePrivate(dir) != nil {
		return nil
	}
	pruneKeys(dir, time.Now())
	lock := take(path+lockSuffix, holdTime)
	if lock == nil {
		return nil
	}
	return &Key{path: path, lock: lock}
}

// LoadKey gives what is saved there, whichever program has the key.
func LoadKey(agent, folder, name string) session.Proof {
	path := keyPath(agent, folder, name)
	if path == "" {
		return session.Proof{}
	}
	return (&Key{path: path}).Load()
}

// keyPath is "" where no key can be.
func keyPath(agent, folder, name string) string {
	dir, err := Folder()
	if err != nil || session.CheckID(name) != nil {
		return ""
	}
	text, _ := json.Marshal([]string{agent, folder, name}) // cannot fail
	sum := sha256.Sum256(text)
	return filepath.Join(dir, keyFolder, hex.EncodeToString(sum[:20]))
}

// Load gives what was saved, nothing if that is not ours.
func (k *Key) Load() (p session.Proof) {
	text, err := state.Read(k.path+recordSuffix, maxKey)
	if err != nil || json.Unmarshal(text, &p) != nil {
		return session.Proof{}
	}
	return p
}

// Save replaces it.
func (k *Key) Save(p session.Proof) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return state.Replace(k.path+recordSuffix, text)
}

// Close lets other programs have it.
func (k *Key) Close() { _ = k.lock.Close() }

// pruneKeys drops keys of sessions that are not kept any more by their age, and of very many
// the oldest.
func pruneKeys(dir string, now time.Time) {
	sweep(dir, now)
	names, _ := filepath.Glob(filepath.Join(dir, "*"+recordSuffix)) // the pattern is good
	dropOldest(names, maxKeys, now)
}
