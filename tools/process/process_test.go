//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pillion/internal/fault"
)

// TestMain lets the test binary play the two other programs of a test: the
// guardian, and a sidecar of its own.
func TestMain(m *testing.M) {
	// A program with the race detector sleeps for a second before it exits.
	guardianEnv = append(guardianEnv, "GORACE=atexit_sleep_ms=0")
	grace, obeyWithin, closeWithin, tryWithin = time.Minute, time.Minute, time.Minute, time.Minute
	PlayPart()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "sidecar":
			os.Exit(sidecar(os.Args[2:]))
		case "serving":
			os.Exit(serving(os.Args[2]))
		case "dial":
			os.Exit(dial(os.Args[2], os.Args[3]))
		case "get":
			os.Exit(get(os.Args[2:]))
		}
	}
	goleak.VerifyTestMain(m)
}

// markName is a variable by which the tests know the processes of one command.
const markName = "TEST_PROCESS_MARK"

// sidecar is another program that runs commands, with a mark on them.
func sidecar(args []string) int {
	r, err := NewRunner()
	if err != nil {
		return 1
	}
	defer r.Close()
	env := map[string]string{markName: args[0]}
	held := Confine{Level: Level(os.Getenv("TEST_PROCESS_LEVEL"))}
	for _, command := range args[1:] {
		if _, err := r.Run(context.Background(), Spec{Command: command, Dir: "/", Env: env, Confine: held},
			func(_ Stream, b []byte) { r.launcher.refill(); os.Stdout.Write(b) }); err != nil {
			return 1
		}
	}
	return 0
}

