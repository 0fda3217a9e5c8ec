package lspbridge

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

func names(servers []Server) []string {
	var out []string
	for _, s := range servers {
		out = append(out, s.Name)
	}
	return out
}

func TestSettingsLieOverTheKnownServers(t *testing.T) {
	no, yes := false, true
	servers, problems := Servers(map[string]Override{
		"pyright":       {Settings: raw(`{"python": {"analysis": {"diagnosticMode": "workspace", "typeCheckingMode": "strict"}}}`), Env: map[string]string{"A": "b"}},
		"gopls":         {Enabled: &no},
		"rust-analyzer": {Enabled: &yes},
		"mine":          {Command: []string{"mine"}, Languages: []string{"python"}},
		"half":          {Command: []string{"half"}},
		"gone":          {Enabled: &no},
	})
	if got := names(servers)[:4]; !slices.Equal(got, []string{"pyright", "rust-analyzer", "mine", "pylsp"}) {
		t.Errorf("in the order %q", got)
	}
	if slices.Contains(names(servers), "gopls") || servers[1].Held != "" {
		t.Errorf("%q, held %q", names(servers), servers[1].Held)
	}
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "languageServers.servers.half is ignored: ") {
		t.Errorf("problems %q", problems)
	}
	var got struct {
		Python struct{ Analysis map[string]string }
	}
	if err := json.Unmarshal(servers[0].Settings, &got); err != nil || got.Python.Analysis["diagnosticMode"] != "workspace" || got.Python.Analysis["typeCheckingMode"] != "strict" {
		t.Errorf("%s, %v", servers[0].Settings, err)
	}
	if len(servers[0].Command) != 2 || servers[0].Env["A"] != "b" {
		t.Errorf("%+v", servers[0])
	}
}

// TestTheTableIsWhole: what every server of the table must have.
func TestTheTableIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Known() {
		if seen[s.Name] || len(s.Command) == 0 || len(s.Languages) == 0 || s.Install == "" {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
		for _, text := range []json.RawMessage{s.Settings, s.Options} {
			var object map[string]any
			if text != nil && json.Unmarshal(text, &object) != nil {
				t.Errorf("%s: %s is no object", s.Name, text)
			}
		}
	}
	for name := range adaptations {
		if !seen[name] {
			t.Errorf("%s is adapted, and is not known", name)
		}
	}
}

// TestWhichServerAnswers: the first that is installed, else the first; none that is held.
func TestWhichServerAnswers(t *testing.T) {
	r := newRig(t, nil, Known()...)
	for _, c := range []struct{ lang, installed, want string }{
		{"python", "", "pylsp"},
		{"python", "pyright-langserver", "pyright"},
		{"python", "pyright-langserver pylsp", "pylsp"},
		{"rust", "rust-analyzer", "rust-analyzer"},
		{"cobol", "", ""},
	} {
		here := map[string]string{}
		for _, name := range strings.Fields(c.installed) {
			here[name] = "/usr/bin/" + name
		}
		r.installed(here)
		if s, _ := r.bridge.serverFor(r.settings, c.lang); s.Name != c.want {
			t.Errorf("%s with %q: %q, want %q", c.lang, c.installed, s.Name, c.want)
		}
	}
	r.installed(map[string]string{"rust-analyzer": "/usr/bin/rust-analyzer"})
	r.Write("main.rs", "")
	_, err := r.bridge.serverOf(r.path("main.rs"))
	if f := fault.From(err); f.Code != fault.LSPUnavailable || !strings.Contains(f.Message, "cargo") || !strings.Contains(f.Hint, "languageServers.servers.rust-analyzer.enabled") {
		t.Errorf("%+v", f)
	}
}

// environment makes a virtual environment whose Python must never run.
func environment(r *rig, name string) (packages string) {
	r.Write(name+"/pyvenv.cfg", "home = /usr/bin\n")
	packages = name + "/lib/python3.11/site-packages"
	if runtime.GOOS == "windows" {
		packages = name + "/Lib/site-packages"
	}
	r.Write(packages+"/helping/__init__.py", "def assist(who):\n    \"\"\"Helps somebody.\"\"\"\n    return who\n")
	for _, python := range []string{"python", "python3"} {
		r.Write(name+"/bin/"+python, "#!/bin/sh\ntouch '"+r.Abs("ran")+"'\n")
		r.Must(os.Chmod(filepath.Join(r.Dir, name, "bin", python), 0o755))
	}
	return filepath.Join(r.Dir, filepath.FromSlash(packages))
}

