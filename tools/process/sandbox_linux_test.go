package process

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Each test here runs at every level. At one that does not work on this machine
// it proves that a command which is to be held by it does not run at all: so a
// machine without bubblewrap, or without user namespaces, tests that instead.
func everyLevel(t *testing.T, test func(*testing.T, *Runner, Level)) {
	r := newRunner(t)
	for _, level := range []Level{None, Landlock, Bubblewrap} {
		t.Run(string(level), func(t *testing.T) {
			walls := r.Walls()
			wall := map[Level]Wall{None: {Works: true}, Landlock: walls.Landlock, Bubblewrap: walls.Bubblewrap}[level]
			if wall.Works {
				test(t, r, level)
				return
			}
			refuses(t, r, level)
			t.Logf("%s does not work here, and that is what was tested: %s", level, wall.Why)
			if wall.Why == "" {
				t.Error("nobody says why")
			}
		})
	}
}

// refuses proves that a command does not run without what must hold it.
func refuses(t *testing.T, r *Runner, level Level) {
	dir := t.TempDir()
	got, err := r.Run(t.Context(), Spec{Command: "touch ran", Dir: dir, Confine: Confine{Level: level, Writable: []string{dir}}}, nil)
	if _, missing := os.Stat(filepath.Join(dir, "ran")); missing == nil || err == nil {
		t.Errorf("it ran: %+v, %v", got, err)
	}
}

// boxing is a Runner; nil where bubblewrap does not work, and so nothing runs in a box.
func boxing(t *testing.T) *Runner {
	t.Helper()
	r := newRunner(t)
	if r.Walls().Bubblewrap.Works {
		return r
	}
	refuses(t, r, Bubblewrap)
	return nil
}

// folderIn is a folder somewhere else than the test's own are.
func folderIn(t *testing.T, dir, pattern string) string {
	t.Helper()
	name, err := os.MkdirTemp(dir, pattern)
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(name) })
	return name
}

// layout is a folder where commands may write, and one where they may not.
type layout struct{ inside, outside string }

func newPlace(t *testing.T) layout {
	// Below the folder for temporary files everything may be written.
	base := folderIn(t, "/var/tmp", "pillion-")
	p := layout{filepath.Join(Resolve(base), "inside"), filepath.Join(Resolve(base), "outside")}
	for _, dir := range []string{p.inside, p.outside} {
		must(t, os.Mkdir(dir, 0o755))
	}
	return p
}

func (p layout) spec(level Level, command string) Spec {
	return Spec{Command: command, Dir: p.inside, Confine: Confine{Level: level, Writable: []string{p.inside}}, Timeout: 5 * time.Minute}
}

func put(t *testing.T, name, text string) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

func content(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return "nothing"
	}
	return strings.TrimSpace(string(text))
}

// The level that is told is the level that held: proven by writing elsewhere.
func TestTheLevelIsTheOneThatHeld(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		there := put(t, filepath.Join(p.outside, "there"), "before")
		got := run(t, r, p.spec(level, "echo x > in; echo y > ../outside/new; echo after > ../outside/there; truncate -s 0 ../outside/there; rm ../outside/there; mkdir ../outside/d; ln -s a ../outside/l; true"))
		if got.Sandbox != level {
			t.Errorf("%s is told", got.Sandbox)
		}
		if content(filepath.Join(p.inside, "in")) != "x" {
			t.Errorf("inside nothing was written: %s", got.Stderr)
		}
		left, _ := os.ReadDir(p.outside)
		free := content(there) != "before" || len(left) != 1
		if level == Landlock && landlockABI() < truncateABI {
			free = len(left) != 1
		}
		if free != (level == None) {
			t.Errorf("outside: %v, %q; %s", left, content(there), got.Stderr)
		}
	})
}

