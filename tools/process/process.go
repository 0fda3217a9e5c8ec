// Package process runs a shell command so that everything the command started
// is gone when Run returns: after its own exit, a timeout, a cancelled context,
// Close, and even after a SIGKILL of this program.
//
// Entry points: NewRunner, then Runner.Run for a command that is waited for, or
// Runner.Start, which gives a handle; NewTable for processes that go on after the
// call that started them; Runner.Serve for a program that speaks by its pipes and
// needs no shell, such as a language server. On Unix a command runs below a guardian,
// a process of our own program that main.go starts through Guardian (`pillion
// guardian`); the end of its control pipe is the order to end everything at once, which
// comes by us or by the death of the sidecar alike. Signals for the command's group
// come the same way: after one the shell's group has Grace to end by itself. On Linux
// the guardian is a child subreaper, so that a double fork, a new session or an ignored
// signal hides nothing from it; on other Unix systems it ends the command's process
// group. On Windows a Job Object does all of it.
//
// The command is run by `/bin/sh -lc`. A login shell's profile often replaces
// PATH (Debian's does), which would hide the tools that the user's editor
// finds, so the editor's PATH is put in front again; see script.
//
// What is left, for docs/security.md: a command runs as the user, so it can
// kill its guardian on purpose. Then its shell dies (parent-death signal) and
// Run ends what is left of the shell's session and returns an error, but a
// child that moved to a session of its own before that survives. The same
// goes for work handed to a service that was running already (at, cron,
// systemd-run, docker), for what a set-uid program runs as another user, and
// for a process that the kernel cannot end yet: Run says so if it can see it.
//
// On Linux a command can be held (Confine) by bubblewrap or Landlock, which
// Runner.Walls tries. The guardian puts itself under Landlock, in the one thread
// that starts the command, and starts bubblewrap in the command's place. Such a box
// is made ahead, by the spare guardian, and gets its command through a pipe; see
// doorFD. A command that was to be held and cannot be does not run.
//
// Deliberately not here: whether a command may run (policy), the question to
// the user (approval), and which paths are closed to a command (package tools).
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"pillion/internal/fault"
)

// timedOut is the exit code of a command that ran into its time limit, as timeout(1)
// has it.
const timedOut = 124

// Tests have more of each, so that they hold on a busy machine.
var (
	grace = Grace // also of guardians, which the tests play
	// obeyWithin is how long a command has to be gone after the order to end
	// before the guardian itself is ended. With clearWithin and drainWithin it
	// stays below the 5 s that Close promises.
	obeyWithin = 3 * time.Second
	// closeWithin bounds Close.
	closeWithin = 5 * time.Second
)

// ErrClosed is what Run returns for a command that Close ended or that came
// after it.
var ErrClosed = errors.New("commands are no longer run: pillion is shutting down")

// Spec says what to run.
type Spec struct {
	Command     string            // run by /bin/sh -lc (cmd /C on Windows)
	Args        []string          // a program and its arguments, run without a shell instead of Command; the first is absolute
	Inherit     []string          // variables that it gets of ours beyond the clean environment
	Gently      bool              // at its time limit, or cancelled, it may finish in a moment, is then told to end and has Grace for it
	Dir         string            // absolute folder
	Env         map[string]string // added to the clean environment, already approved
	Stdin       string            // empty: /dev/null
	KeepStdin   bool              // its input stays open, for Process.Write
	Timeout     time.Duration     // 0: none
	OutputLimit int64             // bytes kept per stream, head + tail; 0: 1 MiB
	Keep        Keep              // what is kept of its output
	Confine     Confine           // how it is held
	// ReadsGit has git on the command line run nothing that a repository's configuration names;
	// see program.Reading. The line has no commands of git but those that only read.
	ReadsGit bool
	// GitWithin are the folders of which ReadsGit lets it print files; none: any.
	GitWithin []string
}

// Keep says what is kept of a command's output.
type Keep int

// What can be kept.
const (
	KeepSplit  Keep = iota // each stream by itself, for the Result
	KeepJoined             // both as they came, for Process.Since and Next
	KeepBoth
)

