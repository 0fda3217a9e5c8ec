package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lures are what a trial goes for. They lie outside of what it may reach.
type lures struct {
	File, Socket, Abstract, Address string
	Process                         int
}

// ways are tried in this order. A way is open when its try gives no error.
var ways = []struct {
	name string
	try  func(lures) error
	due  func(Walls) bool // beside bubblewrap, which closes all
}{
	{"write to a file elsewhere", func(l lures) error { return os.WriteFile(l.File, []byte("escaped"), 0) }, always},
	{"make a file elsewhere", func(l lures) error { return os.WriteFile(l.File+".made", nil, 0o600) }, always},
	{"change the mode of a file elsewhere", func(l lures) error { return os.Chmod(l.File, 0o777) }, never},
	{"reach the network", func(l lures) error { return dialOnce("tcp", l.Address) }, func(w Walls) bool { return w.Offline }},
	{"speak to a program by its socket", func(l lures) error { return dialOnce("unix", l.Socket) }, never},
	{"speak to a program by an abstract socket", func(l lures) error { return dialOnce("unix", l.Abstract) }, scoped},
	{"signal your programs", func(l lures) error { return syscall.Kill(l.Process, 0) }, scoped},
	{"see your programs", func(l lures) error { return unix.Access(fmt.Sprintf("/proc/%d", l.Process), 0) }, never},
	{"make namespaces of its own", func(lures) error { return inNamespace() }, never},
	{"use keys of your session", func(lures) error { return sessionKeys() }, never},
	{"speak to the host of a virtual machine", func(lures) error { return makeSocket(unix.AF_VSOCK) }, func(w Walls) bool { return w.Offline }},
}

func always(Walls) bool   { return true }
func never(Walls) bool    { return false }
func scoped(w Walls) bool { return w.ABI >= scopesABI }

func dialOnce(network, address string) error {
	conn, err := net.DialTimeout(network, address, time.Second)
	if err == nil {
		conn.Close()
	}
	return err
}

func inNamespace() error {
	pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}})
	if err == nil {
		_, err = syscall.Wait4(pid, nil, 0, nil)
	}
	return err
}

func sessionKeys() error {
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
	return err
}

func makeSocket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// TryEscapes starts a command as agents' are started, without a network, that tries each way
// out, and tells which are closed.
func (r *Runner) TryEscapes(ctx context.Context) ([]Escape, error) {
	w := r.Walls()
	if w.Level == None {
		return nil, errors.New("nothing holds commands here")
	}
	return r.tryEscapes(ctx, w)
}

// tryEscapes is TryEscapes at the level of w.
func (r *Runner) tryEscapes(ctx context.Context, w Walls) ([]Escape, error) {
	l, inside, done, err := setLures(valueOf(r.base, "HOME"))
	if err != nil {
		return nil, err
	}
	defer done()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	wanted, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	got, err := r.Run(ctx, Spec{
		Args: []string{program, "escape", string(wanted)}, Dir: inside, Timeout: 4 * tryWithin,
		Confine: Confine{Level: w.Level, Writable: []string{inside}, Offline: w.Offline, Session: "escape"},
	}, func(Stream, []byte) {})
	var open []string
	if err == nil {
		err = json.Unmarshal([]byte(got.Stdout), &open)
	}
	if err != nil {
		return nil, fmt.Errorf("the trial gave no answer: %w: %s", err, lastLine(strings.TrimSpace(got.Stderr)))
	}
	var out []Escape
	for _, way := range ways {
		out = append(out, Escape{way.name, !slices.Contains(open, way.name), w.Level == Bubblewrap || way.due(w)})
	}
	return out, nil
}

// setLures sets out what a trial goes for, in a folder of the home, and gives the folder that
// the trial may write.
func setLures(home string) (l lures, inside string, done func(), err error) {
	if !filepath.IsAbs(home) {
		return l, "", nil, errors.New("there is no home folder")
	}
	dir, err := os.MkdirTemp(home, ".pillion-trial-")
	if err != nil {
		return l, "", nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	inside = filepath.Join(dir, "inside")
	l = lures{File: filepath.Join(dir, "file"), Socket: filepath.Join(dir, "socket"), Abstract: "@" + dir, Process: os.Getpid()}
	if err := errors.Join(os.Mkdir(inside, 0o700), os.WriteFile(l.File, nil, 0o600)); err != nil {
		remove()
		return l, "", nil, err
	}
	var listening []net.Listener
	done = func() {
		for _, s := range listening {
			s.Close()
		}
		remove()
	}
	for _, at := range []struct{ network, address string }{{"unix", l.Socket}, {"unix", l.Abstract}, {"tcp", "127.0.0.1:0"}} {
		s, err := net.Listen(at.network, at.address)
		if err != nil {
			done()
			return l, "", nil, err
		}
		listening = append(listening, s)
	}
	l.Address = listening[2].Addr().String()
	return l, inside, done, nil
}

// TryToEscape is the body of the hidden subcommand `escape`: it tries each way out of the
// sandbox that it runs in and prints a JSON list of those that are open.
func TryToEscape(args []string) int {
	var l lures
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &l) != nil {
		fmt.Fprintln(os.Stderr, "pillion escape is internal: pillion doctor starts it itself")
		return 2
	}
	open := []string{}
	for _, way := range ways {
		if way.try(l) == nil {
			open = append(open, way.name)
		}
	}
	if json.NewEncoder(os.Stdout).Encode(open) != nil {
		return 1
	}
	return 0
}
