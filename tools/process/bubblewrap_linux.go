package process

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// boxFD is where bubblewrap reports: that the command was started, and how it
// ended. Without that word whatever ended was not the command.
const boxFD = 3

// kept are root's rights in a box: those over its own files and processes. With
// CAP_SYS_ADMIN it could undo the mounts, with others reach past them.
var kept = strings.Fields("CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETGID CAP_SETUID CAP_NET_BIND_SERVICE")

// words are what makes bubblewrap's command line before the command's own.
//
// Everything can be read and nothing written, but for what mounts lets through.
// /dev has the harmless devices alone and /proc the box's processes. /run, where
// the sockets of the session, of docker and of the system's services are, is
// empty but for what names are resolved with.
func (b box) words(c Confine, mounts []mount) []string {
	out := []string{
		b.program, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--json-status-fd", strconv.Itoa(boxFD),
	}
	out = append(out, b.options...)
	if c.Offline {
		out = append(out, "--unshare-net")
	}
	if boxFilter() != nil {
		out = append(out, "--seccomp", strconv.Itoa(filterFD))
	}
	if os.Geteuid() == 0 {
		for _, right := range kept {
			out = append(out, "--cap-add", right)
		}
	}
	root := "--ro-bind"
	if slices.Contains(c.Writable, "/") {
		root = "--bind"
	}
	out = append(out, root, "/", "/", "--dev", "/dev", "--proc", "/proc")
	if os.Geteuid() == 0 { // the kernel's own switches ask for root, and not for a right
		out = append(out, "--ro-bind", "/proc/sys", "/proc/sys", "--ro-bind-try", "/proc/sysrq-trigger", "/proc/sysrq-trigger")
	}
	for _, m := range mounts {
		out = append(out, m.words()...)
	}
	for _, m := range mounts {
		if m.kind == frozen {
			out = append(out, "--remount-ro", m.path)
		}
	}
	return append(out, "--chdir", "/", "--")
}

// keyOf names a box. A file that was replaced since is another: a box that was made
// before has the old one.
func keyOf(words []string, mounts []mount) string {
	var out strings.Builder
	for _, word := range words {
		out.WriteString(word + "\x00")
	}
	for _, m := range mounts {
		var info unix.Stat_t
		if unix.Lstat(m.path, &info) == nil {
			fmt.Fprintf(&out, "%d.%d ", info.Dev, info.Ino)
		}
	}
	return out.String()
}

// mount is one place in a box that differs from the rest.
type mount struct {
	kind string // bubblewrap's option without its dashes
	path string
	from string // what stands there; empty: what is there anyway
}

const (
	writable = "bind"
	named    = "bind-try" // made, if it can be, by the guardian
	readable = "ro-bind-try"
	empty    = "tmpfs"
	frozen   = "empty, and then read only"
	masked   = "ro-bind"
	link     = "symlink"
)

func (m mount) words() []string {
	switch m.kind {
	case empty, frozen:
		return []string{"--tmpfs", m.path}
	case masked: // a socket: nobody listens at /dev/null
		return []string{"--ro-bind", cmp.Or(m.from, os.DevNull), m.path}
	}
	return []string{"--" + m.kind, m.source(), m.path}
}

// source is what a kind of bind shows.
func (m mount) source() string { return cmp.Or(m.from, m.path) }

