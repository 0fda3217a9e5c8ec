package process

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// entry is one process as /proc shows it.
type entry struct {
	pid, parent, group, session int
	name                        string
	started                     string // in clock ticks since boot; with pid it names a process for ever
	dead                        bool   // a zombie
}

// processes lists what runs. It is empty where /proc is not mounted.
func processes() []entry {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	found, _ := folder.Readdirnames(-1)
	var out []entry
	for _, name := range found {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := lookUp(pid); ok {
			out = append(out, p)
		}
	}
	return out
}

// lookUp reads /proc/PID/stat: "PID (NAME) STATE PARENT GROUP SESSION …", where
// NAME may hold anything.
func lookUp(pid int) (entry, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if err != nil || open < 0 || end < open {
		return entry{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 20 {
		return entry{}, false
	}
	p := entry{pid: pid, name: string(stat[open+1 : end])}
	p.parent, _ = strconv.Atoi(string(fields[1]))
	p.group, _ = strconv.Atoi(string(fields[2]))
	p.session, _ = strconv.Atoi(string(fields[3]))
	p.started = string(fields[19])
	p.dead = fields[0][0] == 'Z' || fields[0][0] == 'X'
	return p, true
}

// kill ends exactly this process.
func (p entry) kill() { p.signal(unix.SIGKILL) }

// lives says whether exactly this process still runs.
func (p entry) lives() bool {
	now, ok := lookUp(p.pid)
	return ok && now.started == p.started && !now.dead
}

// signal sends a signal to exactly this process, never to one that got its number
// since.
func (p entry) signal(s unix.Signal) {
	if p.pid <= 0 {
		return
	}
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == unix.ENOSYS { // Linux before 5.3
		_ = unix.Kill(p.pid, s)
		return
	}
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, ok := lookUp(p.pid); ok && now.started == p.started {
		_ = unix.PidfdSendSignal(fd, s, nil, 0)
	}
}

// killSession ends what is left of a command whose guardian was killed: its
// session, as far as no child left that too.
func killSession(session int) {
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		found := false
		for _, p := range processes() {
			if p.session == session && !p.dead {
				p.kill()
				found = true
			}
		}
		if !found {
			return
		}
	}
}
