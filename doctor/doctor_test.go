package doctor

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"pillion/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is a machine of this test's own: a home, a project, and a PATH with nothing
// on it but what the test puts there.
type machine struct{ home, project, bin string }

func newPlace(t *testing.T) machine {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	p := machine{filepath.Join(root, "home"), filepath.Join(root, "project"), filepath.Join(root, "bin")}
	for _, dir := range []string{p.home, p.project, p.bin} {
		must(t, os.Mkdir(dir, 0o700))
	}
	t.Setenv("HOME", p.home)
	t.Setenv("PATH", p.bin+string(filepath.ListSeparator)+filepath.Join(p.home, "bin"))
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME"} {
		t.Setenv(name, "")
	}
	return p
}

// script puts a program on PATH.
func (p machine) script(t *testing.T, name, text string) string {
	t.Helper()
	return write(t, filepath.Join(p.bin, name), "#!/bin/sh\n"+text+"\n", 0o755)
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), mode))
	must(t, os.Chmod(path, mode)) // whatever the umask
	return path
}

func (p machine) examine(t *testing.T) Report {
	t.Helper()
	return Examine(t.Context(), Subject{Version: "1.2.3", Binary: filepath.Join(p.home, "bin", "pillion"), Folder: p.project})
}

func finding(t *testing.T, r Report, id string) Finding {
	t.Helper()
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("no finding %s in %v", id, ids(r))
	}
	return r.Findings[i]
}

func ids(r Report) (all []string) {
	for _, f := range r.Findings {
		all = append(all, f.ID)
	}
	return all
}

func TestAnEmptyMachine(t *testing.T) {
	p := newPlace(t)
	r := p.examine(t)
	for id, want := range map[string]Status{
		"pillion.program": OK, "pillion.settings": OK, "pillion.config": OK, "pillion.state": OK, "pillion.registry": OK,
		"folder.root": OK, "folder.settings": OK, "folder.editor": Info,
		"program.git": Info, "program.ripgrep": Info,
		"editor.none": Missing, "agent.none": Missing,
	} {
		f := finding(t, r, id)
		if f.Status != want || f.Detail == "" || f.Title == "" {
			t.Errorf("%s is %q, want %q: %+v", id, f.Status, want, f)
		}
		if (want == Missing) && f.Hint == "" {
			t.Errorf("%s does not say how to get it", id)
		}
	}
	if r.Summary.Missing != 2 || r.Summary.Errors != 0 {
		t.Errorf("the summary: %+v", r.Summary)
	}
	if left, err := os.ReadDir(p.home); err != nil || len(left) > 0 {
		t.Errorf("examining left something: %v, %v", left, err)
	}
}

