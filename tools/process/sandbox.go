package process

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pillion/internal/state"
	"pillion/internal/way"
)

// Level is what holds a command.
type Level string

// The levels, weakest first. What each holds, and what it does not, is the table
// in docs/security.md.
const (
	None       Level = "none"
	Landlock   Level = "landlock"
	Bubblewrap Level = "bubblewrap"
)

// Confine says how a command is held. The zero value holds nothing. Its paths are
// absolute and free of links, as Resolve gives them.
//
// A command may always write to folders for temporary files and to caches of its own:
// see ownCaches.
type Confine struct {
	// Level is what must hold the command: it does not start with less.
	Level    Level
	Writable []string // folders; all else can be read only
	// Files may be written although they lie elsewhere, or in ReadOnly: the user
	// saw them named. One that is not there is made, empty.
	Files  []string
	Staged []Staged
	// Session is whose folder for temporary files the command gets: bubblewrap shows it in
	// place of those that all programs share.
	Session string
	// Named are paths that the line names. Of files among the shared temporary ones, the
	// command can read these.
	Named    []string
	ReadOnly []string // what of Writable can be read only; Landlock has no such thing
	Hidden   []string // folders that look empty; Landlock has no such thing
	Offline  bool     // without a network
	// Hosts can be reached all the same, by an HTTP proxy in the box, and Private ones of them
	// where their addresses are not public; see web.Proxy. Landlock has no such thing.
	Hosts        []string
	PrivateHosts []string

	// Home, if it is given, looks empty but for what is ReadOnly in it, and the files in Blank look empty.
	Home  string
	Blank []string

	// Layers are over folders in Writable. Where Level is not Bubblewrap there are none.
	Layers []Layer

	trial bool // nothing is made for it
}

// Box is what Runner.Box holds a command to.
type Box struct {
	Folders []string // the open ones
	Home    []string // of the home, beside what programs need
	Git     bool     // it sees what repositories keep of files
	Writes  bool     // it may write in the folders
	Layered bool     // over them layers are to be made
}

// Layer has what a command changes in a folder go into another one: it sees the folder with its changes, and nobody
// else sees them. What is in Through it changes in the folder itself.
type Layer struct {
	Folder  string   // absolute, and free of links
	Changes string   // as overlayfs leaves them
	Work    string   // overlayfs's own, on the same disk
	Through []string // folders in Folder, absolute
	Fixed   []string // what in Folder stays as it is everywhere and cannot be written, absolute
}

// holds says whether anything does.
func (c Confine) holds() bool { return c.Level != "" && c.Level != None }

// Writes says whether a path can be written without being named.
func (c Confine) Writes(path string) bool {
	inside := func(dirs []string) (longest int) {
		for _, dir := range dirs {
			if within(dir, path) {
				longest = max(longest, len(dir))
			}
		}
		return longest
	}
	return inside(c.Writable) > inside(c.ReadOnly)
}

// movable says whether commands can put something else in the place of path: it lies in a folder
// that they can write.
func (c Confine) movable(path string) bool {
	return slices.ContainsFunc(c.Writable, func(dir string) bool { return dir != path && within(dir, path) })
}

// Walls are what commands can be held with here, found by trying.
type Walls struct {
	Level      Level // the strongest that works
	Bubblewrap Wall
	Landlock   Wall
	ABI        int  // Landlock's, 0 without it
	Offline    bool // that level takes the network away as well
	Layers     Wall // of Bubblewrap: over the workspace; see Layer
}

// Wall is one means to hold commands.
type Wall struct {
	Path  string // of the program, if it is one and is there
	Works bool
	Why   string // it does not work
}

// Escape is a way out of the sandbox that was tried.
type Escape struct {
	Way    string // "write to a file elsewhere"
	Closed bool
	Due    bool // the level is to close it, as docs/security.md says
}

// walls tries once, and again after forget.
type walls struct {
	trying sync.Mutex // held while somebody tries
	known  atomic.Pointer[found]
}