// Stream names one of a command's two outputs.
type Stream string

// The outputs of a command.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Result is what became of a command.
type Result struct {
	ExitCode       int    // 128+signal when killed by a signal; 124 on timeout
	Stdout, Stderr string // head, a line that counts what was left out, tail; always valid UTF-8
	Truncated      bool
	TimedOut       bool
	Duration       time.Duration
	Sandbox        Level // what held it
	// Dropped are names in staged folders that were not brought back: the command made them
	// and they are not on the list, or somebody else changed them meanwhile.
	Dropped []string
	// Refused are hosts, with their ports, that it asked for and that Confine.Hosts does not list.
	Refused []string
}

// child is one started command, as each system's launcher gives it.
type child struct {
	stdin          *os.File // write end; nil: the command reads /dev/null
	stdout, stderr *os.File // read ends
	// outcome delivers once, when nothing of the command is left or can be ended.
	outcome chan outcome
	// started is closed when the shell runs or cannot; from then on pid is its number
	// and held what holds it.
	started chan struct{}
	pid     int
	held    Level
	// signal sends a signal to the shell's process group.
	signal func(Signal) error
	// end orders the end of everything. It may be called at any time, also twice.
	end func()
	// abandon ends what should have obeyed end.
	abandon func()
}

// outcome is how a command ended.
type outcome struct {
	code    int
	ordered bool // it ended because it was told to
	unheld  bool // err is that what should have held it did not work
	dropped []string
	refused []string
	err     error
}

// order is what a launcher needs to know to start a command.
type order struct {
	args    []string // on Windows of a Program alone: cmd takes one line
	command string
	dir     string
	env     []string
	stdin   bool
	gently  bool // it is ended gently when we die, too
	hold    hold
	box     boxOrder
}

// Runner runs commands, several at once if asked.
type Runner struct {
	launcher *launcher
	base     []string
	closing  chan struct{}
	walls    walls
	turns    turns
	scratch  scratch
	caches   ownCaches
	blanks   blanks

	// These are finishWithin, grace, obeyWithin and after, but for tests.
	finish, grace, obey time.Duration
	expires             func(limit time.Duration) (expired <-chan time.Time, stop func())

	mu      sync.Mutex // guards closed and the first Add to running
	closed  bool
	running sync.WaitGroup
}

// Parts are the hidden subcommands by which a program that runs commands starts itself.
var Parts = map[string]func(args []string) int{"guardian": Guardian, "gate": Gate, "git": Git, "escape": TryToEscape}

// Own is the file of this program, which a command starts as one of Parts.
func Own() (string, error) { return os.Executable() }

// PlayPart ends this program with what a part gives, if its arguments name one: a main calls
// it first.
func PlayPart() {
	if len(os.Args) > 1 {
		if part := Parts[os.Args[1]]; part != nil {
			os.Exit(part(os.Args[2:]))
		}
	}
}

// NewRunner makes a Runner with the clean environment of this program. It
// starts nothing; from the first Run on one spare guardian is kept warm.
func NewRunner() (*Runner, error) {
	launcher, err := newLauncher()
	if err != nil {
		return nil, fmt.Errorf("prepare to run commands: %w", err)
	}
	return &Runner{
		launcher: launcher,
		base:     Environment(os.Environ()),
		closing:  make(chan struct{}),
		finish:   finishWithin,
		grace:    grace,
		obey:     obeyWithin,
		expires:  after,
	}, nil
}

// Run runs the command and returns when everything it started is gone. Calls of
// output never overlap; each gets raw bytes that are valid during the call alone
// and never end within a UTF-8 sequence, unless the stream does. A slow output
// slows the command and loses nothing; it must return when ctx is done.
//
// A command that ran to its end or into its timeout gives no error, whatever
// its exit code. After a cancelled ctx the error is ctx.Err(); that and every
// later error come with what was printed so far.
func (r *Runner) Run(ctx context.Context, spec Spec, output func(Stream, []byte)) (Result, error) {
	p, err := r.Start(ctx, spec, output)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(ctx)
}

// errTimeout is the cause of an end by the command's own time limit.
var errTimeout = errors.New("time limit reached")

