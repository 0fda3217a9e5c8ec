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

// stage is a Staged with its copy, as its guardian gets it.
type stage struct {
	in        opened // Dir
	Dir       []byte
	Copy      string // its name in Dir
	Files     string
	Trees     []string
	Folders   []string
	Open      []string // those that are there
	Closed    []string
	Forgotten []string
	Made      int64 // when the copy was, as changedAt gives it
	// Of the repository, before the command could say otherwise.
	HashSize int
	Top      []byte
	// Before are the folder's own entries on the list as they were copied, by their names.
	Before map[string]copied
}

// copied is one entry in the folder, and its copy.
type copied struct{ Real, Copy stamp }

// stamp tells whether an entry was changed. The zero value: it is not there.
type stamp struct {
	Inode, Size uint64
	Modified    int64 // in nanoseconds
	Entries     int   // of a folder
}

// newStage makes the copy, and gives the mounts that show it to a command.
func newStage(s Staged) (*stage, []mount, error) {
	list, err := regexp.Compile(s.Files)
	if err != nil {
		return nil, nil, err
	}
	if around, err := openFolder(filepath.Dir(s.Dir)); err == nil {
		_ = around.Mkdir(filepath.Base(s.Dir), 0o755) // else a command could make it its own way; an error shows below
		around.Close()
	}
	in, err := openFolder(s.Dir)
	if err != nil {
		return nil, nil, err
	}
	sweep(in.path("."), stagePrefix)
	out := &stage{Dir: []byte(s.Dir), Files: s.Files, Trees: s.Trees, Folders: s.Folders, Closed: s.Closed, Forgotten: s.Forgotten, Before: map[string]copied{}, HashSize: git.HashSize(s.Dir), Top: []byte(git.TopOf(s.Dir)), in: in}
	out.Copy = stagePrefix + strconv.Itoa(os.Getpid()) + "-" + strings.ToLower(rand.Text()[:8])
	var made []mount
	if err = in.Mkdir(out.Copy, 0o700); err == nil {
		out.Made = out.changedAt(out.Copy)
		made, err = out.fill(s, list, ".")
	}
	if err != nil {
		out.discard()
		return nil, nil, err
	}
	return out, append([]mount{{kind: writable, path: s.Dir, from: filepath.Join(s.Dir, out.Copy)}}, made...), nil
}

