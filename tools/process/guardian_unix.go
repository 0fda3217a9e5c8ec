//go:build unix

package process

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A guardian finds its pipes at these descriptors. The command gets none of
// them: it has its own three streams and nothing else.
const (
	controlFD = 3 + iota // read: the assignment, then instructions until it closes, which is the order to end
	statusFD             // write: reports, one JSON object a line
	stdinFD              // the command's streams
	stdoutFD
	stderrFD
)

// assignment is what the sidecar sends down the control pipe. Its fields are
// bytes because JSON strings cannot hold a path that is not UTF-8.
type assignment struct {
	Args  [][]byte
	Dir   []byte
	Env   [][]byte
	Stdin bool // false: the command reads /dev/null
	// Gently: without the sidecar the command may finish, is told to end, and is killed.
	Gently bool
	Hold   hold
}

// instruction is what may follow the assignment.
type instruction struct {
	Signal int // for the command's process group
}

// report is what comes back up the status pipe: first that the command runs,
// then how it ended, or only an error.
type report struct {
	Shell   int      `json:",omitempty"` // process id, and id of the group and the session
	Held    Level    `json:",omitempty"` // with Shell: what holds it
	Ended   bool     `json:",omitempty"`
	Code    int      `json:",omitempty"`
	Ordered bool     `json:",omitempty"` // it was still running when the order to end came
	Error   string   `json:",omitempty"`
	Unheld  bool     `json:",omitempty"` // with Error: what should have held the command did not work
	Dropped []string `json:",omitempty"` // names in staged folders that were not brought back
	Refused []string `json:",omitempty"` // hosts that the gate did not lead to
}

// Guardian is the body of the hidden subcommand `guardian`: it takes one
// assignment, runs it, ends everything that came of it and returns the exit code
// of the process. It is not for people: without its pipes it returns 2.
func Guardian([]string) int {
	if !havePipes() {
		fmt.Fprintln(os.Stderr, "pillion guardian is internal: pillion starts it itself")
		return 2
	}
	// The parent-death signal of the command is tied to the thread that starts
	// it, so that thread has to live as long as the guardian.
	runtime.LockOSThread()
	harden()
	seal()
	// Handled, not ignored: the command would inherit that it is ignored.
	signal.Notify(make(chan os.Signal, 1))
	go debug.FreeOSMemory() // give back what the start of the whole program took

	control := os.NewFile(controlFD, "control")
	status := json.NewEncoder(os.NewFile(statusFD, "status"))
	orders := json.NewDecoder(control)
	var todo assignment
	if err := orders.Decode(&todo); err != nil {
		return 0 // a spare that was not needed
	}
	shell, box, err := todo.start(orders)
	if err != nil {
		_ = status.Encode(report{Error: err.Error(), Unheld: todo.Hold.Level != ""})
		return 0
	}
	if shell == 0 {
		return 0 // a box that was not needed
	}
	// A sidecar that does not listen is dead, and the control pipe says so.
	_ = status.Encode(report{Shell: shell, Held: todo.Hold.Level})

	g := &guard{shell: shell, boxed: box != nil, hurry: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		for {
			var next instruction
			if orders.Decode(&next) != nil {
				if todo.Gently {
					g.leave()
				}
				g.order()
				return
			}
			g.signal(syscall.Signal(next.Signal))
		}
	}()
	g.wait()
	close(g.gone)
	// The others in the shell's group may have been told to end a moment ago: a shell is gone at
	// once, and the server that it started may still be saving its work.
	g.await(func() bool { return !g.groupLives() })
	g.ended()
	code, left := g.clear()
	final := report{Ended: true, Code: code, Ordered: g.ordered, Dropped: todo.Hold.settle(), Refused: box.refused()}
	if !g.ordered && !g.status.Signaled() && box.failed() {
		final.Error, final.Unheld = noBox, true
	}
	if len(left) > 0 {
		final.Error = fmt.Sprintf("the command has ended, but these processes of it are still running: %s", strings.Join(left, ", "))
	}
	_ = status.Encode(final)
	return 0
}

