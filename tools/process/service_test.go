//go:build unix

package process

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serve serves a script, which no profile of a shell's is read for.
func serve(t testing.TB, r *Runner, script string, env map[string]string) *Service {
	t.Helper()
	s, err := r.Serve(Program{Args: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Env: env})
	must(t, err)
	t.Cleanup(func() {
		s.Kill()
		s.Stdin.Close()
		s.Stdout.Close()
		<-s.Done()
	})
	return s
}

// over waits for the end of a service.
func over(t testing.TB, s *Service) error {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	return s.Err()
}

func TestAServiceSpeaksByItsPipes(t *testing.T) {
	r := newRunner(t)
	s := serve(t, r, `echo "$0 $PWD $NAME ${SECRET-none}"; echo trouble >&2; cat; exit 3`, map[string]string{"NAME": "value"})
	out := bufio.NewReader(s.Stdout)
	line, err := out.ReadString('\n')
	if !strings.HasPrefix(line, "/bin/sh ") || !strings.HasSuffix(line, " value none\n") || err != nil {
		t.Errorf("it printed %q, %v", line, err)
	}
	binary := "\x00\xff\r\n" + strings.Repeat("x", 200<<10)
	go func() {
		_, _ = io.WriteString(s.Stdin, binary)
		s.Stdin.Close()
	}()
	if got, err := io.ReadAll(out); string(got) != binary || err != nil {
		t.Errorf("%d bytes came back of %d, %v", len(got), len(binary), err)
	}
	if err := over(t, s); err.Error() != "it ended with exit code 3" || s.Said() != "trouble\n" {
		t.Errorf("it ended: %v; it said %q", err, s.Said())
	}
}

func TestHowAServiceEnds(t *testing.T) {
	r := newRunner(t)
	for script, want := range map[string]string{
		"exit 0":          "it ended by itself",
		"exit 255":        "it ended with exit code 255",
		"kill -9 $$":      "it ended with exit code 137 (signal 9)",
		"kill -9 $PPID":   "guardian", // lost, before or after it said that the program runs
		"kill -STOP $$":   "killed",
		"trap '' TERM; :": "it ended by itself",
	} {
		s := serve(t, r, script, nil)
		if want == "killed" {
			s.Kill()
		}
		if err := over(t, s); !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "no program")
	must(t, os.WriteFile(file, []byte("text"), 0o600))
	for _, name := range []string{file, "/no/such/program"} {
		s, err := r.Serve(Program{Args: []string{name}, Dir: "/"})
		must(t, err)
		if err := over(t, s); !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		s.Stdin.Close()
		s.Stdout.Close()
	}
	for _, p := range []Program{{}, {Args: []string{"/bin/true"}, Dir: "relative"}, {Args: []string{"/bin/true\x00"}, Dir: "/"}} {
		if _, err := r.Serve(p); err == nil {
			t.Errorf("%+v was started", p)
		}
	}
}

func TestOfAFloodTheEndIsKept(t *testing.T) {
	r := newRunner(t)
	s := serve(t, r, `i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done >&2`, nil)
	_ = over(t, s)
	said := s.Said()
	if len(said) > saidKept/2 || len(said) < saidKept/4 || !strings.HasPrefix(said, "line ") || !strings.HasSuffix(said, "line 19999\n") {
		t.Errorf("%d bytes are kept, %q to %q", len(said), said[:min(20, len(said))], said[max(0, len(said)-20):])
	}
}

func TestAClosedRunnerServesNothing(t *testing.T) {
	r, err := NewRunner()
	must(t, err)
	s := serve(t, r, "sleep 999", nil)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Err(); err != ErrClosed { //nolint:errorlint // it is given as it is
		t.Errorf("it ended: %v", err)
	}
	if _, err := r.Serve(Program{Args: []string{"/bin/true"}, Dir: "/"}); err != ErrClosed { //nolint:errorlint // as above
		t.Errorf("a closed runner: %v", err)
	}
}

// serving is another program that has a service, which ignores all that it can.
func serving(mark string) int {
	r, err := NewRunner()
	if err != nil {
		return 1
	}
	s, err := r.Serve(Program{
		Args: []string{"/bin/sh", "-c", "trap '' TERM HUP INT; setsid sleep 999 & sleep 999 & echo up; wait"},
		Dir:  "/", Env: map[string]string{markName: mark},
	})
	if err != nil {
		return 1
	}
	_, _ = io.Copy(os.Stdout, s.Stdout)
	return 0
}
