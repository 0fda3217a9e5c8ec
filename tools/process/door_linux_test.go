package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		must(t, os.Mkdir(filepath.Join(p.inside, "it's below"), 0o755))
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
		must(t, os.Rename(put(t, filepath.Join(p.inside, "new"), "two\n"), note))
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
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
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
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		next := p.spec(level, "echo hi")
		// A socket that comes or goes anywhere on the machine makes the next box another.
		eventually(t, "the box that is gone is the one that is needed", func() bool {
			run(t, r, p.spec(level, "true"))
			key := made(t, r)
			eventually(t, "the box is there", func() bool { return key == "" || len(waiting()) > 0 })
			boxes := waiting() // each is killed once: of one command at most a few boxes are tried
			for _, b := range boxes {
				b.kill()
			}
			eventually(t, "the box is gone", func() bool {
				return !slices.ContainsFunc(waiting(), func(b entry) bool {
					return slices.ContainsFunc(boxes, func(killed entry) bool { return killed.pid == b.pid })
				})
			})
			o, err := r.order(next, r.found().box)
			return err == nil && o.box.key == key
		})
		if r.launcher.spare.box == "" {
			return // nothing waits at this level
		}
		if got := run(t, r, next); got.Stdout != "hi\n" || got.Stderr != "" || got.Sandbox != level {
			t.Errorf("%+v", got)
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

// A socket that was there when a box was ordered, and is gone when it is made: the
// box is made without it, also where nothing could be put in its place.
func TestASocketThatIsGoneIsNotCovered(t *testing.T) {
	r := boxing(t)
	if r == nil {
		return
	}
	short := folderIn(t, "/var/tmp", "pillion-") // not hidden as a whole
	p := newPlace(t)
	sockets := []string{filepath.Join(short, "s"), filepath.Join(p.outside, "s")}
	var gone []func() error
	for _, socket := range sockets {
		listener, err := net.Listen("unix", socket)
		must(t, err)
		gone = append(gone, listener.Close)
	}
	o, err := r.order(p.spec(Bubblewrap, "echo ran"), r.found().box)
	must(t, err)
	for i, socket := range sockets {
		if !slices.Contains(o.box.words, socket) {
			t.Errorf("%s is not covered while it is there", socket)
		}
		must(t, gone[i]())
	}
	c, err := r.launcher.start(o)
	must(t, err)
	text, _ := io.ReadAll(c.stdout) //nolint:errcheck // what was printed counts
	if end := <-c.outcome; end.err != nil || string(text) != "ran\n" {
		t.Errorf("it printed %q and ended with %+v", text, end)
	}
	for _, socket := range sockets {
		if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there again: %v", socket, err)
		}
	}
}

// unlucky is bubblewrap after something else, which a shell does each time.
func unlucky(t *testing.T, r *Runner, first string) {
	t.Helper()
	f := r.found()
	program := filepath.Join(t.TempDir(), "bwrap")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\n"+first+"\nexec "+quote(f.box.program)+" \"$@\"\n"), 0o755))
	f.box.program = program
	r.walls.known.Store(&f)
}

// A socket that goes away while the box is made, with or without its folder: the
// command runs in another box, and nothing is left where the socket was.
func TestASocketThatGoesWhileTheBoxIsMade(t *testing.T) {
	r := boxing(t)
	if r == nil {
		return
	}
	short := folderIn(t, "/tmp", "pillion-")
	p := newPlace(t)
	for _, above := range []string{short, p.outside} { // a command may write to the first, and so may bubblewrap
		folder := filepath.Join(above, "a", "b")
		must(t, os.MkdirAll(folder, 0o755))
		listen(t, "unix", filepath.Join(folder, "s"))
		unlucky(t, r, "rm -rf "+quote(filepath.Join(above, "a")))
		p, err := r.Start(t.Context(), p.spec(Bubblewrap, "echo ran | tee -a ran"), nil)
		must(t, err)
		got, err := p.Wait(t.Context())
		if err != nil || got.Stdout != "ran\n" || got.Stderr != "" || got.Sandbox != Bubblewrap || p.PID() == 0 {
			t.Errorf("%s: %+v, %v", above, got, err)
		}
		if left, err := filepath.Glob(filepath.Join(above, "*")); err != nil || len(left) > 0 {
			t.Errorf("left are %q, %v", left, err)
		}
	}
	if text := content(filepath.Join(p.inside, "ran")); text != "ran\nran" {
		t.Errorf("two commands ran as %q", text)
	}
}