// tryWithin bounds a trial: a few times what it takes.
var tryWithin = 5 * time.Second // tests have more

// found is what trying found.
type found struct {
	Walls
	box box
}

// Walls tries what commands can be held with, the first time that it is asked.
func (r *Runner) Walls() Walls { return r.found().Walls }

func (r *Runner) found() found {
	if known := r.walls.known.Load(); known != nil {
		return *known
	}
	r.walls.trying.Lock()
	defer r.walls.trying.Unlock()
	if known := r.walls.known.Load(); known != nil {
		return *known
	}
	f := r.try()
	r.walls.known.Store(&f)
	return f
}

// forget has the next command try anew: something that worked did not.
func (r *Runner) forget() { r.walls.known.Store(nil) }

// boxOrder is the box that a command is to run in. Two with the same key are the
// same box.
type boxOrder struct {
	words []string // bubblewrap's command line, up to the command's own; none: there is no box
	env   []string // in the box, before the command's own
	key   string
	again bool // another command may need the same one
}

// Resolve is the path with every link followed, as far as it exists, and of a link to what
// does not exist where that would be.
func Resolve(path string) string {
	if filepath.IsAbs(path) {
		return way.Resolve(path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// within says whether path is dir or lies below it.
func within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+string(filepath.Separator))
}

func withinAny(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(dir, path) })
}

// outermost are the folders without those that lie in another of them.
func outermost(dirs []string) []string {
	sorted := slices.Clone(dirs)
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	var out []string
	for _, dir := range sorted {
		if !withinAny(out, dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// private is what of a home no command may write under bubblewrap, even where the
// home itself is the workspace: keys, and what shells and programs read when they
// start. With what Pillion keeps it is privatePlaces.
var private = strings.Fields(`
	.ssh .gnupg .aws .azure .kube .docker .config .local/bin .local/share/pillion .local/share/keyrings .local/share/systemd
	.profile .bash_profile .bash_login .bash_logout .bashrc .bash_aliases .zshenv .zprofile .zshrc .zlogin .kshrc .cshrc .tcshrc .login
	.gitconfig .netrc .npmrc .pypirc .pam_environment .xprofile .xinitrc .xsession .xsessionrc .inputrc .vimrc .vim .emacs .emacs.d .tmux.conf .screenrc
	.vscode .vscode-server .cursor .cargo .rustup go/bin go/pkg .cache .npm .gradle .m2 .nuget .bun .deno .yarn .local/share/pnpm
`)

// privatePlaces are the private places of a home, and what Pillion keeps.
func privatePlaces(home string) []string {
	var out []string
	for _, name := range private {
		out = append(out, filepath.Join(Resolve(filepath.Join(home, filepath.Dir(name))), filepath.Base(name)))
	}
	if own, err := state.Folder(""); err == nil {
		out = append(out, Resolve(own))
	}
	return out
}

// temporary are the folders for temporary files.
func temporary(env []string) []string {
	var out []string
	for _, dir := range []string{"/tmp", valueOf(env, "TMPDIR")} {
		home := valueOf(env, "HOME")
		if !filepath.IsAbs(dir) || !isFolder(dir) {
			continue
		}
		if dir = Resolve(dir); dir != "/" && (home == "" || !within(dir, Resolve(home)) || dir == "/tmp") {
			out = append(out, dir)
		}
	}
	return outermost(out)
}

// IsTemporary says whether a file lies in a folder for temporary files.
func IsTemporary(file string) bool {
	return withinAny(append(temporary(os.Environ()), "/var/tmp"), file)
}

// IsProgram says whether there is a file that can be run.
func IsProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// lookPath finds a program on the PATH of env.
func lookPath(name string, env []string) string {
	for _, dir := range filepath.SplitList(valueOf(env, "PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && IsProgram(path) {
			return path
		}
	}
	return ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
