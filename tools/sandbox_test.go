package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
)

// held is a world whose commands are held as settings say, below a folder in which
// not everything may be written anyway.
func held(t *testing.T, s tools.Sandbox) *world {
	w := newWorld(t)
	base, err := os.MkdirTemp("/var/tmp", "pillion-")
	w.must(err)
	t.Cleanup(func() { os.RemoveAll(base) })
	w.base, err = filepath.EvalSymlinks(base)
	w.must(err)
	w.write("../outside/secret.txt", "out of reach\n")
	w.sandbox = func(r *process.Runner) tools.Sandbox {
		if s.Walls == nil {
			s.Walls = r.Walls
		}
		return s
	}
	w.write("a.txt", "a\n")
	return w
}

// yes approves everything: what these tests look at comes after it.
type yes struct{}

func (yes) Ask(context.Context, approval.Request) (approval.Answer, error) {
	return approval.Answer{Decision: approval.Approve}, nil
}
func (yes) Changed(approval.Changed)          {}
func (yes) Resolved(string, approval.Outcome) {}

type ran struct {
	OK       bool
	ExitCode int `json:"exit_code"`
	Stdout   string
	Stderr   string
	Sandbox  process.Level
	Hint     string
	Blocked  []string
	Error    *fault.Error
}

func (w *world) run(tool, command string, more map[string]any) ran {
	w.start()
	w.registry.Approvals = approval.NewQueue(yes{}, 0)
	arguments := map[string]any{"command": command}
	for key, value := range more {
		arguments[key] = value
	}
	result := w.registry.Execute(context.Background(), tools.Call{Name: tool, Arguments: w.json(arguments), Session: w.session("s")})
	var out ran
	w.must(json.Unmarshal(result.Structured, &out))
	if out.Hint != "" && !strings.Contains(result.Content[len(result.Content)-1].Text, out.Hint) {
		w.t.Errorf("the model does not read the hint: %+v", result.Content)
	}
	return out
}

// need is what the user would be shown.
func (w *world) need(command string) tools.Need {
	return w.needs("run_command", map[string]any{"command": command})
}

func (w *world) holds(name string) string {
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		return ""
	}
	return string(text)
}

// works are the levels that this machine has; the others are tested as missing.
func works(w *world) process.Walls {
	w.start()
	r, err := process.NewRunner()
	w.must(err)
	defer r.Close()
	return r.Walls()
}

// What the user was shown is what held, whatever this machine has.
func TestTheShownLevelIsTheOneThatHeld(t *testing.T) {
	t.Parallel()
	for _, mode := range []tools.SandboxMode{tools.SandboxPrefer, tools.SandboxRequire, tools.SandboxOff, ""} {
		w := held(t, tools.Sandbox{Mode: mode})
		want := works(w).Level
		if mode == tools.SandboxOff || mode == "" {
			want = process.None
		}
		got := w.run("run_command", "echo in > in.txt; p=../outside; echo out > $p/out.txt", nil)
		if got.Error != nil && mode == tools.SandboxRequire && want == process.None {
			continue // TestRequiredSandboxThatIsMissing
		}
		free := w.holds("../outside/out.txt") != ""
		if got.Sandbox != want || free != (want == process.None) || w.holds("in.txt") != "in\n" || (got.Hint == "") != free {
			t.Errorf("%q: held by %s, outside was written: %t, %+v", mode, want, free, got)
		}
		if more := w.run("run_persistent", "true", map[string]any{"process_id": "p"}); more.Sandbox != want {
			t.Errorf("%q: run_persistent is held by %s", mode, more.Sandbox)
		}
		if need := w.need("true"); need.Preview.Sandbox != string(want) || !need.Preview.Network {
			t.Errorf("%q: shown was %+v", mode, need.Preview)
		}
	}
}