// Another box is tried twice; then it is told what bubblewrap complained of.
func TestABoxIsTriedThreeTimes(t *testing.T) {
	r := boxing(t)
	if r == nil {
		return
	}
	p := newPlace(t)
	const always = 1000
	for _, failures := range []int{boxTries - 1, always} {
		r := newRunner(t)
		log := filepath.Join(p.outside, fmt.Sprint(failures))
		unlucky(t, r, fmt.Sprintf("echo tried >>%[1]s; if test $(wc -l <%[1]s) -le %[2]d; then echo bwrap: gone >&2; exit 1; fi", quote(log), failures))
		got, err := r.Run(t.Context(), p.spec(Bubblewrap, "echo ran; echo well >&2"), nil)
		switch {
		case failures < always && (err != nil || got.Stdout != "ran\n" || got.Stderr != "well\n" || got.Sandbox != Bubblewrap):
			t.Errorf("at last: %+v, %v", got, err)
		case failures == always && (err == nil || got.Stdout != "" || got.Stderr != "bwrap: gone\n" || got.Sandbox != None):
			t.Errorf("never: %+v, %v", got, err)
		}
		// Spare guardians may have tried ahead and since, for no command.
		if tries := strings.Count(content(log), "tried"); tries < boxTries || tries > 3*boxTries {
			t.Errorf("tried %d times", tries)
		}
	}
}

// A bubblewrap that was killed while it made the box leaves a process behind that
// never ends and holds its pipes open: another box is made, and that process is ended.
func TestABoxWhoseMakerWasKilled(t *testing.T) {
	r := boxing(t)
	if r == nil {
		return
	}
	p := newPlace(t)
	log := filepath.Join(p.outside, "log")
	unlucky(t, r, fmt.Sprintf("if ! test -e %[1]s; then setsid sleep 999 & echo $! >%[1]s; kill -9 $$; fi", quote(log)))
	if got := run(t, r, p.spec(Bubblewrap, "echo ran")); got.Stdout != "ran\n" || got.Stderr != "" || got.Sandbox != Bubblewrap {
		t.Errorf("%+v", got)
	}
	left, err := strconv.Atoi(content(log))
	must(t, err)
	if p, ok := lookUp(left); ok && p.name == "sleep" && !p.dead {
		t.Errorf("%+v is still there", p)
	}
}

// What bubblewrap makes where a socket went away in the last moment is removed, and
// nothing else is. Such a file was found in the agents' registry.
func TestOnlyWhatBubblewrapMadeIsRemoved(t *testing.T) {
	dir := t.TempDir()
	made, others, full := filepath.Join(dir, "made"), filepath.Join(dir, "others"), filepath.Join(dir, "full")
	for name, file := range map[string]struct {
		text string
		mode fs.FileMode
	}{made: {"", madeByBubblewrap}, others: {"", 0o644}, full: {"text", madeByBubblewrap}} {
		must(t, errors.Join(os.WriteFile(name, []byte(file.text), file.mode), os.Chmod(name, file.mode)))
	}
	h := hold{Masked: raw([]string{made, others, full, filepath.Join(dir, "none")})}
	h.tidy(h.look())
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || !slices.Equal(left, []string{full, others}) {
		t.Errorf("left are %q, %v", left, err)
	}
}
