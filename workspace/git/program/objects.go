package program

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"pillion/internal/fault"
)

// Objects is one process of git that gives object after object. It begins with the first.
type Objects struct {
	r *Repository

	mu  sync.Mutex // guards all below: one question at a time
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Objects are those of the repository. They are closed by who asked for them.
func (r *Repository) Objects() *Objects { return &Objects{r: r} }

// Blob is the content of a file.
func (p *Objects) Blob(hash string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		if err := p.begin(); err != nil {
			return nil, err
		}
	}
	lost := fault.New(fault.GitError, "the object %s is damaged or gone; git fsck says more", hash)
	if _, err := fmt.Fprintln(p.in, hash); err != nil {
		return nil, lost
	}
	head, err := p.out.ReadString('\n')
	part := strings.Fields(head)
	if err != nil || len(part) != 3 || part[0] != hash || part[1] != "blob" {
		return nil, lost
	}
	size, err := strconv.Atoi(part[2])
	if err != nil || size > mostOutput {
		return nil, lost
	}
	data := make([]byte, size+1) // a line end follows
	if _, err := io.ReadFull(p.out, data); err != nil {
		return nil, lost
	}
	return data[:size], nil
}

func (p *Objects) begin() error {
	cmd := p.r.command(context.Background(), Call{Args: []string{"cat-file", "--batch"}})
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = p.r.start(cmd)
	}
	if err != nil {
		return fault.New(fault.GitError, "git cannot be started: %w", err)
	}
	p.cmd, p.in, p.out = cmd, in, bufio.NewReader(out)
	return nil
}

// Close ends the process, if there is one.
func (p *Objects) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // it has nothing to finish
	_ = p.cmd.Wait()
	p.cmd = nil
}
