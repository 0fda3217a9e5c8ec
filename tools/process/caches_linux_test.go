package process

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pillion/internal/testrig/machine"
)

// What lies in caches is run by the user's own shell, editor and builds.
func TestTheUsersCachesAreOnlyRead(t *testing.T) {
	p := newPlace(t)
	t.Setenv("HOME", p.outside)
	for _, name := range strings.Fields("XDG_CACHE_HOME GOPATH GOCACHE GOMODCACHE GRADLE_USER_HOME") {
		t.Setenv(name, "")
	}
	there := []string{
		".cache/p10k-instant-prompt-me.zsh", ".cache/nvim/luac/init.luac", ".cache/go-build/00/x-a", ".cache/uv/x", ".gradle/init.d/x.gradle", ".gradle/caches/modules-2/x",
		"go/pkg/mod/example.com/m@v1.0.0/m.go", "go/pkg/mod/cache/download/x", ".npm/_npx/x", ".m2/repository/x.jar", ".cargo/registry/src/x.rs", ".local/share/pnpm/store/x",
	}
	for _, name := range there {
		put(t, filepath.Join(p.outside, name), "before")
	}
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		if level == None {
			return // nothing holds it
		}
		var line strings.Builder
		for _, name := range there {
			line.WriteString("cat ~/" + name + "; echo bad > ~/" + name + "; echo bad > ~/" + filepath.Dir(name) + "/new; ")
		}
		got := run(t, r, p.spec(level, line.String()))
		if got.Stdout != strings.Repeat("before", len(there)) {
			t.Errorf("they cannot be read: %+v", got)
		}
		for _, name := range there {
			file := filepath.Join(p.outside, name)
			if now, made := content(file), content(filepath.Join(filepath.Dir(file), "new")); now != "before" || made != "nothing" {
				t.Errorf("%s: %q; beside it %q", name, now, made)
			}
		}
	})
}

// Without a network: what the user has is enough, and nothing is left in it. The module's
// package is one that needs nothing of the standard library, which would be compiled first.
func TestGoBuildsFromTheUsersModules(t *testing.T) {
	const module = "golang.org/x/crypto"
	version, sums := moduleInUse(t, module)
	p := newPlace(t)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(p.outside, "cache"))
	put(t, filepath.Join(p.inside, "go.mod"), "module example.com/main\n\ngo "+strings.TrimPrefix(runtime.Version(), "go")+"\n\nrequire "+module+" "+version+"\n")
	put(t, filepath.Join(p.inside, "go.sum"), sums)
	put(t, filepath.Join(p.inside, "tag.go"), "package tag\n\nimport \""+module+"/cryptobyte/asn1\"\n\nconst Tag = asn1.INTEGER\n")
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		if level == None {
			return // it has no caches of its own
		}
		spec := p.spec(level, "go build . && go env GOMODCACHE GOCACHE")
		spec.Confine.Offline = true
		got := run(t, r, spec)
		own := filepath.Join(Resolve(os.Getenv("XDG_CACHE_HOME")), "pillion", "commands")
		lines := strings.Fields(got.Stdout)
		if got.ExitCode != 0 || len(lines) != 2 || !within(own, lines[0]) || !within(own, lines[1]) {
			t.Fatalf("%+v", got)
		}
		if content(filepath.Join(lines[0], module+"@"+version, "cryptobyte/asn1/asn1.go")) == "nothing" {
			t.Error("it was built from something else than its own cache of modules")
		}
	})
}

// moduleInUse is the version of a module that we use, and what our own go.sum has of it.
func moduleInUse(t *testing.T, module string) (version, sums string) {
	t.Helper()
	all, err := os.ReadFile("../../go.sum")
	must(t, err)
	for line := range strings.Lines(string(all)) {
		if words := strings.Fields(line); words[0] == module {
			if sums += line; !strings.HasSuffix(words[1], "/go.mod") {
				version = words[1]
			}
		}
	}
	return version, sums
}

