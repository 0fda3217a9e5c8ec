package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"pillion/internal/fault"
)

// MaxCommand is how many bytes a command line or its arguments may have: what cmd takes as one line, less room for its own name.
const MaxCommand = 8000

// launcher starts each command in a Job Object that ends with its last handle,
// and this program holds the only one: the death of the sidecar ends the job.
type launcher struct{}

func newLauncher() (*launcher, error) { return &launcher{}, nil }

func (*launcher) refill() {}

func (*launcher) close() {}

// Guardian has nothing to do on Windows.
func Guardian([]string) int { return 2 }

// Git has nothing to do either: no line runs by what it says where cmd reads it.
func Git([]string) int { return 2 }

func (s Spec) withGit() (Spec, error) {
	if s.ReadsGit {
		return s, errors.New("cmd has no functions")
	}
	return s, nil
}

func shell(string, []string) []string { return nil }

func (l *launcher) startAnew(o order) (*child, error) { return l.start(o) }

func (*launcher) start(o order) (*child, error) {
	j, err := newJob()
	if err != nil {
		return nil, err
	}
	c := &child{outcome: make(chan outcome, 1), started: make(chan struct{}), signal: j.signal, end: j.end, abandon: j.end}
	defer close(c.started)
	process, err := c.open(o)
	if err != nil {
		j.close()
		return nil, err
	}
	if err := j.admit(process); err != nil {
		_ = process.Kill()
		_, _ = process.Wait()
		j.close()
		c.stdin.Close() // nil for the null device, which is no harm
		c.stdout.Close()
		c.stderr.Close()
		return nil, err
	}
	c.pid = process.Pid
	go func() {
		state, err := process.Wait()
		ordered := j.close() // ends what the command left
		if err != nil {
			c.outcome <- outcome{err: fmt.Errorf("wait for the command: %w", err)}
			return
		}
		c.outcome <- outcome{code: state.ExitCode(), ordered: ordered}
	}()
	return c, nil
}

// open creates the pipes and the suspended process: a process that runs before
// it is in its job could start another outside it.
func (c *child) open(o order) (process *os.Process, err error) {
	var opened []*os.File
	defer func() {
		if err != nil {
			for _, f := range opened {
				f.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			opened = append(opened, r, w)
		}
		return r, w
	}
	var stdin, stdout, stderr *os.File
	if o.stdin {
		stdin, c.stdin = pipe()
	} else if stdin, err = os.Open(os.DevNull); err == nil {
		opened = append(opened, stdin)
	}
	c.stdout, stdout = pipe()
	c.stderr, stderr = pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	program, args, line := o.program()
	process, err = os.StartProcess(program, args, &os.ProcAttr{
		Dir:   o.dir,
		Env:   o.env,
		Files: []*os.File{stdin, stdout, stderr},
		Sys: &syscall.SysProcAttr{
			HideWindow:    true,
			CmdLine:       line,
			CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	stdin.Close()
	stdout.Close()
	stderr.Close()
	return process, nil
}

// program is the file to run, and its arguments or its whole line.
func (o order) program() (file string, args []string, line string) {
	if len(o.args) > 0 {
		return o.args[0], o.args, ""
	}
	cmd := valueOf(o.env, "ComSpec")
	if cmd == "" {
		cmd = filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe")
	}
	return cmd, []string{cmd}, `cmd.exe /D /S /C "` + o.command + `"`
}

// job is a Job Object with one command in it.
type job struct {
	mu      sync.Mutex // guards what follows
	handle  windows.Handle
	ordered bool
}

func newJob() (*job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job object: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		windows.CloseHandle(handle)
		return nil, fmt.Errorf("limit a job object: %w", err)
	}
	return &job{handle: handle}, nil
}

// admit puts the suspended process into the job and lets it run.
func (j *job) admit(process *os.Process) error {
	var err error
	if e := process.WithHandle(func(handle uintptr) {
		err = windows.AssignProcessToJobObject(j.handle, windows.Handle(handle))
	}); e != nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("put the command into its job: %w", err)
	}
	return resume(uint32(process.Pid))
}

// resume starts the one thread of a process that was created suspended.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	var found windows.ThreadEntry32
	found.Size = uint32(unsafe.Sizeof(found))
	for err = windows.Thread32First(snapshot, &found); err == nil; err = windows.Thread32Next(snapshot, &found) {
		if found.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, found.ThreadID)
		if err != nil {
			return fmt.Errorf("open the command's thread: %w", err)
		}
		defer windows.CloseHandle(thread)
		if _, err := windows.ResumeThread(thread); err != nil {
			return fmt.Errorf("let the command run: %w", err)
		}
		return nil
	}
	return errors.New("the command's thread was not found")
}

// end ends everything in the job.
func (j *job) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle != 0 {
		j.ordered = true
		_ = windows.TerminateJobObject(j.handle, 1)
	}
}

// signal ends the job where another system would tell it to terminate: what has no
// console can be told nothing here.
func (j *job) signal(s Signal) error {
	if s != Terminate {
		return fault.Invalid("there is no signal %s on Windows; use TERM or KILL", s)
	}
	j.end()
	return nil
}

// close ends what is left in the job and reports whether end came before.
func (j *job) close() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = windows.TerminateJobObject(j.handle, 1)
	windows.CloseHandle(j.handle)
	j.handle = 0
	return j.ordered
}
