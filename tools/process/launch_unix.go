//go:build unix

package process

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"pillion/internal/pipe"
)

// MaxCommand is how many bytes a command line or its arguments may have. It leaves room for
// what shell puts before the command: the kernel takes no argument of more than 128 KiB.
const MaxCommand = 96 << 10

// sendWithin bounds how long a guardian may take to read its assignment.
const sendWithin = 10 * time.Second

// guardianEnv is all that a guardian gets: one thread at a time is enough for
// somebody who only waits.
var guardianEnv = []string{"GOMAXPROCS=1"}

// launcher starts guardians and keeps a spare one, which hides the start-up of
// this whole program from the next command.
type launcher struct {
	program   string
	filling   sync.WaitGroup
	guardians sync.WaitGroup // each is watched until it is gone

	mu     sync.Mutex // guards what follows
	spare  *guarded
	latest *order // the latest one for a box that another command may need as well
	closed bool
	// layered says that the latest command had layers, for which a guardian is another from its start.
	layered bool
}

// guarded is a child and the pipe that ends it.
type guarded struct {
	child
	control *os.File
	box     string // the key of the box that it has made ahead, if it has
	layered bool   // it can mount layers
}

func newLauncher() (*launcher, error) {
	if len(os.Args) > 1 && os.Args[1] == "guardian" {
		return nil, errors.New("this program does not answer the guardian subcommand; call process.Guardian first thing in main")
	}
	program, err := self()
	if err != nil {
		return nil, err
	}
	return &launcher{program: program}, nil
}

func (l *launcher) start(o order) (*child, error) {
	l.mu.Lock()
	l.latest, l.layered = nil, o.hold.layered()
	if o.box.again {
		l.latest = &o
	}
	l.mu.Unlock()
	for {
		c, spare, err := l.spareOrNew(o)
		if err != nil {
			return nil, err
		}
		err = c.assign(o)
		if err == nil || !spare && errors.Is(err, syscall.EPIPE) { // it has ended, and has reported why
			return &c.child, nil
		}
		c.discard()
		// Half an assignment starts nothing, so another guardian may have it: a
		// spare may have been killed while it waited.
		if !spare {
			return nil, fmt.Errorf("give the command to its guardian: %w", err)
		}
	}
}

// startAnew is start for what runs for long: the spare guardian stays for the next
// command.
func (l *launcher) startAnew(o order) (*child, error) {
	c, err := l.spawn(false)
	if err != nil {
		return nil, err
	}
	if err := c.assign(o); err != nil {
		c.discard()
		return nil, fmt.Errorf("give the program to its guardian: %w", err)
	}
	return &c.child, nil
}

// spareOrNew returns the spare guardian, or a new one. A spare that has made another box
// than the wanted one is of no use, nor one that mounts layers for another command, and the other way round.
func (l *launcher) spareOrNew(o order) (c *guarded, spare bool, err error) {
	l.mu.Lock()
	c, l.spare = l.spare, nil
	if c != nil && (c.box != "" && c.box != o.box.key || c.layered != o.hold.layered()) {
		l.filling.Go(c.discard)
		c = nil
	}
	l.mu.Unlock()
	if c != nil {
		return c, true, nil
	}
	c, err = l.spawn(o.hold.layered())
	return c, false, err
}

// refill sees to it that there is a spare. It is called after a command, because
// the start of a guardian would slow down a command that starts just then. Where
// the last command was in a box, the spare makes such a box ahead.
func (l *launcher) refill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.spare != nil {
		return
	}
	l.filling.Go(func() {
		l.mu.Lock()
		layered := l.layered
		l.mu.Unlock()
		c, err := l.spawn(layered)
		if err != nil {
			return // the next command tries again and says so
		}
		l.mu.Lock()
		latest := l.latest
		l.mu.Unlock()
		if latest != nil && c.makeBox(*latest) != nil {
			c.discard()
			return
		}
		l.mu.Lock()
		if l.closed || l.spare != nil {
			l.mu.Unlock()
			c.discard()
			return
		}
		l.spare = c
		l.mu.Unlock()
	})
}

func (l *launcher) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.filling.Wait()
	l.mu.Lock()
	spare := l.spare
	l.spare = nil
	l.mu.Unlock()
	if spare != nil {
		spare.discard()
	}
	l.guardians.Wait()
}

