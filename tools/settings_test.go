package tools

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/document"
)

// TestAFoldersOwnRules: what they allow holds for what stays in one folder, and what
// they deny or ask for everything that touches theirs.
func TestAFoldersOwnRules(t *testing.T) {
	base := t.TempDir()
	kettle, teapot := filepath.Join(base, "kettle"), filepath.Join(base, "teapot")
	for _, dir := range []string{kettle, teapot} {
		must(t, os.Mkdir(dir, 0o755))
	}
	w, err := workspace.Open(workspace.Folder{Dir: kettle}, workspace.Folder{Dir: teapot})
	must(t, err)
	defer w.Close()
	own := policy.Rules{
		Allow: []policy.Rule{{Tool: "x", Specifier: "a"}}, Ask: []policy.Rule{{Tool: "y", Specifier: "b"}}, Deny: []policy.Rule{{Tool: "z"}},
	}
	r := &Registry{Documents: document.NewStore(w)}
	p := &pending{registry: r, settings: Settings{
		Rules: policy.Rules{Allow: []policy.Rule{{Tool: "everywhere"}}}, Folders: map[string]policy.Rules{w.Roots()[0].RootDir(): own},
	}}
	for name, test := range map[string]struct {
		roots   []workspace.Path
		command bool
		want    string // allow, ask, deny
	}{
		"in it":              {roots: w.Roots()[:1], want: "everywhere x(kettle/a) | y(kettle/b) | z"},
		"a command in it":    {roots: w.Roots()[:1], command: true, want: "everywhere x(a) in kettle | y(b) | z"},
		"in the other":       {roots: w.Roots()[1:], want: "everywhere |  | "},
		"in both":            {roots: w.Roots(), want: "everywhere | y(kettle/b) | z"},
		"in none":            {want: "everywhere | y(b) | z"},
		"a command nowhere":  {command: true, want: "everywhere | y(b) | z"},
		"a command, in both": {roots: w.Roots(), command: true, want: "everywhere | y(b) | z"},
	} {
		got := p.rules(site{roots: test.roots, command: test.command})
		if text := texts(got.Allow) + " | " + texts(got.Ask) + " | " + texts(got.Deny); text != test.want {
			t.Errorf("%s: %s, want %s", name, text, test.want)
		}
	}
}

func texts(rules []policy.Rule) string {
	out := ""
	for i, r := range rules {
		if i > 0 {
			out += " "
		}
		out += r.String()
	}
	return out
}

// TestLimitsAreReadWhileOthersPlan is for the race detector.
func TestLimitsAreReadWhileOthersPlan(t *testing.T) {
	w, err := workspace.Open(workspace.Folder{Dir: t.TempDir()})
	must(t, err)
	defer w.Close()
	r := &Registry{Documents: document.NewStore(w), Settings: func() Settings { return Settings{Limits: DefaultLimits} }}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			s := session.New(session.NewID(), session.Agent{}, policy.Default)
			for range 100 {
				if result := r.Execute(t.Context(), Call{Name: "list_files", Arguments: []byte("{}"), Session: s}); result.IsError {
					t.Error("a list failed")
				}
			}
		})
	}
	both.Wait()
}
