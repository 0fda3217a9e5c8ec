package process

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pillion/workspace/git"
)

const (
	stagePrefix = "pillion-" // of a copy, followed by the process that made it
	// What a copied file, and a copied folder's files together, may have. What has more is
	// closed to the command.
	maxStaged  = 256 << 20
	stageLocks = 2 * time.Second // how long another program may hold what is brought back
)

// newStage makes the copy, and gives the mounts that show it to a command.
func newStage(s Staged) (*stage, []mount, error) {
	list, err := regexp.Compile(s.Files)
	if err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, nil, err
	}
	sweep(s.Dir, stagePrefix)
	dir := filepath.Join(s.Dir, stagePrefix+strconv.Itoa(os.Getpid())+"-"+strings.ToLower(rand.Text()[:8]))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, nil, err
	}
	out := &stage{Dir: []byte(s.Dir), Copy: []byte(dir), Files: s.Files, Folders: s.Folders, Closed: s.Closed, Made: changedAt(dir), Before: map[string]copied{}}
	made, err := out.fill(s, list, entries)
	if err != nil {
		out.discard()
		return nil, nil, err
	}
	return out, append([]mount{{kind: writable, path: s.Dir, from: dir}}, made...), nil
}

func (s *stage) fill(staged Staged, list *regexp.Regexp, entries []os.DirEntry) (made []mount, err error) {
	for _, e := range entries {
		name := e.Name()
		real, twin := filepath.Join(staged.Dir, name), filepath.Join(string(s.Copy), name)
		switch {
		case strings.HasPrefix(name, stagePrefix), e.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
		case e.IsDir() && slices.Contains(staged.Open, name):
			s.Open = append(s.Open, name)
			made, err = append(made, mount{kind: writable, path: real}), os.Mkdir(twin, 0o700)
		case e.IsDir() && slices.Contains(staged.Folders, name) || e.Type().IsRegular() && list.MatchString(name):
			if s.take(name, real, twin) != nil {
				made, err = append(made, mount{kind: readable, path: real}), placeholder(twin, e.IsDir())
			}
		case e.IsDir(), e.Type().IsRegular():
			made, err = append(made, mount{kind: readable, path: real}), placeholder(twin, e.IsDir())
		case e.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = os.Readlink(real); err == nil {
				err = os.Symlink(target, twin)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range staged.Closed {
		twin := filepath.Join(string(s.Copy), name)
		if os.Mkdir(twin, 0o700) == nil { // else it is there
			made = append(made, mount{kind: readable, path: filepath.Join(staged.Dir, name), from: twin})
		}
	}
	return made, nil
}

// placeholder is something to mount over.
func placeholder(path string, folder bool) error {
	_ = os.RemoveAll(path) // half a copy
	if folder {
		return os.Mkdir(path, 0o700)
	}
	return os.WriteFile(path, nil, 0o600)
}

// take copies an entry, and remembers it.
func (s *stage) take(name, real, twin string) error {
	before := stampOf(real)
	room := int64(maxStaged)
	if err := copyTree(real, twin, &room); err != nil {
		return err
	}
	if stampOf(real) != before {
		return fmt.Errorf("%s changes just now", real)
	}
	s.Before[name] = copied{before, stampOf(twin)}
	return nil
}

// copyTree copies a file, or a folder of files and folders, with modes and times.
func copyTree(from, to string, room *int64) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.Mkdir(target, info.Mode().Perm()|0o700)
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", path)
		}
		if *room -= info.Size(); *room < 0 {
			return fmt.Errorf("%s is too large", path)
		}
		if err := copyFile(path, target, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(target, time.Time{}, info.ModTime())
	})
}

func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil {
		return nil
	}
	_, err = io.Copy(out, in)
	return err
}

// stampOf is what an entry is now.
func stampOf(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	out := stamp{Size: uint64(info.Size()), Modified: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		out.Inode = sys.Ino
	}
	if !info.IsDir() {
		return out
	}
	_ = filepath.WalkDir(path, func(below string, _ fs.DirEntry, err error) error { // what cannot be read counts as it is
		if inside, statErr := os.Lstat(below); err == nil && statErr == nil {
			out.Entries++
			out.Size += uint64(inside.Size())
			out.Modified = max(out.Modified, inside.ModTime().UnixNano())
		}
		return nil
	})
	return out
}

