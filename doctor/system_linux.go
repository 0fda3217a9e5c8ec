package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// system is what the kernel and bubblewrap offer to hold commands, and to watch
// files.
func system(ctx context.Context, e exam) []Finding {
	found := []Finding{bubblewrap(ctx, e), landlock(), userNamespaces(ctx, e)}
	return append(found, inotify("/proc")...)
}

// bubblewrap is not only found but tried: in containers and on some systems it is
// there and may not do anything.
func bubblewrap(ctx context.Context, e exam) Finding {
	f := Finding{ID: "system.bubblewrap", Title: "bubblewrap", Status: OK}
	path := e.programs.find("bwrap")
	if path == "" {
		f.Status, f.Detail, f.Hint = Info, "not found; it provides the stronger sandbox", "Debian, Fedora, Arch: bubblewrap"
		return f
	}
	f = found(ctx, e, f, path)
	said, err := e.programs.run(ctx, path,
		"--unshare-user", "--unshare-pid", "--unshare-net", "--die-with-parent", "--new-session",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true")
	f.Data["works"] = err == nil
	if err != nil {
		f.Status = Warning
		f.Detail += "; it cannot create a sandbox here: " + lastWords(said, err)
		f.Hint = "a container may forbid it; otherwise see user namespaces below"
		return f
	}
	f.Detail += "; it can create a sandbox"
	return f
}

func lastWords(said string, err error) string {
	if said = strings.TrimSpace(said); said != "" {
		return said
	}
	return err.Error()
}

// landlock asks the kernel which version of its interface it has.
func landlock() Finding {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return landlockFinding(int(abi), errno)
}

func landlockFinding(abi int, errno syscall.Errno) Finding {
	f := Finding{ID: "system.landlock", Title: "Landlock", Status: OK}
	const without = "; without it and bubblewrap, commands run without a sandbox"
	switch {
	case errno == 0:
		f.Detail, f.Data = fmt.Sprintf("ABI %d", abi), map[string]any{"abi": abi}
	case errors.Is(errno, unix.EOPNOTSUPP):
		f.Status, f.Detail, f.Hint = Info, "in the kernel, but disabled"+without, "boot with landlock in the list lsm="
	case errors.Is(errno, unix.ENOSYS):
		f.Status, f.Detail, f.Hint = Info, "not in this kernel"+without, "Linux 5.13 or newer"
	default:
		f.Status, f.Detail = Info, "could not be queried: "+errno.Error()+without
	}
	return f
}

// userNamespaces tries whether a program can be given one of its own.
func userNamespaces(ctx context.Context, e exam) Finding {
	f := Finding{ID: "system.userns", Title: "user namespaces", Status: OK, Detail: "this user can create them"}
	path := e.programs.find("true")
	if path == "" {
		f.Status, f.Detail = Info, "could not be tested: there is no program called true"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	try := exec.CommandContext(ctx, path)
	try.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	if _, err := e.programs.start(try); err != nil {
		f.Status, f.Detail, f.Hint = Info, "this user cannot create them: "+whyNot(err), userNamespaceHint("/proc")
	}
	f.Data = map[string]any{"works": f.Status == OK}
	return f
}

// whyNot is what the kernel said. Its word for a limit is "no space left on device".
func whyNot(err error) string {
	var path *os.PathError
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EUSERS):
		return "a limit forbids it"
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}

// userNamespaceHint names the switch that is off.
func userNamespaceHint(proc string) string {
	for _, s := range []struct{ name, off, hint string }{
		{"user/max_user_namespaces", "0", "sysctl user.max_user_namespaces is 0"},
		{"kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone is 0"},
		{"kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns is 1"},
	} {
		if text, err := os.ReadFile(proc + "/sys/" + s.name); err == nil && strings.TrimSpace(string(text)) == s.off {
			return s.hint
		}
	}
	return "a container may forbid them"
}
