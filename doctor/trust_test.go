package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/config"
)

func TestAProjectsSettings(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.project, ".pillion", "settings.json")
	look := func(want Status, detail string) {
		t.Helper()
		if f := finding(t, p.examine(t), "folder.settings"); f.Status != want || !strings.Contains(f.Detail, detail) {
			t.Errorf("%+v, want %s, %s", f, want, detail)
		}
	}
	look(OK, "none of its own")
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	write(t, file, `{"mode": "plan"}`, 0o600)
	look(OK, "they only tighten")
	write(t, file, `{"mod": "plan"}`, 0o600)
	look(Warning, `unknown setting "mod" is ignored`)
	loose := `{"permissions": {"allow": ["edit_file"]}}`
	write(t, file, loose, 0o600)
	look(Info, "ask for more than you trust")
	book, err := config.OpenConsent()
	must(t, err)
	root, err := filepath.EvalSymlinks(p.project)
	must(t, err)
	must(t, book.Trust(root, config.Hash([]byte(loose))))
	must(t, book.Remember(root, "edit_file(a)"))
	look(OK, "trusted; remembered rules: 1 (pillion rules)")
}