func TestTemporaryFilesCanBeWritten(t *testing.T) {
	p := newPlace(t)
	t.Setenv("HOME", p.outside)
	t.Setenv("TMPDIR", filepath.Join(p.outside, "temporary"))
	must(t, os.Mkdir(os.Getenv("TMPDIR"), 0o700))
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		in, name := t.TempDir(), rand.Text() // in /tmp, which is another folder under bubblewrap
		if level == Bubblewrap {
			in = "/tmp"
		}
		got := run(t, r, p.spec(level, "set -e; echo x > "+quote(in+"/"+name)+"; echo x > \"$TMPDIR/x\"; echo x > /dev/null; echo x > /dev/shm/pillion-test; rm /dev/shm/pillion-test; mktemp; echo x > ~/.bashrc"))
		if wrote := content(filepath.Join(p.outside, ".bashrc")) == "x"; wrote != (level == None) || level != Bubblewrap && content(in+"/"+name) != "x" || level == Bubblewrap && content("/tmp/"+name) != "nothing" {
			t.Errorf("%+v", got)
		}
		if level != None && (got.ExitCode == 0 || !strings.Contains(got.Stderr, ".bashrc")) {
			t.Errorf("something else could not be written: %+v", got)
		}
		os.Remove(filepath.Join(p.outside, ".bashrc"))
	})
}

// What the user saw named can be written, where it is and where it is not yet.
func TestNamedFilesCanBeWritten(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		there, missing := put(t, filepath.Join(p.outside, "there"), "before"), filepath.Join(p.outside, "missing")
		spec := p.spec(level, "echo a > ../outside/there; echo b > ../outside/missing; echo c > ../outside/other")
		spec.Confine.Files = []string{there, missing, filepath.Join(p.outside, "no", "such")}
		got := run(t, r, spec)
		if content(there) != "a" || content(missing) != "b" || (content(filepath.Join(p.outside, "other")) == "c") != (level == None) {
			t.Errorf("%q, %q, %+v", content(there), content(missing), got)
		}
	})
}

// Landlock has no exceptions: there the level is all that is promised.
func TestProtectedPathsCanBeReadOnly(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		hook, note := put(t, filepath.Join(p.inside, ".git/hooks/hook"), "before"), put(t, filepath.Join(p.inside, "NOTE"), "before")
		secret := put(t, filepath.Join(p.outside, "hidden/token"), "secret")
		spec := p.spec(level, "echo after > .git/hooks/hook; echo x > .git/new; mv .git away; rm -f NOTE; echo after > NOTE; cat ../outside/hidden/token")
		spec.Confine.ReadOnly = []string{filepath.Join(p.inside, ".git"), note, filepath.Join(p.inside, "missing")}
		spec.Confine.Hidden = []string{filepath.Dir(secret)}
		got := run(t, r, spec)
		kept := content(hook) == "before" && content(note) == "before" && content(filepath.Join(p.inside, ".git/new")) == "nothing" && got.Stdout == ""
		if kept != (level == Bubblewrap) {
			t.Errorf("hook %q, note %q, %+v", content(hook), content(note), got)
		}
		// A part can be opened again.
		if level == Bubblewrap {
			spec.Command = "echo x > .git/index; echo after > .git/hooks/hook; mv .git away; mv .git/hooks .git/h"
			spec.Confine.Writable = append(spec.Confine.Writable, filepath.Join(p.inside, ".git"))
			spec.Confine.ReadOnly = []string{filepath.Join(p.inside, ".git/hooks")}
			if got := run(t, r, spec); content(filepath.Join(p.inside, ".git/index")) != "x" || content(hook) != "before" {
				t.Errorf("%+v", got)
			}
		}
	})
}

func TestExitCodesAndStreamsAreTrueAtEveryLevel(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		for command, want := range map[string]int{
			"true": 0, "exit 7": 7, "kill -TERM $$": 128 + 15, "kill -9 $$": 128 + 9, "/no/such/program": 127,
			"sh -c 'kill -INT $$'": 128 + 2, "kill -SEGV $$": 128 + 11, "kill -TERM $$ & wait": 128 + 15,
		} {
			if got := run(t, r, p.spec(level, command)); got.ExitCode != want || got.Sandbox != level {
				t.Errorf("%q: exit code %d, want %d (%+v)", command, got.ExitCode, want, got)
			}
		}
		spec := p.spec(level, "pwd; cat; echo err >&2; echo \"$PWD $GIVEN\"; env | grep -c SECRET; ls /proc/$$/fd")
		spec.Stdin, spec.Env = "grüße\n", map[string]string{"GIVEN": "a b"}
		got := run(t, r, spec)
		if want := p.inside + "\ngrüße\n" + p.inside + " a b\n0\n0\n1\n2\n"; got.Stdout != want || got.Stderr != "err\n" {
			t.Errorf("%q, %q", got.Stdout, got.Stderr)
		}
		spec = p.spec(level, "sleep 999")
		spec.Timeout = 50 * time.Millisecond
		if got := run(t, r, spec); got.ExitCode != 124 || !got.TimedOut || got.Sandbox != level {
			t.Errorf("%+v", got)
		}
	})
}

