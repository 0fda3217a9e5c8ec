package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sharedFolder is a Runner and a folder in the shared one for temporary files; no Runner
// where there is no bubblewrap.
func sharedFolder(t *testing.T) (*Runner, string) {
	t.Helper()
	r := boxing(t)
	if r == nil {
		return nil, ""
	}
	dir := folderIn(t, "/tmp", "pillion-shared-")
	return r, dir
}

// TestTemporaryFilesAreTheSessionsOwn: no other program's, and not another session's.
func TestTemporaryFilesAreTheSessionsOwn(t *testing.T) {
	r, shared := sharedFolder(t)
	if r == nil {
		return
	}
	put(t, filepath.Join(shared, "theirs"), "theirs")
	p := newPlace(t)
	spec := func(session, command string) Spec {
		s := p.spec(Bubblewrap, command)
		s.Confine.Session = session
		return s
	}
	got := run(t, r, spec("one", "cat "+shared+"/theirs; echo mine >/tmp/mine; mktemp >/dev/null && ls /tmp"))
	if strings.Contains(got.Stdout, "theirs") || strings.Contains(got.Stdout, filepath.Base(shared)) || !strings.Contains(got.Stdout, "mine\n") || content("/tmp/mine") != "nothing" {
		t.Errorf("%+v", got)
	}
	if got := run(t, r, spec("one", "cat /tmp/mine")); got.Stdout != "mine\n" {
		t.Errorf("the next command of the session: %+v", got)
	}
	if got := run(t, r, spec("two", "cat /tmp/mine")); got.ExitCode == 0 {
		t.Errorf("another session: %+v", got)
	}
	// A file that the line names is where you look for it, for later commands too.
	named := spec("one", "echo log >"+shared+"/log")
	named.Confine.Files = []string{filepath.Join(shared, "log")}
	run(t, r, named)
	if got := run(t, r, spec("one", "cat "+shared+"/log; cat "+shared+"/theirs")); content(filepath.Join(shared, "log")) != "log" || got.Stdout != "log\n" {
		t.Errorf("%q, %+v", content(filepath.Join(shared, "log")), got)
	}
}

// TestTheOwnFolderHasTheUsersPlace: systems give each user a folder in the shared one, and the
// variable leads programs there.
func TestTheOwnFolderHasTheUsersPlace(t *testing.T) {
	_, shared := sharedFolder(t)
	if shared == "" {
		return
	}
	t.Setenv("TMPDIR", shared)
	got := run(t, newRunner(t), newPlace(t).spec(Bubblewrap, "mktemp"))
	if !strings.HasPrefix(got.Stdout, shared+"/") {
		t.Errorf("%+v", got)
	}
	if content(strings.TrimSpace(got.Stdout)) != "nothing" {
		t.Error("it was made in the user's own folder")
	}
}

// TestTemporaryFilesLieOutsideTheWorkspace, where no command can put a link in the place of
// another session's folder, which the next box would show as /tmp.
func TestTemporaryFilesLieOutsideTheWorkspace(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TMPDIR", filepath.Join(p.inside, "temporary"))
	must(t, os.Mkdir(os.Getenv("TMPDIR"), 0o700))
	r := boxing(t)
	if r == nil {
		return
	}
	run(t, r, p.spec(Bubblewrap, "true"))
	lay := run(t, r, p.spec(Bubblewrap, "for d in temporary/"+scratchPrefix+"*/*; do rm -r $d && ln -s ../../../outside $d; done"))
	got := run(t, r, p.spec(Bubblewrap, "echo x >/tmp/escaped; echo x >$TMPDIR/here"))
	info, err := os.Stat(p.outside)
	if err != nil || info.Mode().Perm() != 0o755 || content(filepath.Join(p.outside, "escaped")) != "nothing" || content(filepath.Join(p.inside, "temporary/here")) != "x" {
		t.Errorf("%v: %+v, %+v", info.Mode(), lay, got)
	}
}

// TestACallsOwnVariablesOpenNothing: what can be written is where the user's own say.
func TestACallsOwnVariablesOpenNothing(t *testing.T) {
	p := newPlace(t)
	closed := put(t, filepath.Join(p.inside, ".git/hooks/x"), "before")
	there := put(t, filepath.Join(p.outside, "x"), "before")
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		for _, file := range []string{there, closed} {
			spec := p.spec(level, "echo after > "+file)
			spec.Confine.ReadOnly = []string{filepath.Join(p.inside, ".git")}
			for _, name := range strings.Fields("TMPDIR HOME XDG_CACHE_HOME GOPATH GOCACHE") {
				spec.Env = map[string]string{name: filepath.Dir(file)}
				got := run(t, r, spec)
				if open := level == None || level == Landlock && file == closed; (content(file) == "after") != open {
					t.Errorf("%s for %s: %+v", name, file, got)
				}
				put(t, file, "before")
			}
		}
	})
}