// mounts are the places in order, folders before what is in them, with those that show
// something else than what is there.
func mounts(c Confine, places, env []string, others []mount) []mount {
	at := map[string]mount{}
	put := func(kind string, paths ...string) {
		for _, path := range paths {
			if kind != writable && withinAny(c.Writable, path) {
				path = reached(path)
			}
			if path != "/" && isPlace(path) {
				at[path] = mount{kind: kind, path: path}
			}
		}
	}
	put(empty, services()...)
	put(readable, systemsIn...)
	if c.Home == "" {
		put(readable, resolvers()...)
	}
	put(readable, neededIn(temporary(env), env)...)
	if c.Home != "" {
		put(empty, c.Home)
	}
	put(writable, places...)
	put(writable, c.Writable...)
	for _, m := range others {
		at[m.path] = m
	}
	if c.Home == "" {
		put(readable, privateIn(append(slices.Clone(c.Writable), places...), env)...)
	}
	put(readable, c.ReadOnly...)
	hidden := empty
	if c.Home != "" { // what a box writes there would be lost
		hidden = frozen
	}
	put(hidden, c.Hidden...)
	freeze(at, "/var/tmp", 1, new(int))
	if home := valueOf(env, "HOME"); filepath.IsAbs(home) && c.Home == "" {
		for _, name := range listening {
			freeze(at, Resolve(filepath.Join(Resolve(home), name)), frozenDepth, new(int))
		}
	}
	for _, socket := range sockets() {
		if !withinAny(c.Writable, socket) && !covered(at, socket) {
			put(masked, socket)
		}
	}
	for _, file := range c.Files {
		at[file] = mount{kind: named, path: file}
	}
	out := slices.Collect(maps.Values(at))
	slices.SortFunc(out, func(a, b mount) int { return strings.Compare(a.path, b.path) })
	return out
}

// listening are the folders of a home in which programs that hold keys, run containers or drive an
// editor wait for others.
var listening = strings.Fields(".ssh .gnupg .1password .config/1Password .bitwarden .docker .colima .lima .rd .orbstack .podman .emacs.d/server .local/share/code-server")

// How deep such a folder is frozen, and how many entries in all: each is a mount. What is deeper, or
// would be too many, is shown as it is.
const (
	frozenDepth   = 3
	frozenEntries = 100
)

// freeze shows of a folder what is in it now: a socket that is made there later is not reached. shown
// counts the entries.
func freeze(at map[string]mount, dir string, depth int, shown *int) {
	entries, err := os.ReadDir(dir)
	if m, decided := at[dir]; err != nil || depth == 0 || *shown+len(entries) > frozenEntries || !isPlace(dir) || decided && m.kind != readable && m.kind != frozen {
		return
	}
	*shown += len(entries)
	at[dir] = mount{kind: frozen, path: dir}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if m, decided := at[path]; decided && m.kind != readable {
			continue
		}
		switch target, err := os.Readlink(path); {
		case err == nil:
			at[path] = mount{kind: link, path: path, from: target}
		case e.IsDir():
			at[path] = mount{kind: readable, path: path}
			freeze(at, path, depth-1, shown)
		case e.Type().IsRegular():
			at[path] = mount{kind: readable, path: path}
		}
	}
}