func TestOthersProcessesAreOutOfReach(t *testing.T) {
	other := exec.Command("sleep", "999")
	must(t, other.Start())
	died := make(chan struct{})
	go func() { _ = other.Wait(); close(died) }()
	t.Cleanup(func() { _ = other.Process.Kill(); <-died })
	pid := strconv.Itoa(other.Process.Pid)
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		got := run(t, r, p.spec(level, "kill -0 "+pid+" && echo reached; tr '\\0' ' ' < /proc/"+pid+"/cmdline"))
		reached := strings.Contains(got.Stdout, "reached")
		if want := level == None || level == Landlock && landlockABI() < scopesABI; reached != want {
			t.Errorf("reached: %+v", got)
		}
		if seen := strings.Contains(got.Stdout, "sleep 999"); seen != (level != Bubblewrap) {
			t.Errorf("seen: %+v", got)
		}
	})
}

func TestNothingIsLeftAtEveryLevel(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		if level == None {
			return // see TestNothingIsLeftAtTheShellsEnd and TestNothingIsLeftAfterOrders
		}
		p := newPlace(t)
		for name, command := range map[string]string{
			"session":         "setsid sleep 999 & echo hi",
			"double fork":     "(setsid sh -c 'exec 0<&- 1>&- 2>&-; sleep 999 & exit' &); echo hi",
			"ignored signals": "(trap '' TERM HUP INT; sleep 999; sleep 999) & echo hi",
			"hydra":           hydra + "; echo hi",
		} {
			spec := p.spec(level, command)
			spec.Env = mark(t)
			if got := run(t, r, spec); got.Stdout != "hi\n" || got.ExitCode != 0 {
				t.Errorf("%s: %+v", name, got)
			}
			if left := marked(spec.Env); len(left) > 0 {
				t.Errorf("%s left %v", name, left)
			}
		}
		expire, _ := expiring(r)
		spec := p.spec(level, "setsid sleep 999 & (trap '' TERM; sleep 999) & echo up; wait")
		spec.Env = mark(t)
		got, err := r.Run(t.Context(), spec, func(Stream, []byte) { expire() })
		if r.expires = after; err != nil || !got.TimedOut {
			t.Errorf("%+v, %v", got, err)
		}
		if left := marked(spec.Env); len(left) > 0 {
			t.Errorf("after its time: %v", left)
		}
	})
}

func TestKilledSidecarLeavesNothingAtEveryLevel(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		env := mark(t)
		cmd := exec.Command("/proc/self/exe", "sidecar", env[markName], "setsid sleep 999 & (trap '' TERM HUP; sleep 999) & echo up; wait")
		cmd.Env = append(os.Environ(), "TEST_PROCESS_LEVEL="+string(level))
		stdout, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "up\n" {
			t.Errorf("%q, %v", line, err)
		}
		// It makes a spare guardian as soon as the command prints.
		eventually(t, "the command's processes are there", func() bool { return len(marked(env)) >= 3 })
		eventually(t, "one guardian at work and one spare", func() bool { return len(guardians(cmd.Process.Pid)) == 2 })
		guards := guardians(cmd.Process.Pid)
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		eventually(t, "no process of the command is left", func() bool { return len(marked(env)) == 0 })
		eventually(t, "the guardians are gone", func() bool { return !slices.ContainsFunc(guards, func(g entry) bool { return !gone(g) }) })
	})
}

// TestEndTerminatesFirstAtEveryLevel: in a box, too, what is told to end may finish. The shell
// is told last, because the box falls with it.
func TestEndTerminatesFirstAtEveryLevel(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		if level != None { // see TestEndTerminatesFirst
			farewells(t, r, level, func(command string) Spec { return newPlace(t).spec(level, command) })
		}
	})
}

// ownProgram is this one in a folder that commands see: it may be among temporary files.
func ownProgram(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	text, err := os.ReadFile(self)
	must(t, err)
	program := filepath.Join(dir, "program")
	if !isRegular(program) {
		must(t, os.WriteFile(program, text, 0o755))
	}
	return program
}