// enter counts a Run in, unless the Runner is closed.
func (r *Runner) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.running.Add(1)
	return nil
}

// Close ends every command that runs and the spare guardian, and waits for
// them, at most 5 s. It may be called twice.
func (r *Runner) Close() error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.closing)
	}
	r.mu.Unlock()

	gone := make(chan struct{})
	go func() {
		r.running.Wait()
		r.launcher.close()
		r.scratch.close()
		close(gone)
	}()
	bound := time.NewTimer(closeWithin)
	defer bound.Stop()
	select {
	case <-gone:
		return nil
	case <-bound.C:
		return errors.New("some commands did not end in time; look for them in the list of processes")
	}
}

// check refuses what the system would refuse later with a message that helps
// nobody.
func (s Spec) check() error {
	switch {
	case strings.ContainsRune(s.Command+strings.Join(s.Args, ""), 0):
		return fault.Invalid("the command contains a NUL character; remove it")
	case !filepath.IsAbs(s.Dir):
		return fault.New(fault.InvalidPath, "the folder to run in must be absolute, not %s", fault.Quote(s.Dir))
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fault.Invalid("the environment variable %s is invalid; use a plain name and value", fault.Quote(name))
		}
	}
	if err := s.CheckSize(); err != nil {
		return err
	}
	info, err := os.Stat(s.Dir)
	if err != nil {
		return fault.New(fault.FileNotFound, "cannot open the folder %s to run in: %w", fault.Quote(s.Dir), err)
	}
	if !info.IsDir() {
		return fault.New(fault.InvalidPath, "%s is no folder; name the folder to run in", fault.Quote(s.Dir))
	}
	return nil
}

// CheckSize refuses what no system takes, so that nobody is asked about it before.
func (s Spec) CheckSize() error {
	if size := len(s.Command) + len(strings.Join(s.Args, " ")); size > MaxCommand {
		return fault.Invalid("the command has %d bytes, over the limit of %d; write it to a file and run that", size, MaxCommand)
	}
	all := 0
	for name, value := range s.Env {
		size := len(name) + len(value)
		if all += size; size > MaxCommand || all > 4*MaxCommand {
			return fault.Invalid("the variables are too long: %s has %d bytes, of at most %d, and %d for all; give it as stdin, or in a file",
				fault.Quote(name), size, MaxCommand, 4*MaxCommand)
		}
	}
	return nil
}

// order is the spec as a launcher takes it, held in the box b if it is to be.
func (r *Runner) order(s Spec, b box) (order, error) {
	s, err := s.withGit()
	if err != nil {
		return order{}, err
	}
	caches, variables := r.caches.of(r, s.Confine, s.Dir)
	env := merge(r.base, variables)
	if c := s.Confine; c.Level == Bubblewrap && c.Offline && len(c.Hosts) > 0 {
		env = merge(env, gateVariables)
	}
	o := s.order(env)
	o.hold, o.box, err = r.confine(s, b, caches)
	return o, err
}

func (s Spec) order(base []string) order {
	env := merge(base, map[string]string{"PWD": s.Dir})
	env = merge(env, inherited(s.Inherit))
	if s.Confine.Home != "" { // go list would run git, and that what the repository names
		env = merge(env, map[string]string{"GOFLAGS": valueOf(env, "GOFLAGS") + " -buildvcs=false"})
	}
	env = merge(env, s.Env)
	args := s.Args
	if len(args) == 0 {
		args = shell(s.Command, env)
	}
	return order{
		args:    args,
		command: s.Command,
		dir:     s.Dir,
		env:     env,
		stdin:   s.Stdin != "" || s.KeepStdin,
		gently:  s.Gently,
	}
}

// merge returns base with more in it, sorted; base is not changed.
func merge(base []string, more map[string]string) []string {
	out := make([]string, 0, len(base)+len(more))
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		replaced := false
		for other := range more {
			replaced = replaced || sameName(name, other)
		}
		if !replaced {
			out = append(out, entry)
		}
	}
	for name, value := range more {
		out = append(out, name+"="+value)
	}
	sort.Strings(out)
	return out
}
