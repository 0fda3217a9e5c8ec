package process

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"pillion/internal/fault"
)

// Process is one command that runs or ran. Its methods may be called at any time
// and from everywhere.
type Process struct {
	child   *child
	capture *capture
	input   *input
	begin   time.Time

	gently   bool          // see Spec
	softly   chan struct{} // filled by End
	stop     chan error    // filled by kill: the cause
	released chan struct{} // closed by Detach: the time limit holds no more
	release  sync.Once

	done   chan struct{} // closed when all of it is gone and its output is read
	result Result        // from then on
	err    error
}

// errKilled is the cause of an end that somebody asked for by name, which is no
// failure of the command.
var errKilled = errors.New("killed")

// Start starts the command. ctx is for the start alone: what runs goes on until it
// ends, its time limit comes, somebody ends it, or the Runner is closed. output is
// as for Run; it must return when the process has been told to end.
func (r *Runner) Start(ctx context.Context, spec Spec, output func(Stream, []byte)) (*Process, error) {
	var b box
	if spec.Confine.Level == Bubblewrap {
		b = r.found().box
	}
	return r.start(ctx, spec, b, output)
}

// start is Start with the box that bubblewrap is to make.
func (r *Runner) start(ctx context.Context, spec Spec, b box, output func(Stream, []byte)) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.enter(); err != nil {
		return nil, err
	}
	p := &Process{
		begin:    time.Now(),
		gently:   spec.Gently,
		softly:   make(chan struct{}, 1),
		stop:     make(chan error, 1),
		released: make(chan struct{}),
		done:     make(chan struct{}),
	}
	free := r.turns.take(ctx, spec.Confine.Staged)
	o, err := r.order(spec, b)
	if err != nil {
		free()
		r.running.Done()
		return nil, err
	}
	c, err := r.launcher.start(o)
	if err != nil {
		o.hold.discard()
		free()
		r.running.Done()
		return nil, fault.New(fault.ExecutionFailed, "start the command: %w", err)
	}
	p.child = c
	p.input = feed(c.stdin, spec.Stdin, spec.KeepStdin)
	p.capture = newCapture(spec, output)
	p.capture.read(c.stdout, c.stderr)
	go func() {
		defer r.running.Done()
		defer free()
		p.follow(r, spec, o.hold)
	}()
	return p, nil
}

// follow goes with the process to its end.
func (p *Process) follow(r *Runner, spec Spec, held hold) {
	ended, cause := p.await(r, spec.Timeout)
	held.discard() // its guardian has settled, or was killed
	p.input.stop()
	if cause != ErrClosed {
		r.launcher.refill()
	}
	result := p.capture.drain(p.child.stdout, p.child.stderr)
	result.ExitCode = ended.code
	result.Duration = time.Since(p.begin)
	result.Sandbox = p.Sandbox()
	result.Dropped, result.Refused = ended.dropped, ended.refused
	p.err = ended.err
	if ended.unheld {
		result.Sandbox = None
		if !spec.Confine.trial { // whoever tries finds out by this
			r.forget()
		}
	}
	switch {
	case cause == errTimeout && ended.ordered:
		result.ExitCode, result.TimedOut = timedOut, true
	case cause != nil && cause != errTimeout && cause != errKilled:
		p.err = cause
	}
	p.result = result
	close(p.done)
	p.capture.finish()
}

// await waits for the end of the command, and orders it when something else comes
// first, which is then the cause.
func (p *Process) await(r *Runner, limit time.Duration) (ended outcome, cause error) {
	expired, stopExpired := r.expires(limit)
	defer stopExpired()
	var tooLong <-chan time.Time
	released, softly := p.released, p.softly
	for cause == nil {
		select {
		case ended = <-p.child.outcome:
			return ended, nil
		case <-softly:
			softly = nil                  // told twice, a shell would say good-bye twice
			_ = p.child.signal(Terminate) // what cannot be told is killed in a moment
			var stop func()
			tooLong, stop = after(r.grace)
			defer stop()
		case <-released:
			released, expired = nil, nil
			stopExpired()
		case <-tooLong:
			cause = errKilled
		case cause = <-p.stop:
		case <-expired:
			cause = errTimeout
		case <-r.closing:
			cause = ErrClosed
		}
	}
	if p.gently && p.leaves(r, &ended, cause) {
		return ended, cause
	}
	p.child.end()
	obey, stopObey := after(r.obey)
	defer stopObey()
	select {
	case ended = <-p.child.outcome:
	case <-obey:
		p.child.abandon()
		ended = <-p.child.outcome
		ended.ordered = true
	}
	return ended, cause
}