// reached is the path or, of one in a folder that cannot be searched now, that folder: a command that owns it can open it.
func reached(path string) string {
	for {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrPermission) || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// isPlace says whether something can be mounted at path. Over a link nothing can.
func isPlace(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink == 0
}

// covered says whether the innermost place around path has decided about it: an
// empty one, or what of /run is let through.
func covered(at map[string]mount, path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if m, there := at[dir]; there {
			return m.kind == empty || m.kind == frozen || m.from != "" || m.kind == readable && within("/run", dir)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// services are folders in which running programs wait for others: the system's and the
// session's.
func services() []string {
	out := []string{"/run", os.Getenv("XDG_RUNTIME_DIR"), "/var/run"}
	return slices.DeleteFunc(out, func(dir string) bool {
		return !filepath.IsAbs(dir) || !isFolder(dir) || Resolve(dir) != filepath.Clean(dir)
	})
}

// neededIn are the home and the folders of programs that lie in folders of which others are
// shown.
func neededIn(hidden, env []string) []string {
	return slices.DeleteFunc(append(filepath.SplitList(valueOf(env, "PATH")), valueOf(env, "HOME")), func(dir string) bool {
		return !filepath.IsAbs(dir) || !withinAny(hidden, Resolve(dir)) || slices.Contains(hidden, Resolve(dir))
	})
}

// systemsIn are what of /run has programs, on some systems.
var systemsIn = strings.Fields("/run/current-system /run/booted-system /run/wrappers /run/opengl-driver")

// resolvers are what of /run programs need to find hosts and users, and databases that tests speak to: nothing that a command
// reaches which nobody was asked about.
func resolvers() []string {
	out := []string{Resolve("/etc/resolv.conf")}
	if !within("/run", out[0]) {
		out = nil
	}
	return append(out,
		"/run/systemd/resolve", "/run/resolvconf", "/run/nscd", "/run/systemd/userdb",
		"/run/postgresql", "/run/mysqld", "/run/redis")
}

// privateIn are the private places of the home, and caches, that lie in a folder that can be
// written. Whoever names a place opens the caches in it as well, but for those of commands.
func privateIn(writable, env []string) []string {
	home := valueOf(env, "HOME")
	if !filepath.IsAbs(home) {
		return nil
	}
	private, commands := privatePlaces(Resolve(home)), cachesIn(env)
	var out []string
	for _, path := range slices.Concat(private, usersCaches(env), []string{commands}) {
		named := func(dir string) bool {
			return dir == path || path != commands && within(dir, path) && slices.Contains(private, dir)
		}
		if withinAny(writable, path) && !slices.ContainsFunc(writable, named) {
			out = append(out, path)
		}
	}
	return out
}

// sockets are the local sockets that have a name in the file system: whoever may
// write to one can speak with the program behind it, on a file system that is read
// only as well. A name that is not whole is below the folder of whoever holds the socket.
func sockets() []string {
	read, _ := os.ReadFile("/proc/net/unix") //nolint:errcheck // without it there are none to be seen
	table := string(read)
	var out []string
	add := func(path string) {
		if path = Resolve(path); !slices.Contains(out, path) && isSocket(path) {
			out = append(out, path)
		}
	}
	relative := map[string]string{} // by the link of a descriptor
	end := len(table)
	for _, at := range slices.Backward(socketHead.FindAllStringSubmatchIndex(table, -1)) {
		inode, path := table[at[2]:at[3]], strings.TrimSuffix(table[at[1]:end], "\n")
		switch end = at[0]; {
		case path == "" || path[0] == '@': // abstract
		case filepath.IsAbs(path):
			add(path)
		default:
			relative["socket:["+inode+"]"] = path
		}
	}
	if len(relative) > 0 {
		addRelative(relative, add)
	}
	// One that was made in another network is not in the table: what is named to this program, and what
	// is mounted here.
	for _, entry := range os.Environ() {
		_, value, _ := strings.Cut(entry, "=")
		if path := socketNamed.FindStringSubmatch(value); path != nil {
			add(path[1])
		}
	}
	mounted, _ := os.ReadFile("/proc/self/mountinfo") //nolint:errcheck // likewise
	for line := range strings.Lines(string(mounted)) {
		if columns := strings.Fields(line); len(columns) > 4 {
			add(columns[4])
		}
	}
	return out
}

// socketNamed is a value of the environment that names a socket: a path, a URL of it, or an address
// of D-Bus.
var socketNamed = regexp.MustCompile(`^(?:unix:(?:path=|//)?)?(/[^,:;]*)`)

// socketHead is what the table has before a socket's name, with its inode. The name goes on to the
// next one's head: it may have any character.
var socketHead = regexp.MustCompile(`(?m)^\w+: [0-9A-F]{8} [0-9A-F]{8} [0-9A-F]{8} [0-9A-F]{4} [0-9A-F]{2} +(\d+)(?: |$)`)

// addRelative finds the processes that hold the sockets.
func addRelative(names map[string]string, add func(path string)) {
	processes, _ := filepath.Glob("/proc/[0-9]*") //nolint:errcheck // the pattern is well formed
	for _, process := range processes {
		descriptors, _ := os.ReadDir(process + "/fd") //nolint:errcheck // another user's
		for _, d := range descriptors {
			held, err := os.Readlink(process + "/fd/" + d.Name())
			if err != nil {
				continue
			}
			if name, is := names[held]; is {
				if folder, err := os.Readlink(process + "/cwd"); err == nil {
					add(filepath.Join(folder, name))
				}
			}
		}
	}
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0 && Resolve(path) == path
}
