package process

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"pillion/internal/fault"
)

// box is how bubblewrap works here.
type box struct {
	program string
	options []string // beyond those that are always given
	scoped  bool     // Landlock keeps it from abstract sockets and others' processes as well
}

// hold is what a guardian does to its command before it starts it.
type hold struct {
	Level     Level
	Writable  [][]byte // folders, for Landlock
	Files     [][]byte // to be made if they are not there; for Landlock also what may be written
	Offline   bool     // for Landlock
	Scoped    bool     // beside bubblewrap
	NoDevices bool     // but /dev/null; for Landlock
	Masked    [][]byte // sockets, and files with secrets, that bubblewrap covers
	Movable   [][]byte // what bubblewrap mounts and commands could exchange before it does
	Stages    []*stage // folders of which copies are to be brought back
	Layers    []Layer

	Hosts, PrivateHosts []string // behind the gate of a box
}

func (h hold) layered() bool { return len(h.Layers) > 0 }

// settle brings back what the command may have changed of staged folders, and gives what was
// left out.
func (h hold) settle() (dropped []string) {
	for _, s := range h.Stages {
		dropped = append(dropped, s.settle()...)
	}
	return dropped
}

// discard is for a command that did not start, or whose guardian could not settle.
func (h hold) discard() {
	for _, s := range h.Stages {
		s.discard()
	}
}

// stage makes the copies of staged folders.
func (h *hold) stage(list []Staged) (shown []mount, err error) {
	for _, s := range list {
		one, mounts, err := newStage(s)
		if err != nil {
			h.discard()
			return nil, fault.New(fault.ExecutionFailed, "%s cannot be prepared for the sandbox: %w", fault.Quote(s.Dir), err)
		}
		h.Stages = append(h.Stages, one)
		shown = append(shown, mounts...)
	}
	return shown, nil
}

// without leaves out of bubblewrap's command line what it covers and is gone since it
// was written: where nothing can be made in their place, it would make no box.
func (h hold) without(args []string) []string {
	for _, path := range texts(h.Masked) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for i := range len(args) - 2 {
			if args[i] == "--ro-bind" && args[i+2] == path {
				args = slices.Delete(slices.Clone(args), i, i+3)
				break
			}
		}
	}
	return args
}

// opened gives bubblewrap descriptors of what is movable, from first on: it mounts that, and
// nothing that a link has led to since the command was confined.
func (h hold) opened(args []string, first int) (out []string, files []*os.File, err error) {
	movable := texts(h.Movable)
	for len(args) > 0 {
		kind, optional := strings.CutSuffix(args[0], "-try")
		if kind != "--bind" && kind != "--ro-bind" || !slices.Contains(movable, args[1]) {
			out, args = append(out, args[0]), args[1:]
			continue
		}
		file, err := openStraight(args[1])
		switch {
		case err == nil:
			out = append(out, kind+"-fd", strconv.Itoa(first+len(files)), args[2])
			files = append(files, file)
		case !optional || !errors.Is(err, fs.ErrNotExist):
			return nil, files, err
		}
		args = args[3:]
	}
	return out, files, nil
}

// inode names a file or folder; a number alone is soon another's.
type inode struct {
	major, minor uint32
	number       uint64
	born         unix.StatxTimestamp
}

// folderAt names the folder at path, or nothing.
func folderAt(path string) (in inode, there bool) {
	var info unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_BTIME, &info)
	if err != nil || info.Mode&unix.S_IFMT != unix.S_IFDIR {
		return inode{}, false
	}
	return inode{info.Dev_major, info.Dev_minor, info.Ino, info.Btime}, true
}

// look gives the folders around the sockets as they are before a box is made.
func (h hold) look() map[string]inode {
	before := map[string]inode{}
	for _, path := range texts(h.Masked) {
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			if _, seen := before[dir]; seen {
				break
			}
			before[dir], _ = folderAt(dir)
		}
	}
	return before
}

// tidy removes what bubblewrap left: for a socket that goes away while the box is made
// it makes an empty file to cover, and the folders around it where they are gone as
// well. Whoever wanted to listen there again could not.
func (h hold) tidy(before map[string]inode) {
	for _, path := range texts(h.Masked) {
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != madeByBubblewrap || info.Size() > 0 || os.Remove(path) != nil {
			continue // what a folder keeps that became read only harms nobody
		}
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			if now, there := folderAt(dir); !there || now == before[dir] || unix.Rmdir(dir) != nil {
				break
			}
		}
	}
}

