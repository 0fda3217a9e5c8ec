package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// childServers are what this test binary can be as a child, over its own stdio.
var childServers = map[string]func(){
	"echo": func() { <-NewConn(Stdio(os.Stdin, os.Stdout), Options{Handler: echo}).Done() },
	// close ends when it is asked to, while its stdin stays open and silent.
	"close": func() {
		asked := make(chan struct{})
		c := NewConn(Stdio(os.Stdin, os.Stdout), Options{Handler: func(context.Context, *Conn, *Request) (any, error) {
			close(asked)
			return nil, nil
		}})
		<-asked
		_ = c.Close()
		<-c.Done()
		if err := goleak.Find(); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err) // the reader, stuck in its read
		}
	},
}

// child starts this test binary as one of childServers, over pipes or, as Node
// and libuv do it, over sockets.
func child(t testing.TB, name string, sockets bool) (io.ReadWriteCloser, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WIRE_TEST_CHILD="+name)
	cmd.Stderr = &bytes.Buffer{}
	open := os.Pipe
	if sockets {
		open = socketPair
	}
	childIn, in, err := open()
	must(t, err)
	out, childOut, err := open()
	must(t, err)
	cmd.Stdin, cmd.Stdout = childIn, childOut
	must(t, cmd.Start())
	childIn.Close()
	childOut.Close()
	return Stdio(out, in), cmd
}

func TestStdioOfAProcess(t *testing.T) {
	for _, sockets := range []bool{false, true} {
		stdio, cmd := child(t, "echo", sockets)
		client := NewConn(stdio, Options{Logf: t.Logf})
		want := string(AppendString(nil, strings.Repeat("text\n", 1<<18)))
		var got Raw
		if err := client.Call(t.Context(), "echo", Raw("["+want+"]"), &got); err != nil || string(got) != "["+want+"]" {
			t.Errorf("got %d bytes and %v", len(got), err)
		}
		client.Close()
		waitExit(t, cmd)
		wait(t, client.Done(), "the end of the connection")
	}
}

func TestCloseInterruptsTheReadOfAProcessStdin(t *testing.T) {
	for _, sockets := range []bool{false, true} {
		stdio, cmd := child(t, "close", sockets)
		p := &peer{t: t, end: stdio, frames: newFrames(stdio, 1<<10)}
		p.send(`{"jsonrpc":"2.0","method":"close"}`)
		p.wantEnd()
		waitExit(t, cmd)
		stdio.Close()
	}
}

// waitExit waits for a child that has nothing to complain of.
func waitExit(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	if err := wait(t, exited, "the child to end"); err != nil {
		t.Error(err)
	}
	if said := cmd.Stderr.(*bytes.Buffer).String(); said != "" {
		t.Errorf("the child said %q", said)
	}
}