func TestRequiredSandboxThatIsMissing(t *testing.T) {
	t.Parallel()
	none := func() process.Walls {
		return process.Walls{Level: process.None, Bubblewrap: process.Wall{Why: "it is not installed"}, Landlock: process.Wall{Why: "this kernel has none"}}
	}
	w := held(t, tools.Sandbox{Mode: tools.SandboxRequire, Walls: none})
	got := w.run("run_command", "touch ran", nil)
	if got.Error == nil || got.Error.Code != fault.PolicyDenied || !strings.Contains(got.Error.Message, "not installed") ||
		!strings.Contains(got.Error.Hint, "install bubblewrap") || w.holds("ran") != "" {
		t.Errorf("%+v", got.Error)
	}
	w = held(t, tools.Sandbox{Mode: tools.SandboxPrefer, Walls: none, Network: tools.NetworkOff})
	if got := w.run("run_command", "echo ran", nil); got.Sandbox != process.None || got.Stdout != "ran\n" {
		t.Errorf("%+v", got)
	}
	if need := w.need("true"); need.Preview.Sandbox != "none" || !need.Preview.Network {
		t.Errorf("nothing takes the network away, and shown was %+v", need.Preview)
	}
	online := func() process.Walls { return process.Walls{Level: process.Landlock} }
	w = held(t, tools.Sandbox{Mode: tools.SandboxRequire, Walls: online, Network: tools.NetworkOff})
	if got := w.run("run_command", "true", nil); got.Error == nil || got.Error.Code != fault.PolicyDenied || !strings.Contains(got.Error.Message, "network") {
		t.Errorf("%+v", got)
	}
}

func TestProtectedPathsUnderBubblewrap(t *testing.T) {
	t.Parallel()
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.git("init")
	w.git("init -q --bare plain") // repositories by another name
	w.git("init -q --bare layout/.bare")
	w.write("layout/.git", "gitdir: ./.bare\n")
	w.git("init -q --separate-git-dir apart.d separate")
	protected := []string{".vscode/tasks.json", "deep/er/.envrc", "CLAUDE.md", "sub/.git/config", ".github/workflows/ci.yml", "plain/config", "layout/.bare/hooks/pre-commit", "apart.d/config"}
	for _, name := range protected {
		w.write(name, "before\n")
	}
	level := works(w).Level
	closed := level == process.Bubblewrap
	for _, name := range append(protected, ".git/config") {
		got := w.run("run_command", "f="+name+"; echo after >> $f", nil)
		if changed := strings.Contains(w.holds(name), "after"); changed == closed || got.Sandbox != level {
			t.Errorf("%s changed: %t, %+v", name, changed, got)
		}
	}
	if !closed {
		return // TestTheShownLevelIsTheOneThatHeld says what is there
	}
	if got := w.run("run_command", "mkdir .git/x", nil); got.ExitCode == 0 || !strings.Contains(got.Hint, "protected paths such as .git") {
		t.Errorf("%+v", got)
	}
	// What the line names itself, the user saw.
	if got := w.run("run_command", `echo named > CLAUDE.md; echo named > "$PWD/.vscode/tasks.json"`, nil); w.holds("CLAUDE.md") != "named\n" || w.holds(".vscode/tasks.json") != "before\n" {
		t.Errorf("%+v", got)
	}
	inside := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	inside.folders = []string{"repo/.vscode"}
	inside.write("repo/.vscode/tasks.json", "before\n")
	if got := inside.run("run_command", "f=tasks.json; echo after >> $f", nil); got.ExitCode == 0 || inside.holds("repo/.vscode/tasks.json") != "before\n" {
		t.Errorf("%+v", got)
	}
}

// git itself may commit; what would make the next git run programs stays closed.
func TestGitCommitsUnderBubblewrap(t *testing.T) {
	t.Parallel()
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.git("init")
	const commit = "git add a.txt && git -c user.name=n -c user.email=e@example.org commit -qm one"
	if got := w.run("run_command", commit+" && git log --format=%s", nil); got.Stdout != "one\n" {
		t.Errorf("%+v", got)
	}
	closed := works(w).Level == process.Bubblewrap
	got := w.run("run_command", "git config core.hooksPath /tmp/evil", nil)
	if evil := strings.Contains(w.holds(".git/config"), "evil"); evil == closed || (got.Hint == "") == closed {
		t.Errorf("git changed its settings: %t, %+v", evil, got)
	}
	w.write("a.txt", "b\n")
	if got := w.run("run_command", "touch .git/commondir && "+commit, nil); closed && got.ExitCode == 0 {
		t.Errorf("beside another program: %+v", got)
	}
	// A linked work tree has its repository elsewhere.
	if !closed {
		return
	}
	w = held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.folders = []string{"tree"}
	w.write("main/b.txt", "b\n")
	w.git("init main")
	w.git("-C main add b.txt")
	w.git("-C main commit -qm zero")
	w.git("-C main worktree add -q ../tree")
	w.write("tree/a.txt", "a\n")
	if got := w.run("run_command", commit+"; git log --format=%s; echo x > ../main/b.txt", nil); got.Stdout != "one\nzero\n" || w.holds("main/b.txt") != "x\n" {
		t.Errorf("%+v, %q", got, w.holds("main/b.txt"))
	}
	if got := w.run("run_command", "p=../main; echo x > $p/new", nil); got.ExitCode == 0 {
		t.Errorf("%+v", got)
	}
}

