package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/testrig/machine"
)

// watched is a folder, and the home of the person who watches it.
type watched struct {
	t         *testing.T
	dir, home string
	env       []string // of its programs, beside what all have
}

func newWatched(t *testing.T) watched {
	w := watched{t: t, dir: t.TempDir(), home: t.TempDir()}
	w.write("a.txt", "one\n")
	return w
}

func (w watched) write(name, text string) {
	w.t.Helper()
	must(w.t, os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600))
}

func (w watched) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(w.dir, name)) //nolint:errcheck // then it holds nothing
	return string(text)
}

func (w watched) command(args ...string) *exec.Cmd {
	command := exec.Command("/proc/self/exe", args...)
	command.Dir = w.dir
	command.Env = append(append(os.Environ(), w.env...), "HOME="+w.home, "XDG_CONFIG_HOME="+filepath.Join(w.home, ".config"), "PILLION_TEST_MAIN=1", "TERM=xterm", "NO_COLOR=1", "VISUAL=/bin/false")
	return command
}

// watcher is a `pillion watch` with a person at it.
type watcher struct {
	*screen
	t     *testing.T
	ended chan error
}

func (w watched) watch() *watcher {
	w.t.Helper()
	out := w.inTerminal("watch")
	out.sees("Pillion watches " + w.dir)
	return out
}

// inTerminal runs pillion with a person at it.
func (w watched) inTerminal(args ...string) *watcher {
	w.t.Helper()
	keys, tty, err := machine.NewTTY(80)
	must(w.t, err)
	command := w.command(args...)
	command.Stdin, command.Stdout, command.Stderr = tty, tty, tty
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(w.t, command.Start())
	tty.Close()
	out := &watcher{screen: &screen{keys: keys}, t: w.t, ended: make(chan error, 1)}
	go func() { out.ended <- command.Wait() }()
	w.t.Cleanup(func() {
		keys.Close() // which hangs up
		select {
		case <-out.ended:
		case <-time.After(testrig.Patience):
			w.t.Error("it does not end when its terminal is closed")
		}
	})
	return out
}

func (w *watcher) sees(text string) {
	w.t.Helper()
	must(w.t, w.keys.SetDeadline(time.Now().Add(testrig.Patience)))
	if err := w.wait(text); err != nil {
		w.t.Fatalf("%q %v; the screen:\n%s", text, err, w.text.String())
	}
}

// answers reads a question, up to the prompt, and types a line.
func (w *watcher) answers(about, line string) {
	w.t.Helper()
	w.sees(about)
	w.sees("Your answer")
	w.types(line)
}

func (w *watcher) types(line string) {
	w.t.Helper()
	if _, err := w.keys.WriteString(line + "\n"); err != nil {
		w.t.Fatal(err)
	}
}

// client is an agent without forms: a real MCP client with a `pillion mcp` of its own.
type client struct {
	*mcp.ClientSession
	t *testing.T
}

func (w watched) agent(name string) client {
	w.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(w.t.Context(), &mcp.CommandTransport{Command: w.command("mcp")}, nil)
	must(w.t, err)
	w.t.Cleanup(func() { session.Close() })
	return client{session, w.t}
}

// starts a call; its text comes, led by "!" where it failed.
func (c client) starts(tool string, arguments object) <-chan string {
	out := make(chan string, 1)
	go func() {
		r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			out <- "!" + err.Error()
			return
		}
		sign := ""
		if r.IsError {
			sign = "!"
		}
		text, _ := r.Content[0].(*mcp.TextContent)
		out <- sign + text.Text
	}()
	return out
}

func (c client) gets(call <-chan string, want ...string) {
	c.t.Helper()
	select {
	case got := <-call:
		for _, part := range want {
			check.Has(c.t, "what the agent gets", got, part)
		}
		check.Same(c.t, "that "+got+" is a failure", strings.HasPrefix(got, "!"), strings.HasPrefix(want[0], "!"))
	case <-time.After(testrig.Patience):
		c.t.Fatalf("the agent waits in vain for %q", want)
	}
}

func edits(old, text string) object {
	return object{"path": "a.txt", "old_string": old, "new_string": text}
}