func TestCachesOfWorkspaces(t *testing.T) {
	one, other := newPlace(t), newPlace(t)
	t.Setenv("HOME", one.outside)
	t.Setenv("XDG_CACHE_HOME", "")
	r := newRunner(t)
	of := func(p layout, dir string) []string {
		folders, _ := r.caches.of(r, Confine{Level: Landlock, Writable: []string{"/usr", p.inside}}, dir)
		return folders
	}
	below := filepath.Join(one.inside, "below")
	put(t, filepath.Join(below, "x"), "")
	if a, b, c := of(one, one.inside), of(one, below), of(other, other.inside); a[0] != b[0] || a[0] == c[0] {
		t.Errorf("%q, %q, %q", a, b, c)
	}
	if folders, variables := r.caches.of(r, Confine{Level: None}, one.inside); len(folders)+len(variables) > 0 {
		t.Errorf("without a sandbox: %q, %q", folders, variables)
	}
}

func TestUnusedCachesAreRemoved(t *testing.T) {
	base := t.TempDir()
	for name, age := range map[string]int{"old": cacheDays + 1, "new": cacheDays - 1} {
		file := put(t, filepath.Join(base, name, "go-mod", "read-only", "x"), "")
		for _, dir := range []string{filepath.Dir(file), filepath.Dir(filepath.Dir(file))} {
			must(t, os.Chmod(dir, 0o555))
		}
		last := time.Now().AddDate(0, 0, -age)
		must(t, os.Chtimes(filepath.Join(base, name), last, last))
	}
	sweepCaches(base)
	if left, err := os.ReadDir(base); err != nil || len(left) != 1 || left[0].Name() != "new" {
		t.Errorf("%v, %v", left, err)
	}
	RemoveAll(filepath.Join(base, "new"))
}

func TestWhereTheUsersCachesAre(t *testing.T) {
	env := []string{"HOME=/home/me", "GOPATH=/elsewhere:/other", "GOCACHE=/builds", "npm_config_cache=relative"}
	for _, c := range caches {
		want, asked := map[string]string{"GOCACHE": "/builds", "GOMODCACHE": "/elsewhere/pkg/mod", "npm_config_cache": "/home/me/.npm", mavenArguments: "/home/me/.m2/repository"}[c.variable]
		if got := c.users(env); asked && got != want {
			t.Errorf("%s: %s", c.variable, got)
		}
	}
}

// A workspace may hold the folder of all commands' caches, or the user's own: where
// variables say so, and where it is a folder of caches itself.
func TestCachesInAWorkspaceAreClosed(t *testing.T) {
	p := newPlace(t)
	t.Setenv("HOME", p.outside)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(p.inside, "cache"))
	t.Setenv("GOMODCACHE", filepath.Join(p.inside, "modules"))
	r := boxing(t)
	if r == nil {
		return
	}
	files := []string{put(t, filepath.Join(p.inside, "cache/pillion/commands/other/go/go-build/x"), "before"), put(t, filepath.Join(p.inside, "modules/example.com/x.go"), "before")}
	for _, file := range files {
		if got := run(t, r, p.spec(Bubblewrap, "echo bad >"+file+"; rm -rf "+file+"; touch here; echo x >$GOCACHE-x")); content(file) != "before" || content(filepath.Join(p.inside, "here")) != "" {
			t.Errorf("%s: %q, %+v", file, content(file), got)
		}
	}
}

// What is removed may change meanwhile: nothing outside of it gets another mode.
func TestRemovingFollowsNoLinks(t *testing.T) {
	base := t.TempDir()
	outside := filepath.Join(base, "outside")
	put(t, filepath.Join(outside, "below", "x"), "")
	for i := range machine.Cases(30, 300) {
		dir, link := filepath.Join(base, "own"), filepath.Join(base, "link")
		put(t, filepath.Join(dir, "a", "x"), "")
		must(t, os.Symlink(outside, link))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 200 {
				_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "a"), unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}()
		RemoveAll(dir)
		<-done
		_ = os.RemoveAll(dir)
		_ = os.RemoveAll(link)
		for _, kept := range []string{outside, filepath.Join(outside, "below")} {
			if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o755 {
				t.Fatalf("after %d: %v, %v", i, info.Mode(), err)
			}
		}
	}
}