// spawn starts a guardian that waits for its assignment. All its pipes exist from
// the start, because a running process cannot be handed another one.
func (l *launcher) spawn(layered bool) (*guarded, error) {
	attributes := &syscall.SysProcAttr{Setsid: true}
	if layered {
		attributes = layerAttributes()
	}
	var pipes [5]struct{ read, write *os.File }
	closeAll := func() {
		for _, p := range pipes {
			p.read.Close() // a nil *os.File only returns an error
			p.write.Close()
		}
	}
	for i := range pipes {
		var err error
		if pipes[i].read, pipes[i].write, err = os.Pipe(); err != nil {
			closeAll()
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		closeAll()
		return nil, err
	}
	defer null.Close()
	pipe.Widen(pipes[3].write, chunk)
	control, status, stdin, stdout, stderr := pipes[0], pipes[1], pipes[2], pipes[3], pipes[4]
	theirs := []*os.File{control.read, status.write, stdin.read, stdout.write, stderr.write}
	guardian, err := os.StartProcess(l.program, []string{"pillion", "guardian"}, &os.ProcAttr{
		Dir:   "/",
		Env:   guardianEnv,
		Files: append([]*os.File{null, null, os.Stderr}, theirs...),
		Sys:   attributes,
	})
	if err != nil {
		closeAll()
		return nil, fmt.Errorf("start a guardian: %w", err)
	}
	for _, f := range theirs {
		f.Close()
	}
	c := &guarded{control: control.write, layered: layered, child: child{
		stdin:   stdin.write,
		stdout:  stdout.read,
		stderr:  stderr.read,
		outcome: make(chan outcome, 1),
		started: make(chan struct{}),
		end:     func() { control.write.Close() },
		abandon: func() { _ = guardian.Kill() },
	}}
	// Only the guardian knows whether the number of the group is still the command's.
	c.signal = func(s Signal) error { return c.send(instruction{Signal: int(numbers[s])}) }
	l.guardians.Go(func() { c.watch(guardian, status.read) })
	return c, nil
}

// assign tells the guardian what to do.
func (c *guarded) assign(o order) error {
	var err error
	switch {
	case len(o.box.words) == 0:
		err = c.send(assignment{Args: raw(o.args), Dir: []byte(o.dir), Env: raw(o.env), Stdin: o.stdin, Gently: o.gently, Hold: o.hold})
	case c.box == "":
		err = c.makeBox(o)
	}
	if err == nil && len(o.box.words) > 0 {
		err = c.send(o.errand(o.box.env))
	}
	if err != nil {
		return err
	}
	if !o.stdin {
		c.stdin.Close()
		c.stdin = nil
	}
	return nil
}

// makeBox has the guardian make the order's box, in which nothing runs yet.
func (c *guarded) makeBox(o order) error {
	c.box = o.box.key
	args := append(raw(o.box.words), raw(doorkeeper)...)
	return c.send(assignment{Args: args, Dir: []byte("/"), Env: raw(o.box.env), Stdin: true, Hold: o.hold})
}

func (c *guarded) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if err := c.control.SetWriteDeadline(time.Now().Add(sendWithin)); err != nil {
		return err
	}
	_, err = c.control.Write(line)
	return err
}

// numbers are the signals as the guardian takes them.
var numbers = map[Signal]syscall.Signal{Interrupt: syscall.SIGINT, Terminate: syscall.SIGTERM, Hangup: syscall.SIGHUP}

// watch delivers the outcome and follows the guardian to its end.
func (c *guarded) watch(guardian *os.Process, status *os.File) {
	reports := json.NewDecoder(status)
	var last report
	var shell int
	for {
		var next report
		if reports.Decode(&next) != nil {
			break
		}
		last = next
		if next.Shell > 0 {
			shell, c.pid = next.Shell, next.Shell
			c.held = cmp.Or(next.Held, None)
			close(c.started)
		}
		if next.Ended {
			// The guardian has nothing left to do but to go.
			c.outcome <- next.outcome()
		}
	}
	status.Close()
	if shell == 0 {
		close(c.started)
	}
	state, err := guardian.Wait()
	c.end()
	switch {
	case last.Ended:
	case last.Error != "":
		c.outcome <- last.outcome()
	case err != nil:
		c.outcome <- outcome{err: fmt.Errorf("wait for the command's guardian: %w", err)}
	case shell == 0:
		c.outcome <- outcome{err: fmt.Errorf("the guardian ended before it ran the command (%v)", state)}
	default:
		killSession(shell)
		c.outcome <- outcome{code: 128 + int(syscall.SIGKILL), err: fmt.Errorf(
			"the command was ended because its guardian died (%v); a command must not signal processes that it did not start", state)}
	}
}

func (r report) outcome() outcome {
	out := outcome{code: r.Code, ordered: r.Ordered, unheld: r.Unheld, dropped: r.Dropped, refused: r.Refused}
	if r.Error != "" {
		out.err = errors.New(r.Error)
	}
	return out
}

// discard ends a guardian that got no assignment.
func (c *guarded) discard() {
	c.end()
	obey := time.AfterFunc(obeyWithin, c.abandon)
	<-c.outcome
	obey.Stop()
	for _, f := range []*os.File{c.stdin, c.stdout, c.stderr} {
		f.Close()
	}
}

// shell is how a command is run by a login shell.
func shell(command string, env []string) []string {
	return []string{"/bin/sh", "-lc", script(command, valueOf(env, "PATH"))}
}

// script puts the editor's PATH back in front of what the profile made of it,
// unless the profile kept it. It stands on the command's first line, so that the
// line numbers in a shell's complaints stay right.
func script(command, path string) string {
	if path == "" {
		return command
	}
	quoted := quote(path)
	return `case "$PATH" in *` + quoted + `*) ;; *) PATH=` + quoted + `:"$PATH" ;; esac; ` + command
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
