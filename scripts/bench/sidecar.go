package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// sidecar is a `pillion serve` and the editor's side of the talk with it, which
// makes nothing of what it is not asked to: a reader that only drains.
type sidecar struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	next  int
	came  int64     // bytes of progress
	first time.Time // when the first of them were here
	until time.Time // when the newest of them were
	last  time.Time // when the last byte of the newest answer was here, before anything was made of it
}

// start starts a sidecar on the folder whose agents may run what is measured.
func start(program, folder, sandbox string) (*sidecar, error) {
	s := &sidecar{cmd: exec.Command(program, "serve")}
	s.cmd.Dir = folder
	s.cmd.Stderr = os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 64<<10)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	settings := map[string]any{
		"sandbox":     sandbox,
		"limits":      map[string]any{"changesPerMinute": 100_000},
		"permissions": map[string]any{"allow": []string{"run_command(true)", "run_command(cat large.txt)", "run_command(cat small.txt)"}},
	}
	if _, err := s.call("initialize", map[string]any{
		"processId": os.Getpid(), "capabilities": map[string]any{}, "rootUri": "file://" + folder, "initializationOptions": settings,
	}); err != nil {
		s.end()
		return nil, err
	}
	return s, s.send(map[string]any{"jsonrpc": "2.0", "method": "initialized", "params": map[string]any{}})
}

func (s *sidecar) end() {
	_, err := s.call("shutdown", nil)
	if err == nil {
		err = s.send(map[string]any{"jsonrpc": "2.0", "method": "exit"})
	}
	s.in.Close()
	if err = errors.Join(err, s.cmd.Wait()); err != nil {
		fmt.Fprintln(os.Stderr, "bench: the sidecar:", err)
	}
}

// ran is what is looked at of a command's result.
type ran struct {
	Sandbox  string `json:"sandbox"`
	ExitCode int    `json:"exit_code"`
}

// run runs a command in the sidecar and waits for its result.
func (s *sidecar) run(command string) (ran, error) {
	raw, err := s.call("tools/call", map[string]any{
		"name": "run_command", "arguments": map[string]any{"command": command}, "workDoneToken": "bench",
	})
	if err != nil {
		return ran{}, err
	}
	var result struct {
		IsError           bool `json:"isError"`
		StructuredContent ran  `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return ran{}, err
	}
	if result.IsError {
		return ran{}, fmt.Errorf("%.300s", raw)
	}
	return result.StructuredContent, nil
}

func (s *sidecar) call(method string, params any) (json.RawMessage, error) {
	s.next++
	if err := s.send(map[string]any{"jsonrpc": "2.0", "id": s.next, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		reply, err := s.receive()
		if err != nil {
			return nil, err
		}
		if reply == nil {
			continue
		}
		if reply.Error != nil {
			return nil, errors.New(reply.Error.Message)
		}
		return reply.Result, nil
	}
}

func (s *sidecar) send(message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// replyHead is how every answer of the sidecar begins.
var replyHead = []byte(`{"jsonrpc":"2.0","id":`)

// receive reads one frame: what it answers, or nil for what the sidecar says of
// its own accord.
func (s *sidecar) receive() (*reply, error) {
	length := 0
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("the sidecar ended: %w", err)
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(value); err != nil {
				return nil, err
			}
		}
	}
	head, err := s.out.Peek(min(length, len(replyHead)))
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(head, replyHead) {
		if s.came == 0 {
			s.first = time.Now()
		}
		s.came += int64(length)
		_, err := s.out.Discard(length)
		s.until = time.Now()
		return nil, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(s.out, body); err != nil {
		return nil, err
	}
	s.last = time.Now()
	var message struct {
		Method string `json:"method"`
		reply
	}
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	if message.Method != "" {
		return nil, nil // a request to the editor, which a reader that only drains leaves open
	}
	return &message.reply, nil
}

// peak is the most memory that the sidecar itself has had, in MB.
func (s *sidecar) peak() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes float64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0, fmt.Errorf("its memory: %w", err)
	}
	return kilobytes / 1024, nil
}
