package lspbridge

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pillion/internal/fault"
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
	here := map[string]bool{}
	r := newRig(t, nil, Known()...)
	r.bridge.o.LookPath = func(name string) (string, error) {
		if here[name] {
			return "/usr/bin/" + name, nil
		}
		return "", exec.ErrNotFound
	}
	for _, c := range []struct{ lang, installed, want string }{
		{"python", "", "pylsp"},
		{"python", "pyright-langserver", "pyright"},
		{"python", "pyright-langserver pylsp", "pylsp"},
		{"rust", "rust-analyzer", "rust-analyzer"},
		{"cobol", "", ""},
	} {
		clear(here)
		r.bridge.installations.found = nil
		for _, name := range strings.Fields(c.installed) {
			here[name] = true
		}
		if s, _ := r.bridge.serverFor(r.settings, c.lang); s.Name != c.want {
			t.Errorf("%s with %q: %q, want %q", c.lang, c.installed, s.Name, c.want)
		}
	}
	here["rust-analyzer"], r.bridge.installations.found = true, nil
	r.write("main.rs", "")
	_, err := r.bridge.serverOf(r.path("main.rs"))
	if f := fault.From(err); f.Code != fault.LSPUnavailable || !strings.Contains(f.Message, "cargo") || !strings.Contains(f.Hint, "languageServers.servers.rust-analyzer.enabled") {
		t.Errorf("%+v", f)
	}
}

// environment makes a virtual environment whose Python must never run.
func environment(r *rig, name string) (packages string) {
	r.write(name+"/pyvenv.cfg", "home = /usr/bin\n")
	packages = name + "/lib/python3.11/site-packages"
	if runtime.GOOS == "windows" {
		packages = name + "/Lib/site-packages"
	}
	r.write(packages+"/helping/__init__.py", "def assist(who):\n    \"\"\"Helps somebody.\"\"\"\n    return who\n")
	for _, python := range []string{"python", "python3"} {
		r.write(name+"/bin/"+python, "#!/bin/sh\ntouch '"+filepath.Join(r.dir, "ran")+"'\n")
		r.must(os.Chmod(filepath.Join(r.dir, name, "bin", python), 0o755))
	}
	return filepath.Join(r.dir, filepath.FromSlash(packages))
}

