package watch

import (
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// kernel is one inotify instance. It is used as it is and not through fsnotify,
// which loses folders that are renamed while they are added, and has no place for
// a barrier.
type kernel struct {
	file   *os.File
	fd     int
	mark   *os.File // what the barrier is written to; nil: there is none
	cookie int32    // the watch of mark
}

// What is asked of each folder. Two watches on one folder are one in the kernel,
// so all ask for the same.
const interest = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB |
	unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK

func newKernel(private string) (*kernel, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("the system gives no more watchers (fs.inotify.max_user_instances): %w", err)
	}
	k := &kernel{file: os.NewFile(uintptr(fd), "inotify"), fd: fd, cookie: -1}
	k.openMark(private)
	return k, nil
}

// openMark makes the file of the barrier. It has no name as soon as it is watched,
// so that nobody else comes upon it and nothing is left behind.
func (k *kernel) openMark(private string) {
	k.closeMark()
	if private == "" || os.MkdirAll(private, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(private, "settle-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	watch, err := unix.InotifyAddWatch(k.fd, f.Name(), unix.IN_MODIFY)
	if err != nil {
		f.Close()
		return
	}
	k.mark, k.cookie = f, int32(watch)
}

func (k *kernel) closeMark() {
	if k.mark != nil {
		k.remove(k.cookie)
		k.mark.Close()
	}
	k.mark, k.cookie = nil, -1
}

func (k *kernel) canSettle() bool { return k.mark != nil }

func (k *kernel) add(dir string) (int32, error) {
	watch, err := unix.InotifyAddWatch(k.fd, dir, interest)
	return int32(watch), err
}

// remove forgets a watch, which may have ended by itself.
func (k *kernel) remove(watch int32) {
	unix.InotifyRmWatch(k.fd, uint32(watch)) //nolint:errcheck // see above
}

// readUntil has read return at that time at the latest; the zero time is never.
func (k *kernel) readUntil(t time.Time) { k.file.SetReadDeadline(t) } //nolint:errcheck // inotify can be polled
func (k *kernel) wake()                 { k.readUntil(time.Unix(1, 0)) }

func (k *kernel) read(buffer []byte) (int, error) { return k.file.Read(buffer) }

// parent watches the folder above a root, for the root to go and come.
func (k *kernel) parent(dir string) (int32, error) {
	watch, err := unix.InotifyAddWatch(k.fd, dir, unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_MOVED_TO|unix.IN_ONLYDIR|unix.IN_MASK_ADD)
	return int32(watch), err
}

func (k *kernel) close() error {
	k.closeMark()
	return k.file.Close()
}

// notice is one event as the kernel gives it.
type notice struct {
	watch int32
	mask  uint32
	name  string
}

func (n notice) op() Op {
	switch {
	case n.mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		return Created
	case n.mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
		return Deleted
	case n.mask&(unix.IN_MODIFY|unix.IN_CLOSE_WRITE) != 0:
		return Changed
	}
	return Attributes
}

// notices reads what inotify(7) describes: watch, mask, a number that ties two
// halves of a move together, the length of the name, the name and its padding.
func notices(buffer []byte) iter.Seq[notice] {
	return func(yield func(notice) bool) {
		for len(buffer) >= unix.SizeofInotifyEvent {
			length := int(binary.NativeEndian.Uint32(buffer[12:]))
			name := string(buffer[unix.SizeofInotifyEvent : unix.SizeofInotifyEvent+length])
			n := notice{int32(binary.NativeEndian.Uint32(buffer)), binary.NativeEndian.Uint32(buffer[4:]), strings.TrimRight(name, "\x00")}
			if !yield(n) {
				return
			}
			buffer = buffer[unix.SizeofInotifyEvent+length:]
		}
	}
}

// share is how many folders we may watch: a quarter of what the system gives the
// user, whose editor watches as well, and no more than what 100 MB of the kernel's
// memory hold.
func share() int { return min(systemLimit()/4, 100_000) }

func systemLimit() int {
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 8192 // the default of old kernels
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 8192
	}
	return n
}
