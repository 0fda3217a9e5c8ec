package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

func TestAFileThatGrowsWhileItIsRead(t *testing.T) {
	// Files of /proc say that they have no bytes; a growing file says too few.
	root := open(t, "/proc/self").Roots()[0]
	data, _, err := root.Join("status").ReadFile(1 << 20)
	if err != nil || !strings.Contains(string(data), "Name:") {
		t.Errorf("%q, %v", data, err)
	}
	if _, _, err = root.Join("status").ReadFile(10); fault.CodeOf(err) != fault.FileTooLarge {
		t.Errorf("over the limit: %v", err)
	}
}

// TestAMountIsNoPartOfATree: what is mounted in a folder is another's, though it be of
// the same file system.
func TestAMountIsNoPartOfATree(t *testing.T) {
	root, err := os.OpenRoot("/")
	machine.Must(t, err)
	defer root.Close()
	if tree, err := workspace.TreeAt(root, "proc"); fault.CodeOf(err) != fault.PermissionDenied {
		t.Errorf("/proc has %d entries, %v", len(tree.Nodes), err)
	}
	dir := planted(t, map[string]string{"ws/sub/deep/file": "", "other/canary": "", "ws/sub/mounted/": ""})
	ws, err := os.OpenRoot(filepath.Join(dir, "ws"))
	machine.Must(t, err)
	defer ws.Close()
	if got, err := workspace.TreeAt(ws, "sub"); err != nil || len(got.Nodes) != 4 {
		t.Errorf("without a mount: %d, %v", len(got.Nodes), err)
	}
	at := filepath.Join(dir, "ws", "sub", "mounted")
	if err := unix.Mount(filepath.Join(dir, "other"), at, "", unix.MS_BIND, ""); err != nil {
		return // only root mounts; what is told of /proc was seen above
	}
	defer unix.Unmount(at, unix.MNT_DETACH) //nolint:errcheck // nothing is left to try
	if got, err := workspace.TreeAt(ws, "sub"); fault.CodeOf(err) != fault.PermissionDenied {
		t.Errorf("with a mount: %d, %v", len(got.Nodes), err)
	}
}
