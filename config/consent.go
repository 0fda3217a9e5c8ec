package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"pillion/internal/state"
)

// Consent is what the user agreed to for folders beyond a session: which text of a
// folder's settings file they trust or ignore, and which rules they had remembered. It has one file
// for each folder, in the state folder and never in a workspace, and every reader looks at
// the file itself: what is forgotten in one program is forgotten in all. Deliberately not
// here: what a text or a rule means, and asking.
type Consent struct{ dir string }

// FolderConsent is what was agreed to for one folder.
type FolderConsent struct {
	Version int    `json:"version"`
	Folder  string `json:"folder"` // its real path
	// Trusted is the hash of the text that is trusted, "" of none. There is one: to
	// trust a new text is to forget the old.
	Trusted string `json:"trusted,omitempty"`
	// Ignored is the hash of the text that the user does not trust, and is not asked about.
	Ignored string       `json:"ignored,omitempty"`
	Rules   []Remembered `json:"rules,omitempty"`
}

// Remembered is a rule for calls in this folder, as if it were open by itself.
type Remembered struct {
	Rule  string    `json:"rule"`
	Since time.Time `json:"since"`
}

// consentVersion is that of the file's form. A file of a later one counts for nothing, and stays.
const consentVersion = 1

// What a page may hold, and how many pages there may be of folders that are gone.
const (
	maxRemembered   = 500
	maxConsentBytes = 1 << 20
	maxConsents     = 500
)

// OpenConsent gives what the user agreed to; nothing needs to be there yet.
func OpenConsent() (*Consent, error) {
	dir, err := state.Folder("folders")
	if err != nil {
		return nil, err
	}
	return &Consent{dir: dir}, nil
}

// Dir is where the book is, for whoever watches it.
func (b *Consent) Dir() string { return b.dir }

// File is where the page of a folder is. The folder is a real path.
func (b *Consent) File(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(b.dir, hex.EncodeToString(sum[:16])+".json")
}

// Bytes are a folder's page as it is on disk, nil where there is none. They tell
// cheaply whether anything has changed.
func (b *Consent) Bytes(folder string) ([]byte, error) {
	name := b.File(folder)
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // as for most folders, at each call
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file; remove it", name) // to open it could take for ever
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("%s can be written by others and is ignored; check it and chmod it to 600", f.Name())
	case info.Size() > maxConsentBytes:
		return nil, fmt.Errorf("%s is larger than %d bytes; remove it", f.Name(), maxConsentBytes)
	}
	return io.ReadAll(io.LimitReader(f, maxConsentBytes))
}

// Read makes a page of its bytes. One that is broken, or of another folder, counts
// for nothing.
func (b *Consent) Read(folder string, raw []byte) (FolderConsent, error) {
	empty := FolderConsent{Version: consentVersion, Folder: folder}
	if raw == nil {
		return empty, nil
	}
	var p FolderConsent
	switch err := json.Unmarshal(raw, &p); {
	case err != nil:
		return empty, fmt.Errorf("%s cannot be read and is ignored: %w", b.File(folder), err)
	case p.Version > consentVersion:
		return empty, &laterError{b.File(folder)}
	case p.Folder != folder:
		return empty, fmt.Errorf("%s belongs to another folder and is ignored", b.File(folder))
	}
	p.Rules = p.Rules[:min(len(p.Rules), maxRemembered)]
	return p, nil
}

// laterError is the fault of a file that a later version wrote.
type laterError struct{ file string }

func (e *laterError) Error() string {
	return e.file + " was written by a later version of Pillion and is ignored"
}

// FolderConsent looks up what was agreed to for a folder.
func (b *Consent) Page(folder string) (FolderConsent, error) {
	raw, err := b.Bytes(folder)
	if err != nil {
		return FolderConsent{Version: consentVersion, Folder: folder}, err
	}
	return b.Read(folder, raw)
}

// Trust has the text of that hash trusted, and no other; "" trusts none.
func (b *Consent) Trust(folder, hash string) error {
	return b.change(folder, func(p *FolderConsent) error {
		p.Trusted, p.Ignored = hash, ""
		return nil
	})
}

// Ignore has nobody asked about the text of that hash, and trusts nothing.
func (b *Consent) Ignore(folder, hash string) error {
	return b.change(folder, func(p *FolderConsent) error {
		p.Ignored = hash
		return nil
	})
}

// Remember keeps a rule.
func (b *Consent) Remember(folder, rule string) error {
	return b.change(folder, func(p *FolderConsent) error {
		if slices.ContainsFunc(p.Rules, func(r Remembered) bool { return r.Rule == rule }) {
			return nil
		}
		if len(p.Rules) >= maxRemembered {
			return fmt.Errorf("this folder already has %d remembered rules; forget some with `pillion rules forget`", maxRemembered)
		}
		p.Rules = append(p.Rules, Remembered{rule, time.Now().UTC().Truncate(time.Second)})
		return nil
	})
}

// Forget drops the rules that are named and tells how many there were; none named
// is all.
func (b *Consent) Forget(folder string, rules ...string) (forgotten int, err error) {
	err = b.change(folder, func(p *FolderConsent) error {
		before := len(p.Rules)
		p.Rules = slices.DeleteFunc(p.Rules, func(r Remembered) bool {
			return len(rules) == 0 || slices.Contains(rules, r.Rule)
		})
		forgotten = before - len(p.Rules)
		return nil
	})
	return forgotten, err
}

// change rewrites a folder's page, one program at a time. One that is broken is
// replaced; one of a later version is not.
func (b *Consent) change(folder string, change func(*FolderConsent) error) error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(b.dir, ".lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Close()
	p, err := b.Page(folder)
	var later *laterError
	if errors.As(err, &later) {
		return err
	}
	if err := change(&p); err != nil {
		return err
	}
	if p.Trusted == "" && p.Ignored == "" && len(p.Rules) == 0 {
		err := os.Remove(b.File(folder))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	p.Version, p.Folder = consentVersion, folder
	b.prune()
	return b.write(p)
}

// write replaces a page as a whole.
func (b *Consent) write(p FolderConsent) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return state.ReplaceSynced(b.File(p.Folder), append(text, '\n'))
}

// prune drops the pages of folders that are gone, when there are many.
func (b *Consent) prune() {
	names, err := filepath.Glob(filepath.Join(b.dir, "*.json"))
	if err != nil || len(names) < maxConsents {
		return
	}
	for _, name := range names {
		var p FolderConsent
		raw, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(raw, &p) != nil || p.Version > consentVersion {
			continue
		}
		if _, err := os.Stat(p.Folder); errors.Is(err, fs.ErrNotExist) {
			os.Remove(name) //nolint:errcheck // the next one tries again
		}
	}
}
