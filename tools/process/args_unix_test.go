//go:build unix

package process

import (
	"context"
	"errors"
	"strings"
	"testing"
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

// What is ended gently can put away what it left lying about.
func TestGentlyEnded(t *testing.T) {
	const line = `trap 'echo put away; exit 0' TERM; echo ready; while :; do read x <&3; done`
	for _, gently := range []bool{true, false} {
		r := newRunner(t)
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
