//go:build unix

package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/agents/relay"
	"pillion/internal/testrig"
	"pillion/lspbridge"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/session"
)

func TestVersions(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct{ says, want string }{
		"git":                  {"echo git version 2.39.5", "2.39.5"},
		"rg":                   {"echo 'ripgrep 13.0.0 (rev x)'; echo -SIMD", "13.0.0"},
		"nvim":                 {"echo NVIM v0.10.4-dev-17+gabc", "0.10.4-dev-17+gabc"},
		"subl":                 {"echo Sublime Text Build 4200", "build 4200"},
		"pylsp":                {"echo pylsp v1.7.1 >&2", "1.7.1"},
		"bash-language-server": {"echo nothing", ""},
		"emacs":                {"echo 29.1; exit 3", ""},
	} {
		path := p.script(t, name, c.says)
		if got := newLookup(p.project, p.home).version(t.Context(), path, "--version"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	r := p.examine(t)
	if f := finding(t, r, "program.git"); f.Status != OK || f.Detail != "2.39.5, "+filepath.Join(p.bin, "git") || f.Data["version"] != "2.39.5" {
		t.Errorf("got %+v", f)
	}
}

// TestLanguagesOfTheFolder: each with its server, or how to get it.
func TestLanguagesOfTheFolder(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"a.py", "b.py", "main.go", "run.sh", "main.rs", "x.ts", "c.yaml"} {
		must(t, os.WriteFile(filepath.Join(p.project, name), nil, 0o600))
	}
	p.script(t, "pylsp", "echo pylsp v1.7.1")
	p.script(t, "gopls", `[ "$1" = version ] && echo golang.org/x/tools/gopls v0.23.0`)
	p.script(t, "bash-language-server", "echo nothing")
	p.script(t, "rust-analyzer", "echo rust-analyzer 1.80.0")
	servers, _ := lspbridge.Servers(nil)
	r := Examine(t.Context(), Subject{Folder: p.project, Servers: servers})
	for id, want := range map[string]Finding{
		"language.python":      {Status: OK, Detail: "2 files: pylsp 1.7.1, " + p.bin + "/pylsp"},
		"language.go":          {Status: OK, Detail: "1 file: gopls 0.23.0, " + p.bin + "/gopls"},
		"language.shellscript": {Status: Missing, Detail: "1 file: bash-language-server, " + p.bin + "/bash-language-server; without shellcheck it finds no errors", Hint: "apt install shellcheck, or brew install shellcheck"},
		"language.rust": {
			Status: Info, Detail: "1 file: rust-analyzer 1.80.0, " + p.bin + "/rust-analyzer; disabled by default: it runs cargo and rustc as the repository's .cargo/config.toml and rust-toolchain.toml say",
			Hint: "if you trust the repository: languageServers.servers.rust-analyzer.enabled in your own settings",
		},
		"language.typescript": {Status: Missing, Detail: "1 file: typescript is not installed", Hint: "npm install -g typescript"},
		"language.yaml":       {Status: Info, Detail: "1 file: yaml-language-server is not installed", Hint: "npm install -g yaml-language-server"},
	} {
		if f := finding(t, r, id); f.Status != want.Status || f.Detail != want.Detail || f.Hint != want.Hint {
			t.Errorf("%s: %+v\nwant %+v", id, f, want)
		}
	}
}

func TestOldEditors(t *testing.T) {
	for version, old := range map[string]bool{"0.9.5": true, "0.10.4": false, "0.10.0-dev": false, "1.0.0": false, "0.7": true} {
		if isBefore(version, "0.10") != old {
			t.Errorf("%s older than 0.10: %v, want %v", version, !old, old)
		}
	}
	p := newPlace(t)
	p.script(t, "nvim", "echo NVIM v0.7.2")
	p.script(t, "code", "echo 1.139.0; echo abc")
	r := p.examine(t)
	if f := finding(t, r, "editor.nvim"); f.Status != Warning || f.Hint != "Pillion's plugin works with Neovim 0.10 and newer" {
		t.Errorf("got %+v", f)
	}
	if f := finding(t, r, "editor.code"); f.Status != OK || f.Data["open_here"] != false {
		t.Errorf("got %+v", f)
	}
}

// A repository must not choose what is run: neither by a folder of its own on PATH,
// nor by what a program finds in the folder it is started in.
func TestTheProjectRunsNothing(t *testing.T) {
	p := newPlace(t)
	trace := filepath.Join(p.home, "trace")
	inside := write(t, filepath.Join(p.project, "bin", "git"), "#!/bin/sh\necho inside >> "+trace+"\n", 0o755)
	write(t, filepath.Join(p.project, "codex"), "#!/bin/sh\necho beside >> "+trace+"\n", 0o755)
	link := filepath.Join(p.home, "link")
	must(t, os.Symlink(filepath.Dir(inside), link))
	p.script(t, "nvim", "echo $PATH in $PWD, $SECRET >> "+trace+"; echo 0.10.4")
	t.Setenv("SECRET", "secret")
	t.Setenv("PATH", strings.Join([]string{filepath.Dir(inside), link, "bin", ".", p.bin}, ":"))
	t.Chdir(p.project)
	r := p.examine(t)
	if f := finding(t, r, "program.git"); f.Status != Info {
		t.Errorf("the project's own git was taken: %+v", f)
	}
	text, err := os.ReadFile(trace)
	if err != nil || string(text) != p.bin+" in /,\n" {
		t.Errorf("what was run and how: %q, %v", text, err)
	}
}

// A program that hangs is ended with what it started.
func TestHangingPrograms(t *testing.T) {
	p := newPlace(t)
	t.Setenv("PATH", p.bin+":/bin:/usr/bin")
	pid := filepath.Join(p.home, "pid")
	hanging := p.script(t, "hanging", "sleep 1000 & echo $! > "+pid+"; wait")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan string, 1)
	go func() { done <- newLookup(p.project, p.home).version(ctx, hanging) }()
	wait(t, "the program runs", func() bool { text, err := os.ReadFile(pid); return err == nil && len(text) > 1 })
	cancel()
	if got := <-done; got != "" {
		t.Errorf("a version from a program that tells none: %q", got)
	}
	text, err := os.ReadFile(pid)
	must(t, err)
	wait(t, "what it started has ended", func() bool {
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	})
}

