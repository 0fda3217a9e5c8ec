package process

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A filter is a seccomp program. A library for it would let through what comes by another
// machine's system calls; it is a few lines.

// architectures are the machines whose system calls the filters know, by GOARCH.
var architectures = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64,
	"arm64": unix.AUDIT_ARCH_AARCH64,
}

const (
	load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	anyBit  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	answer  = unix.BPF_RET | unix.BPF_K

	// Where struct seccomp_data has them; both machines are little-endian.
	callNumber, callMachine, firstArgument, secondArgument = 0, 4, 16, 24

	foreignCalls = 0x40000000 // x32 calls have this bit

	notThere = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	denied   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	noSocket = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
)

// filter is a program in the making.
type filter []unix.SockFilter

// newFilter begins one: another machine's system calls, which the same processor may
// understand, are not there. It is nil on a machine that is not known.
func newFilter() filter {
	machine, known := architectures[runtime.GOARCH]
	if !known {
		return nil
	}
	return filter{
		statement(load, callMachine), jump(equal, machine, 1, 0), statement(answer, notThere),
		statement(load, callNumber), jump(atLeast, foreignCalls, 0, 1), statement(answer, notThere),
	}
}

func statement(code int, k uint32) unix.SockFilter { return unix.SockFilter{Code: uint16(code), K: k} }

func jump(code int, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: uint16(code), K: k, Jt: yes, Jf: no}
}

// answers has calls end with what is given.
func (f filter) answers(with uint32, calls ...uint32) filter {
	for _, call := range calls {
		f = append(f, jump(equal, call, 0, 1), statement(answer, with))
	}
	return f
}

// answersIf has a call end with what is given where a test of an argument holds.
func (f filter) answersIf(call uint32, argument uint32, test int, value, with uint32) filter {
	return append(f,
		jump(equal, call, 0, 4), statement(load, argument), jump(test, value, 0, 1), statement(answer, with), statement(load, callNumber))
}

// sockets leaves those of the families.
func (f filter) sockets(families ...uint32) filter {
	n := uint8(len(families))
	f = append(f, jump(equal, unix.SYS_SOCKET, 0, n+3), statement(load, firstArgument))
	for i, family := range families {
		f = append(f, jump(equal, family, n-uint8(i), 0))
	}
	return append(f, statement(answer, noSocket), statement(load, callNumber))
}

// end lets through what is left.
func (f filter) end() filter { return append(f, statement(answer, unix.SECCOMP_RET_ALLOW)) }

// socketFilter is for commands without a network that Landlock holds, which itself knows TCP
// only: of sockets they have local ones and those to the kernel's own tables. io_uring is
// not there: it makes sockets by itself. It is nil on a machine that is not known.
func socketFilter() filter {
	f := newFilter()
	if f == nil {
		return nil
	}
	return f.answers(notThere, unix.SYS_IO_URING_SETUP).sockets(unix.AF_UNIX, unix.AF_NETLINK).end()
}

// boxFilter is for what runs in bubblewrap: it takes away what programs in a box do not need
// and kernels had holes in: namespaces and mounts of their own, other families of sockets
// (those of virtual machines lead out of any box), keys of the user's session, tracing of
// the kernel, and typing into a terminal. It is nil on a machine that is not known.
func boxFilter() filter {
	f := newFilter()
	if f == nil {
		return nil
	}
	return f.
		// clone3 has its flags where a filter cannot see them; without it libraries use clone.
		answers(notThere, unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER).
		answers(denied,
			unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR,
			unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL,
			unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
			unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_SYSLOG, unix.SYS_ACCT,
			unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF).
		answersIf(unix.SYS_CLONE, firstArgument, anyBit, newNamespaces, denied).
		answersIf(unix.SYS_UNSHARE, firstArgument, anyBit, newNamespaces, denied).
		answersIf(unix.SYS_IOCTL, secondArgument, equal, unix.TIOCSTI, denied).
		answersIf(unix.SYS_IOCTL, secondArgument, equal, linuxConsole, denied).
		sockets(unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK).
		end()
}

const (
	newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	linuxConsole  = 0x541C // TIOCLINUX
)

// apply puts the calling thread under the filter.
func (f filter) apply() error {
	if f == nil {
		return fmt.Errorf("blocking the network is not supported on %s", runtime.GOARCH)
	}
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	return nil
}

// boxFilterFile is the filter as bubblewrap reads it; where there is none, it reads nothing.
func boxFilterFile() (*os.File, error) {
	f := boxFilter()
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, []unix.SockFilter(f)); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	if _, err := write.Write(out.Bytes()); err != nil { // less than a pipe takes
		read.Close()
		return nil, err
	}
	return read, nil
}
