package lspbridge

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pillion/internal/testrig/machine"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// programs are what the test binary plays besides, by its first argument.
var programs = map[string]func(args []string) int{"guardian": process.Guardian}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if play := programs[os.Args[1]]; play != nil {
			syscall.Exit(play(os.Args[2:])) // at once: a program with the race detector sleeps before it exits
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if left := children(); len(left) > 0 {
			fmt.Printf("children that nobody waited for: %q\n", left)
			code = 1
		}
		os.Exit(code)
	}))
}

// children are the processes below this one, also those that are dead.
var children = func() []string { return nil }

// rig is a bridge over a folder.
type rig struct {
	machine.Folder
	store  *document.Store
	bridge *Bridge

	mu       sync.Mutex
	reported []string
	settings Settings
	fakes    map[string]*fake // servers by their program
	runner   *process.Runner  // of those that are programs; nil: they are started as by any parent
}

// newRig makes a folder of files, a name and a text each, and a bridge over it.
func newRig(t testing.TB, files map[string]string, servers ...Server) *rig {
	t.Helper()
	dir := machine.Folder{TB: t, Dir: t.TempDir()}
	for name, text := range files {
		dir.Write(name, text)
	}
	return newRigAt(dir, servers...)
}

// inBubble has a test go on in a synctest bubble with a rig of its own.
func inBubble(t *testing.T, files map[string]string, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, files)) })
}

// newRigAt is a rig over a folder that is there.
func newRigAt(dir machine.Folder, servers ...Server) *rig {
	dir.Helper()
	r := &rig{Folder: dir, settings: Settings{Servers: servers}, fakes: map[string]*fake{}}
	w, err := workspace.Open(workspace.Folder{Dir: r.Dir})
	r.Must(err)
	r.store = document.NewStore(w)
	r.bridge = New(Options{
		Documents: r.store, Spawn: r.spawn, LookPath: r.lookPath, Logf: r.Logf,
		Settings: func(workspace.Path) Settings {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.settings
		},
		Report: r.heard, Note: r.heard, GiveWay: func(context.Context) {},
	})
	r.Cleanup(func() { r.Must(r.bridge.Close(), w.Close()) })
	return r
}

func (r *rig) heard(told string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reported = append(r.reported, told)
}

// reports are what the user was told.
func (r *rig) reports() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.reported)
}

func (r *rig) spawn(c Command) (Child, error) {
	if f := r.fakes[c.Args[0]]; f != nil {
		return f.spawn()
	}
	if r.runner != nil {
		return r.spawnBelowGuardian(c)
	}
	return spawnPlain(c)
}

// spawnBelowGuardian starts a program as the sidecar does.
func (r *rig) spawnBelowGuardian(c Command) (Child, error) {
	s, err := r.runner.Serve(process.Program{Args: c.Args, Dir: c.Dir, Env: c.Env})
	if err != nil {
		return Child{}, err
	}
	return Child{Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Said, Done: s.Done(), Err: s.Err, Kill: s.Kill}, nil
}

// installed has these programs alone be there, each at its place.
func (r *rig) installed(programs map[string]string) {
	r.bridge.installations = installations{}
	r.bridge.o.LookPath = func(name string) (string, error) {
		if place, ok := programs[name]; ok {
			return place, nil
		}
		return "", exec.ErrNotFound
	}
}

func (r *rig) lookPath(name string) (string, error) {
	if r.fakes[name] != nil {
		return name, nil
	}
	return exec.LookPath(name)
}

func (r *rig) path(name string) workspace.Path {
	r.Helper()
	p, err := r.store.Workspace().Resolve(name)
	r.Must(err)
	return p
}

// having is a snapshot in which a file was read.
func (r *rig) having(p workspace.Path) *document.Snapshot {
	r.Helper()
	s := r.snapshot()
	_, err := s.ReadIfExists(p, "")
	r.Must(err)
	return s
}

// caused changes a file, and gives what that did to it.
func (r *rig) caused(p workspace.Path, text string) language.Caused {
	r.Helper()
	before := r.having(p)
	r.Write(p.Rel(), text)
	return r.bridge.Caused(r.Context(), before, []workspace.Path{p}, nil)[p]
}

func (r *rig) snapshot() *document.Snapshot { return r.store.Snapshot(1 << 20) }

// spawnPlain starts a program as any parent does.
func spawnPlain(c Command) (Child, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, os.Environ()
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var said strings.Builder
	cmd.Stderr = &said
	theirIn, in, err := os.Pipe()
	if err != nil {
		return Child{}, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return Child{}, err
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	err = cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return Child{}, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	return Child{
		Stdin: in, Stdout: out, Done: done,
		Stderr: func() string {
			<-done
			return said.String()
		},
		Kill: func() { _ = cmd.Process.Kill() },
	}, nil
}

// until waits for what is about to become so.
func (r *rig) until(what string, is func() bool) {
	r.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("%s: not in a minute", what)
		}
	}
}

func at(line, character uint32) document.Position {
	return document.Position{Line: line, Character: character}
}

// warm has the server of a file told of it.
func warm(r *rig, p workspace.Path) { r.bridge.Prepare(r.snapshot(), []workspace.Path{p}) }

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