// speaks runs a program in a command that dials.
func speaks(t *testing.T, r *Runner, spec Spec, network, address string) bool {
	t.Helper()
	spec.Command = strings.Join([]string{quote(ownProgram(t, spec.Dir)), "dial", network, quote(address)}, " ")
	got := run(t, r, spec)
	if got.ExitCode > 1 || got.ExitCode == 0 && got.Stdout != "spoke\n" {
		t.Fatalf("the dialling program: %+v", got)
	}
	return got.ExitCode == 0
}

// listen waits at an address until the test ends.
func listen(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr()
}

func TestNetworkOffIsOff(t *testing.T) {
	address := listen(t, "tcp", "127.0.0.1:0").String()
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		for _, offline := range []bool{false, true} {
			spec := p.spec(level, "")
			spec.Confine.Offline = offline
			off := offline && level != None
			if speaks(t, r, spec, "tcp", address) == off {
				t.Errorf("offline %t: TCP", offline)
			}
			// A datagram needs nobody at the other end; in a network of its own it comes
			// back to the box.
			spoke := speaks(t, r, spec, "udp", "192.0.2.1:9")
			if off && spoke || level == None && !spoke && hasRoute() {
				t.Errorf("offline %t: UDP", offline)
			}
		}
	})
}

// hasRoute says whether this machine can send a datagram at all.
func hasRoute() bool {
	conn, err := net.Dial("udp", "192.0.2.1:9")
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// The editor's socket, the agents', docker's and the session's are sockets with a
// name, or with an abstract one.
func TestSocketsOfOthers(t *testing.T) {
	p := newPlace(t)
	runtime := filepath.Join(p.outside, "runtime")
	must(t, os.Mkdir(runtime, 0o700))
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	short := folderIn(t, "/tmp", "pillion-")
	abstract := fmt.Sprintf("@pillion-test-%d", os.Getpid())
	linked, relative := filepath.Join(p.outside, "link", "s"), filepath.Join(p.outside, "relative")
	must(t, errors.Join(os.Mkdir(filepath.Join(p.outside, "real"), 0o700), os.Symlink("real", filepath.Join(p.outside, "link"))))
	holder := exec.CommandContext(t.Context(), "python3", "-c", "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind('relative'); s.listen(99); sys.stdin.read()")
	holder.Dir = p.outside
	stdin, err := holder.StdinPipe()
	must(t, errors.Join(err, holder.Start()))
	defer func() { stdin.Close(); _ = holder.Wait() }()
	eventually(t, "the other program listens", func() bool {
		conn, err := net.Dial("unix", relative)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	addresses := []string{filepath.Join(runtime, "s"), filepath.Join(short, "s"), filepath.Join(p.outside, "s"), linked, relative, filepath.Join(p.inside, "s"), abstract}
	for _, address := range addresses {
		if address != relative {
			listen(t, "unix", address)
		}
	}
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		for _, address := range addresses {
			hidden := level == Bubblewrap && !within(p.inside, address) || level == Landlock && landlockABI() >= scopesABI && address == abstract
			if level == Bubblewrap && address == abstract {
				hidden = r.found().box.scoped
			}
			if speaks(t, r, p.spec(level, ""), "unix", address) == hidden {
				t.Errorf("%s: hidden is to be %t", address, hidden)
			}
		}
	})
}

// TestSocketsThatComeLater: a command that was started before does not reach what begins to listen
// where programs that hold keys or drive editors do.
func TestSocketsThatComeLater(t *testing.T) {
	p := newPlace(t)
	home := folderIn(t, "/var/tmp", "h") // names of sockets are short
	t.Setenv("HOME", home)
	r := newRunner(t)
	if !r.Walls().Bubblewrap.Works {
		t.Log("not run: there is no bubblewrap")
		return
	}
	must(t, errors.Join(os.MkdirAll(home+"/.ssh/agent", 0o700), os.MkdirAll(home+"/.gnupg", 0o700), os.MkdirAll(home+"/.docker", 0o700)))
	put(t, home+"/dotfiles/ssh", "Host x\n")
	must(t, os.Symlink("../dotfiles/ssh", home+"/.ssh/config"))
	late := []string{home + "/.ssh/agent/s", home + "/.gnupg/S.gpg-agent", home + "/.docker/run/docker.sock", fmt.Sprintf("/var/tmp/pillion-%d", os.Getpid())}
	spec := p.spec(Bubblewrap, "cat ~/.ssh/config; touch ready; until [ -e made ]; do sleep 0.02; done; for s in "+strings.Join(late, " ")+`; do test -e $s && echo "$s is there"; done; touch ~/.gnupg/x; true`)
	done := make(chan Result, 1)
	go func() { got, _ := r.Run(t.Context(), spec, nil); done <- got }()
	eventually(t, "the command has started", func() bool { return content(filepath.Join(p.inside, "ready")) == "" })
	must(t, os.Mkdir(home+"/.docker/run", 0o700))
	for _, socket := range late {
		listen(t, "unix", socket)
	}
	put(t, filepath.Join(p.inside, "made"), "")
	if got := <-done; got.Stdout != "Host x\n" || !strings.Contains(got.Stderr, "Read-only") {
		t.Errorf("%+v", got)
	}
}

// Where what worked does not work any more, the command does not run, that is
// said, and the next one finds out what still works.
func TestBrokenBoxRunsNothing(t *testing.T) {
	r := newRunner(t)
	for _, program := range []string{"/bin/false", "/bin/true", "/no/such/bwrap"} {
		r.walls.known.Store(&found{Walls: Walls{Level: Bubblewrap}, box: box{program: program}})
		refuses(t, r, Bubblewrap)
		if r.walls.known.Load() != nil {
			t.Errorf("%s is believed in for ever", program)
		}
	}
	// A place that is gone is no box either.
	spec := newPlace(t).spec(Bubblewrap, "touch ran")
	spec.Dir = t.TempDir()
	spec.Confine.Writable = append(spec.Confine.Writable, "/")
	if walls := r.Walls(); walls.Bubblewrap.Works {
		if got, err := r.Run(t.Context(), spec, nil); err != nil || got.Sandbox != Bubblewrap {
			t.Errorf("the whole disk as the workspace: %+v, %v", got, err)
		}
	}
}

// A trial that fails does not wait for the one who tries: it did, for ever.
func TestATrialThatFailsEnds(t *testing.T) {
	r := newRunner(t)
	r.walls.trying.Lock()
	defer r.walls.trying.Unlock()
	for _, program := range []string{"/bin/false", "/bin/true", "/no/such/bwrap"} {
		failed := make(chan error, 1)
		go func() { failed <- r.tryOne(Bubblewrap, box{program: program}) }()
		select {
		case err := <-failed:
			if err == nil {
				t.Errorf("%s works as a box", program)
			}
		case <-time.After(time.Minute):
			t.Fatalf("trying %s does not end", program)
		}
	}
}

// Where bubblewrap is there and may do nothing, as in many containers, the next
// best holds, and the reason is known.
func TestBubblewrapThatMayNot(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bwrap")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"), 0o755))
	places := bubblewrapPlaces
	t.Cleanup(func() { bubblewrapPlaces = places })
	bubblewrapPlaces = []string{program}
	t.Setenv("PATH", "/nowhere")
	r := newRunner(t)
	walls := r.Walls()
	why := "No permissions"
	if os.Getuid() != 0 {
		why = "does not belong to the system"
	}
	if walls.Bubblewrap.Works || !strings.Contains(walls.Bubblewrap.Why, why) || walls.Level == Bubblewrap || walls.Landlock.Works != (walls.Level == Landlock) {
		t.Errorf("%+v", walls)
	}
	p := newPlace(t)
	if got := run(t, r, p.spec(walls.Level, "/bin/echo hi")); got.Stdout != "hi\n" || got.Sandbox != walls.Level {
		t.Errorf("%+v", got)
	}
	refuses(t, r, Bubblewrap)
}