// TestWatch is a person's way with an agent that cannot ask by itself.
func TestWatch(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	a := w.agent("tester")
	a.gets(a.starts("edit_file", edits("one", "two")), "!APPROVAL_UNAVAILABLE", "pillion watch")
	p := w.watch()

	a.gets(a.starts("read_file", object{"path": "a.txt"}), "one")
	p.sees("✓ tester read_file")
	call := a.starts("edit_file", edits("one", "two"))
	p.answers("+two", "a")
	a.gets(call, "a.txt")
	p.sees("✓ tester edit_file")
	call = a.starts("edit_file", edits("two", "three"))
	p.answers("-two", "r keep two")
	a.gets(call, "!USER_REJECTED", "keep two")
	check.Same(t, "the file", w.read("a.txt"), "two\n")

	// A command runs, and has no terminal through which it could answer.
	call = a.starts("run_command", object{"command": "echo a >/dev/tty || echo no terminal"})
	p.answers("echo a", "a")
	a.gets(call, "no terminal")

	call = a.starts("edit_file", edits("two", "three"))
	p.answers("+three", "c")
	a.gets(call, "!CANCELLED")
	p.sees("tester is paused. Type resume")
	a.gets(a.starts("read_file", object{"path": "a.txt"}), "!CANCELLED")
	p.sees("✗ tester read_file")
	p.types("wha")
	p.sees("No request is open")
	p.types("resume")
	p.sees("tester goes on")
	p.types("resume")
	p.sees("No agent is paused")

	// A rule for the folder holds for the next agent, too.
	call = a.starts("edit_file", edits("two", "three"))
	p.answers("in this folder from now on allow edit_file(a.txt)", "w")
	a.gets(call, "a.txt")
	b := w.agent("other")
	b.gets(b.starts("edit_file", edits("three", "four")), "a.txt")
	p.sees("✓ other edit_file")
	check.Same(t, "the file", w.read("a.txt"), "four\n")
}

// TestAWatchEnds with Ctrl+C, also while a question is open and others wait.
func TestAWatchEnds(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	p := w.watch()
	a := w.agent("tester")
	var calls []<-chan string
	for _, name := range []string{"n1", "n2", "n3"} {
		calls = append(calls, a.starts("write_file", object{"path": name, "content": name}))
	}
	p.sees("2 more requests wait")
	if _, err := p.keys.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	for _, call := range calls {
		a.gets(call, "!APPROVAL_UNAVAILABLE", "`pillion watch` was closed", "run `pillion watch` again")
	}
	p.readToEnd()
	select {
	case err := <-p.ended:
		if err != nil {
			t.Error(err)
		}
		p.ended <- nil
	case <-time.After(testrig.Patience):
		t.Fatal("it does not end")
	}
	if left, err := os.ReadDir(filepath.Join(w.home, ".local/state/pillion/relay")); err != nil || len(left) > 0 {
		t.Errorf("left in the registry: %v, %v", left, err)
	}
	if left := slices.DeleteFunc(processesIn(w.home), func(line string) bool { return strings.Contains(line, " mcp") }); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	a.gets(a.starts("read_file", object{"path": "a.txt"}), "one")
	again := w.watch()
	call := a.starts("write_file", object{"path": "n1", "content": "n1"})
	again.answers("n1", "a")
	a.gets(call, "n1")
}

// TestAnEditorOpensBesideAWatch: each question has one dialog, wherever it was asked.
func TestAnEditorOpensBesideAWatch(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	p, second := w.watch(), w.watch()
	a := w.agent("tester")
	asked := a.starts("write_file", object{"path": "first", "content": "1"})
	second.sees("Your answer") // it was opened last

	e := spawn(t, testrig.Options{Dirs: []string{w.dir}, Home: w.home})
	p.sees("has this folder open: agents ask there")
	next := a.starts("write_file", object{"path": "second", "content": "2"})
	dialog := <-e.Approvals
	check.Has(t, "the title", dialog.Text("title"), "second")
	dialog.Answer <- object{"decision": "approve", "decisionId": "approve", "digest": dialog.Text("digest")}
	a.gets(next, "second")
	check.Same(t, "what the watch asked was done by the editor's yes", w.read("first"), "")
	second.types("a")
	a.gets(asked, "first")
	answered := second.seen
	second.sees("✓ tester write_file")
	second.seen = answered // in any order
	second.sees("agents ask there")
	check.Same(t, "the files hold", w.read("first")+w.read("second"), "12")
	check.Lacks(t, "the other watch", p.text.String(), "tester")
	check.Nothing(t, "the editor was asked once more", e.Approvals)

	e.Stop()
	second.sees("agents ask here")
	call := a.starts("write_file", object{"path": "third", "content": "3"})
	second.answers("third", "r")
	second.sees("Why?")
	second.types("enough")
	a.gets(call, "!USER_REJECTED", "enough")
}
