package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pillion/internal/testrig"
	"pillion/internal/testrig/machine"
)

// person runs a program in a terminal, with somebody at it who reads before they
// type. FILE has a line for each thing that they do:
//
//	< TEXT    wait until TEXT is on the screen, after what was waited for last
//	> TEXT    type TEXT and press Enter
//	^C        press Ctrl+C; ^D presses Ctrl+D
//	! COMMAND run a command of the shell meanwhile, elsewhere
//
// All that the screen showed becomes the script's stdout, with the exit status
// behind it. COLUMNS is the terminal's width, 100 if not set. A program's own
// standard output goes to the file OUT, and its standard input comes from IN, if
// the script sets these.
func person(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: person FILE PROGRAM ARGS…; look for the exit status in stdout")
	}
	columns := 100
	if set := ts.Getenv("COLUMNS"); set != "" {
		var err error
		columns, err = strconv.Atoi(set)
		ts.Check(err)
	}
	keys, tty, err := machine.NewTTY(columns)
	ts.Check(err)
	defer keys.Close()
	ctx, cancel := context.WithTimeout(context.Background(), testrig.Patience)
	defer cancel()
	command, err := inTerminal(ctx, ts, tty, args[1:])
	ts.Check(err)
	ts.Check(command.Start())
	ts.Check(tty.Close())
	ts.Check(keys.SetDeadline(time.Now().Add(testrig.Patience)))
	s := &screen{keys: keys}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if err := s.do(ts, strings.TrimSuffix(line, "\n")); err != nil {
			ts.Fatalf("%s%v; the screen:\n%s", line, err, s.text.String())
		}
	}
	s.readToEnd()
	err = command.Wait()
	if ctx.Err() != nil {
		ts.Fatalf("it does not end; the screen:\n%s", s.text.String())
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		ts.Check(err)
	}
	fmt.Fprintf(ts.Stdout(), "%s[exit status %d]\n", s.plain(), command.ProcessState.ExitCode())
}

func inTerminal(ctx context.Context, ts *testscript.TestScript, tty *os.File, args []string) (*exec.Cmd, error) {
	program := args[0]
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if file := filepath.Join(dir, args[0]); !strings.Contains(program, "/") {
			if _, err := os.Stat(file); err == nil {
				program = file
			}
		}
	}
	command := exec.CommandContext(ctx, program, args[1:]...)
	command.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "PATH", "PILLION_TEST_MAIN", "GIT_CONFIG_NOSYSTEM", "TERM", "NO_COLOR", "TMPDIR", "VISUAL", "EDITOR", "PAGER"} {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	command.Stdin, command.Stdout, command.Stderr = tty, tty, tty
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	var err error
	if in := ts.Getenv("IN"); in != "" {
		command.Stdin = strings.NewReader(ts.ReadFile(in))
	}
	if out := ts.Getenv("OUT"); out != "" {
		command.Stdout, err = os.Create(ts.MkAbs(out))
	}
	return command, err
}

// screen is what the person sees.
type screen struct {
	keys *os.File
	text bytes.Buffer
	seen int // up to where they have read
}

func (s *screen) do(ts *testscript.TestScript, line string) error {
	switch {
	case strings.HasPrefix(line, "< "):
		return s.wait(line[2:])
	case strings.HasPrefix(line, ">"):
		_, err := s.keys.WriteString(strings.TrimPrefix(line[1:], " ") + "\n")
		return err
	case strings.HasPrefix(line, "^"):
		_, err := s.keys.Write([]byte{line[1] - '@'})
		return err
	case strings.HasPrefix(line, "! "):
		command := exec.Command("/bin/sh", "-c", line[2:])
		command.Dir = ts.MkAbs(".")
		return command.Run()
	case line == "":
		return nil
	}
	return errors.New("is nothing that a person does")
}

func (s *screen) wait(text string) error {
	for {
		if i := bytes.Index(s.text.Bytes()[s.seen:], []byte(text)); i >= 0 {
			s.seen += i + len(text)
			return nil
		}
		if err := s.read(); err != nil {
			return fmt.Errorf("does not come: %w", err)
		}
	}
}

func (s *screen) read() error {
	chunk := make([]byte, 4096)
	n, err := s.keys.Read(chunk)
	s.text.Write(chunk[:n])
	return err
}

// readToEnd reads until the program has let go of the terminal.
func (s *screen) readToEnd() {
	for s.read() == nil {
	}
}

func (s *screen) plain() string { return strings.ReplaceAll(s.text.String(), "\r\n", "\n") }
