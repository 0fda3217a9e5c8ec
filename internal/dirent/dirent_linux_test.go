package dirent

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestEntries holds what is read to what os.ReadDir says, with a buffer that takes a few
// entries at a time, and one that takes them all.
func TestEntries(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	for _, err := range []error{
		os.Mkdir(inner, 0o700), os.Mkdir(filepath.Join(inner, "folder"), 0o700), os.Symlink("nowhere", filepath.Join(inner, "link")),
		unix.Mkfifo(filepath.Join(inner, "fifo"), 0o600), os.WriteFile(filepath.Join(inner, strings.Repeat("n", 255)), nil, 0o600),
		os.WriteFile(filepath.Join(inner, "...\xff\n"), nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(inner, strings.Repeat("é", i)+fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := os.ReadDir(inner)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{}
	for _, e := range listed {
		want[e.Name()] = e.Type()
	}
	for _, size := range []int{300, 64 << 10} {
		if got := read(t, dir, size); !maps.Equal(got, want) {
			t.Errorf("%d bytes at a time:\n%v, want\n%v", size, got, want)
		}
	}
}

func read(t *testing.T, dir string, size int) map[string]fs.FileMode {
	top, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	fd, answered, err := Open(int(top.Fd()), "inner")
	if !answered || err != nil {
		t.Fatalf("answered %t, %v", answered, err)
	}
	defer unix.Close(fd)
	types := map[byte]fs.FileMode{unix.DT_REG: 0, unix.DT_DIR: fs.ModeDir, unix.DT_LNK: fs.ModeSymlink, unix.DT_FIFO: fs.ModeNamedPipe}
	got := map[string]fs.FileMode{}
	for buffer := make([]byte, size); ; {
		n, err := Read(fd, buffer)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return got
		}
		for e := In(buffer[:n]); e.Next(); {
			if _, twice := got[e.Name]; twice {
				t.Errorf("%q stands there twice", e.Name)
			}
			got[e.Name] = types[e.Type]
		}
	}
}

func TestOpenFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, "link")), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	top, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	for name, want := range map[string]error{"link": unix.ENOTDIR, "link/.": unix.ELOOP, "file": unix.ENOTDIR, "nothing": unix.ENOENT} {
		if fd, answered, err := Open(int(top.Fd()), name); fd != -1 || !answered || !errors.Is(err, want) {
			t.Errorf("%s: %d, %t, %v", name, fd, answered, err)
		}
	}
	if fd, answered, err := Open(int(top.Fd()), ".."); fd != -1 || answered || err != nil {
		t.Errorf("what leads out: %d, %t, %v", fd, answered, err)
	}
}