// fill copies the entries of the folder itself or, below it, of one of its trees.
func (s *stage) fill(staged Staged, list *regexp.Regexp, below string) (made []mount, err error) {
	entries, err := fs.ReadDir(s.in, below)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(below, e.Name())
		real, twin := filepath.Join(staged.Dir, name), s.twin(name)
		switch {
		case strings.HasPrefix(name, stagePrefix), e.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
		case below != "." && strings.HasSuffix(name, ".lock"): // nobody would ever take it away there
		case e.IsDir() && s.inTree(name):
			var inside []mount
			if err = s.in.Mkdir(twin, 0o700); err == nil {
				inside, err = s.fill(staged, list, name)
			}
			made = append(made, inside...)
		case slices.Contains(staged.Forgotten, name):
			if e.IsDir() {
				err = s.in.Mkdir(twin, 0o700)
			}
		case e.IsDir() && slices.Contains(staged.Open, name):
			s.Open = append(s.Open, name)
			made, err = append(made, mount{kind: writable, path: real}), s.in.Mkdir(twin, 0o700)
		case s.onList(list, name, e):
			if takeErr := s.copyEntry(name); errors.Is(takeErr, fs.ErrNotExist) {
				err = s.in.RemoveAll(twin) // it was taken away just now
			} else if takeErr != nil {
				made, err = append(made, mount{kind: readable, path: real}), s.placeholder(twin, e.IsDir())
			}
		case e.IsDir(), e.Type().IsRegular():
			made, err = append(made, mount{kind: readable, path: real}), s.placeholder(twin, e.IsDir())
		case e.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = s.in.Readlink(name); err == nil {
				err = s.in.Symlink(target, twin)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if below != "." {
		return made, nil
	}
	for _, name := range staged.Closed {
		if s.in.Mkdir(s.twin(name), 0o700) == nil { // else it is there
			made = append(made, mount{kind: readable, path: filepath.Join(staged.Dir, name), from: filepath.Join(staged.Dir, s.twin(name))})
		}
	}
	return made, nil
}

// placeholder is something to mount over.
func (s *stage) placeholder(twin string, folder bool) error {
	_ = s.in.RemoveAll(twin) // half a copy
	if folder {
		return s.in.Mkdir(twin, 0o700)
	}
	return s.in.WriteFile(twin, nil, 0o600)
}

// copyEntry copies an entry, and remembers it.
func (s *stage) copyEntry(name string) error {
	before := s.stampOf(name)
	if err := s.copyTree(name, s.twin(name)); err != nil {
		return err
	}
	if s.stampOf(name) != before {
		return fmt.Errorf("%s changes just now", name)
	}
	s.Before[name] = copied{before, s.stampOf(s.twin(name))}
	return nil
}

// copyTree copies a file, or a folder of files and folders, with modes and times.
func (s *stage) copyTree(from, to string) error {
	room := int64(maxStaged)
	return fs.WalkDir(s.in, from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		switch {
		case e.IsDir():
			return s.in.Mkdir(target, info.Mode().Perm()|0o700)
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", path)
		}
		if room -= info.Size(); room < 0 {
			return fmt.Errorf("%s is too large", path)
		}
		if err := s.copyFile(path, target, info.Mode().Perm()); err != nil {
			return err
		}
		return s.in.Chtimes(target, time.Time{}, info.ModTime())
	})
}

func (s *stage) copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := s.in.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := s.in.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
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
func (s *stage) stampOf(name string) stamp {
	info, err := s.in.Lstat(name)
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
	_ = fs.WalkDir(s.in, name, func(below string, _ fs.DirEntry, err error) error { // what cannot be read counts as it is
		if inside, statErr := s.in.Lstat(below); err == nil && statErr == nil {
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
	_ = s.in.Chmod(s.Copy, 0o700)
	if _, err := fs.ReadDir(s.in, s.Copy); err != nil {
		return dropped
	}
	there := map[string]bool{}
	var changed []string
	_ = fs.WalkDir(s.in, s.Copy, func(path string, e fs.DirEntry, err error) error { // what cannot be read is not brought back
		name := strings.TrimPrefix(path, s.Copy+"/")
		switch {
		case path == s.Copy:
			return nil
		case err != nil:
			top, _, _ := strings.Cut(name, "/")
			there[top] = true
			return nil
		case e.IsDir() && s.inTree(name):
			_ = s.in.Chmod(path, 0o700)
			return nil
		}
		there[name] = true
		switch before, known := s.Before[name]; {
		case known && s.stampOf(path) == before.Copy:
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
	return slices.DeleteFunc(slices.Compact(dropped), func(name string) bool { return slices.Contains(s.Forgotten, name) || git.IsShared(name) })
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
// names: git would write to where a link leads. It opens folders that the command may have closed, and
// names those that it cannot look into.
func (s *stage) clean(folder string) (removed []string) {
	_ = fs.WalkDir(s.in, folder, func(path string, e fs.DirEntry, err error) error { // it gives no error
		switch {
		case err != nil:
			removed = append(removed, path)
		case e.IsDir():
			info, err := s.in.Lstat(path)
			if err == nil && (info.Mode()&0o500 != 0o500 || info.Mode()&0o200 == 0 && s.changedAt(path) >= s.Made) {
				_ = s.in.Chmod(path, info.Mode().Perm()|0o700) // an error shows when it is read
			}
		case !e.Type().IsRegular() && s.changedAt(path) >= s.Made:
			_ = s.in.Remove(path)
			removed = append(removed, path)
		}
		return nil
	})
	return removed
}

// changedAt is when an entry was last changed in any way, which no command can set; just now, if that cannot be told.
func (s *stage) changedAt(name string) int64 {
	if info, err := s.in.Lstat(name); err == nil {
		if sys, ok := info.Sys().(*syscall.Stat_t); ok {
			return sys.Ctim.Nano()
		}
	}
	return time.Now().UnixNano()
}

func (s *stage) twin(name string) string { return s.Copy + "/" + name }

// was says whether the copy has a place to mount over, or a link, of that name.
func (s *stage) was(name string) bool {
	_, err := s.in.Lstat(name)
	return err == nil || slices.Contains(s.Closed, name)
}

// replace puts the copy in the place of the entry, or takes the entry away where there is no
// copy any more, if it still is what it was. It holds the lock that git holds for that.
func (s *stage) replace(name string, before stamp, gone bool) bool {
	twin, aside := s.twin(name), s.twin(".before")
	if !s.makeParents(name) {
		return false
	}
	unlock, ok := s.lock(name)
	if !ok {
		return false
	}
	defer unlock()
	if s.inTree(name) {
		s.removeEmpty(name)
	}
	if s.in.RemoveAll(aside) != nil {
		return false
	}
	if gone {
		twin = aside // nothing; a folder may be where the entry was
	}
	if s.stampOf(name) != before || !gone && !s.plain(twin) {
		return false
	}
	if name == "index" && !gone {
		if !s.remakeIndex(twin) {
			return false
		}
	} else if !git.HarmlessState(name, s.in.path(name), s.in.path(twin)) {
		return false
	}
	moved := before != (stamp{}) && (isFolder(s.in.path(name)) || gone)
	if moved && s.in.Rename(name, aside) != nil {
		return false
	}
	if gone || s.in.Rename(twin, name) == nil {
		return true
	}
	if moved {
		_ = s.in.Rename(aside, name) // as it was
	}
	return false
}

// remakeIndex puts what is harmless of an index in its place.
func (s *stage) remakeIndex(twin string) bool {
	mode := fs.FileMode(0o666) // by the umask, as git makes it
	info, err := s.in.Lstat("index")
	if err == nil {
		mode = info.Mode().Perm()
	}
	settled := time.Now().Add(-settling)
	seen := seeing{settled: settled.Unix(), files: mostSeenFiles, room: mostSeen}
	if top, err := openFolder(string(s.Top)); err == nil {
		defer top.Close()
		seen.top = top.Root
	}
	text, harmless := git.HarmlessIndex(s.in.path("index"), s.in.path(twin), s.HashSize, seen.file)
	if !harmless || s.in.Remove(twin) != nil || s.in.WriteFile(twin, text, mode) != nil {
		return false
	}
	return (info == nil || s.in.Chmod(twin, mode) == nil) && s.in.Chtimes(twin, settled, settled) == nil
}

const (
	// How long a change may have the same time as one that follows it. The index is made older by that, so
	// that git compares what was changed since.
	settling      = 2 * time.Second
	mostSeen      = 64 << 20 // bytes that are read for an index; git reads the others
	mostSeenFiles = 5000
)

// seeing reads files of a work tree.
type seeing struct {
	top         *os.Root // nil: none is read
	settled     int64
	files, room int64
}

// file reads one if a later change of it will show: in the time that no command can set, or since git looks again at what is not older than
// the index, of which it has 32 bits.
func (w *seeing) file(name string) (text []byte, stat git.Stat, ok bool) {
	if w.files--; w.top == nil || w.files < 0 {
		return nil, stat, false
	}
	f, err := w.top.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, stat, false
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil || !before.Mode().IsRegular() || before.Size() > w.room {
		return nil, stat, false
	}
	w.room -= before.Size()
	text, err = io.ReadAll(io.LimitReader(f, before.Size()+1))
	after, statErr := f.Stat()
	if err != nil || statErr != nil || int64(len(text)) != before.Size() {
		return nil, stat, false
	}
	was, isStat := before.Sys().(*syscall.Stat_t)
	is, isStatToo := after.Sys().(*syscall.Stat_t)
	if !isStat || !isStatToo || was.Ctim != is.Ctim || is.Ctim.Sec >= w.settled && uint32(is.Mtim.Sec) < uint32(w.settled) {
		return nil, stat, false
	}
	for i, part := range []int64{is.Ctim.Sec, is.Ctim.Nsec, is.Mtim.Sec, is.Mtim.Nsec, int64(is.Dev), int64(is.Ino), 0, int64(is.Uid), int64(is.Gid), is.Size} {
		stat[i] = uint32(part)
	}
	return text, stat, true
}

// makeParents makes the folders of a tree that an entry lies in. No link stands for one.
func (s *stage) makeParents(name string) bool {
	at, parts := "", strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		at = filepath.Join(at, part)
		_ = s.in.Mkdir(at, 0o777) // as git does, by the umask
		if info, err := s.in.Lstat(at); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// removeEmpty removes a folder that has nothing but folders.
func (s *stage) removeEmpty(name string) {
	var dirs []string
	_ = fs.WalkDir(s.in, name, func(path string, e fs.DirEntry, err error) error { // then it stays
		if err == nil && e.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) {
		_ = s.in.Remove(dir)
	}
}

// plain says whether an entry is made of folders and of files with one name, and takes from
// the files the right to be run.
func (s *stage) plain(twin string) bool {
	err := fs.WalkDir(s.in, twin, func(path string, e fs.DirEntry, err error) error {
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
		return s.in.Chmod(path, info.Mode().Perm()&^0o111)
	})
	return err == nil
}

// lock waits for the lock of an entry, as git makes them.
func (s *stage) lock(name string) (unlock func(), ok bool) {
	name += ".lock"
	for end := time.Now().Add(stageLocks); ; time.Sleep(5 * time.Millisecond) {
		f, err := s.in.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = f.Close()
			return func() { _ = s.in.Remove(name) }, true
		}
		if !errors.Is(err, fs.ErrExist) || time.Now().After(end) {
			return nil, false
		}
	}
}

// open is the guardian's: what it brings back it brings to the folder that was there before the
// command was.
func (s *stage) open() (err error) {
	s.in, err = openFolder(string(s.Dir))
	return err
}

func (s *stage) discard() {
	_ = s.in.RemoveAll(s.Copy)
	s.in.Close()
}

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