func TestRootHasNoRightsLeftToUndoItsBox(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		if level == None {
			return
		}
		p := newPlace(t)
		got := run(t, r, p.spec(level, `mount -o remount,rw / && echo remounted
			mount -t tmpfs none /mnt && echo mounted
			(cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern) && echo switched
			(: >> /proc/sysrq-trigger) && echo opened
			grep NoNewPrivs /proc/self/status`))
		if got.Stdout != "NoNewPrivs:\t1\n" {
			t.Errorf("%+v", got)
		}
	})
}

// Trying what works here leaves nothing behind: the doctor does it.
func TestTryingMakesNothing(t *testing.T) {
	home := newPlace(t).outside
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	newRunner(t).Walls()
	if left, err := os.ReadDir(home); len(left) > 0 || err != nil {
		t.Errorf("%v, %v", left, err)
	}
}

// What docs/security.md says is closed is closed, and the trial can tell: without a sandbox
// it gets out by each way that a program of the user's has.
func TestTheWaysOut(t *testing.T) {
	t.Setenv("HOME", newPlace(t).outside)
	t.Setenv("XDG_CACHE_HOME", "")
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		w := r.Walls()
		w.Level = level
		got, err := r.tryEscapes(t.Context(), w)
		if err != nil || len(got) != len(ways) {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, e := range got {
			switch {
			case level == None && i < 8 && e.Closed:
				t.Errorf("nothing holds it, and yet it could not %s", e.Way)
			case level != None && e.Due && !e.Closed:
				t.Errorf("it could %s", e.Way)
			}
		}
	})
}