// havePipes reports whether the sidecar started this process, and sets the
// descriptors that the command will get to the blocking mode it expects.
func havePipes() bool {
	for fd := controlFD; fd <= stderrFD; fd++ {
		var info syscall.Stat_t
		if syscall.Fstat(fd, &info) != nil || info.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return false
		}
		if fd >= stdinFD && syscall.SetNonblock(fd, false) != nil {
			return false
		}
	}
	return true
}

// seal keeps every open descriptor from the command: the guardian's pipes, and
// those that the editor left open when it started the sidecar.
func seal() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil { // a system without it: more than anybody leaks
		for fd := controlFD; fd < 1024; fd++ {
			syscall.CloseOnExec(fd)
		}
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= controlFD {
			syscall.CloseOnExec(fd)
		}
	}
}

// start runs the command as the leader of a session and a group of its own, and
// drops the guardian's copies of its streams. Box is of a command that bubblewrap
// starts; shell is 0 when such a one never came.
func (a assignment) start(orders *json.Decoder) (shell int, box *boxPipes, err error) {
	defer func() {
		for fd := stdinFD; fd <= stderrFD; fd++ {
			syscall.Close(fd)
		}
	}()
	if err := a.Hold.apply(); err != nil {
		return 0, nil, err
	}
	if a.Hold.Level == Bubblewrap {
		return a.startInBox(orders)
	}
	stdin := stdinFD
	if !a.Stdin {
		if stdin, err = syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
			return 0, nil, fmt.Errorf("open %s: %w", os.DevNull, err)
		}
		defer syscall.Close(stdin)
	}
	shell, err = a.fork(texts(a.Args), uintptr(stdin), stdoutFD, stderrFD)
	return shell, nil, err
}

func (a assignment) fork(args []string, files ...uintptr) (pid int, err error) {
	pid, err = syscall.ForkExec(args[0], args, &syscall.ProcAttr{
		Dir:   string(a.Dir),
		Env:   texts(a.Env),
		Files: files,
		Sys:   attributes(),
	})
	if err != nil {
		return 0, fmt.Errorf("run %s in %q: %w", args[0], a.Dir, err)
	}
	return pid, nil
}

// guard is the command that a guardian looks after.
type guard struct {
	shell int
	boxed bool          // shell is bubblewrap, and the command below it
	hurry chan struct{} // closed by the order to end
	gone  chan struct{} // closed when the shell has ended

	mu       sync.Mutex // guards what follows, and that shell is still ours to signal
	over     bool       // the shell has ended, and its group is killed
	ordered  bool       // the shell was ended by order
	patience time.Time  // until then the shell's group may end by itself
	status   syscall.WaitStatus
}

// signal passes a signal on, and gives what it may end some time to do so.
func (g *guard) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return
	}
	g.patience = time.Now().Add(grace)
	g.tell(s)
}

// await waits until something holds, or the time is up of those who were told to end.
func (g *guard) await(holds func() bool) {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		g.mu.Lock()
		left := time.Until(g.patience)
		g.mu.Unlock()
		if left <= 0 || holds() {
			return
		}
		select {
		case <-g.hurry:
			return
		case <-time.After(min(pause, left)):
		}
	}
}

// leave has the command end by itself, or when it is told, as Process.leaves does.
func (g *guard) leave() {
	if !g.endsWithin(finishWithin) {
		g.signal(syscall.SIGTERM)
		g.endsWithin(finishWithin)
	}
}

func (g *guard) endsWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-g.gone:
		return true
	case <-timer.C:
		return false
	}
}

// order ends the shell's process group. What is not in it is found by clear,
// once the shell is gone.
func (g *guard) order() {
	close(g.hurry)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return
	}
	g.ordered = true
	_ = syscall.Kill(-g.shell, syscall.SIGKILL)
}

// ended takes the shell's end in, while its number still cannot be another's.
func (g *guard) ended() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	_ = syscall.Kill(-g.shell, syscall.SIGKILL)
}

func (g *guard) code() int {
	if g.status.Signaled() {
		return 128 + int(g.status.Signal())
	}
	return g.status.ExitStatus()
}

func texts(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

func raw(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}
