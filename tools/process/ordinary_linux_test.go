package process

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// heldTests are about what holds a command. Kernels and bubblewrap treat root otherwise.
const heldTests = "^Test(NamedFilesCanBeWritten|ProtectedPathsCanBeReadOnly|OthersProcessesAreOutOfReach|NetworkOffIsOff|SocketsOfOthers|" +
	"TemporaryFilesAreTheSessionsOwn|ASocketThatIsMadeLaterIsOutOfReach|TheWaysOut|TheUsersCachesAreOnlyRead)$"

// TestAsAnOrdinaryUser: machines that test as root are not those that people work on.
func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		return // then all tests run as one
	}
	const nobody = 65534
	base := folderIn(t, "/var/tmp", "pillion-ordinary-") // what is below /tmp is shown otherwise
	home, program := filepath.Join(base, "home"), filepath.Join(base, "process.test")
	must(t, os.Mkdir(home, 0o700))
	for _, path := range []string{base, home} {
		must(t, os.Chown(path, nobody, nobody))
	}
	copyProgram(t, program)
	cmd := exec.Command(program, "-test.run", heldTests, "-test.timeout=20m")
	cmd.Dir = base
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	must(t, err)
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	must(t, err)
	if _, err := io.Copy(f, from); err != nil {
		t.Fatal(err)
	}
	must(t, f.Close())
}
