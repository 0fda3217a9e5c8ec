//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// start starts a process that must start.
func start(t testing.TB, r *Runner, command string) *Process {
	t.Helper()
	p, err := r.Start(t.Context(), Spec{Command: command, Dir: t.TempDir(), KeepStdin: true, Keep: KeepJoined}, nil)
	must(t, err)
	return p
}

// await waits for a text in what a process printed.
func await(t testing.TB, p *Process, text string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		_, next, _ := p.Since(1 << 60)
		_, changed := p.Next(next, 1)
		if all, _, _ := p.Since(0); strings.Contains(all, text) {
			return
		} else if !p.Running() {
			t.Fatalf("it ended and had printed %q, without %q", all, text)
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("it never printed %q", text)
		}
	}
}

// ended waits for a process's end, which must come.
func ended(t testing.TB, p *Process) (Result, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := p.Wait(ctx)
	must(t, err)
	text, _, _ := p.Since(0)
	return result, text
}

// expiring has time limits come when the test says so.
func expiring(r *Runner) (now func(), released <-chan struct{}) {
	limit, stopped := make(chan time.Time, 1), make(chan struct{})
	stop := sync.OnceFunc(func() { close(stopped) })
	r.expires = func(time.Duration) (<-chan time.Time, func()) { return limit, stop }
	return func() {
		select {
		case limit <- time.Time{}:
		default: // it has come
		}
	}, stopped
}

func TestEndTerminatesFirst(t *testing.T) {
	farewells(t, newRunner(t), None, func(command string) Spec { return Spec{Command: command, Dir: t.TempDir()} })
}

// farewells are the ways in which a command takes the order to end. A shell that forks at that
// moment has its trap twice, so here each has done so before it says that it is up.
func farewells(t *testing.T, r *Runner, level Level, spec func(command string) Spec) {
	for name, c := range map[string]struct {
		command, want string
		code          int
	}{
		"the shell says good-bye": {"trap 'echo bye; exit 5' TERM; sh -c 'echo up; exec sleep 999' & while :; do wait; done", "up\nbye\n", 5},
		"nobody listens":          {"trap '' TERM; echo up; sleep 999; sleep 999", "up\n", 128 + 9},
		// A shell that waits is gone at once; what it started may still finish.
		"a child saves its work":     {`sh -c 'trap "sleep 0.2; echo saved; exit" TERM; sh -c "echo up; exec sleep 999" & while :; do wait; done' & wait`, "up\nsaved\n", 128 + 15},
		"a child that is waited for": {`sh -c 'trap "sleep 0.2; echo saved; exit 3" TERM; sh -c "echo up; exec sleep 999" & while :; do wait; done'; echo went on`, "up\nsaved\n", 128 + 15},
	} {
		t.Run(name, func(t *testing.T) {
			if r.grace = time.Minute; name == "nobody listens" {
				r.grace = 50 * time.Millisecond
			}
			spec := spec(c.command)
			spec.Keep = KeepJoined
			p, err := r.Start(t.Context(), spec, nil)
			must(t, err)
			await(t, p, "up\n")
			held := p.Sandbox()
			p.End()
			p.End() // twice is no more than once
			result, text := ended(t, p)
			text = strings.ReplaceAll(text, "Terminated\n", "") // what a shell may say of its children
			if result.ExitCode != c.code || text != c.want || result.Sandbox != level || held != level {
				t.Errorf("exit code %d, printed %q; want %d, %q", result.ExitCode, text, c.code, c.want)
			}
		})
	}
}

func TestKillDoesNotWait(t *testing.T) {
	p := start(t, newRunner(t), "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.02; done")
	await(t, p, "up\n")
	p.Kill()
	if result, text := ended(t, p); result.ExitCode != 128+9 || text != "up\n" {
		t.Errorf("%+v, printed %q", result, text)
	}
	p.Kill() // of what is gone is nothing
	if err := p.Signal(Terminate); err != nil {
		t.Errorf("a signal for what is gone: %v", err)
	}
}

func TestSignalsReachTheGroup(t *testing.T) {
	r := newRunner(t)
	for _, s := range []Signal{Interrupt, Terminate, Hangup} {
		p := start(t, r, `trap 'echo heard `+string(s)+`' `+string(s)+`; echo up; while :; do sleep 0.02; done`)
		await(t, p, "up\n")
		must(t, p.Signal(s))
		await(t, p, "heard "+string(s))
		if !p.Running() {
			t.Errorf("%s ended what only listens to it", s)
		}
		p.Kill()
		ended(t, p)
	}
}