func TestAPythonEnvironmentIsFound(t *testing.T) {
	r := newRig(t, map[string]string{"sub/pyproject.toml": "", "sub/a.py": ""}, Known()...)
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	t.Setenv("PATH", r.Abs("bin")+string(filepath.ListSeparator)+"."+string(filepath.ListSeparator)+os.Getenv("PATH"))
	asked := func(name, section_ string) (string, Server) {
		t.Helper()
		i := slices.IndexFunc(r.settings.Servers, func(s Server) bool { return s.Name == name })
		s, err := r.bridge.adapt(r.settings.Servers[i], r.path("sub"))
		r.Must(err)
		return string(section(s.Settings, section_)), s
	}
	const extra = "pylsp.plugins.jedi.extra_paths"
	none, s := asked("pylsp", extra)
	if none != "null" || s.Env["PATH"] == "" || strings.Contains(s.Env["PATH"], r.Dir) || slices.Contains(filepath.SplitList(s.Env["PATH"]), ".") {
		t.Errorf("without one: %s, PATH %q", none, s.Env["PATH"])
	}
	list := func(packages string) string {
		text, err := json.Marshal([]string{packages})
		r.Must(err)
		return string(text)
	}
	elsewhere := environment(r, "env")
	if got, _ := asked("pylsp", extra); got != list(elsewhere) {
		t.Errorf("in the workspace folder: %s", got)
	}
	inRoot := environment(r, "sub/.venv")
	if got, _ := asked("pylsp", extra); got != list(inRoot) {
		t.Errorf("in the root: %s", got)
	}
	active := environment(r, "odd")
	t.Setenv("VIRTUAL_ENV", r.Abs("odd"))
	got, s := asked("pylsp", extra)
	if value, set := s.Env["VIRTUAL_ENV"]; got != list(active) || value != "" || !set {
		t.Errorf("an active one: %s, %q", got, s.Env)
	}
	if got, _ := asked("pyright", "python.analysis.extraPaths"); got != list(active) {
		t.Errorf("pyright: %s", got)
	}
}

// TestNoGoOfTheWorkspace: what the go command goes by is not the workspace's.
func TestNoGoOfTheWorkspace(t *testing.T) {
	r := newRig(t, map[string]string{"go.env": "GOFLAGS=-toolexec=./tool\n"}, Known()...)
	gopls := r.settings.Servers[slices.IndexFunc(r.settings.Servers, func(s Server) bool { return s.Name == "gopls" })]
	for value, cut := range map[string]bool{r.Abs("go.env"): true, "go.env": true, "./go.env": true, "off": false, "": false, filepath.Join(t.TempDir(), "env"): false} {
		t.Setenv("GOENV", value)
		s, err := r.bridge.adapt(gopls, r.path("go.env").Top())
		r.Must(err)
		if got, set := s.Env["GOENV"]; set != cut || got != "" {
			t.Errorf("GOENV=%s: %q", value, s.Env)
		}
	}
}

// TestNoLinterOfTheWorkspace: what bash-language-server starts has its place named.
func TestNoLinterOfTheWorkspace(t *testing.T) {
	r := newRig(t, map[string]string{"a.sh": ""}, Known()...)
	for want, installed := range map[string]map[string]string{"/opt/bin/shellcheck": {"shellcheck": "/opt/bin/shellcheck"}, "": nil} {
		r.installed(installed)
		s, err := r.bridge.adapt(Known()[3], r.path("a.sh").Top())
		r.Must(err)
		if got := string(section(s.Settings, "bashIde.shellcheckPath")); got != `"`+want+`"` {
			t.Errorf("%s, want %q", got, want)
		}
	}
}

// TestNativeTypeScript is its own server; an older tsc is none.
func TestNativeTypeScript(t *testing.T) {
	r := newRig(t, map[string]string{"a.ts": ""}, Known()...)
	beside := machine.Folder{TB: t, Dir: t.TempDir()}
	tsc := beside.Abs("bin/tsc")
	for _, file := range []string{"bin/tsc", "lib/tsc.js", "lib/tsserver.js"} {
		beside.Write(file, "")
	}
	for _, native := range []bool{false, true} {
		r.installed(map[string]string{"tsc": tsc})
		s, err := r.bridge.serverOf(r.path("a.ts"))
		r.Must(err)
		if program, err := s.program(); native != (err == nil && program == tsc) {
			t.Errorf("native %t: %s, %v", native, program, err)
		}
		r.Must(os.RemoveAll(beside.Abs("lib/tsserver.js")))
	}
}