// settle brings back what is on the list, and gives the names of what was not: made by the
// command and not on the list, or changed by somebody else meanwhile.
func (s *stage) settle() (dropped []string) {
	defer s.discard()
	for _, name := range s.Open {
		s.clean(filepath.Join(string(s.Dir), name))
	}
	list, err := regexp.Compile(s.Files)
	if err != nil {
		return nil // newStage compiled it
	}
	entries, _ := os.ReadDir(string(s.Copy)) //nolint:errcheck // then nothing of it is left to bring back
	there := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		there[name] = true
		before, known := s.Before[name]
		onList := e.IsDir() && slices.Contains(s.Folders, name) || e.Type().IsRegular() && list.MatchString(name)
		switch now := stampOf(s.twin(name)); {
		case known && now == before.Copy:
		case !onList && !s.was(name):
			dropped = append(dropped, name)
		case onList && !s.replace(name, before.Real):
			dropped = append(dropped, name)
		}
	}
	for name, before := range s.Before {
		if !there[name] && !s.replace(name, before.Real) {
			dropped = append(dropped, name)
		}
	}
	slices.Sort(dropped)
	return dropped
}

// clean removes what the command made in a folder and is neither file nor folder: git would
// write to where a link leads.
func (s *stage) clean(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error { // what cannot be read is no link
		if err == nil && !e.IsDir() && !e.Type().IsRegular() && changedAt(filepath.Join(dir, path)) >= s.Made {
			_ = root.Remove(path)
		}
		return nil
	})
}

// changedAt is when an entry was last changed in any way, which no command can set.
func changedAt(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return sys.Ctim.Nano()
}

func (s *stage) twin(name string) string { return filepath.Join(string(s.Copy), name) }

// was says whether the copy has a place to mount over, or a link, of that name.
func (s *stage) was(name string) bool {
	_, err := os.Lstat(filepath.Join(string(s.Dir), name))
	return err == nil || slices.Contains(s.Closed, name)
}

// replace puts the copy in the place of the entry, or takes the entry away where there is no
// copy any more, if it still is what it was. It holds the lock that git holds for that.
func (s *stage) replace(name string, before stamp) bool {
	real, twin := filepath.Join(string(s.Dir), name), s.twin(name)
	unlock, ok := lockFile(real + ".lock")
	if !ok {
		return false
	}
	defer unlock()
	if stampOf(real) != before || !plain(twin) || !git.HarmlessState(name, real, twin) {
		return false
	}
	aside := ""
	if before != (stamp{}) && (isFolder(real) || stampOf(twin) == (stamp{})) {
		if aside = twin + ".before"; os.Rename(real, aside) != nil {
			return false
		}
	}
	err := os.Rename(twin, real)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if aside != "" {
		_ = os.Rename(aside, real) // as it was
	}
	return false
}

// plain says whether an entry is made of files and folders alone, and takes from the files
// the right to be run. What is not there is plain.
func plain(path string) bool {
	err := filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return fs.ErrInvalid
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^0o111)
	})
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// lockFile waits for a lock as git makes them.
func lockFile(path string) (unlock func(), ok bool) {
	for end := time.Now().Add(stageLocks); ; time.Sleep(5 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = f.Close()
			return func() { _ = os.Remove(path) }, true
		}
		if !errors.Is(err, fs.ErrExist) || time.Now().After(end) {
			return nil, false
		}
	}
}

func (s *stage) discard() { _ = os.RemoveAll(string(s.Copy)) }

// leftAfter is how old what is swept must be. The number of its process may be of another
// container, whose processes cannot be seen from here.
const leftAfter = 24 * time.Hour

// sweep removes folders that programs left which are gone: the prefix is followed by the
// number of the process.
func sweep(dir, prefix string) {
	entries, _ := os.ReadDir(dir) //nolint:errcheck // then there is nothing to sweep
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix)
		if !ours || !e.IsDir() {
			continue
		}
		number, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftAfter {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
