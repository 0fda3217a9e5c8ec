//go:build unix

package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// noBox is what is told of a box that is not there.
const noBox = "bubblewrap could not create the sandbox, so the command did not run"

// boxTries is how often a box is tried. Something that it was to mount, such as a
// socket, may go away in the milliseconds in which it is made; then the next one is
// made without.
const boxTries = 3

// What a box finds open beside boxFD and doorFD; see doorkeeper.
const (
	madeFD   = doorFD + 1   // write: a word when the box is made
	errorsFD = madeFD + 1   // the command's standard error, while bubblewrap has another
	filterFD = errorsFD + 1 // the filter of system calls, which bubblewrap reads and closes
	gateFD   = filterFD + 1 // where the port of a gate is handed over, if there is one
)

// doorkeeper is the command line of the first shell in a box. A box is made ahead,
// where it can be: it takes longer to make than the shortest commands take to run.
// So that shell says that the box is made and reads, from the pipe at doorFD, what to
// do; it becomes the command's own shell. Until it has said so the box was given
// nothing, and another one can be tried.
var doorkeeper = []string{"/bin/sh", "-c", fmt.Sprintf("exec 2>&%[1]d %[1]d>&-; echo >&%[2]d; exec %[2]d>&-; . /dev/fd/%[3]d", errorsFD, madeFD, doorFD)}

// boxPipes lead to bubblewrap, and to the first shell in it.
type boxPipes struct {
	said  *os.File // what bubblewrap reports
	door  *os.File // what the shell does
	made  *os.File // that the shell runs
	wrong *os.File // bubblewrap's standard error
	gate  *gate    // nil: there is none
}

// startInBox makes a box, waits for what is to run in it, and passes it on. Shell is
// bubblewrap, or 0 when nothing came.
func (a assignment) startInBox(orders *json.Decoder) (shell int, box *boxPipes, err error) {
	m := making{errands: make(chan runOrder, 1)}
	go m.receive(orders)
	for tries := 1; ; tries++ {
		before := a.Hold.look()
		if shell, box, err = a.makeBox(); err != nil {
			return 0, nil, err
		}
		fate := m.await(box, shell)
		a.Hold.tidy(before)
		if fate == ready && !isDead(shell) {
			box.pass(m.what)
			return shell, box, nil
		}
		drop(shell)
		a.Hold.tidy(before)
		complaint := box.close()
		switch {
		case fate == unwanted:
			return 0, nil, nil
		case tries == boxTries:
			_, _ = syscall.Write(stderrFD, complaint)
			return 0, nil, errors.New(noBox)
		}
	}
}

// making is the wait for a box and for what is to run in it.
type making struct {
	errands chan runOrder // nil once it came
	what    runOrder
}

// boxState is what became of a box.
type boxState int

const (
	ready    boxState = iota // it is made, and what is to run has come
	lost                     // it ended before it was made
	unwanted                 // the sidecar needs it no more
)

// receive takes what is to run, or the end of the control pipe.
func (m making) receive(orders *json.Decoder) {
	defer close(m.errands)
	var what runOrder
	if orders.Decode(&what) == nil {
		m.errands <- what
	}
}

func (m *making) await(box *boxPipes, shell int) boxState {
	made := box.isMade(shell)
	for made != nil || m.errands != nil {
		select {
		case is := <-made:
			if !is {
				return lost
			}
			made = nil
		case what, came := <-m.errands:
			if !came {
				return unwanted
			}
			m.what, m.errands = what, nil
		}
	}
	return ready
}

