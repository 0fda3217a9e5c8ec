package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Backups are readable copies of what was replaced, for people and programs that want a
// file and no journal. They are never read here: the segments hold the same.
const backups = "backups"

// What a copy may be; of more than that the journal alone has it.
const (
	backupBytes = 64 << 20
	backupFiles = 1000
)

// ErrNoBackup is returned for what is too large to be copied.
var ErrNoBackup = errors.New("it is too large for a copy")

// Backup makes a readable copy of a state of this entry, and gives its path.
func (p *Pending) Backup(name string, st *State) (string, error) {
	size, files := st.Size, 1
	for _, c := range st.Children {
		size, files = size+c.Size, files+1
	}
	if size > backupBytes || files > backupFiles {
		return "", ErrNoBackup
	}
	dir := filepath.Join(p.store.dir, backups, p.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	at := filepath.Join(dir, filepath.Base(name))
	for n := 2; ; n++ { // of several files of one name
		if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
			break
		}
		at = filepath.Join(dir, strconv.Itoa(n)+"-"+filepath.Base(name))
	}
	var content *Content
	if st.Type != TypeFile || st.Data == nil {
		var err error
		if content, err = p.store.Content(Entry{segment: p.segment.name}); err != nil {
			return "", err
		}
		defer content.Close()
	}
	if err := copyOut(at, st, content); err != nil {
		os.RemoveAll(dir) //nolint:errcheck // it is pruned some day
		return "", err
	}
	p.store.countBackup()
	return at, nil
}

func copyOut(at string, st *State, content *Content) error {
	switch st.Type {
	case TypeDirectory:
		if err := os.Mkdir(at, 0o700); err != nil {
			return err
		}
		for i := range st.Children {
			c := &st.Children[i]
			if err := copyOut(filepath.Join(at, filepath.FromSlash(c.Name)), &c.State, content); err != nil {
				return err
			}
		}
		return nil
	case TypeSymlink:
		return os.Symlink(st.Link, at)
	}
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if st.Data != nil || st.Size == 0 {
		_, err = f.Write(st.Data)
	} else {
		err = content.WriteTo(f, st)
	}
	return errors.Join(err, f.Close())
}

// countBackup prunes once in a while.
func (s *Store) countBackup() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copies++; s.copies%pruneEvery == 0 && !s.closed {
		s.pruning.Go(s.prune)
	}
}

const pruneEvery = 50

// pruneBackups removes copies over the age, then the oldest until the rest has a
// quarter of the room that the journal has.
func (s *Store) pruneBackups(o Options) {
	type copied struct {
		dir      string
		size     int64
		modified time.Time
	}
	var all []copied
	total := int64(0)
	root := filepath.Join(s.dir, backups)
	dirs, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, d := range dirs {
		info, err := d.Info()
		if err != nil {
			continue
		}
		c := copied{filepath.Join(root, d.Name()), 0, info.ModTime()}
		filepath.WalkDir(c.dir, func(_ string, e fs.DirEntry, err error) error { //nolint:errcheck // what cannot be seen counts as nothing
			if err == nil {
				if info, err := e.Info(); err == nil {
					c.size += info.Size()
				}
			}
			return nil
		})
		all, total = append(all, c), total+c.size
	}
	slices.SortFunc(all, func(a, b copied) int { return a.modified.Compare(b.modified) })
	for _, c := range all {
		if time.Since(c.modified) <= o.MaxAge && total <= o.MaxBytes/4 {
			continue
		}
		if os.RemoveAll(c.dir) == nil {
			total -= c.size
		}
	}
}

// clearBackups removes them all.
func (s *Store) clearBackups() error {
	if err := os.RemoveAll(filepath.Join(s.dir, backups)); err != nil {
		return fmt.Errorf("the copies: %w", err)
	}
	return nil
}