// dial is a program in a command that tries to speak with somebody.
func dial(network, address string) int {
	conn, err := net.Dial(network, address)
	if err == nil {
		_, err = conn.Write([]byte("hello"))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("spoke")
	return 0
}

// get is a program in a command that asks the proxy for some pages.
func get(urls []string) int {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil {
		return 1
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	for _, u := range urls {
		r, err := client.Get(u)
		if err != nil {
			fmt.Println(err)
			continue
		}
		body, _ := io.ReadAll(r.Body) //nolint:errcheck // what came is printed
		r.Body.Close()
		fmt.Println(r.StatusCode, strings.TrimSpace(string(body)))
	}
	return 0
}

func newRunner(t testing.TB) *Runner {
	t.Helper()
	r, err := NewRunner()
	must(t, err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// run runs a command that must not take long and must not fail to run.
func run(t testing.TB, r *Runner, spec Spec) Result {
	t.Helper()
	if spec.Dir == "" {
		spec.Dir = t.TempDir()
	}
	result, err := r.Run(t.Context(), spec, nil)
	if err != nil {
		t.Fatalf("run %q: %v\nstdout: %s\nstderr: %s", spec.Command, err, result.Stdout, result.Stderr)
	}
	return result
}

func TestExitCode(t *testing.T) {
	r := newRunner(t)
	for command, want := range map[string]int{
		"true":                   0,
		"":                       0,
		"exit 7":                 7,
		"kill -TERM $$":          128 + int(syscall.SIGTERM),
		"kill -9 $$":             128 + int(syscall.SIGKILL),
		"/no/such/program":       127,
		"echo x | (exit 3)":      3,
		"exec sh -c 'exit 9'":    9,
		"trap 'exit 4' EXIT; :":  4,
		"sh -c 'kill -INT $$'":   128 + int(syscall.SIGINT),
		"if true; then exit 5\n": 2,
	} {
		if got := run(t, r, Spec{Command: command}); got.ExitCode != want || got.TimedOut {
			t.Errorf("%q: exit code %d, want %d (%+v)", command, got.ExitCode, want, got)
		}
	}
}

func TestStreamsAreSplit(t *testing.T) {
	r := newRunner(t)
	streamed := map[Stream]string{}
	result, err := r.Run(t.Context(), Spec{Command: "echo out; echo err >&2; printf end", Dir: t.TempDir()},
		func(s Stream, b []byte) { streamed[s] += string(b) })
	must(t, err)
	if result.Stdout != "out\nend" || result.Stderr != "err\n" || result.Truncated {
		t.Errorf("result %+v", result)
	}
	if streamed[Stdout] != result.Stdout || streamed[Stderr] != result.Stderr {
		t.Errorf("streamed %q", streamed)
	}
	if result.Duration <= 0 {
		t.Errorf("duration %v", result.Duration)
	}
}

func TestStdin(t *testing.T) {
	r := newRunner(t)
	long := strings.Repeat("0123456789abcde\n", 1<<14) // more than a pipe holds
	for name, c := range map[string]struct{ command, stdin, want string }{
		"text":       {"cat", "grüße\n", "grüße\n"},
		"none":       {"cat; readlink /proc/self/fd/0 || echo /dev/null", "", "/dev/null\n"},
		"long":       {"wc -c | tr -d ' '", long, fmt.Sprintln(len(long))},
		"never read": {"echo done", long, "done\n"},
	} {
		if got := run(t, r, Spec{Command: c.command, Stdin: c.stdin}).Stdout; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFolder(t *testing.T) {
	r := newRunner(t)
	dir := t.TempDir()
	link := filepath.Join(dir, "link \xff")
	must(t, os.Symlink(dir, link))
	// The name the caller used, not what it resolves to; and bytes, not text.
	if got := run(t, r, Spec{Command: "pwd | od -An -c | tr -d ' \n' | tail -c 4", Dir: link}).Stdout; got != `377\n` && got != `77\n` {
		t.Errorf("pwd ends in %q", got)
	}
}

func TestTimeoutKeepsWhatWasPrinted(t *testing.T) {
	r := newRunner(t)
	expire, _ := expiring(r)
	p := start(t, r, "trap '' TERM; echo before; sleep 999; echo after")
	await(t, p, "before\n")
	expire()
	if result, text := ended(t, p); result.ExitCode != 124 || !result.TimedOut || text != "before\n" {
		t.Errorf("%+v, printed %q", result, text)
	}
	// A command that ends in time is not touched by its limit.
	r.expires = after
	if result := run(t, r, Spec{Command: "exit 6", Timeout: time.Minute}); result.ExitCode != 6 || result.TimedOut {
		t.Errorf("%+v", result)
	}
}

func TestCancel(t *testing.T) {
	r := newRunner(t)
	ctx, cancel := context.WithCancel(t.Context())
	result, err := r.Run(ctx, Spec{Command: "echo up; sleep 999", Dir: t.TempDir()}, func(Stream, []byte) { cancel() })
	if !errors.Is(err, context.Canceled) || result.Stdout != "up\n" {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := r.Run(ctx, Spec{Command: "true", Dir: t.TempDir()}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("run with a cancelled context: %v", err)
	}
}

func TestCloseWhileRunning(t *testing.T) {
	r := newRunner(t)
	p := start(t, r, "echo up; sleep 999")
	await(t, p, "up\n")
	must(t, r.Close())
	if p.Running() {
		t.Error("Close returned before the command had ended")
	}
	if _, err := p.Wait(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the command that ran: %v", err)
	}
	if _, err := r.Run(t.Context(), Spec{Command: "true", Dir: "/"}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a command after Close: %v", err)
	}
}

func TestEightAtOnce(t *testing.T) {
	r := newRunner(t)
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			// Each waits until all eight are there: none is queued behind another.
			command := fmt.Sprintf("touch %d; until [ $(ls | wc -l) = 8 ]; do sleep 0.01; done; echo %d; exit %d", i, i, i)
			result, err := r.Run(t.Context(), Spec{Command: command, Dir: dir, Timeout: time.Minute}, nil)
			if err != nil || result.ExitCode != i || result.Stdout != fmt.Sprintln(i) {
				t.Errorf("command %d: %+v, %v", i, result, err)
			}
		})
	}
	all.Wait()
}

func TestOutputIsSerialAndComplete(t *testing.T) {
	r := newRunner(t)
	var inside atomic.Int32
	got := map[Stream]*strings.Builder{Stdout: {}, Stderr: {}}
	result, err := r.Run(t.Context(), Spec{Command: "seq 100000 & seq 100000 >&2; wait", Dir: t.TempDir(), OutputLimit: 1000},
		func(s Stream, b []byte) {
			if inside.Add(1) != 1 {
				t.Error("output was called while it ran")
			}
			got[s].Write(b)
			inside.Add(-1)
		})
	must(t, err)
	var want strings.Builder
	for i := range 100000 {
		fmt.Fprintln(&want, i+1)
	}
	for s, text := range got {
		if text.String() != want.String() {
			t.Errorf("%s: %d bytes arrived, want %d", s, text.Len(), want.Len())
		}
	}
	if !result.Truncated || len(result.Stdout) > 1100 || !strings.HasPrefix(result.Stdout, "1\n2\n") ||
		!strings.HasSuffix(result.Stdout, "99999\n100000\n") {
		t.Errorf("kept %d bytes: %.40q", len(result.Stdout), result.Stdout)
	}
}

func TestSlowOutputSlowsTheCommand(t *testing.T) {
	r := newRunner(t)
	dir := t.TempDir()
	release := make(chan struct{})
	first := make(chan struct{})
	var once sync.Once
	var total atomic.Int64
	ended := make(chan error, 1)
	go func() {
		// A megabyte fits no pipe, so the marker is only there if somebody read on.
		_, err := r.Run(context.Background(), Spec{Command: "echo go; head -c 1000000 /dev/zero; touch written", Dir: dir},
			func(_ Stream, b []byte) {
				once.Do(func() { close(first) })
				<-release
				total.Add(int64(len(b)))
			})
		ended <- err
	}()
	<-first
	if _, err := os.Stat(filepath.Join(dir, "written")); err == nil {
		t.Error("the command did not wait for its reader")
	}
	close(release)
	if err := <-ended; err != nil || total.Load() != 1000003 {
		t.Errorf("%d bytes arrived, %v", total.Load(), err)
	}
}

func TestRefusedSpecs(t *testing.T) {
	r := newRunner(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for name, c := range map[string]struct {
		spec Spec
		want fault.Code
	}{
		"NUL":             {Spec{Command: "echo \x00", Dir: dir}, fault.InvalidArguments},
		"too long":        {Spec{Command: strings.Repeat("x", MaxCommand+1), Dir: dir}, fault.InvalidArguments},
		"relative folder": {Spec{Command: "true", Dir: "here"}, fault.InvalidPath},
		"no folder":       {Spec{Command: "true", Dir: file}, fault.InvalidPath},
		"missing folder":  {Spec{Command: "true", Dir: filepath.Join(dir, "no")}, fault.FileNotFound},
		"variable":        {Spec{Command: "true", Dir: dir, Env: map[string]string{"A=B": "c"}}, fault.InvalidArguments},
	} {
		if _, err := r.Run(t.Context(), c.spec, nil); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v (%s), want %s", name, err, fault.CodeOf(err), c.want)
		}
	}
	// The longest one possible still runs, also with a long PATH before it.
	t.Setenv("PATH", os.Getenv("PATH")+":"+strings.Repeat("/x", 4096))
	long := "true " + strings.Repeat("x", MaxCommand-5)
	if result := run(t, newRunner(t), Spec{Command: long}); result.ExitCode != 0 {
		t.Errorf("longest command: %+v", result)
	}
}

func TestStartFailureIsToldAndLeavesNothing(t *testing.T) {
	r := newRunner(t)
	dir := filepath.Join(t.TempDir(), "gone")
	must(t, os.Mkdir(dir, 0o700))
	spec := Spec{Command: "true", Dir: dir}
	o := spec.order(r.base)
	if err := os.Remove(dir); err != nil { // after it was checked
		t.Fatal(err)
	}
	c, err := r.launcher.start(o)
	must(t, err)
	ended := <-c.outcome
	if ended.err == nil || !strings.Contains(ended.err.Error(), "no such file") {
		t.Errorf("%+v", ended)
	}
	c.stdout.Close()
	c.stderr.Close()
}

// 64 MB on one line costs the sidecar no more than what it keeps.
func TestMemoryIsBounded(t *testing.T) {
	r := newRunner(t)
	run(t, r, Spec{Command: "true"})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	result := run(t, r, Spec{Command: "head -c 64000000 /dev/zero"})
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 16<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	if !result.Truncated || len(result.Stdout) > 1<<20+100 ||
		!strings.Contains(result.Stdout, fmt.Sprintf("[... %d bytes left out ...]", 64000000-1<<20)) {
		t.Errorf("kept %d bytes", len(result.Stdout))
	}
}

func TestCommandsSeeACleanEnvironment(t *testing.T) {
	for _, name := range []string{"NVIM", "VSCODE_IPC_HOOK_CLI", "PILLION_TOKEN", "SSH_AUTH_SOCK", "DISPLAY", "GIT_DIR", "SOME_TOKEN"} {
		t.Setenv(name, "leak")
	}
	t.Setenv("HOME", t.TempDir()) // no profile of the developer's
	r := newRunner(t)
	dir := t.TempDir()
	out := run(t, r, Spec{Command: "env", Dir: dir, Env: map[string]string{"GIVEN": "a b=c", "PAGER": "mine"}}).Stdout
	if strings.Contains(out, "leak") {
		t.Errorf("leaked:\n%s", out)
	}
	for _, want := range []string{"GIVEN=a b=c", "PAGER=mine", "TERM=dumb", "NO_COLOR=1", "PWD=" + dir, "HOME=" + os.Getenv("HOME")} {
		if !strings.Contains("\n"+out, "\n"+want+"\n") {
			t.Errorf("%s is missing in:\n%s", want, out)
		}
	}
}

// A profile that replaces PATH must not hide the tools that the editor finds.
func TestEditorsPathComesFirst(t *testing.T) {
	home, bin := t.TempDir(), filepath.Join(t.TempDir(), "it's $HOME *")
	must(t, os.MkdirAll(bin, 0o700))
	must(t, os.WriteFile(filepath.Join(bin, "tool"), []byte("#!/bin/sh\necho found\n"), 0o700))
	ours := bin + ":/usr/bin:/bin"
	t.Setenv("HOME", home)
	t.Setenv("PATH", ours)
	r := newRunner(t)
	for profile, want := range map[string]string{
		"PATH=/usr/bin:/bin:/profile":          ours + ":/usr/bin:/bin:/profile",
		"PATH=/profile:" + quote(ours):         "/profile:" + ours,
		"PATH=" + quote(ours) + "; FROM=login": ours,
	} {
		must(t, os.WriteFile(filepath.Join(home, ".profile"), []byte(profile+"\n"), 0o600))
		if got := run(t, r, Spec{Command: `tool; echo "$PATH"`}).Stdout; got != "found\n"+want+"\n" {
			t.Errorf("profile %q: %q, want PATH %q", profile, got, want)
		}
	}
}

func TestLineNumbersStay(t *testing.T) {
	r := newRunner(t)
	if got := run(t, r, Spec{Command: "true\nno-such-program"}).Stderr; !strings.Contains(got, "2: ") {
		t.Errorf("%q", got)
	}
}
