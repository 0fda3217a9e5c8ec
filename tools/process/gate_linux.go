package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"pillion/internal/web"
)

// A box without a network may have a gate: a proxy that leads to listed hosts. Its guardian is
// the proxy, and the box has nothing but the port: a program of ours opens it there, hands it
// to the guardian and becomes the first shell.

// gatePort is the proxy's in the box, where nobody else has taken it.
const gatePort = "3128"

// gateVariables lead programs to the proxy.
var gateVariables = func() map[string]string {
	const here, not = "http://127.0.0.1:" + gatePort, "localhost,127.0.0.1,::1"
	out := map[string]string{"NO_PROXY": not, "no_proxy": not, "NODE_USE_ENV_PROXY": "1"}
	for _, name := range strings.Fields("HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy") {
		out[name] = here
	}
	return out
}()

// gate is the guardian's end.
type gate struct {
	ours, theirs *os.File
	proxy        *web.Proxy
}

// newGate makes one for what is listed, nil for nothing.
func (h hold) newGate() (*gate, error) {
	if len(h.Hosts) == 0 {
		return nil, nil
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	return &gate{os.NewFile(uintptr(pair[0]), "gate"), os.NewFile(uintptr(pair[1]), "gate"), &web.Proxy{Hosts: h.Hosts, Private: h.PrivateHosts}}, nil
}

// gateProgram is what opens the gate in the box, for hosts of a command without a network.
func (h *hold) gateProgram(c *Confine) ([]string, error) {
	if !c.Offline || len(c.Hosts) == 0 {
		return nil, nil
	}
	program, err := Own()
	if err != nil {
		return nil, err
	}
	h.Hosts, h.PrivateHosts = c.Hosts, c.PrivateHosts
	c.Named = append(c.Named, program)
	return []string{program, "gate"}, nil
}

// open serves as soon as the port is there, until the guardian ends.
func (g *gate) open() {
	g.theirs.Close()
	go func() {
		defer g.ours.Close()
		l, err := receive(g.ours)
		if err == nil {
			_ = g.proxy.Serve(l)
		}
	}()
}

// refused are the hosts that were asked for and not listed.
func (g *gate) refused() []string {
	if g == nil {
		return nil
	}
	return g.proxy.Refused()
}

func (g *gate) close() {
	if g != nil {
		g.ours.Close()
		g.theirs.Close()
	}
}

func receive(from *os.File) (net.Listener, error) {
	space := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(from.Fd()), make([]byte, 1), space, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(space[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("no port came"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("no port came"), err)
	}
	f := os.NewFile(uintptr(fds[0]), "port")
	defer f.Close()
	return net.FileListener(f)
}

// Gate is the body of the hidden subcommand `gate`: it opens the port, hands it to the
// guardian at gateFD, and becomes the program that the arguments name.
func Gate(args []string) int {
	if err := openGate(args); err != nil {
		fmt.Fprintln(os.Stderr, "pillion gate is internal:", err)
	}
	return 2
}

func openGate(args []string) error {
	if len(args) == 0 {
		return errors.New("there is no program")
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+gatePort)
	if err != nil {
		return err
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return fmt.Errorf("%T is no port", l)
	}
	f, err := tcp.File()
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(gateFD, []byte{0}, unix.UnixRights(int(f.Fd())), nil, 0); err != nil {
		return os.NewSyscallError("sendmsg", err)
	}
	unix.CloseOnExec(gateFD)
	return os.NewSyscallError("exec "+strings.Join(args[:1], ""), syscall.Exec(args[0], args, os.Environ()))
}
