package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"pillion/tools/policy"
)

// homeTools are what of a home programs need to start and to find what they were installed with: no keys
// and no settings, but git's.
var homeTools = strings.Fields(`
	.asdf .bun/bin .cargo/bin .cargo/env .cargo/git .cargo/registry .config/git/attributes .config/git/config .config/git/ignore .deno/bin .fnm .gitconfig .gitignore .gradle/caches .local/bin .local/lib
	.local/share/fnm .local/share/mise .local/share/pnpm .local/share/uv .m2/repository .nodenv .npm/_cacache .nvm .pyenv .rbenv .rustup/settings.toml .rustup/toolchains .rye .sdkman/candidates .volta
	go/bin go/pkg sdk
`)

// system are the folders of / with programs and their libraries and settings, and those that a box has made anyway.
var system = strings.Fields("bin boot dev etc gnu lib lib32 lib64 libx32 nix opt proc run sbin snap sys tmp usr")

// blanks finds files with secrets in open folders, so that the box shows them empty. What it knows of a folder
// holds as long as the kernel says that nothing was added to it, which no program can set back.
type blanks struct {
	mu      sync.Mutex // guards folders
	folders map[string]blankFolder
}

type blankFolder struct {
	changed unix.StatxTimestamp
	inode   uint64
	known   bool // it was read long enough after it changed
	secrets []string
	below   []string
	stores  []string // where a repository keeps the contents of files, secrets among them
}

// stores are the folders of a repository that have those.
var stores = []string{"annex", "lfs", "objects", "rr-cache"}

// How many folders are looked at, and how many files are hidden in one box, each of which is a mount. Where there
// are more, there is no box.
const (
	mostFolders = 50_000
	mostBlanks  = 200
)

// Box is how a command is held that nobody was asked about: it writes nothing, has no network, and of files that
// look like secrets it sees none, nor of the home what is neither among homeTools nor one of more, nor without git what
// repositories keep of files. It reports false where there can be no such box.
func (r *Runner) Box(b Box) (Confine, bool) {
	home := valueOf(r.base, "HOME")
	if f := r.found(); f.Level != Bubblewrap || !f.Offline || !filepath.IsAbs(home) || b.Layered && !f.Layers.Works {
		return Confine{}, false
	}
	home = Resolve(home)
	c := Confine{Level: Bubblewrap, Offline: true, Home: home}
	var stored []string
	for _, folder := range b.Folders {
		folder = Resolve(folder)
		if within(folder, home) || !r.blanks.in(folder, &c.Blank, &c.Hidden, &stored) {
			return Confine{}, false
		}
		if b.Writes {
			c.Writable = append(c.Writable, folder)
		} else {
			c.ReadOnly = append(c.ReadOnly, folder)
		}
	}
	if !b.Git {
		c.Hidden = append(c.Hidden, stored...)
	}
	for _, name := range homeTools {
		c.ReadOnly = append(c.ReadOnly, filepath.Join(home, name))
	}
	if own, err := Own(); err == nil { // which is git's reader; see withGit
		b.Home = append(slices.Clone(b.Home), own)
	}
	for _, path := range b.Home {
		c.ReadOnly = append(c.ReadOnly, Resolve(path))
	}
	top, err := os.ReadDir("/")
	if err != nil {
		return Confine{}, false
	}
	others := []string{home} // and what is of other people and projects
	for _, e := range top {
		if dir := "/" + e.Name(); e.IsDir() && !slices.Contains(system, e.Name()) && !slices.Contains(c.ReadOnly, dir) && dir != home {
			others = append(others, dir)
		}
	}
	c.Hidden = append(c.Hidden, others[1:]...)
	for _, dir := range filepath.SplitList(valueOf(r.base, "PATH")) {
		if dir = Resolve(dir); !withinAny(others, dir) || slices.Contains(others, dir) || withinAny(c.ReadOnly, dir) {
			continue
		}
		if above := filepath.Dir(dir); filepath.Base(dir) == "bin" && !slices.Contains(others, above) {
			dir = above // where its libraries are
		}
		c.ReadOnly = append(c.ReadOnly, dir)
	}
	return c, true
}

// in adds the files with secrets in a folder, those below it of which cannot be told what is in them, and the stores of its
// repositories.
func (b *blanks) in(folder string, out, unknown, stored *[]string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.folders == nil {
		b.folders = map[string]blankFolder{}
	}
	seen := 0
	todo := []string{folder}
	for len(todo) > 0 {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen++; seen > mostFolders {
			return false
		}
		f, ok := b.secretsOf(dir)
		switch {
		case !ok && dir == folder:
			return false
		case !ok: // a layer would let the command read it, and one that can be searched it reads by name
			*unknown = append(*unknown, dir)
		}
		for _, name := range f.secrets {
			path := filepath.Join(dir, name)
			if real := Resolve(path); isRegular(real) && !slices.Contains(*out, real) {
				*out = append(*out, real)
			}
		}
		for _, name := range f.stores {
			*stored = append(*stored, Resolve(filepath.Join(dir, name)))
		}
		if len(*out)+len(*unknown)+len(*stored) > mostBlanks {
			return false
		}
		for _, name := range f.below {
			todo = append(todo, filepath.Join(dir, name))
		}
	}
	return true
}

// secretsOf gives what of a folder looks like a secret, and the folders in it; false where it cannot be read.
func (b *blanks) secretsOf(dir string) (blankFolder, bool) {
	var info unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_CTIME, &info) != nil {
		return blankFolder{}, false
	}
	known, there := b.folders[dir]
	if there && known.known && known.changed == info.Ctime && known.inode == info.Ino {
		return known, true
	}
	now := time.Now()
	entries, err := os.ReadDir(dir)
	if err != nil || unix.Access(dir, unix.X_OK) != nil {
		return blankFolder{}, false
	}
	f := blankFolder{changed: info.Ctime, inode: info.Ino, known: now.Sub(time.Unix(info.Ctime.Sec, int64(info.Ctime.Nsec))) > time.Second}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name })
	}
	isRepository := has("HEAD") && has("objects") && has("refs")
	for _, e := range entries {
		switch name := e.Name(); {
		case isRepository && slices.Contains(stores, name) && isFolder(filepath.Join(dir, name)):
			f.stores = append(f.stores, name)
		case e.IsDir():
			f.below = append(f.below, name)
		case policy.Secret(filepath.Join(dir, name)):
			f.secrets = append(f.secrets, name)
		}
	}
	if len(b.folders) >= 2*mostFolders {
		clear(b.folders)
	}
	b.folders[dir] = f
	return f, true
}
