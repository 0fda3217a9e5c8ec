package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"pillion/internal/fault"
)

// Tree is an entry as it stood: a file, a link, or a folder with all below it.
// Nothing in it follows a symbolic link. The zero Tree is of nothing.
type Tree struct {
	Nodes []Node // the entry itself first; each folder before what is in it, by name
}

// Node is one entry of a Tree.
type Node struct {
	Rel  string // from the tree's top, which is "."
	Mode fs.FileMode
	Size int64  // of a regular file
	Link string // where a symbolic link leads, as it is spelled
	// Version is the hash of a regular file's bytes, as document.Version is. Only
	// the top has it, and what was touched so short a time before the look that
	// its times could not tell a later change. "" where it has too many bytes.
	Version string

	written time.Time
	system  systemFacts
}

// systemFacts are what only some systems tell of a file.
type systemFacts struct {
	changed       time.Time // of its bytes, name or mode
	device, inode uint64
	links         uint64 // names that it has
}

// TreeLimit is how many entries a Tree may have: what is larger is no agent's to
// move or delete in one step.
const TreeLimit = 100_000

// Tree looks at the entry p and all below it.
func (p Path) Tree() (Tree, error) {
	t, err := TreeAt(p.root.fs(), filepath.FromSlash(p.rel))
	if err == nil {
		err = p.checkTree()
	}
	if err != nil {
		return Tree{}, p.fault(err)
	}
	return t, nil
}

// checkTree refuses what holds a place that is not the agent's.
func (p Path) checkTree() error {
	abs := p.Abs()
	for _, place := range slices.Concat(p.root.closed.places, p.root.closed.homes) {
		if holds(abs, place) {
			return fault.New(fault.PermissionDenied, "%s contains a system or private folder, which is closed to agents", fault.Quote(p.String()))
		}
	}
	if nested := p.root.nested.Load(); nested != nil {
		for _, r := range *nested {
			if holds(abs, r.dir) {
				return fault.New(fault.PermissionDenied, "%s contains %s, which is itself a folder open in the editor", fault.Quote(p.String()), fault.Quote(r.name)).
					WithHint("ask the user to close that folder first")
			}
		}
	}
	return nil
}

// TreeAt is Path.Tree for who has the folder's handle. A name without an entry
// gives the zero Tree.
func TreeAt(at *os.Root, name string) (Tree, error) {
	w := treeWalk{began: time.Now()}
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Tree{}, nil
	}
	if err == nil {
		w.device = factsOf(info).device
		err = w.add(at, name, ".", info)
	}
	return Tree{w.nodes}, err
}

type treeWalk struct {
	began  time.Time
	device uint64
	nodes  []Node
}

func (w *treeWalk) add(at *os.Root, name, rel string, info fs.FileInfo) (err error) {
	n := nodeOf(rel, info)
	switch {
	case len(w.nodes) >= TreeLimit:
		return fault.New(fault.FileTooLarge, "the folder has more than %d entries", TreeLimit).WithHint("do it in parts, or ask the user")
	case n.system.device != w.device:
		return mounted(rel)
	case n.Mode.IsRegular():
		if rel == "." || !n.touched().Before(w.began.Add(-ClockSlack)) {
			n.Version, err = versionAt(at, name, info)
		}
	case n.Mode&fs.ModeSymlink != 0:
		n.Link, err = at.Readlink(name)
	}
	if err != nil {
		return err
	}
	w.nodes = append(w.nodes, n)
	if n.Mode.IsDir() {
		return w.below(at, name, rel, info)
	}
	return nil
}

// nodeOf is what info tells of a node.
func nodeOf(rel string, info fs.FileInfo) Node {
	n := Node{Rel: rel, Mode: info.Mode(), written: info.ModTime(), system: factsOf(info)}
	if n.Mode.IsRegular() {
		n.Size = info.Size()
	}
	return n
}

func mounted(rel string) error {
	return fault.New(fault.PermissionDenied, "another file system is mounted in the folder, on %s", fault.Quote(rel)).WithHint("ask the user")
}

// ClockSlack is how far the times that a file system writes may lag behind: a file that
// was written so short a time ago may have been written again since.
const ClockSlack = 100 * time.Millisecond

