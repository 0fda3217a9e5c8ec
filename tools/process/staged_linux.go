package process

import (
	"cmp"
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
	"unicode/utf8"

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
	_ = os.Mkdir(s.Dir, 0o755) // else a command could make it its own way; an error shows below
	sweep(s.Dir, stagePrefix)
	dir := filepath.Join(s.Dir, stagePrefix+strconv.Itoa(os.Getpid())+"-"+strings.ToLower(rand.Text()[:8]))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, nil, err
	}
	out := &stage{Dir: []byte(s.Dir), Copy: []byte(dir), Files: s.Files, Trees: s.Trees, Folders: s.Folders, Closed: s.Closed, Forgotten: s.Forgotten, Made: changedAt(dir), Before: map[string]copied{}}
	made, err := out.fill(s, list, "")
	if err != nil {
		out.discard()
		return nil, nil, err
	}
	return out, append([]mount{{kind: writable, path: s.Dir, from: dir}}, made...), nil
}

// fill copies the entries of the folder itself or, below it, of one of its trees.
func (s *stage) fill(staged Staged, list *regexp.Regexp, below string) (made []mount, err error) {
	entries, err := os.ReadDir(filepath.Join(staged.Dir, below))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(below, e.Name())
		real, twin := filepath.Join(staged.Dir, name), s.twin(name)
		switch {
		case strings.HasPrefix(name, stagePrefix), e.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
		case below != "" && strings.HasSuffix(name, ".lock"): // nobody would ever take it away there
		case e.IsDir() && s.inTree(name):
			var inside []mount
			if err = os.Mkdir(twin, 0o700); err == nil {
				inside, err = s.fill(staged, list, name)
			}
			made = append(made, inside...)
		case slices.Contains(staged.Forgotten, name):
			if e.IsDir() {
				err = os.Mkdir(twin, 0o700)
			}
		case e.IsDir() && slices.Contains(staged.Open, name):
			s.Open = append(s.Open, name)
			made, err = append(made, mount{kind: writable, path: real}), os.Mkdir(twin, 0o700)
		case s.onList(list, name, e):
			if takeErr := s.take(name, real, twin); errors.Is(takeErr, fs.ErrNotExist) {
				err = os.RemoveAll(twin) // it was taken away just now
			} else if takeErr != nil {
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
	if below != "" {
		return made, nil
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

// inTree says whether an entry is one of the trees, or below.
func (s *stage) inTree(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return slices.Contains(s.Trees, top)
}

// onList says whether an entry may change. A name that is no text would not reach the guardian.
func (s *stage) onList(list *regexp.Regexp, name string, e os.DirEntry) bool {
	return e.IsDir() && slices.Contains(s.Folders, name) || e.Type().IsRegular() && list.MatchString(name) && utf8.ValidString(name)
}

// settle brings back what is on the list, and gives the names of what was not: made by the
// command and not on the list, of a form that does harm, or changed by somebody else meanwhile.
func (s *stage) settle() (dropped []string) {
	defer s.discard()
	list, err := regexp.Compile(s.Files)
	if err != nil {
		return nil // newStage compiled it
	}
	for _, name := range s.Open {
		dropped = append(dropped, s.clean(name)...)
	}
	// A folder that cannot be read would look empty.
	_ = os.Chmod(string(s.Copy), 0o700)
	if _, err := os.ReadDir(string(s.Copy)); err != nil {
		return dropped
	}
	there := map[string]bool{}
	var changed []string
	_ = filepath.WalkDir(string(s.Copy), func(path string, e fs.DirEntry, err error) error { // what cannot be read is not brought back
		name, relErr := filepath.Rel(string(s.Copy), path)
		switch {
		case relErr != nil || name == ".":
			return nil
		case err != nil:
			top, _, _ := strings.Cut(name, "/")
			there[top] = true
			return nil
		case e.IsDir() && s.inTree(name):
			_ = os.Chmod(path, 0o700)
			return nil
		}
		there[name] = true
		switch before, known := s.Before[name]; {
		case known && stampOf(path) == before.Copy:
		case s.onList(list, name, e):
			changed = append(changed, name)
		case known || !s.was(name):
			dropped = append(dropped, name)
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	for name := range s.Before {
		top, _, below := strings.Cut(name, "/")
		switch {
		case there[name]:
		case below && there[top]: // another thing stands where the tree was, or it cannot be read
			dropped = append(dropped, top)
		default:
			changed = append(changed, name)
		}
	}
	slices.SortFunc(changed, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a, there), rank(b, there)), strings.Compare(a, b))
	})
	for _, name := range changed {
		// A reference that is gone may be among the packed ones now.
		if rank(name, there) == removal && slices.Contains(dropped, packed) || !s.replace(name, s.Before[name].Real, !there[name]) {
			dropped = append(dropped, name)
		}
	}
	slices.Sort(dropped)
	return slices.DeleteFunc(slices.Compact(dropped), func(name string) bool { return slices.Contains(s.Forgotten, name) })
}

const packed = "packed-refs"

// The order in which is brought back, so that nothing is missing meanwhile that is only moved:
// HEAD comes after what it names, and each reference after the removals, since it may stand
// where another had a folder.
const (
	packing = iota
	removal
	reference
	other
)

func rank(name string, there map[string]bool) int {
	switch {
	case name == packed:
		return packing
	case !there[name] && strings.Contains(name, "/"):
		return removal
	case strings.HasPrefix(name, "refs/"):
		return reference
	}
	return other
}

// clean removes what the command made in a folder and is neither file nor folder, and gives the
// names: git would write to where a link leads.
func (s *stage) clean(folder string) (removed []string) {
	dir := filepath.Join(string(s.Dir), folder)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error { // what cannot be read is no link
		if err == nil && !e.IsDir() && !e.Type().IsRegular() && changedAt(filepath.Join(dir, path)) >= s.Made {
			_ = root.Remove(path)
			removed = append(removed, filepath.Join(folder, path))
		}
		return nil
	})
	return removed
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
func (s *stage) replace(name string, before stamp, gone bool) bool {
	real, twin, aside := filepath.Join(string(s.Dir), name), s.twin(name), s.twin(".before")
	if !s.makeParents(name) {
		return false
	}
	unlock, ok := lockFile(real + ".lock")
	if !ok {
		return false
	}
	defer unlock()
	if s.inTree(name) {
		removeEmpty(real)
	}
	if os.RemoveAll(aside) != nil {
		return false
	}
	if gone {
		twin = aside // nothing; a folder may be where the entry was
	}
	if stampOf(real) != before || !gone && !plain(twin) || !git.HarmlessState(name, real, twin) {
		return false
	}
	moved := before != (stamp{}) && (isFolder(real) || gone)
	if moved && os.Rename(real, aside) != nil {
		return false
	}
	if gone || os.Rename(twin, real) == nil {
		return true
	}
	if moved {
		_ = os.Rename(aside, real) // as it was
	}
	return false
}

// makeParents makes the folders of a tree that an entry lies in. No link stands for one.
func (s *stage) makeParents(name string) bool {
	at, parts := string(s.Dir), strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		at = filepath.Join(at, part)
		_ = os.Mkdir(at, 0o777) // as git does, by the umask
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// removeEmpty removes a folder that has nothing but folders.
func removeEmpty(dir string) {
	var dirs []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // then it stays
		if err == nil && e.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) {
		_ = os.Remove(dir)
	}
}

// plain says whether an entry is made of folders and of files with one name, and takes from
// the files the right to be run.
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
		if sys, ok := info.Sys().(*syscall.Stat_t); !ok || sys.Nlink > 1 {
			return fs.ErrInvalid
		}
		return os.Chmod(path, info.Mode().Perm()&^0o111)
	})
	return err == nil
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
