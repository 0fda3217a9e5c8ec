package process

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// cache is a folder in which a tool keeps what it can make or fetch again: code, mostly, that
// the user's own programs run. So a command gets another one, of its workspace alone, by the
// variable that the tool knows, and can only read the user's.
type cache struct {
	program  string
	variable string
	folder   string // in the home, without the variable
}

// caches are of tools that do not work without one that they can write, and that a variable
// leads to another. Any other tool, such as cargo and pre-commit, can read the user's.
var caches = []cache{
	{"go", "GOCACHE", ".cache/go-build"},
	{"go", "GOMODCACHE", "go/pkg/mod"},
	{"golangci-lint", "GOLANGCI_LINT_CACHE", ".cache/golangci-lint"},
	{"staticcheck", "STATICCHECK_CACHE", ".cache/staticcheck"},
	{"npm", "npm_config_cache", ".npm"},
	{"pnpm", "PNPM_HOME", ".local/share/pnpm"},
	{"yarn", "YARN_GLOBAL_FOLDER", ".yarn/berry"},
	{"bun", "BUN_INSTALL_CACHE_DIR", ".bun/install/cache"},
	{"deno", "DENO_DIR", ".cache/deno"},
	{"uv", "UV_CACHE_DIR", ".cache/uv"},
	{"pip", "PIP_CACHE_DIR", ".cache/pip"},
	{"dotnet", "NUGET_PACKAGES", ".nuget/packages"},
	{"composer", "COMPOSER_CACHE_DIR", ".cache/composer"},
	{"bundle", "BUNDLE_USER_CACHE", ".bundle/cache"},
	{"gradle", "GRADLE_USER_HOME", ".gradle"},
	{"mvn", mavenArguments, ".m2/repository"},
	{"cs", "COURSIER_CACHE", ".cache/coursier"},
	{"ccache", "CCACHE_DIR", ".cache/ccache"},
	{"zig", "ZIG_GLOBAL_CACHE_DIR", ".cache/zig"},
}

// mavenArguments has options of Maven; its cache has no variable of its own.
const mavenArguments = "MAVEN_ARGS"

// cacheDays is after how many days an unused folder of caches is removed.
const cacheDays = 30

// ownCaches knows the tools that are there.
type ownCaches struct {
	once    sync.Once
	tools   []cache
	goProxy string // where Go gets modules that the user's cache has not
}

// of gives what a command may write, nothing without a home, and the variables that lead
// tools there. Where a tool can also read a second cache, that is the user's.
func (o *ownCaches) of(r *Runner, c Confine, dir string) (folders []string, variables map[string]string) {
	base := cachesIn(r.base)
	if c.trial || !c.holds() || base == "" {
		return nil, nil
	}
	o.once.Do(func() { o.find(r, base) })
	folder := filepath.Join(base, hash(workspaceOf(c, dir)))
	if os.MkdirAll(folder, 0o700) != nil {
		return nil, nil
	}
	folders = []string{folder}
	now := time.Now()
	_ = os.Chtimes(folder, now, now) // it is in use
	variables = map[string]string{}
	for _, t := range o.tools {
		if sums := t.checksums(r.base); sums != "" {
			folders = append(folders, sums)
		}
		if users := t.users(r.base); !slices.Contains(c.Writable, users) {
			o.lead(variables, t, filepath.Join(folder, t.program, filepath.Base(t.folder)), users)
		}
	}
	return folders, variables
}

// find looks once, and removes what nobody has used for long.
func (o *ownCaches) find(r *Runner, base string) {
	sweepCaches(base)
	o.tools = slices.DeleteFunc(slices.Clone(caches), func(c cache) bool { return lookPath(c.program, r.base) == "" })
	if lookPath("go", r.base) == "" {
		return
	}
	f := r.found()
	spec := Spec{Args: []string{"go", "env", "GOPROXY"}, Dir: "/", Timeout: tryWithin, Confine: Confine{Level: f.Level, Offline: f.Offline, trial: true}}
	p, err := r.start(context.Background(), spec, f.box, nil)
	if err != nil {
		return
	}
	if got, err := p.Wait(context.Background()); err == nil && got.ExitCode == 0 {
		o.goProxy = strings.TrimSpace(got.Stdout)
	}
}