func (w *treeWalk) below(at *os.Root, name, rel string, info fs.FileInfo) error {
	dir, err := at.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if opened, err := dir.Stat("."); err != nil || !os.SameFile(info, opened) {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR} // a link came into the way
	}
	names, err := namesIn(dir, rel)
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := dir.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went this moment
		}
		if err == nil {
			err = w.add(dir, name, path.Join(rel, name), info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func namesIn(dir *os.Root, rel string) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if isMountRoot(f) {
		return nil, mounted(rel)
	}
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// hashedWhole bounds the files whose bytes are looked at; of others the times
// must be enough.
const hashedWhole = 64 << 20

func versionAt(at *os.Root, name string, info fs.FileInfo) (string, error) {
	if info.Size() > hashedWhole {
		return "", nil
	}
	f, err := at.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, hashedWhole)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// touched is the later of the times that a file has.
func (n Node) touched() time.Time {
	if n.system.changed.After(n.written) {
		return n.system.changed
	}
	return n.written
}

// State tells apart what a node was at different times.
func (n Node) State() string {
	state := fmt.Sprint(n.system.inode, " ", n.written.UnixNano())
	if n.Rel == "." {
		state += " " + n.Version // of others it is looked at only for a while
	}
	return state
}

// HardLinks is how many names a file has, 1 where the system does not tell.
func HardLinks(info fs.FileInfo) int { return max(int(factsOf(info).links), 1) }

// Top is the entry itself.
func (t Tree) Top() Node {
	if !t.Exists() {
		return Node{}
	}
	return t.Nodes[0]
}

// Exists reports whether there was an entry.
func (t Tree) Exists() bool { return len(t.Nodes) > 0 }

// Files counts what is below the top and is no folder.
func (t Tree) Files() int {
	n := 0
	for _, node := range t.Nodes[min(1, len(t.Nodes)):] {
		if !node.Mode.IsDir() {
			n++
		}
	}
	return n
}

// Size is what the files hold together, in bytes.
func (t Tree) Size() (sum int64) {
	for _, n := range t.Nodes {
		sum += n.Size
	}
	return sum
}

// StillAt reports whether name holds the tree as it was, perhaps under another
// name than it had.
func (t Tree) StillAt(at *os.Root, name string) (bool, error) {
	now, err := TreeAt(at, name)
	if err != nil || len(now.Nodes) != len(t.Nodes) {
		return false, err
	}
	for i, was := range t.Nodes {
		same, err := was.is(now.Nodes[i], at, filepath.Join(name, filepath.FromSlash(was.Rel)))
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// StillIn reports whether name is the node as it was. What is in a folder does not
// count.
func (n Node) StillIn(at *os.Root, name string) bool {
	info, err := at.Lstat(name)
	if err != nil {
		return false
	}
	now := nodeOf(n.Rel, info)
	if now.Mode&fs.ModeSymlink != 0 {
		if now.Link, err = at.Readlink(name); err != nil {
			return false
		}
	}
	same, err := n.is(now, at, name)
	return err == nil && same
}

// Same reports whether p still is as in the tree t.
func (p Path) Same(t Tree) bool {
	same, err := t.StillAt(p.root.fs(), filepath.FromSlash(p.rel))
	return err == nil && same
}

// is compares with the same entry as it is now. The top's own times change with
// its name.
func (n Node) is(now Node, at *os.Root, name string) (bool, error) {
	if n.Rel != now.Rel || n.Mode != now.Mode || n.Size != now.Size || n.Link != now.Link ||
		n.system.inode != now.system.inode || !n.written.Equal(now.written) {
		return false, nil
	}
	if n.Rel != "." && !n.system.changed.Equal(now.system.changed) {
		return false, nil
	}
	if n.Version == "" || n.Version == now.Version {
		return true, nil
	}
	if now.Version != "" {
		return false, nil
	}
	info, err := at.Lstat(name)
	if err != nil {
		return false, err
	}
	version, err := versionAt(at, name, info)
	return version == n.Version, err
}

// Entry is p with the links on the way to it followed, and p itself not: what is
// deleted or moved when p is.
func (p Path) Entry() (Path, error) {
	if p.IsRoot() {
		return p, nil
	}
	dir, err := p.Dir().Target()
	if err != nil {
		return Path{}, err
	}
	return dir.Join(p.Base()), nil
}

// IsIn reports whether p is dir or lies below it.
func (p Path) IsIn(dir Path) bool {
	_, ok := within(dir.Abs(), p.Abs())
	return ok
}

// ResolveEntry is Resolve for who means the entry itself: of a symbolic link the
// link, wherever it leads.
func (w *Workspace) ResolveEntry(name string) (Path, error) {
	roots := w.snapshot()
	if len(roots) == 0 || name == "" {
		return w.Resolve(name)
	}
	if err := checkName(name); err != nil {
		return Path{}, err
	}
	p, err := place(roots, name)
	if err != nil || p.IsRoot() {
		return p, err
	}
	dir, err := p.Dir().checkInside()
	if err != nil {
		return Path{}, err
	}
	p = dir.Join(p.Base())
	return p, p.checkSystemPlace()
}

// Touched is when the file of this absolute name was last written, replaced or
// renamed, as far as the system tells: the later of its two times, for a file
// that is moved here keeps the time at which it was written. It costs one look,
// and decides alone where a file is too large to be read, or not ours to. False: it
// cannot be told.
func Touched(abs string) (time.Time, bool) {
	info, err := os.Lstat(abs)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return nodeOf(".", info).touched(), true
}

// Stamp names the version of an open file without reading it: by which file it is, or
// where the system does not tell by its name, by its length and its times. It also says
// when the file was last written or renamed. Who writes a file twice within the clock's
// step may leave the name as it is.
func Stamp(f *os.File) (name string, touched time.Time) {
	info, err := f.Stat()
	if err != nil {
		return "", time.Now()
	}
	n := nodeOf(".", info)
	if n.system == (systemFacts{}) {
		name = f.Name()
	}
	return name + fmt.Sprint(n.system.device, n.system.inode, info.Size(), n.written.UnixNano(), n.system.changed.UnixNano()), n.touched()
}
