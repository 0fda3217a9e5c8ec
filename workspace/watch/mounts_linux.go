package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// mounts are the file systems there are, and whether that has changed.
type mounts struct {
	mu    sync.Mutex // guards file
	file  *os.File
	types []mount
}

type mount struct{ dir, kind string }

func openMounts() *mounts {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return &mounts{}
	}
	return &mounts{file: f}
}

// changed asks the kernel, which takes a microsecond. Who cannot ask does not know.
func (m *mounts) changed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		return true
	}
	fds := []unix.PollFd{{Fd: int32(m.file.Fd()), Events: unix.POLLPRI}}
	n, err := unix.Poll(fds, 0)
	return n != 0 || err != nil // after a signal nobody knows either
}

func (m *mounts) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file != nil {
		m.file.Close()
	}
	m.file = nil
}

// read notes the mounts. Having been read, they are told of as changed no more.
func (m *mounts) read() {
	m.changed()
	m.types = nil
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		before, after, _ := strings.Cut(line, " - ")
		fields, rest := strings.Fields(before), strings.Fields(after)
		if len(fields) > 4 && len(rest) > 0 {
			m.types = append(m.types, mount{unescape(fields[4]), rest[0]})
		}
	}
}

// unescape undoes the kernel's \040 and its like.
func unescape(s string) string {
	for _, special := range []string{" ", "\t", "\n", `\`} {
		s = strings.ReplaceAll(s, fmt.Sprintf(`\%03o`, special[0]), special)
	}
	return s
}

// local are the file systems of which every change passes through this kernel.
var local = map[string]bool{
	"bcachefs": true, "btrfs": true, "erofs": true, "exfat": true, "ext2": true, "ext3": true, "ext4": true, "f2fs": true, "hfsplus": true, "iso9660": true,
	"jfs": true, "nilfs2": true, "ntfs3": true, "overlay": true, "ramfs": true, "reiserfs": true, "rootfs": true, "squashfs": true, "tmpfs": true, "udf": true,
	"vfat": true, "xfs": true, "zfs": true,
}

// foreign names a file system on which others may change files unseen: one that a
// root lies on, or that is mounted on a folder that is watched.
func (m *mounts) foreign(roots []identity, watched map[string]identity) string {
	for _, root := range roots {
		if kind := m.kindOf(root.dir); !local[kind] {
			return fmt.Sprintf("%s is on a file system (%s) that others may change without telling", root.dir, kind)
		}
	}
	for _, one := range m.types {
		if _, known := watched[one.dir]; known && !local[one.kind] {
			return fmt.Sprintf("a file system (%s) is mounted on %s that others may change without telling", one.kind, one.dir)
		}
	}
	return ""
}

// kindOf is the type of the innermost file system that holds dir; of those that are
// mounted on one place, the last.
func (m *mounts) kindOf(dir string) string {
	best, kind := -1, "unknown"
	for _, one := range m.types {
		rel, err := filepath.Rel(one.dir, dir)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") && len(one.dir) >= best {
			best, kind = len(one.dir), one.kind
		}
	}
	return kind
}