// madeByBubblewrap is the mode of the files that it makes to mount over.
const madeByBubblewrap fs.FileMode = 0o444

// try finds out what holds here by starting a command with it.
func (r *Runner) try() found {
	f := r.tryAll()
	f.Offline = f.Level == Bubblewrap || f.Level == Landlock && socketFilter() != nil
	f.Layers = r.tryLayers(f)
	return f
}

func (r *Runner) tryAll() (f found) {
	f.ABI = landlockABI()
	f.Level = None
	f.Landlock = Wall{Works: f.ABI >= leastABI, Why: landlockMissing(f.ABI)}
	if f.Landlock.Works {
		if err := r.tryOne(Landlock, box{}); err != nil {
			f.Landlock = Wall{Why: err.Error()}
		} else {
			f.Level = Landlock
		}
	}
	f.Bubblewrap.Path, f.Bubblewrap.Why = findBubblewrap(r.base)
	if f.Bubblewrap.Why != "" {
		return f
	}
	for _, b := range boxes(f.Bubblewrap.Path, f.ABI) {
		err := r.tryOne(Bubblewrap, b)
		if err == nil {
			f.Level, f.box, f.Bubblewrap.Works, f.Bubblewrap.Why = Bubblewrap, b, true, ""
			return f
		}
		if f.Bubblewrap.Why == "" {
			f.Bubblewrap.Why = err.Error()
		}
	}
	return f
}

func (r *Runner) tryOne(level Level, b box) error {
	return r.trySpec(b, Spec{Command: "true", Dir: "/", Timeout: tryWithin, Confine: Confine{Level: level, trial: true}})
}

// tryLayer makes a file under a layer.
func (r *Runner) tryLayer(b box, l Layer) error {
	c := Confine{Level: Bubblewrap, trial: true, Writable: []string{l.Folder}, Layers: []Layer{l}}
	return r.trySpec(b, Spec{Command: ": >made", Dir: l.Folder, Timeout: tryWithin, Confine: c})
}

func (r *Runner) trySpec(b box, spec Spec) error {
	p, err := r.start(context.Background(), spec, b, nil)
	if err != nil {
		return err
	}
	got, err := p.Wait(context.Background())
	switch said := strings.TrimSpace(got.Stderr); {
	case got.TimedOut:
		return errors.New("it takes too long")
	case err != nil && said != "":
		return errors.New(lastLine(said))
	case err != nil:
		return err
	case got.ExitCode != 0:
		return errors.New("it cannot run the simplest command: " + lastLine(said))
	}
	return nil
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// boxes are the ways to use bubblewrap, the strongest first.
func boxes(program string, abi int) []box {
	options := [][]string{nil}
	if os.Geteuid() == 0 { // root without all its rights, as in a container
		options = append(options, []string{"--unshare-user"})
	}
	var out []box
	for _, scoped := range []bool{true, false} {
		for _, o := range options {
			if !scoped || abi >= scopesABI {
				out = append(out, box{program: program, options: o, scoped: scoped})
			}
		}
	}
	return out
}

// bubblewrapPlaces are looked at before the PATH.
var bubblewrapPlaces = []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

// findBubblewrap gives a program that no command could have replaced, or says why
// there is none.
func findBubblewrap(env []string) (path, why string) {
	why = "it is not installed"
	for _, path := range append(slices.Clone(bubblewrapPlaces), lookPath("bwrap", env)) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid == 0 && info.Mode()&0o022 == 0 {
			return path, ""
		}
		why = path + " is not used: it does not belong to the system, so a command could replace it"
	}
	return "", why
}