func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(testrig.Patience)
	for tick := time.Tick(5 * time.Millisecond); !is(); <-tick {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
	}
}

func TestLongOutputIsCut(t *testing.T) {
	var b beginning
	long := []byte(strings.Repeat("x", 5000))
	if n, err := b.Write(long); n != 5000 || err != nil || b.Len() != 4096 {
		t.Errorf("%d, %v, %d", n, err, b.Len())
	}
}

// A sidecar that runs is told, without its token.
func TestOpenEditors(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TMPDIR", os.TempDir()) // the home is too long for a socket
	s, err := relay.Listen(relay.Host{
		Registry: &tools.Registry{}, Sessions: session.NewSet(policy.Default), Roots: func() []string { return []string{p.project} },
		Editor: "Neovim", Version: "1.2.3", Logf: t.Logf,
	})
	must(t, err)
	defer s.Close() //nolint:errcheck // the test is over
	p.script(t, "nvim", "echo NVIM v0.10.4")
	r := p.examine(t)
	if f := finding(t, r, "folder.editor"); f.Status != OK || f.Detail != "Neovim" {
		t.Errorf("got %+v", f)
	}
	s.Indexed(1200, 5<<20+1)
	if f := finding(t, p.examine(t), "folder.editor"); !strings.HasPrefix(f.Detail, "Neovim (its search index: 1200 files, 6 MB of memory, ") {
		t.Errorf("got %+v", f)
	}
	if f := finding(t, r, "editor.nvim"); f.Data["open_here"] != true || !strings.HasSuffix(f.Detail, "; open on this folder") {
		t.Errorf("got %+v", f)
	}
	_, token := s.Info()
	for _, f := range r.Findings {
		if strings.Contains(f.Detail, token) {
			t.Errorf("the token is told: %+v", f)
		}
		for _, value := range f.Data {
			if objects, ok := value.([]map[string]any); ok && strings.Contains(strings.ToLower(strings.Join(keys(objects), " ")), "token") {
				t.Errorf("the token is told: %+v", f)
			}
		}
	}
	other := Examine(t.Context(), Subject{Version: "9.9.9", Binary: "/bin/pillion", Folder: p.project})
	if f := finding(t, other, "folder.editor"); f.Status != Warning || !strings.Contains(f.Detail, "another pillion, 1.2.3") {
		t.Errorf("two versions: %+v", f)
	}
}

func keys(objects []map[string]any) (all []string) {
	for _, o := range objects {
		for key := range o {
			all = append(all, key)
		}
	}
	return all
}