// makeBox starts bubblewrap.
func (a assignment) makeBox() (shell int, box *boxPipes, err error) {
	var theirs [4]*os.File
	box = &boxPipes{}
	defer func() {
		for _, f := range theirs {
			f.Close() // a nil *os.File only returns an error
		}
		if err != nil {
			box.close()
		}
	}()
	for i, p := range []struct{ read, write **os.File }{{&box.said, &theirs[0]}, {&theirs[1], &box.door}, {&box.made, &theirs[2]}, {&box.wrong, &theirs[3]}} {
		if *p.read, *p.write, err = os.Pipe(); err != nil {
			return 0, box, fmt.Errorf("make pipe %d of a box: %w", i, err)
		}
	}
	files := []uintptr{stdinFD, stdoutFD, theirs[3].Fd(), theirs[0].Fd(), theirs[1].Fd(), theirs[2].Fd(), stderrFD}
	filter, err := boxFilterFile()
	if err != nil {
		return 0, box, fmt.Errorf("make the filter of a box: %w", err)
	}
	defer filter.Close()
	files = append(files, filter.Fd())
	if box.gate, err = a.Hold.newGate(); err != nil {
		return 0, box, fmt.Errorf("make the gate of a box: %w", err)
	}
	if box.gate != nil {
		files = append(files, box.gate.theirs.Fd())
	}
	args, shown, err := a.Hold.opened(a.Hold.without(texts(a.Args)), len(files))
	for _, f := range shown {
		defer f.Close()
		files = append(files, f.Fd())
	}
	if err != nil {
		return 0, box, err
	}
	if shell, err = a.fork(args, files...); err == nil && box.gate != nil {
		box.gate.open()
	}
	return shell, box, err
}

// isMade gives true when the first shell in the box runs, and false when it never
// will. A bubblewrap that was killed may leave a process that keeps the pipe open and
// waits for it for ever, so its own end counts as well.
func (b *boxPipes) isMade(bubblewrap int) <-chan bool {
	made := make(chan bool, 2)
	go func() {
		n, _ := b.made.Read(make([]byte, 1))
		made <- n > 0
	}()
	go func() {
		awaitDeath(bubblewrap)
		made <- false
	}()
	return made
}

// pass gives the first shell what is to run.
func (b *boxPipes) pass(what runOrder) {
	go func() { // a box that was lost meanwhile reads nothing
		_, _ = b.door.Write(what.Script)
		b.door.Close()
	}()
}

// close lets go of a box that has ended, and gives what bubblewrap complained of.
func (b *boxPipes) close() (complaint []byte) {
	if b.wrong != nil {
		complaint = rest(b.wrong)
	}
	for _, f := range []*os.File{b.said, b.door, b.made, b.wrong} {
		f.Close()
	}
	b.gate.close()
	return complaint
}

func (b *boxPipes) refused() []string {
	if b == nil {
		return nil
	}
	return b.gate.refused()
}

// failed says whether bubblewrap ended without having started the command. It
// tells how the command ended, and nothing of one that never was.
func (b *boxPipes) failed() bool {
	return b != nil && !bytes.Contains(rest(b.said), []byte(`"exit-code"`))
}

// rest is what is still in a pipe that nobody is left to write to.
func rest(pipe *os.File) []byte {
	_ = pipe.SetReadDeadline(time.Now().Add(time.Second)) // should somebody hold it open all the same
	text, _ := io.ReadAll(io.LimitReader(pipe, 1<<16))    //nolint:errcheck // what was said counts
	return text
}

// drop ends a box in which nothing runs.
func drop(shell int) {
	_ = syscall.Kill(-shell, syscall.SIGKILL)
	g := &guard{shell: shell}
	g.wait()
	_, _ = g.clear()
}

// doorFD is where the first shell in a box reads what it is to do; see doorkeeper.
const doorFD = boxFD + 1

// runOrder is what a box is to do: it follows the assignment that made the box.
type runOrder struct {
	Script []byte
}

// variable is a name that a shell can export.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// errand is the order as the first shell of a box reads it. That shell has the
// environment base, no folder of its own, and the pipe for the command's input.
func (o order) errand(base []string) runOrder {
	var out strings.Builder
	out.WriteString("exec " + strconv.Itoa(doorFD) + "<&-\n")
	if !o.stdin {
		out.WriteString("exec </dev/null\n")
	}
	out.WriteString("cd " + quote(o.dir) + " || exit 126\nunset OLDPWD\n")
	run := "exec"
	for _, entry := range o.env {
		if slices.Contains(base, entry) {
			continue
		}
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case variable.MatchString(name):
			out.WriteString("export " + name + "=" + quote(value) + "\n")
		case run == "exec":
			run = "exec /usr/bin/env " + quote(entry)
		default:
			run += " " + quote(entry)
		}
	}
	out.WriteString(run)
	for _, word := range o.args {
		out.WriteString(" " + quote(word))
	}
	out.WriteString("\n")
	return runOrder{[]byte(out.String())}
}
