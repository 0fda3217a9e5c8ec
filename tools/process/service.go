package process

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"pillion/internal/fault"
)

// Program says which program Serve runs.
type Program struct {
	Args []string          // argv: the first is the file, absolute
	Dir  string            // absolute folder
	Env  map[string]string // added to the clean environment

	Confine Confine
}

// Shell is the program and its arguments that run a command line of the user's.
func Shell(line string) []string {
	if runtime.GOOS == "windows" {
		return []string{filepath.Join(os.Getenv("SYSTEMROOT"), "System32", "cmd.exe"), "/C", line}
	}
	return []string{"/bin/sh", "-c", line}
}

// Service is a program that speaks by its standard input and output, such as a
// language server. Stdin and Stdout are the caller's to close.
type Service struct {
	Stdin, Stdout *os.File

	stop chan error // filled by Kill
	done chan struct{}
	err  error // from done on

	mu   sync.Mutex // guards said
	said window
}

// errLeft is why a service ended that ended by itself, and well.
var errLeft = errors.New("it ended by itself")

// Serve starts a program without a shell, and without the profile of one. What it
// starts ends with it, and all of that by Kill, with the Runner and with this program,
// however that ends. A program that cannot be started ends at once; see Err.
func (r *Runner) Serve(p Program) (*Service, error) {
	if len(p.Args) == 0 {
		return nil, fault.Invalid("no program is named; name the file to run")
	}
	if err := (Spec{Command: strings.Join(p.Args, " "), Dir: p.Dir, Env: p.Env}).check(); err != nil {
		return nil, err
	}
	if err := r.enter(); err != nil {
		return nil, err
	}
	var b box
	if p.Confine.holds() {
		b = r.found().box
	}
	o, err := r.order(Spec{Args: p.Args, Dir: p.Dir, Env: p.Env, KeepStdin: true, Confine: p.Confine}, b)
	var c *child
	if err == nil {
		c, err = r.launcher.startAnew(o)
	}
	if err != nil {
		r.running.Done()
		return nil, fault.New(fault.ExecutionFailed, "start %s: %w", fault.Quote(p.Args[0]), err)
	}
	s := &Service{Stdin: c.stdin, Stdout: c.stdout, stop: make(chan error, 1), done: make(chan struct{}), said: window{limit: saidKept}}
	go func() {
		defer r.running.Done()
		s.follow(r, c)
	}()
	return s, nil
}

// follow goes with the service to its end.
func (s *Service) follow(r *Runner, c *child) {
	defer close(s.done)
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.hear(c.stderr)
	}()
	// Of a Process this is all that a service needs: how it is waited for and ended.
	p := &Process{child: c, stop: s.stop}
	ended, cause := p.await(r, 0)
	s.err = cmp.Or(cause, ended.err, exited(ended.code))
	_ = c.stderr.SetReadDeadline(time.Now().Add(drainWithin)) // something may have escaped that holds it
	<-read
	c.stderr.Close()
}

func exited(code int) error {
	switch {
	case code == 0:
		return errLeft
	case code > 128 && code <= 128+64:
		return fmt.Errorf("it ended with exit code %d (signal %d)", code, code-128)
	}
	return fmt.Errorf("it ended with exit code %d", code)
}

// Kill ends the program and all that it started at once. It does not wait.
func (s *Service) Kill() {
	select {
	case s.stop <- errKilled:
	default: // it is being killed already
	}
}

// Done is closed when nothing of it is left.
func (s *Service) Done() <-chan struct{} { return s.done }

// Err says why it ended, once Done is closed.
func (s *Service) Err() error {
	<-s.done
	return s.err
}

const (
	// saidKept is how much is kept of what a service prints, half of it of the end, which alone is shown of more.
	saidKept = 16 << 10
	// floodPause follows each read that found a full buffer: what prints without end
	// waits for us and not we for it.
	floodPause = 5 * time.Millisecond
)

// hear keeps what it prints on its standard error.
func (s *Service) hear(from io.Reader) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		s.mu.Lock()
		s.said.write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
		if n == len(buf) {
			time.Sleep(floodPause)
		}
	}
}

// Said is the end of what it printed on its standard error. It begins with a whole line, if the
// first is not whole.
func (s *Service) Said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said.total <= saidKept {
		text, _ := s.said.text()
		return text
	}
	text := valid(s.said.fromTail(0, saidKept), "", nil)
	if _, rest, cut := strings.Cut(text, "\n"); cut {
		text = rest
	}
	return text
}