// lead sets what leads a tool to its own cache, and beside it to the user's.
func (o *ownCaches) lead(variables map[string]string, t cache, own, users string) {
	variables[t.variable] = own
	switch t.variable {
	case mavenArguments:
		variables[t.variable] = "-Dmaven.repo.local=" + own + " -Dmaven.repo.local.tail=" + users
	case "GOMODCACHE":
		variables["GOPROXY"] = strings.TrimSuffix("file://"+users+"/cache/download,"+o.goProxy, ",")
	case "GRADLE_USER_HOME":
		variables["GRADLE_RO_DEP_CACHE"] = filepath.Join(users, "caches")
	}
}

// users is the user's own cache.
func (c cache) users(env []string) string {
	if named := valueOf(env, c.variable); filepath.IsAbs(named) {
		return Resolve(named)
	}
	if c.variable == "GOMODCACHE" {
		return filepath.Join(goPath(env), "pkg/mod")
	}
	return Resolve(filepath.Join(valueOf(env, "HOME"), c.folder))
}

func goPath(env []string) string {
	if paths := filepath.SplitList(valueOf(env, "GOPATH")); len(paths) > 0 && filepath.IsAbs(paths[0]) {
		return Resolve(paths[0])
	}
	return Resolve(filepath.Join(valueOf(env, "HOME"), "go"))
}

// checksums is where Go keeps what its checksum database has signed, which no variable
// moves. It verifies what it reads there.
func (c cache) checksums(env []string) string {
	if dir := filepath.Join(goPath(env), "pkg/sumdb"); c.variable == "GOMODCACHE" && os.MkdirAll(dir, 0o755) == nil {
		return dir
	}
	return ""
}

// cachesIn is where the caches of commands are, "" without a home.
func cachesIn(env []string) string {
	base, home := valueOf(env, "XDG_CACHE_HOME"), valueOf(env, "HOME")
	if !filepath.IsAbs(home) || home == "/" {
		return ""
	}
	if !filepath.IsAbs(base) {
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(Resolve(base), "pillion", "commands")
}

// Caches are folders with code that the user's programs run later: their own caches, and all that
// are Pillion's.
func Caches(env []string) []string {
	out := usersCaches(env)
	if commands := cachesIn(env); commands != "" {
		out = append(out, filepath.Dir(commands))
	}
	return out
}

func usersCaches(env []string) (out []string) {
	for _, c := range caches {
		out = append(out, c.users(env))
	}
	return out
}

// workspaceOf is the folder whose commands share caches: the innermost that dir is in.
func workspaceOf(c Confine, dir string) (out string) {
	dir = Resolve(dir)
	for _, w := range append(slices.Clone(c.Writable), c.ReadOnly...) {
		if isFolder(w) && within(w, dir) && len(w) > len(out) {
			out = w
		}
	}
	return cmp.Or(out, dir)
}

// sweepCaches removes folders of caches that nobody has used for long.
func sweepCaches(base string) {
	entries, _ := os.ReadDir(base) //nolint:errcheck // then there are none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && time.Since(info.ModTime()) > cacheDays*24*time.Hour {
			RemoveAll(filepath.Join(base, e.Name()))
		}
	}
}

// RemoveAll is os.RemoveAll for folders too that cannot be written, as Go makes them. It
// follows no link, also none that a command puts there meanwhile.
func RemoveAll(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	_ = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = root.Chmod(path, 0o700)
		}
		return nil
	})
	root.Close()
	_ = os.RemoveAll(dir)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