func TestParseSignal(t *testing.T) {
	for name, want := range map[string]Signal{"INT": Interrupt, "SIGINT": Interrupt, "sigterm": Terminate, "HUP": Hangup, "SIGKILL": Kill, "9": "", "": "", "STOP": ""} {
		got, err := ParseSignal(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestWriteToAProcess(t *testing.T) {
	r := newRunner(t)
	p := start(t, r, "while read -r line; do echo \"got $line\"; done; echo end of input")
	for _, text := range []string{"one\n", "two\n"} {
		if n, err := p.Write(t.Context(), text); n != len(text) || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
		await(t, p, "got "+text)
	}
	if !p.Running() {
		t.Error("its input was closed after a write")
	}
	p.Kill()
	ended(t, p)
	if _, err := p.Write(t.Context(), "late\n"); !errors.Is(err, errEnded) {
		t.Errorf("a write after the end: %v", err)
	}
	plain, err := r.Start(t.Context(), Spec{Command: "cat", Dir: t.TempDir()}, nil)
	must(t, err)
	if _, err := plain.Write(t.Context(), "x"); !errors.Is(err, errNoInput) {
		t.Errorf("a write to a command without input: %v", err)
	}
	ended(t, plain)
}

func TestWriteGivesUp(t *testing.T) {
	p := start(t, newRunner(t), "dd bs=1 count=1 2>/dev/null; sleep 999")
	ctx, cancel := context.WithCancel(t.Context())
	_, printed := p.Next(0, 1)
	go func() { <-printed; cancel() }() // it reads one byte, and nothing after it
	n, err := p.Write(ctx, strings.Repeat("x", 1<<20))
	if !errors.Is(err, context.Canceled) || n == 0 || n == 1<<20 {
		t.Errorf("%d bytes were taken, %v", n, err)
	}
	// The next one waits as long as it likes, and is given up with the process.
	late := make(chan error, 1)
	go func() { _, err := p.Write(context.Background(), strings.Repeat("x", 1<<20)); late <- err }()
	p.Kill()
	ended(t, p)
	if err := <-late; !errors.Is(err, errEnded) {
		t.Errorf("a write while it was killed: %v", err)
	}
}

// TestWriteAfterTheEnd finds it whether the turn to write or the end is seen first.
func TestWriteAfterTheEnd(t *testing.T) {
	_, pipe, err := os.Pipe()
	must(t, err)
	defer pipe.Close()
	in := feed(pipe, "", true)
	close(in.over)
	for range 64 { // both are there: one is taken at random
		if n, err := in.write(t.Context(), "late"); n != 0 || !errors.Is(err, errEnded) {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	<-in.turn
	if n, err := in.write(t.Context(), "late"); n != 0 || !errors.Is(err, errEnded) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestPIDIsTheShells(t *testing.T) {
	p := start(t, newRunner(t), "echo pid $$")
	pid := p.PID()
	if _, text := ended(t, p); text != fmt.Sprintf("pid %d\n", pid) {
		t.Errorf("pid %d, printed %q", pid, text)
	}
}

func TestDetach(t *testing.T) {
	r := newRunner(t)
	expire, released := expiring(r)
	var streamed strings.Builder
	dir := t.TempDir()
	p, err := r.Start(t.Context(), Spec{
		Command: "echo one; echo two >&2; until [ -e go ]; do sleep 0.02; done; echo three; sleep 999",
		Dir:     dir, Keep: KeepBoth, Timeout: time.Minute,
	}, func(_ Stream, b []byte) { streamed.Write(b) })
	must(t, err)
	await(t, p, "one\n")
	await(t, p, "two\n")
	soFar, next := p.Detach()
	if soFar.Stdout != "one\n" || soFar.Stderr != "two\n" || next != 8 {
		t.Errorf("%+v, next %d", soFar, next)
	}
	<-released
	expire()
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	await(t, p, "three\n")
	p.Kill()
	if result, _ := ended(t, p); result.TimedOut || result.Stdout != "" {
		t.Errorf("%+v", result)
	}
	if strings.Contains(streamed.String(), "three") {
		t.Errorf("streamed after it was detached: %q", streamed.String())
	}
}

// A reader that follows by offsets gets every byte that is still kept, in order, and
// is told by them how much is missing.
func TestNextHasGapsByOffset(t *testing.T) {
	r := newRunner(t)
	p, err := r.Start(t.Context(), Spec{Command: "seq 100000", Dir: t.TempDir(), Keep: KeepJoined, OutputLimit: 1000}, nil)
	must(t, err)
	ended(t, p)
	var offset, missing, bytes int64
	var text strings.Builder
	for {
		piece, _ := p.Next(offset, 64)
		if piece.Text == "" {
			break
		}
		missing += piece.Start - offset
		bytes += piece.Next - piece.Start
		offset = piece.Next
		text.WriteString(piece.Text)
	}
	total := int64(588895) // of seq 100000
	if missing+bytes != total || offset != total || bytes != 1000 {
		t.Errorf("%d bytes and %d missing make %d, want %d", bytes, missing, offset, total)
	}
	if !strings.HasPrefix(text.String(), "1\n2\n") || !strings.HasSuffix(text.String(), "\n100000\n") {
		t.Errorf("%.20q…", text.String())
	}
	all, next, cut := p.Since(0)
	if !cut || next != total || !strings.Contains(all, "[... 587895 bytes left out ...]") {
		t.Errorf("since 0: next %d, %.60q", next, all)
	}
	if all, next, cut = p.Since(total - 7); all != "100000\n" || next != total || cut {
		t.Errorf("since the last line: %q, %d, %v", all, next, cut)
	}
}

// A program with arguments is run by no shell, and gets no more of ours than it is to.
func TestArgsAreNoLine(t *testing.T) {
	t.Setenv("SSH_AUTH_SOCK", "/sock")
	t.Setenv("GIT_CONFIG_GLOBAL", "/global")
	r := newRunner(t)
	got := run(t, r, Spec{Args: []string{"/bin/echo", "$HOME; `id`", "it's"}})
	if got.Stdout != "$HOME; `id` it's\n" {
		t.Errorf("%q", got.Stdout)
	}
	env := run(t, r, Spec{Args: []string{"/usr/bin/env"}, Inherit: []string{"GIT_CONFIG_GLOBAL", "NOT_SET"}}).Stdout
	if !strings.Contains(env, "\nGIT_CONFIG_GLOBAL=/global\n") || strings.Contains(env, "SSH_AUTH_SOCK") || strings.Contains(env, "NOT_SET") {
		t.Errorf("it sees\n%s", env)
	}
}

// TestGentlyEndedItMayFinish: it is told nothing while it may, so that git is not hit in
// the moment in which it makes a lock file.
func TestGentlyEndedItMayFinish(t *testing.T) {
	for _, end := range []string{"cancelled", "closed"} {
		r := newRunner(t)
		r.finish = time.Minute
		dir := t.TempDir()
		must(t, syscall.Mkfifo(dir+"/f", 0o600))
		f, err := os.OpenFile(dir+"/f", os.O_RDWR, 0)
		must(t, err)
		defer f.Close() //nolint:errcheck // nothing is written
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		got, err := r.Run(ctx, Spec{Command: `trap 'echo told' TERM; echo ready; read x <f; echo finished`, Dir: dir, Gently: true}, func(_ Stream, b []byte) {
			if !strings.Contains(string(b), "ready") {
				return
			}
			go func() {
				defer close(ended)
				if end == "cancelled" {
					cancel()
				} else if err := r.Close(); err != nil {
					t.Error(err)
				}
			}()
			if end == "cancelled" {
				<-ended
			} else {
				<-r.closing
			}
			if _, err := f.WriteString("go on\n"); err != nil {
				t.Error(err)
			}
		})
		<-ended
		if got.Stdout != "ready\nfinished\n" || err == nil {
			t.Errorf("%s: %q, %v", end, got.Stdout, err)
		}
	}
}

// What is ended gently can put away what it left lying about.
func TestGentlyEnded(t *testing.T) {
	const line = `trap 'echo put away; exit 0' TERM; echo ready; while :; do read x <&3; done`
	for _, gently := range []bool{true, false} {
		r := newRunner(t)
		r.finish = time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		got, err := r.Run(ctx, Spec{Command: "mkfifo f; exec 3<>f; " + line, Dir: t.TempDir(), Gently: gently}, func(_ Stream, b []byte) {
			if strings.Contains(string(b), "ready") {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || strings.Contains(got.Stdout, "put away") != gently {
			t.Errorf("gently %t: %q, %v", gently, got.Stdout, err)
		}
	}
}
