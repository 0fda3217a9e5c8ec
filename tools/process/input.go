package process

import (
	"context"
	"errors"
	"os"
	"time"

	"pillion/internal/fault"
)

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