// TestAFileThatTheLineNamesCanBeRead, and one of the session's own comes before it.
func TestAFileThatTheLineNamesCanBeRead(t *testing.T) {
	r, shared := sharedFolder(t)
	if r == nil {
		return
	}
	log := put(t, filepath.Join(shared, "log"), "shared\n")
	put(t, filepath.Join(shared, "other"), "other\n")
	p := newPlace(t)
	spec := p.spec(Bubblewrap, "cat "+log+"; cat "+shared+"/other; echo x >>"+log)
	spec.Confine.Named = []string{log, shared, "/tmp"}
	for range 2 { // bubblewrap has left a place to mount over by then
		if got := run(t, r, spec); got.Stdout != "shared\n" || got.ExitCode == 0 || content(log) != "shared" {
			t.Errorf("%+v, %q", got, content(log))
		}
	}
	own := p.spec(Bubblewrap, "f="+shared+"/other; mkdir -p ${f%/*}; echo own >$f")
	run(t, r, own)
	spec = p.spec(Bubblewrap, "cat "+shared+"/other")
	spec.Confine.Named = []string{filepath.Join(shared, "other")}
	if got := run(t, r, spec); got.Stdout != "own\n" {
		t.Errorf("%+v", got)
	}
}

// TestASocketThatIsMadeLaterIsOutOfReach, as one is that the line names as a file.
func TestASocketThatIsMadeLaterIsOutOfReach(t *testing.T) {
	r, dir := sharedFolder(t)
	if r == nil {
		return
	}
	socket := filepath.Join(dir, "tmux.sock")
	p := newPlace(t)
	ready := filepath.Join(p.inside, "ready")
	spec := p.spec(Bubblewrap, "touch ready; until [ -e made ]; do sleep 0.02; done; test -e "+socket+" && echo there; true")
	done := make(chan Result, 1)
	go func() { got, _ := r.Run(t.Context(), spec, nil); done <- got }()
	eventually(t, "the command has started", func() bool { return content(ready) == "" })
	listen(t, "unix", socket)
	put(t, filepath.Join(p.inside, "made"), "")
	if got := <-done; got.Stdout != "" || got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	spec = p.spec(Bubblewrap, "test -S "+socket+" && echo there; true")
	spec.Confine.Files = []string{socket}
	if got := run(t, r, spec); got.Stdout != "" {
		t.Errorf("named as a file: %+v", got)
	}
}

// TestWhatIsLeftIsSwept, long after its program has gone, and nothing else is.
func TestWhatIsLeftIsSwept(t *testing.T) {
	dir := t.TempDir()
	gone := exec.Command("true")
	must(t, gone.Run())
	old := time.Now().Add(-2 * leftAfter)
	for name, age := range map[string]time.Time{
		fmt.Sprintf("x-%d-old", gone.Process.Pid): old, fmt.Sprintf("x-%d-new", gone.Process.Pid): time.Now(),
		fmt.Sprintf("x-%d-mine", os.Getpid()): old, "x-other": old, fmt.Sprintf("%d-x", gone.Process.Pid): old,
	} {
		put(t, filepath.Join(dir, name, "file"), "")
		must(t, os.Chtimes(filepath.Join(dir, name), age, age))
	}
	sweep(dir, "x-")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 4 || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), "-old") }) {
		t.Errorf("%v, %v", left, err)
	}
}

// TestCommandsInOneFolderTakeTurns, and none waits for ever.
func TestCommandsInOneFolderTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		list := []Staged{{Dir: "/a"}, {Dir: "/b"}}
		began := time.Now()
		first := turns.take(t.Context(), list)
		go func() {
			time.Sleep(time.Second) // the bubble's clock
			first()
		}()
		second := turns.take(t.Context(), list)
		if took := time.Since(began); took != time.Second {
			t.Errorf("the second began after %v", took)
		}
		third := turns.take(t.Context(), list)
		if took := time.Since(began); took != time.Second+turnTime {
			t.Errorf("the third began after %v", took)
		}
		third()
		second()
	})
}
