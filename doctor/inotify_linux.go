package doctor

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tight is the part of a budget, in percent, from which on it is told.
const tight = 80

// inotify is the budget for watching files, which all programs of a user share.
// Pillion takes a quarter of the watches at most; an editor beside it watches
// thousands.
func inotify(proc string) []Finding {
	watches, err := number(proc + "/sys/fs/inotify/max_user_watches")
	if err != nil {
		return []Finding{{ID: "system.inotify", Title: "inotify", Status: Info, Detail: "cannot read its limits: " + err.Error()}}
	}
	used, err := inotifyInUse(proc)
	out := []Finding{budget("system.inotify-watches", "inotify watches", "fs.inotify.max_user_watches", watches, used.watches, err == nil)}
	if instances, err2 := number(proc + "/sys/fs/inotify/max_user_instances"); err2 == nil {
		out = append(out, budget("system.inotify-instances", "inotify instances", "fs.inotify.max_user_instances", instances, used.instances, err == nil))
	}
	return out
}

func budget(id, title, sysctl string, most, used int, known bool) Finding {
	f := Finding{ID: id, Title: title, Status: OK, Detail: fmt.Sprintf("%d at most", most), Data: map[string]any{"limit": most}}
	if !known {
		return f
	}
	f.Data["used"] = used
	f.Detail = fmt.Sprintf("%d of %d in use", used, most)
	if used*100 >= most*tight {
		f.Status = Warning
		f.Hint = fmt.Sprintf("raise the sysctl %s, or close programs that watch files", sysctl)
	}
	return f
}

func number(name string) (int, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// inotifyUse is what this user's processes hold.
type inotifyUse struct{ instances, watches int }

func inotifyInUse(proc string) (use inotifyUse, err error) {
	processes, err := os.ReadDir(proc)
	if err != nil {
		return use, err
	}
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		dir := filepath.Join(proc, p.Name())
		info, err := os.Stat(dir)
		if err != nil {
			continue // it has ended
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == os.Getuid() {
			use.add(dir)
		}
	}
	return use, nil
}

// add counts one process, as far as it can be seen: its links say which files are
// inotify's, and their descriptions have a line for each watch.
func (u *inotifyUse) add(process string) {
	files, err := os.ReadDir(filepath.Join(process, "fd"))
	if err != nil {
		return
	}
	for _, f := range files {
		if kind, err := os.Readlink(filepath.Join(process, "fd", f.Name())); err != nil || kind != "anon_inode:inotify" {
			continue
		}
		u.instances++
		u.watches += watchesIn(filepath.Join(process, "fdinfo", f.Name()))
	}
}

func watchesIn(description string) (n int) {
	f, err := os.Open(description)
	if err != nil {
		return 0
	}
	defer f.Close() //nolint:errcheck // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "inotify ") {
			n++
		}
	}
	return n
}
