package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var marks int

// mark gives a variable that every process of one command carries.
func mark(t testing.TB) map[string]string {
	marks++
	return map[string]string{markName: fmt.Sprintf("%s-%d-%d", t.Name(), os.Getpid(), marks)}
}

// marked names the living processes that carry a mark.
func marked(env map[string]string) (found []string) {
	want := []byte(markName + "=" + env[markName] + "\x00")
	for _, p := range processes() {
		environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "environ"))
		if err == nil && !p.dead && bytes.Contains(environ, want) {
			found = append(found, fmt.Sprintf("%s (%d)", p.name, p.pid))
		}
	}
	return found
}

// guardians lists the living guardians of a process.
func guardians(parent int) (found []entry) {
	for _, p := range processes() {
		if p.parent == parent && p.name == "pillion-guard" && !p.dead {
			found = append(found, p)
		}
	}
	return found
}

func gone(p entry) bool {
	now, ok := lookUp(p.pid)
	return !ok || now.dead || now.started != p.started
}

// eventually waits until ok holds. It polls, because nothing announces that an
// unrelated process has gone.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// hydra is a chain of processes: each moves to a new session, starts the next
// one and is gone.
const hydra = `H='setsid sh -c "$H" >/dev/null 2>&1 </dev/null &'; export H; eval "$H"`

func TestNothingIsLeftAtTheShellsEnd(t *testing.T) {
	r := newRunner(t)
	for name, command := range map[string]string{
		"background":       "sleep 999 & echo hi",
		"session":          "setsid sleep 999 & echo hi",
		"holds the pipes":  "(sleep 999; echo late) & echo hi",
		"nothing to lose":  "setsid sh -c 'trap \"\" TERM HUP INT; sleep 999; sleep 999' & echo hi",
		"ignored signals":  "(trap '' TERM HUP INT; sleep 999; sleep 999) & echo hi",
		"double fork":      "(setsid sh -c 'exec 0<&- 1>&- 2>&-; sleep 999 & exit' &); echo hi",
		"nested sessions":  "setsid sh -c 'setsid sh -c \"setsid sleep 999 & sleep 999\" & sleep 999' & echo hi",
		"stopped":          "setsid sh -c 'kill -STOP $$' & echo hi",
		"many":             "for i in $(seq 200); do setsid sleep 999 & done; echo hi",
		"bomb":             "f() { [ $1 = 0 ] || { f $(($1-1)) & f $(($1-1)) & }; sleep 999; }; f 7 & echo hi",
		"bomb in sessions": `B='if [ $1 != 0 ]; then for i in 1 2; do setsid sh -c "$B" sh $(($1-1)) & done; fi; sleep 999'; export B; sh -c "$B" sh 5 & echo hi`,
		"hydra":            hydra + "; echo hi",
		"nohup":            "nohup sleep 999 >/dev/null 2>&1 & echo hi",
	} {
		t.Run(name, func(t *testing.T) {
			env := mark(t)
			result := run(t, r, Spec{Command: command, Env: env})
			if left := marked(env); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if result.ExitCode != 0 || result.Stdout != "hi\n" {
				t.Errorf("%+v", result)
			}
		})
	}
}