func TestAPythonEnvironmentIsFound(t *testing.T) {
	r := newRig(t, map[string]string{"sub/pyproject.toml": "", "sub/a.py": ""}, Known()...)
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	t.Setenv("PATH", filepath.Join(r.dir, "bin")+string(filepath.ListSeparator)+"."+string(filepath.ListSeparator)+os.Getenv("PATH"))
	asked := func(name, section_ string) (string, Server) {
		t.Helper()
		i := slices.IndexFunc(r.settings.Servers, func(s Server) bool { return s.Name == name })
		s, err := r.bridge.adapt(r.settings.Servers[i], r.path("sub"))
		r.must(err)
		return string(section(s.Settings, section_)), s
	}
	const extra = "pylsp.plugins.jedi.extra_paths"
	none, s := asked("pylsp", extra)
	if none != "null" || s.Env["PATH"] == "" || strings.Contains(s.Env["PATH"], r.dir) || slices.Contains(filepath.SplitList(s.Env["PATH"]), ".") {
		t.Errorf("without one: %s, PATH %q", none, s.Env["PATH"])
	}
	list := func(packages string) string {
		text, err := json.Marshal([]string{packages})
		r.must(err)
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
	t.Setenv("VIRTUAL_ENV", filepath.Join(r.dir, "odd"))
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
	for value, cut := range map[string]bool{filepath.Join(r.dir, "go.env"): true, "go.env": true, "./go.env": true, "off": false, "": false, filepath.Join(t.TempDir(), "env"): false} {
		t.Setenv("GOENV", value)
		s, err := r.bridge.adapt(gopls, r.path("go.env").Top())
		r.must(err)
		if got, set := s.Env["GOENV"]; set != cut || got != "" {
			t.Errorf("GOENV=%s: %q", value, s.Env)
		}
	}
}

// TestNoLinterOfTheWorkspace: what bash-language-server starts has its place named.
func TestNoLinterOfTheWorkspace(t *testing.T) {
	r := newRig(t, map[string]string{"a.sh": ""}, Known()...)
	for _, want := range []string{"/opt/bin/shellcheck", ""} {
		r.bridge.o.LookPath = func(string) (string, error) {
			if want == "" {
				return "", exec.ErrNotFound
			}
			return want, nil
		}
		s, err := r.bridge.adapt(Known()[3], r.path("a.sh").Top())
		r.must(err)
		if got := string(section(s.Settings, "bashIde.shellcheckPath")); got != `"`+want+`"` {
			t.Errorf("%s, want %q", got, want)
		}
	}
}

// TestNativeTypeScript is its own server; an older tsc is none.
func TestNativeTypeScript(t *testing.T) {
	r := newRig(t, map[string]string{"a.ts": ""}, Known()...)
	beside := t.TempDir()
	tsc := filepath.Join(beside, "bin", "tsc")
	for _, file := range []string{"bin/tsc", "lib/tsc.js", "lib/tsserver.js"} {
		r.must(os.MkdirAll(filepath.Dir(filepath.Join(beside, file)), 0o755))
		r.must(os.WriteFile(filepath.Join(beside, file), nil, 0o755))
	}
	r.bridge.o.LookPath = func(name string) (string, error) {
		if name == "tsc" {
			return tsc, nil
		}
		return "", exec.ErrNotFound
	}
	for _, native := range []bool{false, true} {
		s, err := r.bridge.serverOf(r.path("a.ts"))
		r.must(err)
		if program, err := s.program(); native != (err == nil && program == tsc) {
			t.Errorf("native %t: %s, %v", native, program, err)
		}
		r.must(os.RemoveAll(filepath.Join(beside, "lib", "tsserver.js")))
		r.bridge.installations = installations{}
	}
}

// TestTypeScriptIsNotTheWorkspaces: it is the one beside the server, or none.
func TestTypeScriptIsNotTheWorkspaces(t *testing.T) {
	r := newRig(t, map[string]string{"a.ts": "", "node_modules/typescript/lib/tsserver.js": ""},
		slices.DeleteFunc(Known(), func(s Server) bool { return s.Name == "typescript" })...)
	beside := t.TempDir()
	program := filepath.Join(beside, "typescript-language-server", "lib", "cli.mjs")
	r.must(os.MkdirAll(filepath.Dir(program), 0o755))
	r.must(os.WriteFile(program, nil, 0o755))
	r.bridge.o.LookPath = func(name string) (string, error) {
		if name == "typescript-language-server" {
			return program, nil
		}
		return "", exec.ErrNotFound
	}
	there := r.bridge.o.LookPath
	r.bridge.o.LookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	if _, err := r.bridge.serverOf(r.path("a.ts")); fault.CodeOf(err) != fault.LSPUnavailable || !strings.Contains(err.Error(), "typescript-language-server is not installed") {
		t.Errorf("got %v, want that the server is not installed", err)
	}
	r.bridge.o.LookPath = there
	r.bridge.installations = installations{}
	_, err := r.bridge.serverOf(r.path("a.ts"))
	if f := fault.From(err); f.Code != fault.LSPUnavailable || !strings.Contains(f.Hint, "npm install -g typescript-language-server typescript") {
		t.Errorf("without one: %+v", f)
	}
	lib := filepath.Join(beside, "typescript", "lib", "tsserver.js")
	r.must(os.MkdirAll(filepath.Dir(lib), 0o755))
	r.must(os.WriteFile(lib, nil, 0o600))
	s, err := r.bridge.serverOf(r.path("a.ts"))
	r.must(err)
	var options struct{ Tsserver struct{ Path string } }
	r.must(json.Unmarshal(s.spec.Options, &options))
	if real, _ := filepath.EvalSymlinks(lib); options.Tsserver.Path != real {
		t.Errorf("%q, want %q", options.Tsserver.Path, lib)
	}
}

// TestWhatAServerGetsFirst: before any document, so that nothing of one is acted upon.
func TestWhatAServerGetsFirst(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "x = 1\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		r.settings.Servers[0].First = []string{"fake/noNetwork"}
		f.answer("textDocument/hover", "null")
		_, _, err := r.bridge.Hover(t.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
		r.must(err)
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
		r.must(hover(spec))
		r.must(hover(spec))
		spec.Settings = raw(`{"fake": {"strict": true}}`)
		r.must(hover(spec))
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
