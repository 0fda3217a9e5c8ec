//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A program with arguments is run by no shell, and gets no more of ours than it is to.
func TestArgsAreNoLine(t *testing.T) {
	t.Setenv("SSH_AUTH_SOCK", "/sock")
	t.Setenv("GIT_CONFIG_GLOBAL", "/global")
	r := newRunner(t)
	got := run(t, r, Spec{Args: []string{"/bin/echo", "$HOME; `id`", "it's"}})
	if got.Stdout != "$HOME; `id` it's\n" {
		t.Errorf("%q", got.Stdout)
	}
	env := run(t, r, Spec{Args: []string{"/usr/bin/env"}, Inherit: []string{"GIT_CONFIG_GLOBAL", "NOT_SET"}}).Stdout
	if !strings.Contains(env, "\nGIT_CONFIG_GLOBAL=/global\n") || strings.Contains(env, "SSH_AUTH_SOCK") || strings.Contains(env, "NOT_SET") {
		t.Errorf("it sees\n%s", env)
	}
}

// TestGentlyEndedItMayFinish: it is told nothing while it may, so that git is not hit in
// the moment in which it makes a lock file.
func TestGentlyEndedItMayFinish(t *testing.T) {
	for _, end := range []string{"cancelled", "closed"} {
		r := newRunner(t)
		r.finish = time.Minute
		dir := t.TempDir()
		must(t, syscall.Mkfifo(dir+"/f", 0o600))
		f, err := os.OpenFile(dir+"/f", os.O_RDWR, 0)
		must(t, err)
		defer f.Close() //nolint:errcheck // nothing is written
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		got, err := r.Run(ctx, Spec{Command: `trap 'echo told' TERM; echo ready; read x <f; echo finished`, Dir: dir, Gently: true}, func(_ Stream, b []byte) {
			if !strings.Contains(string(b), "ready") {
				return
			}
			go func() {
				defer close(ended)
				if end == "cancelled" {
					cancel()
				} else if err := r.Close(); err != nil {
					t.Error(err)
				}
			}()
			if end == "cancelled" {
				<-ended
			} else {
				<-r.closing
			}
			if _, err := f.WriteString("go on\n"); err != nil {
				t.Error(err)
			}
		})
		<-ended
		if got.Stdout != "ready\nfinished\n" || err == nil {
			t.Errorf("%s: %q, %v", end, got.Stdout, err)
		}
	}
}

// What is ended gently can put away what it left lying about.
func TestGentlyEnded(t *testing.T) {
	const line = `trap 'echo put away; exit 0' TERM; echo ready; while :; do read x <&3; done`
	for _, gently := range []bool{true, false} {
		r := newRunner(t)
		r.finish = time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		got, err := r.Run(ctx, Spec{Command: "mkfifo f; exec 3<>f; " + line, Dir: t.TempDir(), Gently: gently}, func(_ Stream, b []byte) {
			if strings.Contains(string(b), "ready") {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || strings.Contains(got.Stdout, "put away") != gently {
			t.Errorf("gently %t: %q, %v", gently, got.Stdout, err)
		}
	}
}