func TestEveryRootAndTheNamedFoldersCanBeWritten(t *testing.T) {
	t.Parallel()
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.folders = []string{"one", "two"}
	w.write("one/x", "")
	w.write("two/x", "")
	w.write("extra/x", "")
	w.sandbox = func(r *process.Runner) tools.Sandbox {
		return tools.Sandbox{Mode: tools.SandboxPrefer, Walls: r.Walls, Writable: []string{w.path("extra")}}
	}
	got := w.run("run_command", "for d in one two extra; do echo x > ../$d/new; done", map[string]any{"cwd": "two"})
	for _, name := range []string{"one/new", "two/new", "extra/new"} {
		if w.holds(name) == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A file that the line names is made and written; beside it nothing is.
	target := filepath.Join(w.base, "outside/named.txt")
	if got := w.run("run_command", "echo x >> "+target, map[string]any{"cwd": "two"}); got.ExitCode != 0 || w.holds("../outside/named.txt") != "x\n" {
		t.Errorf("%+v", got)
	}
}

// A command names what it needs of the network; it is asked about, shown, and all that it gets.
func TestNetworkByName(t *testing.T) {
	t.Parallel()
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer, Network: tools.NetworkHosts, Hosts: []string{"listed.example"}})
	level := works(w).Level
	need := w.needs("run_command", map[string]any{"command": "true", "network": []string{"Named.Example", "named.example", "git.example:22"}})
	texts := strings.Join(need.Reasons, "\n")
	switch level {
	case process.None:
		return // nothing takes it away
	case process.Bubblewrap:
		if need.Preview.Network || !slices.Equal(need.Preview.Hosts, []string{"git.example:22", "listed.example", "named.example"}) ||
			!strings.Contains(texts, "it may reach git.example:22") || !strings.Contains(texts, "it may reach named.example") || strings.Contains(texts, "listed.example") {
			t.Errorf("%+v", need)
		}
	default: // Landlock knows no hosts
		if !need.Preview.Network || !strings.Contains(texts, "it has the whole network") {
			t.Errorf("%+v", need)
		}
	}
	if need := w.needs("run_command", map[string]any{"command": "true", "network": []string{"*"}}); !need.Preview.Network || len(need.Preview.Hosts) > 0 {
		t.Errorf("all: %+v", need)
	}
	for _, bad := range [][]string{{"https://example.org"}, {"a b"}, make([]string, 21)} {
		if need := w.needs("run_command", map[string]any{"command": "true", "network": bad}); need.Error == nil || need.Error.Code != fault.InvalidArguments {
			t.Errorf("%q: %+v", bad, need)
		}
	}
	got := w.run("run_command", "python3 -c 'import urllib.request as u; u.urlopen(\"http://other.example/\")'", nil)
	if level == process.Bubblewrap && (!slices.Equal(got.Blocked, []string{"other.example:80"}) || !strings.Contains(got.Hint, "other.example:80; call again with network")) {
		t.Errorf("%+v", got)
	}
	off := held(t, tools.Sandbox{Mode: tools.SandboxPrefer, Network: tools.NetworkOff})
	if got := off.run("run_command", "true", map[string]any{"network": []string{"example.org"}}); got.Error == nil || got.Error.Code != fault.PolicyDenied || !strings.Contains(got.Error.Hint, "sandboxNetwork") {
		t.Errorf("%+v", got)
	}
}

func TestNetworkByRule(t *testing.T) {
	t.Parallel()
	rule, err := policy.ParseRule("run_command(echo *)")
	must(t, err)
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer, Network: tools.NetworkOff, NetworkFor: []policy.Rule{rule}})
	off := works(w).Offline
	for command, online := range map[string]bool{"echo hi": true, "echo hi && true": false, "cat a.txt": false, "echo $(cat a.txt)": false} {
		if need := w.need(command); need.Preview.Network != (online || !off) {
			t.Errorf("%s: shown was network %t", command, need.Preview.Network)
		}
	}
	got := w.run("run_command", "cat /proc/net/dev | grep -c :; echo 'could not resolve host' >&2; exit 6", nil)
	if works(w).Level == process.Bubblewrap && got.Stdout != "1\n" {
		t.Errorf("more than the loopback: %+v", got)
	}
	if strings.Contains(got.Hint, "without a network") != off {
		t.Errorf("%+v", got)
	}
}