func TestNothingIsLeftAfterOrders(t *testing.T) {
	command := "setsid sleep 999 & (trap '' TERM; sleep 999) & " + hydra + "; echo up; wait"
	orders := map[string]func(*testing.T, *Runner, Spec){
		"timeout": func(t *testing.T, r *Runner, spec Spec) {
			expire, _ := expiring(r)
			result, err := r.Run(t.Context(), spec, func(Stream, []byte) { expire() })
			if err != nil || result.ExitCode != 124 || !result.TimedOut {
				t.Errorf("%+v, %v", result, err)
			}
		},
		"cancel": func(t *testing.T, r *Runner, spec Spec) {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := r.Run(ctx, spec, func(Stream, []byte) { cancel() })
			if err != context.Canceled {
				t.Error(err)
			}
		},
		"end": func(t *testing.T, r *Runner, spec Spec) {
			r.grace = 50 * time.Millisecond
			p, err := r.Start(t.Context(), spec, nil)
			must(t, err)
			await(t, p, "up")
			p.End()
			ended(t, p)
		},
		"kill": func(t *testing.T, r *Runner, spec Spec) {
			p, err := r.Start(t.Context(), spec, nil)
			must(t, err)
			await(t, p, "up")
			p.Kill()
			ended(t, p)
		},
		"close": func(t *testing.T, r *Runner, spec Spec) {
			_, err := r.Run(t.Context(), spec, func(Stream, []byte) { go r.Close() })
			if err != ErrClosed {
				t.Error(err)
			}
		},
	}
	for name, end := range orders {
		t.Run(name, func(t *testing.T) {
			spec := Spec{Command: command, Dir: t.TempDir(), Env: mark(t), Keep: KeepBoth}
			end(t, newRunner(t), spec)
			if left := marked(spec.Env); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestKilledGuardian(t *testing.T) {
	r := newRunner(t)
	env := mark(t)
	result, err := r.Run(t.Context(), Spec{
		Command: "(trap '' TERM; sleep 999) & sleep 999 & echo up; kill -9 $PPID; sleep 999",
		Dir:     t.TempDir(), Env: env,
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "guardian died") || result.Stdout != "up\n" {
		t.Errorf("%+v, %v", result, err)
	}
	if left := marked(env); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if got := run(t, r, Spec{Command: "echo next"}).Stdout; got != "next\n" {
		t.Errorf("the next command: %q", got)
	}
}

// A child that moved to a session of its own before the command killed its
// guardian is the known gap; it must not hold up Run through the pipe it holds.
func TestEscapedChildHoldsNothingUp(t *testing.T) {
	r := newRunner(t)
	env := mark(t)
	t.Cleanup(func() {
		for _, p := range processes() {
			if environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid)); bytes.Contains(environ, []byte(env[markName])) {
				p.kill()
			}
		}
	})
	result, err := r.Run(t.Context(), Spec{
		Command: "setsid sh -c 'echo up; touch up; sleep 999' & until [ -e up ]; do :; done; kill -9 $PPID; sleep 999",
		Dir:     t.TempDir(), Env: env, Timeout: 2 * time.Minute,
	}, nil)
	if err == nil || result.TimedOut || result.Stdout != "up\n" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestStoppedGuardian(t *testing.T) {
	r := newRunner(t)
	r.obey = 50 * time.Millisecond
	expire, _ := expiring(r)
	env := mark(t)
	result, _ := r.Run(t.Context(), Spec{
		Command: "kill -STOP $PPID; until grep -q 'State:.T' /proc/$PPID/status; do sleep 0.01; done; echo up; sleep 999", Dir: t.TempDir(), Env: env,
	}, func(Stream, []byte) { expire() })
	if result.ExitCode != 124 || !result.TimedOut || result.Stdout != "up\n" {
		t.Errorf("%+v", result)
	}
	if left := marked(env); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestGuardianSurvivesOrdinarySignals(t *testing.T) {
	r := newRunner(t)
	result := run(t, r, Spec{Command: "for s in HUP INT TERM QUIT USR1 PIPE TSTP ALRM; do kill -$s $PPID; done; kill -TERM 0; exit 3"})
	if result.ExitCode != 128+int(syscall.SIGTERM) {
		t.Errorf("%+v", result)
	}
}

func TestDeadSpareIsReplaced(t *testing.T) {
	r := newRunner(t)
	run(t, r, Spec{Command: "true"})
	r.launcher.filling.Wait()
	spare := r.launcher.spare
	spare.abandon()
	eventually(t, "the spare is gone", func() bool { return len(spare.outcome) == 1 })
	if got := run(t, r, Spec{Command: "echo again"}).Stdout; got != "again\n" {
		t.Errorf("%q", got)
	}
}

func TestNoZombie(t *testing.T) {
	r := newRunner(t)
	for range 5 {
		run(t, r, Spec{Command: "sleep 999 & true"})
	}
	// Run does not wait for the guardian, which has nothing left to do.
	eventually(t, "there is no zombie", func() bool {
		for _, p := range processes() {
			if p.parent == os.Getpid() && p.dead {
				return false
			}
		}
		return true
	})
	// Nor do orphans pile up below a guardian while its command runs.
	result := run(t, r, Spec{Command: `
		for i in $(seq 20); do (sh -c : & echo $! >> pids); done
		until [ $(wc -l < pids) = 20 ]; do :; done
		for p in $(cat pids); do while [ -e /proc/$p ]; do sleep 0.01; done; done
		echo reaped`, Timeout: 2 * time.Minute})
	if result.Stdout != "reaped\n" {
		t.Errorf("%+v", result)
	}
}

func TestCommandHasOnlyItsStreams(t *testing.T) {
	r := newRunner(t)
	result := run(t, r, Spec{Command: "ls /proc/$$/fd; (echo lie >&3) 2>/dev/null || (echo lie >&4) 2>/dev/null || echo refused"})
	if result.Stdout != "0\n1\n2\nrefused\n" {
		t.Errorf("descriptors: %q", result.Stdout)
	}
	// No terminal, default signals, nothing blocked, a session of its own.
	result = run(t, r, Spec{Command: `(: </dev/tty) 2>/dev/null || echo no terminal
		grep -E '^Sig(Blk|Ign):' /proc/self/status
		cut -d' ' -f6 /proc/self/stat | grep -qx $$ && echo own session`})
	got := libcSignals.ReplaceAllString(result.Stdout, "SigIgn:\t0000000000000000")
	want := "no terminal\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nown session\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Signals 32 and 33 are libc's own; make leaves them ignored in all that it
// starts, this test included.
var libcSignals = regexp.MustCompile(`(?m)^SigIgn:\t0{7}[01][08]0{7}$`)

// A command has the same user as its guardian, and still cannot reach its pipes.
func TestGuardianIsClosedToItsCommand(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "sidecar", "peek", "ls /proc/$PPID/fd 2>&1; echo lie 2>&1 >/proc/$PPID/fd/4")
	if os.Getuid() == 0 { // root may open anything, so somebody else has to try
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = "/"
	}
	out, err := cmd.Output() // beside it there is what a guardian says that counts coverage and may not write
	if err != nil || strings.Count(strings.ToLower(string(out)), "denied") != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestGuardianIsNotForPeople(t *testing.T) {
	out, err := exec.Command("/proc/self/exe", "guardian").CombinedOutput()
	exit, ok := err.(*exec.ExitError)
	if !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), "pillion starts it itself") {
		t.Errorf("%v: %s", err, out)
	}
}
