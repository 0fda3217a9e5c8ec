package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock is used through its three system calls: a library for it restricts all
// threads of the program that calls it, and here it is one thread, that which
// starts the command, and only in its guardian.
const (
	leastABI    = 2 // 1 forbids every rename between folders
	truncateABI = 3
	networkABI  = 4
	ioctlABI    = 5
	scopesABI   = 6
)

// What can be done to a file, and beside it to what is in a folder.
const (
	fileWrites   = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	folderWrites = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_REFER
	devices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// devicesAll may be written by every command.
var devicesAll = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"}

// apply holds the calling thread, and with it what it starts from now on.
func (h hold) apply() error {
	if err := h.mountLayers(); err != nil {
		return err
	}
	for _, file := range texts(h.Files) {
		if err := makeFile(file); err != nil {
			return err
		}
	}
	for _, s := range h.Stages {
		if err := s.open(); err != nil {
			return err
		}
	}
	switch {
	case h.Level == Landlock:
		if err := h.landlock(); err != nil {
			return fmt.Errorf("hold the command with Landlock: %w", err)
		}
	case h.Level == Bubblewrap && h.Scoped:
		if err := restrict(unix.LandlockRulesetAttr{Scoped: scopes}, nil); err != nil {
			return fmt.Errorf("hold the command with Landlock: %w", err)
		}
	}
	return nil
}

// makeFile has a file there that the user saw named, so that it can be let
// through. A link in its place is not followed: the user saw where it led then.
func makeFile(name string) error {
	in, err := openFolder(filepath.Dir(name))
	if err != nil {
		return nil //nolint:nilerr // the command will be told itself
	}
	defer in.Close()
	f, err := in.OpenFile(filepath.Base(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS), errors.Is(err, fs.ErrNotExist):
		return nil // it is there, or the command will be told itself
	}
	return fmt.Errorf("make %q: %w", name, err)
}

const scopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL

// landlock takes all writing away from the thread but for what h lets through.
func (h hold) landlock() error {
	abi := landlockABI()
	if abi < leastABI {
		return fmt.Errorf("this kernel has version %d, at least %d is needed", abi, leastABI)
	}
	var attr unix.LandlockRulesetAttr
	attr.Handled_access_fs = fileWrites | folderWrites | devices
	if abi < ioctlABI {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi < truncateABI {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= scopesABI {
		attr.Scoped = scopes
	}
	if h.Offline && abi >= networkABI {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	allowed := append(texts(h.Writable), texts(h.Files)...)
	devices := devicesAll
	if h.NoDevices {
		devices = []string{os.DevNull}
	}
	for _, device := range devices {
		allowed = append(allowed, Resolve(device))
	}
	if err := restrict(attr, allowed); err != nil {
		return err
	}
	if h.Offline {
		return socketFilter().apply()
	}
	return nil
}

// restrict makes the ruleset and puts the calling thread under it.
func restrict(attr unix.LandlockRulesetAttr, allowed []string) error {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_create_ruleset", errno)
	}
	defer unix.Close(int(fd))
	for _, path := range allowed {
		if err := allow(int(fd), path, attr.Handled_access_fs); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

// allow lets a file, or a folder and what is in it, be written. What is not there, or where
// a link leads now, needs no rule.
func allow(ruleset int, path string, handled uint64) error {
	file, err := openStraight(path)
	if err != nil {
		return nil //nolint:nilerr // then nothing can be written there either
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	rights := uint64(fileWrites)
	if info.IsDir() {
		rights |= folderWrites
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & handled, Parent_fd: int32(file.Fd())}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("let %q be written: %w", path, errno)
	}
	return nil
}
