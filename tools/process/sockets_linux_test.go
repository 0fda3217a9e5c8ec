package process

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestSocketsOfAnotherNetwork: the table of sockets has those of this network alone. What holds the
// person's keys may listen in a container, with its socket named or mounted here.
func TestSocketsOfAnotherNetwork(t *testing.T) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil || exec.Command(bwrap, "--dev-bind", "/", "/", "--unshare-net", "true").Run() != nil {
		t.Log("not run: there is no bubblewrap")
		return
	}
	socket := filepath.Join(t.TempDir(), "s")
	listens := exec.Command(bwrap, "--die-with-parent", "--dev-bind", "/", "/", "--unshare-net", "python3", "-c",
		"import socket,sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); print(flush=True); sys.stdin.read()", socket)
	in, err := listens.StdinPipe()
	must(t, err)
	out, err := listens.StdoutPipe()
	must(t, err)
	must(t, listens.Start())
	defer listens.Wait()
	defer in.Close()
	_, err = out.Read(make([]byte, 1))
	must(t, err)
	if slices.Contains(sockets(), socket) {
		t.Fatal("the table has it: this tests nothing")
	}
	for _, value := range []string{socket, "unix://" + socket, "unix:path=" + socket + ",guid=1", socket + ":1"} {
		t.Setenv("SOME_AGENT", value)
		if !slices.Contains(sockets(), socket) {
			t.Errorf("%s is not known", value)
		}
	}
}

// TestSocketsOfAnyName: the kernel writes names into its table as they are.
func TestSocketsOfAnyName(t *testing.T) {
	dir := Resolve(t.TempDir())
	for _, name := range []string{"a\nb", "a\n", "\n\nc d", "e\t", "f: 00000002 00000000 00010000 0001 01 1 f", "@g", ` \040h`} {
		listen(t, "unix", filepath.Join(dir, name))
		if !slices.Contains(sockets(), filepath.Join(dir, name)) {
			t.Errorf("%q is not known", name)
		}
	}
}