// TestTypeScriptIsNotTheWorkspaces: it is the one beside the server, or none.
func TestTypeScriptIsNotTheWorkspaces(t *testing.T) {
	r := newRig(t, map[string]string{"a.ts": "", "node_modules/typescript/lib/tsserver.js": ""},
		slices.DeleteFunc(Known(), func(s Server) bool { return s.Name == "typescript" })...)
	beside := machine.Folder{TB: t, Dir: t.TempDir()}
	beside.Write("typescript-language-server/lib/cli.mjs", "")
	r.installed(nil)
	if _, err := r.bridge.serverOf(r.path("a.ts")); fault.CodeOf(err) != fault.LSPUnavailable || !strings.Contains(err.Error(), "typescript-language-server is not installed") {
		t.Errorf("got %v, want that the server is not installed", err)
	}
	r.installed(map[string]string{"typescript-language-server": beside.Abs("typescript-language-server/lib/cli.mjs")})
	_, err := r.bridge.serverOf(r.path("a.ts"))
	if f := fault.From(err); f.Code != fault.LSPUnavailable || !strings.Contains(f.Hint, "npm install -g typescript-language-server typescript") {
		t.Errorf("without one: %+v", f)
	}
	beside.Write("typescript/lib/tsserver.js", "")
	s, err := r.bridge.serverOf(r.path("a.ts"))
	r.Must(err)
	var options struct{ Tsserver struct{ Path string } }
	r.Must(json.Unmarshal(s.spec.Options, &options))
	if real, err := filepath.EvalSymlinks(beside.Abs("typescript/lib/tsserver.js")); err != nil || options.Tsserver.Path != real {
		t.Errorf("%q, want %q, %v", options.Tsserver.Path, real, err)
	}
}

// TestWhatAServerGetsFirst: before any document, so that nothing of one is acted upon.
func TestWhatAServerGetsFirst(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "x = 1\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		r.settings.Servers[0].First = []string{"fake/noNetwork"}
		r.started()
		f.mu.Lock()
		defer f.mu.Unlock()
		place := func(method string) int {
			return slices.IndexFunc(f.got, func(s sent) bool { return s.method == method })
		}
		if first, open := place("fake/noNetwork"), place("textDocument/didOpen"); first < place("initialized") || first > open || open < 0 {
			t.Errorf("in the order %v", f.got)
		}
	})
}

// TestAChangedSettingStartsAnew: the next question is answered by a server that has it,
// and one that is switched off ends.
func TestAChangedSettingStartsAnew(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "x = 1\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		f.answer("textDocument/hover", "null")
		var set atomic.Pointer[Settings]
		r.bridge.patience.look = time.Millisecond
		r.bridge.o.Settings = func(workspace.Path) Settings { return *set.Load() }
		spec := r.settings.Servers[0]
		hover := func(servers ...Server) error {
			t.Helper()
			set.Store(&Settings{Servers: servers})
			_, _, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
			return err
		}
		r.Must(hover(spec))
		r.Must(hover(spec))
		spec.Settings = raw(`{"fake": {"strict": true}}`)
		r.Must(hover(spec))
		r.until("the first one has ended", func() bool { return f.running() == 1 })
		told := f.messages("workspace/didChangeConfiguration")
		if len(told) != 2 || !strings.Contains(told[1], `"strict":true`) {
			t.Errorf("told %q", told)
		}
		if err := hover(); fault.CodeOf(err) != fault.LSPUnavailable {
			t.Errorf("switched off: %v", err)
		}
		r.until("the second one has ended", func() bool { return f.running() == 0 })
	})
}

func TestWhatIsMissingIsToldOnce(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.py": "", "b.py": "", "deep/c.py": "", "run": "#!/bin/sh\n", "x.ts": "", "y.js": "", "z.js": "", "main.rs": "", "conf.yaml": "", "LICENSE": "You may", "note.txt": "",
		".gitignore": "ignored/\n", "ignored/a.go": "",
	}, Known()...)
	here := map[string]string{"bash-language-server": "/usr/bin/bash-language-server", "gopls": "/usr/bin/gopls"}
	r.installed(here)
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
	for _, name := range []string{"pylsp", "typescript-language-server", "shellcheck"} {
		here[name] = "/usr/bin/" + name
	}
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
	r.installed(nil)
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