// What a filter takes away, programs of ordinary work do not miss.
func TestFilteredCommandsWork(t *testing.T) {
	p := newPlace(t)
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		got := run(t, r, p.spec(level, "set -e; (sleep 0 & wait); echo x | cat; git init -q repo; git -C repo log 2>&1 | head -1; python3 -c 'import threading, subprocess, socket; t = threading.Thread(target=print, args=[1]); t.start(); t.join(); subprocess.run([\"true\"], check=True); socket.socket(socket.AF_INET6)'; rm -rf repo"))
		if got.ExitCode != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestSocketsOfAnotherNetwork: the table of sockets has those of this network alone. What holds the
// person's keys may listen in a container, with its socket named or mounted here.
func TestSocketsOfAnotherNetwork(t *testing.T) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil || exec.Command(bwrap, "--dev-bind", "/", "/", "--unshare-net", "true").Run() != nil {
		t.Log("not run: there is no bubblewrap")
		return
	}
	socket := filepath.Join(t.TempDir(), "s")
	listens := exec.Command(bwrap, "--die-with-parent", "--dev-bind", "/", "/", "--unshare-net", "python3", "-c",
		"import socket,sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); print(flush=True); sys.stdin.read()", socket)
	in, err := listens.StdinPipe()
	must(t, err)
	out, err := listens.StdoutPipe()
	must(t, err)
	must(t, listens.Start())
	defer listens.Wait()
	defer in.Close()
	_, err = out.Read(make([]byte, 1))
	must(t, err)
	if slices.Contains(sockets(), socket) {
		t.Fatal("the table has it: this tests nothing")
	}
	for _, value := range []string{socket, "unix://" + socket, "unix:path=" + socket + ",guid=1", socket + ":1"} {
		t.Setenv("SOME_AGENT", value)
		if !slices.Contains(sockets(), socket) {
			t.Errorf("%s is not known", value)
		}
	}
}

// TestSocketsOfAnyName: the kernel writes names into its table as they are.
func TestSocketsOfAnyName(t *testing.T) {
	dir := Resolve(t.TempDir())
	for _, name := range []string{"a\nb", "a\n", "\n\nc d", "e\t", "f: 00000002 00000000 00010000 0001 01 1 f", "@g", ` \040h`} {
		listen(t, "unix", filepath.Join(dir, name))
		if !slices.Contains(sockets(), filepath.Join(dir, name)) {
			t.Errorf("%q is not known", name)
		}
	}
}

// heldTests are about what holds a command. Kernels and bubblewrap treat root otherwise.
const heldTests = "^Test(NamedFilesCanBeWritten|ProtectedPathsCanBeReadOnly|OthersProcessesAreOutOfReach|NetworkOffIsOff|SocketsOfOthers|" +
	"TemporaryFilesAreTheSessionsOwn|ASocketThatIsMadeLaterIsOutOfReach|TheWaysOut|TheUsersCachesAreOnlyRead)$"

// TestAsAnOrdinaryUser: machines that test as root are not those that people work on.
func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		return // then all tests run as one
	}
	const nobody = 65534
	base := folderIn(t, "/var/tmp", "pillion-ordinary-") // what is below /tmp is shown otherwise
	home, program := filepath.Join(base, "home"), filepath.Join(base, "process.test")
	must(t, os.Mkdir(home, 0o700))
	for _, path := range []string{base, home} {
		must(t, os.Chown(path, nobody, nobody))
	}
	copyProgram(t, program)
	cmd := exec.Command(program, "-test.run", heldTests, "-test.timeout=20m")
	cmd.Dir = base
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	must(t, err)
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	must(t, err)
	if _, err := io.Copy(f, from); err != nil {
		t.Fatal(err)
	}
	must(t, f.Close())
}