// The form is what editors rely on.
func TestShapeOfTheJSON(t *testing.T) {
	p := newPlace(t)
	p.script(t, "git", "echo git version 2.39.5")
	text, err := json.Marshal(p.examine(t))
	must(t, err)
	var r struct {
		Version  string           `json:"version"`
		Verdict  string           `json:"verdict"`
		Findings []map[string]any `json:"findings"`
		Summary  map[string]int   `json:"summary"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	must(t, d.Decode(&r))
	if r.Version != "1.2.3" || r.Verdict == "" || len(r.Summary) != 4 {
		t.Errorf("version %q, summary %v", r.Version, r.Summary)
	}
	seen := map[any]bool{}
	counted := map[any]int{}
	for _, f := range r.Findings {
		for key := range f {
			if !slices.Contains([]string{"id", "title", "status", "detail", "hint", "data"}, key) {
				t.Errorf("%v has a field %q", f["id"], key)
			}
		}
		if seen[f["id"]] || !strings.Contains(f["id"].(string), ".") {
			t.Errorf("the id %v is there twice, or names no group", f["id"])
		}
		seen[f["id"]] = true
		counted[f["status"]]++
	}
	for field, status := range map[string]string{"ok": "ok", "warnings": "warning", "missing": "missing", "errors": "error"} {
		if r.Summary[field] != counted[status] {
			t.Errorf("the summary has %d %s, the findings %d", r.Summary[field], field, counted[status])
		}
	}
}

func TestNothingOfThePersonIsTold(t *testing.T) {
	p := newPlace(t)
	write(t, filepath.Join(p.home, ".claude.json"), `{"mcpServers": {"pillion": {"command": "`+p.home+`/gone/pillion"}}}`, 0o600)
	p.script(t, "claude", "echo \"2.1.0 (Claude Code) $ANTHROPIC_API_KEY\" $HOME")
	t.Setenv("ANTHROPIC_API_KEY", "a-very-secret-key")
	write(t, filepath.Join(p.home, ".config", "pillion", "settings.json"), `{"permissions": {"allow": ["run_command(curl -H 'Token abcdefgh0123456789abcdefgh0123' "]}}`, 0o600)
	text, err := json.Marshal(p.examine(t))
	must(t, err)
	for _, secret := range []string{p.home, "a-very-secret-key", "abcdefgh0123456789"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is told: %s", secret, text)
		}
	}
	if !strings.Contains(string(text), "~/gone/pillion") {
		t.Errorf("the home folder is not written ~: %s", text)
	}
}

func TestWithoutHome(t *testing.T) {
	for text, want := range map[string]string{
		"/home/ann":                         "~",
		"/home/ann/x and /home/ann":         "~/x and ~",
		"in (/home/ann/a):/home/ann/b":      "in (~/a):~/b",
		"/home/annabel/x":                   "/home/annabel/x",
		"/srv/home/ann/x":                   "/srv/home/ann/x",
		`"/home/ann", PATH=/home/ann/bin:x`: `"~", PATH=~/bin:x`,
	} {
		if got := withoutHome(text, "/home/ann"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := withoutHome("/a/b", "/"); got != "/a/b" {
		t.Errorf("a home of / made it %s", got)
	}
}

func TestNothingHidesInAFinding(t *testing.T) {
	e := exam{home: "/home/ann"}
	f := e.presentable(Finding{Detail: "a\u202eb\nc\x1b[2K", Data: map[string]any{"list": []string{"\u200b"}, "objects": []map[string]any{{"x": "\x07"}}}})
	if f.Detail != `a\u202eb c\x1b[2K` {
		t.Errorf("got %q", f.Detail)
	}
	if text, err := json.Marshal(f.Data); err != nil || strings.ContainsAny(string(text), "\u200b\x07") || strings.Contains(string(text), `\u200b"`) && !strings.Contains(string(text), `\\u200b"`) {
		t.Errorf("got %s, %v", text, err)
	}
}

var sample = Report{
	Version: "1.2.3",
	Findings: []Finding{
		{ID: "pillion.program", Title: "program", Status: OK, Detail: "1.2.3, ~/bin/pillion"},
		{ID: "pillion.config", Title: "config folder", Status: Error, Detail: "is not yours", Hint: "make it yours"},
		{ID: "program.ripgrep", Title: "ripgrep", Status: Info, Detail: "not found; not needed"},
		{ID: "editor.none", Title: "editor", Status: Missing, Detail: "none", Hint: "Debian: neovim"},
		{ID: "agent.claude", Title: "Claude Code", Status: Warning, Detail: "2.1.0; it can still act unseen, with its own Bash, Edit and Write, which are rather many words", Hint: "pillion mcp install claude"},
	},
}

func printed(style terminal.Style, r Report) string {
	var out strings.Builder
	Print(&out, style, r.summed())
	return out.String()
}

func TestPrint(t *testing.T) {
	const want = `✗ 1 problem is in the way of Pillion 1.2.3

Pillion
  ✓ program        1.2.3, ~/bin/pillion
  ✗ config folder  is not yours
                   → make it yours

Programs
  · ripgrep        not found; not needed

Editors
  ○ editor         none
                   → Debian: neovim

Agents
  ! Claude Code    2.1.0; it can still act unseen, with its own Bash, Edit and Write, which are rather many words
                   → pillion mcp install claude
`
	if got := printed(terminal.Style{}, sample); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const narrow = `
  ! Claude Code    2.1.0; it can still act unseen, with its
                   own Bash, Edit and Write, which are rather
                   many words
`
	if got := printed(terminal.Style{Width: 62}, sample); !strings.Contains(got, narrow) {
		t.Errorf("62 columns wide:\n%s", got)
	}
	if got := printed(terminal.Style{Colour: true}, sample); !strings.Contains(got, "\x1b[31m✗\x1b[0m config folder") {
		t.Errorf("in colour:\n%q", got)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		want     string
		findings []Finding
	}{
		{"✓ Pillion 1.2.3 is ready here", []Finding{{Status: OK}, {Status: Info}}},
		{"! Pillion 1.2.3 works here; 1 thing is worth a look", []Finding{{Status: Missing}}},
		{"! Pillion 1.2.3 works here; 2 things are worth a look", []Finding{{Status: Missing}, {Status: Warning}}},
		{"! Pillion 1.2.3 works here, and 1 agent is not, or not wholly, set up to work through it", []Finding{{ID: "agent.codex", Status: Warning}, {Status: Missing}}},
		{"✗ 2 problems are in the way of Pillion 1.2.3", []Finding{{Status: Error}, {Status: Error}, {ID: "agent.codex", Status: Warning}}},
	} {
		r := Report{Version: "1.2.3", Findings: c.findings}.summed()
		if got := mark(terminal.Style{}, r.Summary.overall()) + " " + r.Verdict; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
