package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/state"
)

// cache is a folder in which a tool keeps what it can make or fetch again.
type cache struct {
	variable string // that names another place
	below    string // the folder's name in that place
	folder   string // in the home, without the variable
	program  string // that needs it; the folder is made when the program is there. "": everybody does
	optional bool   // never made
}

// caches is what commands may write beside the workspace. A folder is on this
// list when builds and tests of ordinary projects fail, or fetch all over again,
// without it, and when no program that people start by name lies in it. So these
// are missing on purpose: ~/.local, ~/.cargo/bin, ~/go/bin, ~/.rustup, ~/.config.
var caches = []cache{
	{variable: "XDG_CACHE_HOME", folder: ".cache"},
	{variable: "GOCACHE", folder: ".cache/go-build", program: "go"},
	{variable: "GOPATH", below: "pkg", folder: "go/pkg", program: "go"},
	{variable: "GOMODCACHE", folder: "go/pkg/mod", program: "go"},
	{variable: "npm_config_cache", folder: ".npm", program: "npm"},
	{folder: ".yarn/berry/cache", optional: true},
	{folder: ".local/share/pnpm/store", optional: true},
	{folder: ".bun/install/cache", optional: true},
	{variable: "DENO_DIR", folder: ".cache/deno", optional: true},
	{variable: "CARGO_HOME", below: "registry", folder: ".cargo/registry", program: "cargo"},
	{variable: "CARGO_HOME", below: "git", folder: ".cargo/git", program: "cargo"},
	{folder: ".m2/repository", program: "mvn"},
	{variable: "GRADLE_USER_HOME", folder: ".gradle", program: "gradle"},
	{folder: ".nuget/packages", program: "dotnet"},
	{folder: ".bundle/cache", optional: true},
	{folder: ".composer/cache", optional: true},
	{folder: ".cabal/packages", optional: true},
	{folder: ".hex", optional: true},
	{variable: "UV_CACHE_DIR", folder: ".cache/uv", optional: true},
}

// private is what of a home no command may write under bubblewrap, even where the
// home itself is the workspace: keys, and what shells and programs read when they
// start. With what Pillion keeps it is privatePlaces.
var private = strings.Fields(`
	.ssh .gnupg .aws .azure .kube .docker .config .local/bin .local/share/keyrings .local/share/systemd
	.profile .bash_profile .bash_login .bash_logout .bashrc .bash_aliases .zshenv .zprofile .zshrc .zlogin .kshrc .cshrc .tcshrc .login
	.gitconfig .netrc .npmrc .pypirc .pam_environment .xprofile .xinitrc .xsession .xsessionrc .inputrc .vimrc .vim .emacs .emacs.d .tmux.conf .screenrc
	.vscode .vscode-server .cursor .cargo/bin .cargo/config.toml .cargo/env .rustup go/bin
`)

// privatePlaces are the private places of a home, and what Pillion keeps.
func privatePlaces(home string) []string {
	var out []string
	for _, name := range private {
		out = append(out, filepath.Join(home, name))
	}
	if own, err := state.Folder(""); err == nil {
		out = append(out, Resolve(own))
	}
	return out
}

// writablePlaces are the folders beside the workspace that commands may write: those for
// temporary files and the build caches. They are found from the environment that
// commands get; the caches that a tool on its PATH needs are made.
func writablePlaces(env []string) []string {
	out := temporary(env)
	home := valueOf(env, "HOME")
	if !filepath.IsAbs(home) || home == "/" {
		return out
	}
	for _, c := range caches {
		if dir := c.place(env, home); dir != "" {
			out = append(out, dir)
		}
	}
	return outermost(out)
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

// place is the cache's folder, "" if it is not there and not to be made.
func (c cache) place(env []string, home string) string {
	dir := filepath.Join(home, c.folder)
	if named := valueOf(env, c.variable); c.variable != "" && filepath.IsAbs(named) {
		dir = filepath.Join(filepath.SplitList(named)[0], c.below)
	}
	if within(dir, home) || slices.ContainsFunc(privatePlaces(home), func(place string) bool { return within(place, dir) }) {
		return "" // a variable that names the home, or what must not be written
	}
	if !isFolder(dir) {
		if c.optional || c.program != "" && look(c.program, env) == "" || os.MkdirAll(dir, 0o700) != nil {
			return ""
		}
	}
	return Resolve(dir)
}

// look finds a program on the PATH of env.
func look(name string, env []string) string {
	for _, dir := range filepath.SplitList(valueOf(env, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
