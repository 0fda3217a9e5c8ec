package lspbridge

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/tools/process"
)

// badly is a rig whose server for Python is bad; one for shell scripts is good.
type badly struct {
	*rig
	t      *testing.T
	count  string // a file with a byte for each life of the bad one
	mark   string // a variable that it and all that it starts carry
	logged atomic.Int64

	spawned atomic.Int64 // lives of the bad one
}

var marks atomic.Int64

func newBadly(t *testing.T, script string) *badly {
	t.Helper()
	r := &badly{t: t, count: filepath.Join(t.TempDir(), "lives"), mark: fmt.Sprintf("LSPBRIDGE_TEST=%d.%d", os.Getpid(), marks.Add(1))}
	r.rig = newRig(t, map[string]string{"a.py": "one\ntwo\n", "b.py": "three\n", "poison.py": "four\n", "good.sh": "five\n"})
	runner, err := process.NewRunner()
	r.Must(err)
	r.runner = runner
	r.bridge.o.Logf = func(string, ...any) { r.logged.Add(1) }
	p := &r.bridge.patience
	p.first, p.longest, p.look, p.ending, p.question = time.Millisecond, 10*time.Millisecond, 20*time.Millisecond, 100*time.Millisecond, patient
	r.bridge.o.Spawn = func(c Command) (Child, error) {
		if c.Args[0] == os.Args[0] {
			r.spawned.Add(1)
		}
		return r.spawn(c)
	}
	f := r.serve(hovers)
	f.answer("textDocument/hover", `{"contents":"good"}`)
	name, value, _ := strings.Cut(r.mark, "=")
	r.settings.Servers = []Server{
		{Name: "bad", Command: []string{os.Args[0], "bad", script, r.count}, Languages: []string{"python"}, Env: map[string]string{name: value}},
		{Name: "good", Command: []string{"fake"}, Languages: []string{"shellscript"}},
	}
	t.Cleanup(func() {
		r.Must(r.bridge.Close())
		r.Must(runner.Close())
		if left := r.marked(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	return r
}

// marked are the processes that the bad server is, or started.
func (r *badly) marked() (found []string) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	r.Must(err)
	for _, dir := range dirs {
		if environ, err := os.ReadFile(dir + "/environ"); err == nil && bytes.Contains(environ, []byte(r.mark+"\x00")) {
			command, _ := os.ReadFile(dir + "/cmdline") //nolint:errcheck // it has just gone
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// hover asks about a line of a.py, for at most so long.
func (r *badly) hover(line uint32, most time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), most)
	defer cancel()
	text, _, err := r.bridge.Hover(ctx, r.snapshot(), r.path("a.py"), at(line, 0))
	return text, err
}

const (
	patient   = 5 * time.Minute        // what is waited for comes
	impatient = 100 * time.Millisecond // it never does
)

// says fails unless the bad server answers so about a line.
func (r *badly) says(line uint32, want string) {
	r.t.Helper()
	if got, err := r.hover(line, patient); got != want || err != nil {
		r.t.Errorf("line %d: %q, %v, want %q", line, got, err, want)
	}
}

// fails fails unless the question about line 1 ends with such an error.
func (r *badly) fails(code fault.Code, want string) {
	r.t.Helper()
	most := patient
	if code == fault.Timeout {
		most = impatient
	}
	if got, err := r.hover(1, most); fault.CodeOf(err) != code || !strings.Contains(err.Error(), want) {
		r.t.Errorf("%q, %v, want %v: %s", got, err, code, want)
	}
	r.good()
}

// good asks the other server.
func (r *badly) good() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patient)
	defer cancel()
	if got, _, err := r.bridge.Hover(ctx, r.snapshot(), r.path("good.sh"), at(0, 0)); got != "good" || err != nil {
		r.t.Errorf("the other server: %q, %v", got, err)
	}
}

func (r *badly) server() *server {
	sv, err := r.bridge.serverOf(r.path("a.py"))
	r.Must(err)
	return sv
}

func TestBadServers(t *testing.T) {
	const (
		well   = "well in life 1 with a.py"
		again  = "well in life 2 with a.py"
		killed = "bad ended while it was asked"
	)
	for script, try := range map[string]func(r *badly){
		"crashes when asked": func(r *badly) {
			_, _, err := r.bridge.Hover(r.t.Context(), r.snapshot(), r.path("b.py"), at(0, 0))
			r.Must(err)
			r.says(0, "well in life 1 with a.py b.py")
			r.fails(fault.LSPUnavailable, killed)
			r.says(0, "well in life 2 with a.py b.py")
		},
		"hangs":                     func(r *badly) { r.says(0, well); r.fails(fault.Timeout, "did not answer"); r.says(0, well) },
		"answers late":              func(r *badly) { r.says(0, well); r.fails(fault.Timeout, "did not answer"); r.says(0, well) },
		"is stopped":                func(r *badly) { r.says(0, well); r.fails(fault.Timeout, "did not answer") },
		"answers twice":             func(r *badly) { r.says(0, well); r.says(1, ""); r.says(0, well) },
		"answers what nobody asked": func(r *badly) { r.says(1, "asked in life 1 with a.py"); r.says(0, well) },
		"answers in another shape": func(r *badly) {
			r.says(0, well)
			r.fails(fault.ExecutionFailed, "bad cannot answer")
			r.says(0, well)
		},
		"sends what is no message":     func(r *badly) { r.says(1, "all the same in life 1 with a.py") },
		"sends garbage":                func(r *badly) { r.fails(fault.LSPUnavailable, killed); r.says(0, again) },
		"sends half a frame and ends":  func(r *badly) { r.fails(fault.LSPUnavailable, killed); r.says(0, again) },
		"sends half a frame and hangs": func(r *badly) { r.says(0, well); r.fails(fault.Timeout, "did not answer") },
		"closes its output":            func(r *badly) { r.fails(fault.LSPUnavailable, killed); r.says(0, again) },
		"sends 100 MB": func(r *badly) {
			r.says(0, well)
			before := heap()
			r.fails(fault.ExecutionFailed, "larger than the limit")
			if grown := heap() - before; grown > 4<<20 {
				r.t.Errorf("%d bytes more are kept", grown)
			}
			r.says(0, well)
		},
		"floods": func(r *badly) {
			r.says(0, well)
			before, began := heap(), time.Now()
			r.says(1, "flooded in life 1 with a.py")
			if grown := heap() - before; grown > 4<<20 {
				r.t.Errorf("%d bytes more are kept", grown)
			}
			times := int64(time.Since(began)/linesTime) + 2 // begun ones count
			if n := r.logged.Load(); n > 2*times*(mostLines+1) {
				r.t.Errorf("%d lines were logged in %d times", n, times)
			}
		},
		"floods without end": func(r *badly) { r.says(1, "flooding in life 1 with a.py"); r.good(); r.says(0, well) },
		"floods stderr":      func(r *badly) { r.says(1, "flooding in life 1 with a.py"); r.good(); r.says(0, well) },
		"asks without end":   func(r *badly) { r.says(1, "answered in life 1 with a.py"); r.says(0, well) },
		"hangs in shutdown":  func(r *badly) { r.says(0, well) },
		"ignores shutdown":   func(r *badly) { r.says(0, well) },
		"leaves children": func(r *badly) {
			r.says(0, well)
			r.until("the server and its children run", func() bool { return len(r.marked()) > 4 })
			r.fails(fault.LSPUnavailable, killed)
			r.says(0, again)
			if all := r.marked(); len(all) > 6 {
				r.t.Errorf("those of the first life are left: %q", all)
			}
		},
	} {
		t.Run(script, func(t *testing.T) {
			if script != "floods" && script != "sends 100 MB" { // which measure memory
				t.Parallel()
			}
			try(newBadly(t, script))
		})
	}
}
