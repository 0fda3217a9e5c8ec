package process

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// made waits until the spare has made its box ahead, and gives its key.
func made(t *testing.T, r *Runner) string {
	t.Helper()
	r.launcher.filling.Wait()
	r.launcher.mu.Lock()
	defer r.launcher.mu.Unlock()
	if r.launcher.spare == nil {
		t.Fatal("there is no spare")
	}
	return r.launcher.spare.box
}

// A box that was made ahead is the one that a fresh one would be.
func TestBoxesAreMadeAhead(t *testing.T) {
	r := newRunner(t)
	everyLevel(t, r, func(t *testing.T, level Level) {
		p := newPlace(t)
		if err := os.Mkdir(filepath.Join(p.inside, "it's below"), 0o755); err != nil {
			t.Fatal(err)
		}
		note := put(t, filepath.Join(p.inside, "NOTE"), "one\n")
		spec := p.spec(level, "cat NOTE; pwd; echo \"$OLDPWD$GIVEN\"; cat")
		spec.Confine.ReadOnly = []string{note}
		check := func(want string) {
			t.Helper()
			if got := run(t, r, spec); got.Stdout != want || got.Sandbox != level {
				t.Errorf("%+v, want %q", got, want)
			}
			if ahead := made(t, r) != ""; ahead != (level == Bubblewrap) {
				t.Errorf("a box was made ahead: %t", ahead)
			}
		}
		check("one\n" + p.inside + "\n\n")
		spec.Env, spec.Stdin = map[string]string{"GIVEN": "it's\na b", "odd.name": "x'y"}, "in"
		check("one\n" + p.inside + "\nit's\na b\nin")
		spec.Env, spec.Stdin, spec.Dir = nil, "", filepath.Join(p.inside, "it's below")
		spec.Command = "cat ../NOTE; pwd"
		// Whoever saves a file replaces it; the box that is waiting has the old one.
		if err := os.Rename(put(t, filepath.Join(p.inside, "new"), "two\n"), note); err != nil {
			t.Fatal(err)
		}
		check("two\n" + spec.Dir + "\n")
		spec.Command = "echo x > ../NOTE; true"
		check("")
		if (content(note) == "two") != (level == Bubblewrap) {
			t.Errorf("note: %q", content(note))
		}
		spec.Command = "echo " + strings.Repeat("x", 90_000) + " | wc -c"
		check("90001\n")
	})
}

// What is held otherwise never gets a box that was made for something else.
func TestBoxesAreNotTakenForOthers(t *testing.T) {
	r := newRunner(t)
	everyLevel(t, r, func(t *testing.T, level Level) {
		p := newPlace(t)
		spec := p.spec(level, "echo x > ../outside/x")
		run(t, r, spec)
		made(t, r)
		spec.Confine.Writable = append(spec.Confine.Writable, p.outside)
		if got := run(t, r, spec); got.ExitCode != 0 {
			t.Errorf("opened: %+v", got)
		}
		made(t, r)
		spec.Confine.Writable = spec.Confine.Writable[:1]
		if got := run(t, r, spec); (got.ExitCode == 0) != (level == None) {
			t.Errorf("closed again: %+v", got)
		}
		made(t, r)
		if got := run(t, r, Spec{Command: "echo $PPID; grep NoNewPrivs /proc/self/status"}); !strings.HasSuffix(got.Stdout, "NoNewPrivs:\t0\n") || got.Sandbox != None {
			t.Errorf("without any: %+v", got)
		}
	})
}

func TestBoxThatDiedWhileItWaited(t *testing.T) {
	r := newRunner(t)
	everyLevel(t, r, func(t *testing.T, level Level) {
		p := newPlace(t)
		run(t, r, p.spec(level, "true"))
		if made(t, r) == "" {
			return // nothing waits at this level
		}
		eventually(t, "the box is there", func() bool { return len(waiting()) > 0 })
		eventually(t, "the box is gone", func() bool {
			for _, b := range waiting() {
				b.kill()
			}
			return len(waiting()) == 0
		})
		got, err := r.Run(t.Context(), p.spec(level, "echo hi"), nil)
		if err == nil || got.Stdout != "" || got.Sandbox != None {
			t.Errorf("%+v, %v", got, err)
		}
		if got := run(t, r, p.spec(level, "echo hi")); got.Stdout != "hi\n" || got.Sandbox != level {
			t.Errorf("the next: %+v", got)
		}
	})
}

// waiting are the boxes that wait below this process's guardians.
func waiting() (found []entry) {
	for _, g := range guardians(os.Getpid()) {
		for _, p := range processes() {
			if p.parent == g.pid && !p.dead {
				found = append(found, p)
			}
		}
	}
	return found
}

// A socket that went away while its box was made: bubblewrap makes a file in its
// place, and that is gone with the box at the latest. It was found in the agents'
// registry, in place of the socket of a sidecar that had ended.
func TestNothingIsLeftWhereASocketWas(t *testing.T) {
	r := newRunner(t)
	walls := r.Walls()
	if !walls.Bubblewrap.Works {
		refuses(t, r, Bubblewrap) // no box, and so nothing that it could leave
		return
	}
	short, err := os.MkdirTemp("/tmp", "pillion-") // where commands may write, and so bubblewrap
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	socket := filepath.Join(short, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.order(newPlace(t).spec(Bubblewrap, "true"), r.found().box)
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	c, err := r.launcher.spawn()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.makeBox(o); err != nil {
		t.Fatal(err)
	}
	eventually(t, "bubblewrap has made a file", func() bool {
		info, err := os.Lstat(socket)
		return err == nil && info.Mode() == madeByBubblewrap
	})
	c.discard()
	if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