// leaves tells the command to end, and reports whether it did so in time. It is told
// only when it has not ended by itself in a moment: git forgets a lock file if it is told
// while it makes it, and nobody can write to the repository until somebody removes that.
func (p *Process) leaves(r *Runner, ended *outcome, cause error) bool {
	finish, stopFinish := after(r.finish)
	defer stopFinish()
	select {
	case *ended = <-p.child.outcome:
		return true
	case <-finish:
	}
	_ = p.child.signal(Terminate) // what cannot be told is killed in a moment
	limit := r.grace
	if cause == ErrClosed { // the editor does not wait for long
		limit = r.finish
	}
	grace, stop := after(limit)
	defer stop()
	select {
	case *ended = <-p.child.outcome:
		ended.ordered = true
		return true
	case <-grace:
		return false
	}
}

// after is a channel on which the end of the time comes; never, if it is 0.
func after(limit time.Duration) (expired <-chan time.Time, stop func()) {
	if limit <= 0 {
		return nil, func() {}
	}
	timer := time.NewTimer(limit)
	return timer.C, func() { timer.Stop() }
}

// PID is the process number of the shell; 0 if it could not be started, and then
// Wait says why.
func (p *Process) PID() int {
	<-p.child.started
	return p.child.pid
}

// Sandbox is what really holds the process.
func (p *Process) Sandbox() Level {
	<-p.child.started
	return cmp.Or(p.child.held, None)
}

// Done is closed when nothing of the process is left and all output was read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running says whether Done is still open.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Wait waits for the end, which it orders when ctx is done before: then the error
// is ctx.Err(). See Run.
func (p *Process) Wait(ctx context.Context) (Result, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill(ctx.Err())
		<-p.done
	}
	if err := ctx.Err(); err != nil && p.err == nil { // it ended just then
		return p.result, err
	}
	return p.result, p.err
}

// End ends the process and all that it started: its group is told to terminate, and
// what is left after Grace is killed. End does not wait.
func (p *Process) End() {
	select {
	case p.softly <- struct{}{}:
	default: // it has been told
	}
}

// Kill ends the process and all that it started at once. It does not wait.
func (p *Process) Kill() { p.kill(errKilled) }

func (p *Process) kill(cause error) {
	select {
	case p.stop <- cause:
	default: // there is a cause already
	}
}

// Signal sends a signal to the process group of the shell. What it does with it is
// its own business; Kill alone is an order to end.
func (p *Process) Signal(s Signal) error {
	if s == Kill {
		p.Kill()
		return nil
	}
	if !p.Running() {
		return nil
	}
	err := p.child.signal(s)
	if errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE) {
		return nil // it is being killed, or has just ended
	}
	return err
}

