package workspace

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

	"pillion/internal/testrig/machine"
)

// TestEntries holds what is read to what os.ReadDir says, with a buffer that takes a few
// entries at a time, and one that takes them all.
func TestEntries(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	machine.Must(t, os.Mkdir(inner, 0o700), os.Mkdir(filepath.Join(inner, "folder"), 0o700), os.Symlink("nowhere", filepath.Join(inner, "link")),
		unix.Mkfifo(filepath.Join(inner, "fifo"), 0o600), os.WriteFile(filepath.Join(inner, strings.Repeat("n", 255)), nil, 0o600),
		os.WriteFile(filepath.Join(inner, "...\xff\n"), nil, 0o600))
	for i := range 100 {
		machine.Must(t, os.WriteFile(filepath.Join(inner, strings.Repeat("é", i)+fmt.Sprint(i)), nil, 0o600))
	}
	listed, err := os.ReadDir(inner)
	machine.Must(t, err)
	want := map[string]fs.FileMode{}
	for _, e := range listed {
		want[e.Name()] = e.Type()
	}
	top, err := os.Open(dir)
	machine.Must(t, err)
	defer top.Close()
	for _, size := range []int{300, 64 << 10} {
		r := folderReader{buffer: make([]byte, size)}
		entries, err := r.open(top, "inner", Path{})
		machine.Must(t, err)
		r.close()
		got := map[string]fs.FileMode{}
		for _, e := range entries {
			got[e.Name] = e.Type
		}
		if !maps.Equal(got, want) || len(entries) != len(want) {
			t.Errorf("%d bytes at a time: %d entries\n%v, want\n%v", size, len(entries), got, want)
		}
	}
}

func TestOpenFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	machine.Must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, "link")), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	top, err := os.Open(dir)
	machine.Must(t, err)
	defer top.Close()
	for name, want := range map[string]error{"link": unix.ENOTDIR, "link/.": unix.ELOOP, "file": unix.ENOTDIR, "nothing": unix.ENOENT} {
		if fd, answered, err := openBeneath(top, name, unix.O_DIRECTORY); fd != -1 || !answered || !errors.Is(err, want) {
			t.Errorf("%s: %d, %t, %v", name, fd, answered, err)
		}
	}
	if fd, answered, err := openBeneath(top, "..", unix.O_DIRECTORY); fd != -1 || answered || err != nil {
		t.Errorf("what leads out: %d, %t, %v", fd, answered, err)
	}
}
