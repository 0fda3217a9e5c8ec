package program

import (
	"bufio"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

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

// Blob is the content of a file by its own hash, whatever replaces it in the repository.
func (p *Objects) Blob(hash string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		if err := p.begin(); err != nil {
			return nil, err
		}
	}
	timer := time.AfterFunc(Within, func() { _ = p.cmd.Process.Kill() })
	data, err := p.ask(hash)
	if !timer.Stop() || err != nil {
		p.stop() // it may be in the middle of an answer
		return nil, fault.New(fault.GitError, "the object %s is damaged or gone; git fsck says more", hash)
	}
	return data, nil
}

func (p *Objects) ask(hash string) ([]byte, error) {
	if _, err := fmt.Fprintln(p.in, hash); err != nil {
		return nil, err
	}
	head, err := p.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, size := "", 0
	if _, err := fmt.Sscanf(head, hash+" %s %d\n", &kind, &size); err != nil || kind != "blob" || size > mostOutput {
		return nil, errors.Join(err, errNotStored)
	}
	data := make([]byte, size+1) // a line end follows
	if _, err := io.ReadFull(p.out, data); err != nil {
		return nil, err
	}
	data = data[:size]
	if hashOf(data, len(hash)) != hash {
		return nil, errNotStored
	}
	return data, nil
}

var errNotStored = errors.New("it is not stored")

// hashOf is the hash that git gives a file, in so many digits.
func hashOf(data []byte, digits int) string {
	sum := sha1.New()
	if digits == hex.EncodedLen(sha256.Size) {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", len(data))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

func (p *Objects) begin() error {
	cmd := p.r.command(context.Background(), Call{Args: []string{"cat-file", "--batch"}, Stored: true})
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = p.r.starter.Start(cmd, false)
	}
	if err != nil {
		_ = in.Close()
		return fault.New(fault.GitError, "git cannot be started: %w", err)
	}
	p.cmd, p.in, p.out = cmd, in, bufio.NewReader(out)
	return nil
}

// Close ends the process, if there is one.
func (p *Objects) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		p.stop()
	}
}

func (p *Objects) stop() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // it has nothing to finish
	_ = p.cmd.Wait()
	p.cmd = nil
}
