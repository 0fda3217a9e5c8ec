package lspbridge

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestWhatIsMissingIsToldOnce(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.py": "", "b.py": "", "deep/c.py": "", "run": "#!/bin/sh\n", "x.ts": "", "y.js": "", "z.js": "", "main.rs": "", "conf.yaml": "", "LICENSE": "You may", "note.txt": "",
		".gitignore": "ignored/\n", "ignored/a.go": "",
	}, Known()...)
	here := map[string]bool{"bash-language-server": true, "gopls": true}
	r.bridge.o.LookPath = func(name string) (string, error) {
		if here[name] {
			return "/usr/bin/" + name, nil
		}
		return "", exec.ErrNotFound
	}
	want := []string{
		"[LSP] python: pylsp is not installed; run: " + Known()[0].Install,
		"[LSP] javascript, typescript: typescript is not installed; run: npm install -g typescript",
		"[LSP] shellscript: shellcheck is not installed, without which bash-language-server finds no faults; run: apt install shellcheck, or brew install shellcheck",
	}
	for range 2 {
		r.bridge.TellMissing()
		r.bridge.running.Wait()
	}
	if !slices.Equal(r.reported, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(r.reported, "\n"), strings.Join(want, "\n"))
	}
	here["pylsp"], here["typescript-language-server"], here["shellcheck"] = true, true, true
	for _, s := range Survey(t.Context(), r.store.Workspace().Roots(), Known(), r.bridge.o.LookPath) {
		installed := s.Language != "rust" && s.Language != "yaml"
		if (s.Program != "") != installed || s.Linter != "" || s.Language == "go" {
			t.Errorf("%+v", s)
		}
	}
}

// TestTheSearchForServersGivesWay: a list that an agent waits for comes first.
func TestTheSearchForServersGivesWay(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": ""}, Known()...)
	r.bridge.o.LookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	asked, way := make(chan struct{}, 100), make(chan struct{})
	r.bridge.o.GiveWay = func(context.Context) {
		asked <- struct{}{}
		<-way
	}
	r.bridge.TellMissing()
	<-asked
	r.mu.Lock()
	early := len(r.reported)
	r.mu.Unlock()
	close(way)
	r.bridge.running.Wait()
	if early != 0 || len(r.reported) != 1 {
		t.Errorf("told %d before its turn, %q in all", early, r.reported)
	}
}
