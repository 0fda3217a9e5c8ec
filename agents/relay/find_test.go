package relay

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/agents/internal/agenttest"
	"pillion/internal/state"
	"pillion/internal/testrig/check"
)

func TestFind(t *testing.T) {
	registry(t)
	p := agenttest.NewProject(t, map[string]string{"sub/deep/x": "", "other/x": ""})
	sub, deep := filepath.Join(p.Dir, "sub"), filepath.Join(p.Dir, "sub", "deep")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(deep, link))
	none := t.TempDir()
	find := func(cwd string) string {
		t.Helper()
		e, ok, err := Find(cwd)
		if err != nil || !ok {
			return ""
		}
		return e.Socket
	}
	check.Same(t, "found in an empty registry", find(p.Dir), "")
	whole := listen(t, p, none, p.Dir)
	check.Same(t, "the only sidecar", find(deep), whole.entry.Socket)
	part := listen(t, p, sub)
	twin := listen(t, p, sub)
	for cwd, want := range map[string]*Server{
		p.Dir: whole, filepath.Join(p.Dir, "other"): whole, none: whole, sub: twin, deep: twin, link: twin,
	} {
		check.Same(t, cwd+" found", find(cwd), want.entry.Socket)
	}
	if all, err := FindAll(link); err != nil || len(all) != 3 || all[0].Socket != twin.entry.Socket || all[2].Socket != whole.entry.Socket {
		t.Errorf("all that hold the folder, the nearest first: %v, %v", all, err)
	}
	part.Focused()
	check.Same(t, "the window focused last", find(link), part.entry.Socket)
	part.Close()
	check.Same(t, "beside a closed sidecar", find(link), twin.entry.Socket)
	if all, err := FindAll(link); err != nil || len(all) != 2 {
		t.Errorf("a closed sidecar is still among all: %v, %v", all, err)
	}
	both := listen(t, p, p.Dir, deep)
	twin.Focused()
	check.Same(t, "by the nearest of a sidecar's roots", find(deep), both.entry.Socket)
	both.Close()
	check.Same(t, "found for a folder outside", find(filepath.Dir(p.Dir)), "")
	if _, _, err := Find(filepath.Join(p.Dir, "missing")); err == nil {
		t.Error("a missing folder is no error")
	}
}

// TestAnEditorComesBeforeAWatch, however near the watch's folder is.
func TestAnEditorComesBeforeAWatch(t *testing.T) {
	registry(t)
	p := agenttest.NewProject(t, map[string]string{"sub/x": ""})
	sub := filepath.Join(p.Dir, "sub")
	watch := func(root string) *Server {
		s := listen(t, p, root)
		s.update(func(e *Entry) { e.Kind = KindWatch })
		return s
	}
	whole, near := watch(p.Dir), watch(sub)
	want := func(what string, s *Server) {
		t.Helper()
		if e, ok, err := Find(sub); err != nil || !ok || e.Socket != s.entry.Socket {
			t.Errorf("%s is not found but %+v, %v", what, e, err)
		}
	}
	want("the nearer of two watches", near)
	editor := listen(t, p)
	near.Focused()
	want("the editor", editor)
	editor.Close()
	near.Close()
	want("the watch that is left", whole)
}

func TestRootsChanged(t *testing.T) {
	registry(t)
	p := agenttest.NewProject(t, map[string]string{"a/x": "", "b/x": ""})
	roots := []string{filepath.Join(p.Dir, "a")}
	s := listen(t, p)
	s.host.Roots = func() []string { return roots }
	s.RootsChanged()
	if _, ok, _ := Find(filepath.Join(p.Dir, "b")); ok {
		t.Error("a folder that is not open is found")
	}
	roots = append(roots, filepath.Join(p.Dir, "b"))
	s.RootsChanged()
	if _, ok, _ := Find(filepath.Join(p.Dir, "b")); !ok {
		t.Error("an added folder is not found")
	}
}

// A sidecar that was killed leaves its entry and its socket.
func TestTheDeadAreSwept(t *testing.T) {
	folder := registry(t)
	p := agenttest.NewProject(t, nil)
	kill := func() Entry {
		s := listen(t, p)
		s.listener.SetUnlinkOnClose(false)
		left := s.entry
		must(t, s.Close())
		must(t, writeEntry(folder, s.id, left))
		return left
	}
	kill()
	if _, ok, err := Find(p.Dir); ok || err != nil {
		t.Fatalf("the dead sidecar is found, %v", err)
	}
	if left := files(t, folder); len(left) != 0 {
		t.Errorf("looking left %v", left)
	}
	kill()
	s := listen(t, p)
	if left := files(t, folder); len(left) != 2 {
		t.Errorf("starting left %v", left)
	}
	s.Close()
	if left := files(t, folder); len(left) != 0 {
		t.Errorf("the end left %v", left)
	}
}

func TestOnlyStraysAreSwept(t *testing.T) {
	folder := registry(t)
	socket := func(name string) string {
		path := filepath.Join(folder, name)
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		must(t, err)
		l.SetUnlinkOnClose(false)
		l.Close()
		return path
	}
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	old := time.Now().Add(-time.Hour)
	gone := []string{socket("old.sock"), file(".new-x", "")}
	kept := []string{
		file("broken.json", "{"), file("notes.txt", ""),
		file("elsewhere.json", `{"pid":1,"host":"another machine","socket":"/nowhere","roots":["/"]}`),
	}
	for _, path := range append(gone, kept...) {
		must(t, os.Chtimes(path, old, old))
	}
	kept = append(kept, socket("new.sock"), file(".new-y", ""))
	sweep(folder)
	for _, path := range gone {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	for _, path := range kept {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("swept away: %v", err)
		}
	}
}

// The path of a socket is short by nature; homes are not.
func TestALongHome(t *testing.T) {
	short := registry(t)
	t.Setenv("TMPDIR", short)
	registryIn(t, filepath.Join(t.TempDir(), strings.Repeat("long/", 20)))
	p := agenttest.NewProject(t, nil)
	s := listen(t, p)
	if !strings.HasPrefix(s.entry.Socket, short) {
		t.Errorf("the socket is at %s", s.entry.Socket)
	}
	e, ok, err := Find(p.Dir)
	if !ok || err != nil {
		t.Fatalf("found %v, %v", ok, err)
	}
	dial(t, e)
	s.Close()
	if left := files(t, filepath.Dir(s.entry.Socket)); len(left) != 0 {
		t.Errorf("the end left %v", left)
	}
}

func TestAFolderOfSomebodyElse(t *testing.T) {
	folder := registry(t)
	elsewhere := filepath.Join(folder, "elsewhere")
	link := filepath.Join(folder, "link")
	must(t, os.Mkdir(elsewhere, 0o700))
	must(t, os.Symlink(elsewhere, link))
	if err := state.MakePrivate(link); err == nil {
		t.Error("a link is taken for the folder")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make a folder somebody else's")
	}
	must(t, os.Chown(elsewhere, 12345, 12345))
	if err := state.MakePrivate(elsewhere); err == nil {
		t.Error("another user's folder is taken")
	}
}

// TestTheRegistryIsInTheStateFolder: agents start their servers without
// XDG_RUNTIME_DIR and the like, and must find it all the same.
func TestTheRegistryIsInTheStateFolder(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_RUNTIME_DIR", "/elsewhere")
	if got, err := Folder(); err != nil || got != "/home/somebody/.local/state/pillion/relay" {
		t.Errorf("the registry is %s, %v", got, err)
	}
}
