package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pillion/internal/testrig/check"
)

func book(t *testing.T) *Consent { return &Consent{dir: filepath.Join(t.TempDir(), "folders")} }

func page(t *testing.T, b *Consent, folder string) FolderConsent {
	t.Helper()
	p, err := b.Page(folder)
	must(t, err)
	return p
}

var must = check.Must

func TestTrustIsForOneTextOfOneFolder(t *testing.T) {
	b := book(t)
	must(t, b.Trust("/a", "first"))
	must(t, b.Trust("/a", "second"))
	must(t, b.Trust("/b", "other"))
	if a, b := page(t, b, "/a"), page(t, b, "/b"); a.Trusted != "second" || b.Trusted != "other" {
		t.Errorf("%+v, %+v", a, b)
	}
	must(t, b.Trust("/a", ""))
	check.Same(t, "forgotten trust", page(t, b, "/a").Trusted, "")
	if _, err := os.Stat(b.File("/a")); !os.IsNotExist(err) {
		t.Errorf("a page with nothing on it stays: %v", err)
	}
}

func TestTheFileIsTheUsersAlone(t *testing.T) {
	b := book(t)
	must(t, b.Remember("/a", "read_file"))
	for name, want := range map[string]os.FileMode{b.File("/a"): 0o600, b.Dir(): 0o700} {
		info, err := os.Stat(name)
		must(t, err)
		check.Same(t, name+" has mode", info.Mode().Perm(), want)
	}
	must(t, os.Chmod(b.File("/a"), 0o666))
	if p, err := b.Page("/a"); err == nil || len(p.Rules) > 0 {
		t.Errorf("a page that anybody can write counts: %+v", p)
	}
}

func TestRememberAndForget(t *testing.T) {
	b := book(t)
	for _, rule := range []string{"edit_file(a)", "edit_file(b)", "edit_file(a)"} {
		must(t, b.Remember("/a", rule))
	}
	if p := page(t, b, "/a"); len(p.Rules) != 2 || p.Rules[0].Rule != "edit_file(a)" || p.Rules[0].Since.IsZero() {
		t.Errorf("%+v", p)
	}
	if n, err := b.Forget("/a", "edit_file(a)", "edit_file(c)"); n != 1 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	if n, err := b.Forget("/a"); n != 1 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	if p := page(t, b, "/a"); len(p.Rules) > 0 {
		t.Errorf("%+v", p)
	}
}

func TestThereIsAnEnd(t *testing.T) {
	b := book(t)
	full := FolderConsent{Version: consentVersion, Folder: "/a"}
	for i := range maxRemembered {
		full.Rules = append(full.Rules, Remembered{Rule: fmt.Sprintf("edit_file(%d)", i)})
	}
	must(t, os.MkdirAll(b.Dir(), 0o700))
	must(t, b.write(full))
	if err := b.Remember("/a", "edit_file(more)"); err == nil || !strings.Contains(err.Error(), "pillion rules forget") {
		t.Errorf("one rule too many: %v", err)
	}
}

// TestAFileThatIsNoPage: nothing of it counts, whatever it holds, and only what a
// later version wrote is kept.
func TestAFileThatIsNoPage(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		kept bool
	}{
		"broken":         {text: `{"version": 1, "folder": "/a", "trusted": "x"`},
		"another folder": {text: `{"version": 1, "folder": "/b", "trusted": "x"}`},
		"a list":         {text: `[]`},
		"empty":          {text: ``},
		"later":          {text: `{"version": 2, "folder": "/a", "trusted": "x"}`, kept: true},
		"huge":           {text: strings.Repeat(" ", maxConsentBytes+1)},
	} {
		t.Run(name, func(t *testing.T) {
			b := book(t)
			must(t, os.MkdirAll(b.Dir(), 0o700))
			must(t, os.WriteFile(b.File("/a"), []byte(test.text), 0o600))
			if p, err := b.Page("/a"); err == nil || p.Trusted != "" {
				t.Errorf("%+v, %v", p, err)
			}
			check.Same(t, "that trusting then fails", b.Trust("/a", "y") != nil, test.kept)
			if raw, err := os.ReadFile(b.File("/a")); err != nil || (string(raw) == test.text) != test.kept {
				t.Errorf("it holds %q now, %v", raw, err)
			}
		})
	}
}

// TestTwoAtOnce: no rule is lost between programs.
func TestTwoAtOnce(t *testing.T) {
	b := book(t)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if err := b.Remember("/a", fmt.Sprintf("edit_file(%d)", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if p := page(t, b, "/a"); len(p.Rules) != 20 {
		t.Errorf("%d rules are left of 20", len(p.Rules))
	}
	left, err := filepath.Glob(filepath.Join(b.Dir(), ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestPrune(t *testing.T) {
	b := book(t)
	must(t, os.MkdirAll(b.Dir(), 0o700))
	here := t.TempDir()
	for i := range maxConsents {
		must(t, b.write(FolderConsent{Version: consentVersion, Folder: fmt.Sprintf("/gone/%d", i), Trusted: "x"}))
	}
	must(t, b.Trust(here, "x"))
	must(t, b.Trust(filepath.Dir(here), "x"))
	names, err := filepath.Glob(filepath.Join(b.Dir(), "*.json"))
	if err != nil || len(names) != 2 {
		t.Errorf("%d pages are left, want those of the two folders that exist: %v", len(names), err)
	}
}