// confine completes what a caller wants held, and gives what a guardian does and
// the box that it makes. Caches are folders that it may write.
func (r *Runner) confine(spec Spec, b box, caches []string) (hold, boxOrder, error) {
	c := spec.Confine
	if !c.holds() {
		return hold{}, boxOrder{}, nil
	}
	var places []string
	if !c.trial {
		places = append(temporary(r.base), caches...) // a call's own variables open nothing
	}
	h := hold{Level: c.Level, Files: raw(c.Files), Offline: c.Offline}
	switch c.Level {
	case Landlock:
		h.Writable = raw(slices.Concat(c.Writable, places))
		return h, boxOrder{}, nil
	case Bubblewrap:
		h.Scoped, h.Layers = b.scoped, c.Layers
		c.Named = append(slices.Clone(c.Named), spec.Args...)
		gate, err := h.gateProgram(&c)
		if err != nil {
			return hold{}, boxOrder{}, err
		}
		own, err := r.temporaryMounts(&c)
		if err != nil {
			return hold{}, boxOrder{}, err
		}
		h.Files = raw(c.Files)
		staged, err := h.stage(c.Staged)
		if err != nil {
			return hold{}, boxOrder{}, err
		}
		others := append(own, staged...)
		if len(c.Blank) > 0 {
			blank, err := r.scratch.blank()
			if err != nil {
				return hold{}, boxOrder{}, fault.New(fault.ExecutionFailed, "the box cannot be prepared: %w", err)
			}
			for _, path := range c.Blank {
				others = append(others, mount{kind: masked, path: path, from: blank})
			}
		}
		mounts := mounts(c, places, r.base, others)
		words := append(b.words(c, mounts), gate...)
		for _, m := range mounts {
			if m.kind == masked {
				h.Masked = append(h.Masked, []byte(m.path))
			}
			if from := m.source(); m.kind != masked && c.movable(from) {
				h.Movable = append(h.Movable, []byte(from))
			}
		}
		if c.trial { // of what gives no descriptors nothing is to be held
			h.Movable = raw([]string{"/"})
		}
		return h, boxOrder{words, r.base, keyOf(slices.Concat(words, h.Hosts, []string{"private"}, h.PrivateHosts), mounts), !c.trial && len(c.Files)+len(staged)+len(c.Layers) == 0}, nil
	}
	return hold{}, boxOrder{}, fault.New(fault.ExecutionFailed, "no sandbox is called %s", fault.Quote(string(c.Level)))
}

// temporaryMounts shows the session's own folders for temporary files in place of the shared
// ones. Files there that its lines name are the shared ones all the same; what is no file,
// a socket above all, is not. A file of the session's own comes before a shared one that is
// only to be read.
func (r *Runner) temporaryMounts(c *Confine) (own []mount, err error) {
	if c.trial {
		return nil, nil
	}
	dirs := slices.DeleteFunc(temporary(r.base), func(dir string) bool { return withinAny(c.Writable, dir) })
	for _, dir := range dirs {
		instead, err := r.scratch.folder(c.Session, dir, c.Writable)
		if err != nil {
			return nil, fault.New(fault.ExecutionFailed, "the folder for temporary files cannot be made: %w", err)
		}
		own = append(own, mount{kind: writable, path: dir, from: instead})
		makeFolder(instead, dir, valueOf(r.base, "TMPDIR"))
		for _, file := range c.Named {
			if file = Resolve(file); withinAny([]string{dir}, file) && isRegular(file) && !isOwn(filepath.Join(instead, strings.TrimPrefix(file, dir))) {
				c.ReadOnly = append(slices.Clone(c.ReadOnly), file)
			}
		}
	}
	inside := func(file string) bool { return withinAny(dirs, file) && !withinAny(c.Writable, file) }
	named := slices.DeleteFunc(slices.Clone(c.Files), func(file string) bool { return !inside(file) })
	c.Files = slices.DeleteFunc(slices.Clone(c.Files), inside)
	for _, file := range r.scratch.shared(c.Session, named) {
		if _, err := os.Lstat(file); slices.Contains(named, file) && errors.Is(err, fs.ErrNotExist) || isRegular(file) {
			c.Files = append(c.Files, file)
		}
	}
	return own, nil
}

// makeFolder has a folder below dir in what stands in its place. A command may have put
// something else there, which is its own affair; no link leads out.
func makeFolder(instead, dir, folder string) {
	if folder = Resolve(folder); !filepath.IsAbs(folder) || !within(dir, folder) || folder == dir {
		return
	}
	if root, err := os.OpenRoot(instead); err == nil {
		_ = root.MkdirAll(strings.TrimPrefix(folder, dir+"/"), 0o700)
		root.Close()
	}
}

func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// isOwn says whether there is a file that is no place of a mount, which bubblewrap leaves.
func isOwn(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && (info.Mode() != madeByBubblewrap || info.Size() > 0)
}

// landlockABI is the version of Landlock that the kernel has, 0 without it.
func landlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

func landlockMissing(abi int) string {
	switch {
	case abi >= leastABI:
		return ""
	case abi > 0:
		return "this kernel has only its first version, under which programs cannot move files between folders; Linux 5.19 has the next"
	}
	return "this kernel has none, or it is disabled"
}
