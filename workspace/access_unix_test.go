//go:build unix

package workspace_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

// TestNothingBlocksOnWhatIsNoFile opens, lists and walks FIFOs, sockets and
// devices: each would wait for ever for its other end.
func TestNothingBlocksOnWhatIsNoFile(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	dir, err := os.MkdirTemp("", "ws") // a socket's path has to be short
	machine.Must(t, err)
	t.Cleanup(func() { machine.Must(t, os.RemoveAll(dir)) })
	for _, name := range []string{"fifo", ".gitignore", ".ignore", "sub/.git"} {
		machine.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		machine.Must(t, syscall.Mkfifo(filepath.Join(dir, name), 0o644))
	}
	tree(t, dir, map[string]string{"link": "->fifo", "sub/file": ""})
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	machine.Must(t, err)
	t.Cleanup(func() { machine.Must(t, listener.Close()) })
	root, devices := open(t, dir).Roots()[0], open(t, "/dev").Roots()[0]

	done := make(chan struct{})
	go func() {
		defer close(done)
		for p, kind := range map[workspace.Path]string{
			root.Join("fifo"):    "a named pipe",
			root.Join("link"):    "a named pipe",
			root.Join("socket"):  "a socket",
			devices.Join("null"): "a device",
			devices.Join("tty"):  "a device",
		} {
			_, _, err := p.ReadFile(10)
			if fault.CodeOf(err) != fault.NotAFile || !strings.Contains(err.Error(), kind) {
				t.Errorf("reading %s: %v", p, err)
			}
			if _, err = p.ReadDir(); fault.CodeOf(err) != fault.NotAFile || !strings.Contains(err.Error(), kind) {
				t.Errorf("listing %s: %v", p, err)
			}
		}
		var names []string
		err := root.Walk(context.Background(), workspace.WalkOptions{}, func(e workspace.Entry) error {
			names = append(names, e.Path.Rel())
			return nil
		})
		if err != nil || strings.Join(names, " ") != ".gitignore .ignore fifo link socket sub sub/file" {
			t.Errorf("walked %q: %v", names, err)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("blocked")
	}
}