// EndWith ends the process, or sends it the one signal that is named, and waits: for its
// end, which is sure to come, or for what a signal does in a moment.
func (p *Process) EndWith(ctx context.Context, signal string) error {
	var patience <-chan time.Time
	switch s, err := ParseSignal(signal); {
	case signal == "":
		p.End()
	case err != nil:
		return err
	default:
		if err := p.Signal(s); err != nil {
			return err
		}
		if s != Kill {
			timer := time.NewTimer(Grace)
			defer timer.Stop()
			patience = timer.C
		}
	}
	select {
	case <-p.Done():
	case <-patience:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Write gives text to the process, if its input was kept open, and says how much
// of it was taken. It waits for a process that does not read, until ctx is done.
func (p *Process) Write(ctx context.Context, text string) (int, error) {
	return p.input.write(ctx, text)
}

// Detach has the process go on without its caller: nothing is given to output any
// more, the time limit holds no longer, and of what it prints from now on only the
// joined text is kept. It gives what was printed so far, and how much that is of
// the joined text.
func (p *Process) Detach() (soFar Result, next int64) {
	p.release.Do(func() { close(p.released) })
	soFar, next = p.capture.detach()
	soFar.Duration = time.Since(p.begin)
	soFar.Sandbox = p.Sandbox()
	return soFar, next
}

// Since gives all of the joined text that is kept from an offset on, with a line
// where something is missing, and the offset behind it.
func (p *Process) Since(offset int64) (text string, next int64, cut bool) {
	return p.capture.since(offset)
}

// Next gives a piece of the joined text at an offset, or at the next one that is
// kept, of at most so many bytes: what begins behind the offset has a gap before
// it. changed is closed when there is more than now, or the process has ended.
func (p *Process) Next(offset int64, most int) (piece Piece, changed <-chan struct{}) {
	return p.capture.next(offset, most)
}

// Piece is a piece of what a process printed: its bytes from Start up to Next.
type Piece struct {
	Text        string // valid UTF-8
	Start, Next int64
}

// Grace is how long a process that was told to terminate has for it.
const Grace = 2 * time.Second

// finishWithin is how long a process that is ended gently has to come to its end by itself.
const finishWithin = 500 * time.Millisecond

// Signal is what can be sent to a process, by its name without SIG.
type Signal string

// The signals.
const (
	Interrupt Signal = "INT"
	Terminate Signal = "TERM"
	Hangup    Signal = "HUP"
	Kill      Signal = "KILL"
)

// ParseSignal reads the name of a signal, with or without SIG, in any letter case.
func ParseSignal(name string) (Signal, error) {
	switch s := Signal(strings.TrimPrefix(strings.ToUpper(name), "SIG")); s {
	case Interrupt, Terminate, Hangup, Kill:
		return s, nil
	}
	return "", fault.Invalid("unknown signal %s; use INT, TERM, HUP or KILL", fault.Quote(name))
}

// input is what a process reads.
type input struct {
	pipe *os.File      // nil: it reads the null device
	turn chan struct{} // holds a token while nobody writes
	over chan struct{} // closed when nothing is to be written any more
	keep bool          // it stays open after the first text
}

func feed(pipe *os.File, text string, keep bool) *input {
	in := &input{pipe: pipe, turn: make(chan struct{}, 1), over: make(chan struct{}), keep: keep}
	if pipe == nil {
		return in
	}
	if text == "" {
		in.turn <- struct{}{}
		return in
	}
	go func() {
		// A command that does not read its input is no failure.
		_, _ = pipe.WriteString(text)
		if !keep {
			pipe.Close()
		}
		in.turn <- struct{}{}
	}()
	return in
}

// write gives text to the process, after whatever is being written.
func (in *input) write(ctx context.Context, text string) (int, error) {
	if in.pipe == nil || !in.keep {
		return 0, errNoInput
	}
	select {
	case <-in.turn:
	case <-in.over:
		return 0, errEnded
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { in.turn <- struct{}{} }()
	select {
	case <-in.over:
		return 0, errEnded
	default:
	}
	n, err := in.writeWithin(ctx, text)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return n, ctx.Err()
	}
	return n, errEnded
}

// writeWithin gives up when ctx is done, and leaves no deadline behind.
func (in *input) writeWithin(ctx context.Context, text string) (int, error) {
	given := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = in.pipe.SetWriteDeadline(time.Now())
		close(given)
	})
	n, err := in.pipe.WriteString(text)
	if !stop() {
		<-given
		_ = in.pipe.SetWriteDeadline(time.Time{})
	}
	return n, err
}

// stop gives up what nobody has read by now, and closes the pipe.
func (in *input) stop() {
	close(in.over)
	if in.pipe == nil {
		return
	}
	_ = in.pipe.SetWriteDeadline(time.Now())
	<-in.turn
	in.pipe.Close()
	in.turn <- struct{}{}
}

var (
	errNoInput = fault.New(fault.ExecutionFailed, "this process has no input to write to").
			WithHint("start it with run_persistent to use write_process")
	errEnded = errors.New("the process no longer reads its input: it has ended, or closed it")
)
