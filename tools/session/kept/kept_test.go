package kept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/tools/policy"
	"pillion/tools/session"
)

func store(t *testing.T, roots ...string) *Store {
	t.Helper()
	s, err := Open(func() []string { return roots }, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func owner(agent, id string) session.Owner {
	return session.Owner{Door: "agents", Name: agent, ID: id, Cwd: "/kettle"}
}

func save(t *testing.T, s *Store, o session.Owner, k session.Kept) {
	t.Helper()
	slot := s.Hold(o, false)
	if slot == nil {
		t.Fatalf("%v has no place", o)
	}
	k.Owner, k.Agent, k.Saved, k.Mode = o, session.Agent{Name: o.Name}, time.Now(), policy.Default
	slot.Save(k)
	slot.Release()
}

func TestOneProgramHasASession(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s, o := store(t, "/kettle"), owner("Codex", "one")
	if s.Hold(o, true) != nil {
		t.Error("there is a place that nothing is in")
	}
	slot := s.Hold(o, false)
	if slot == nil || store(t, "/kettle").Hold(o, false) != nil {
		t.Error("two have one place")
	}
	slot.Release()
	if left, _ := os.ReadDir(s.dir); len(left) != 0 {
		t.Errorf("where nothing was kept there is %v", left)
	}
	save(t, s, o, session.Kept{Counts: session.Counts{Calls: 3}})
	for what, other := range map[string]session.Owner{
		"agent": owner("Claude", "one"), "id": owner("Codex", "two"), "door": {Door: "editor", Name: "Codex", ID: "one", Cwd: "/kettle"}, "folder": {Door: "agents", Name: "Codex", ID: "one"},
	} {
		if s.Hold(other, true) != nil {
			t.Errorf("another %s has it", what)
		}
	}
	if store(t, "/kettle", "/tea").Hold(o, true) != nil {
		t.Error("another workspace has it")
	}
	slot = s.Hold(o, true)
	if k, ok := slot.Kept(); !ok || k.Calls != 3 {
		t.Errorf("it has %v", k)
	}
	if s.Forget(o) {
		t.Error("a session that is open was forgotten")
	}
	slot.Forget()
	if left, _ := os.ReadDir(s.dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestARecordIsBounded(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := store(t, "/kettle")
	var big, bigger []session.Todo
	for i := range session.MaxTodos {
		one := session.Todo{ID: fmt.Sprint(i), Content: "x", Status: "pending", Priority: "low", Extra: map[string]any{"x": strings.Repeat("x", 10_000)}}
		big = append(big, one)
		one.Content = strings.Repeat("\u2028", session.MaxTodoText)
		bigger = append(bigger, one)
	}
	for name, c := range map[string]struct {
		list []session.Todo
		want int
	}{"big": {big, len(big)}, "bigger": {bigger, 0}} {
		save(t, s, owner("Codex", name), session.Kept{Todos: c.list})
		slot := s.Hold(owner("Codex", name), true)
		if k, ok := slot.Kept(); !ok || len(k.Todos) != c.want {
			t.Errorf("%s: %v, %d to-dos", name, ok, len(k.Todos))
		}
		slot.Release()
	}
}

func TestPrune(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	quiet, loud := store(t, "/quiet"), store(t, "/loud")
	old := owner("Codex", "old")
	save(t, quiet, old, session.Kept{})
	save(t, quiet, owner("Codex", "kept"), session.Kept{})
	long := time.Now().Add(-maxAge - time.Hour)
	path := filepath.Join(quiet.dir, nameOf(old, []string{"/quiet"}))
	stray, half := filepath.Join(quiet.dir, "stray.lock"), filepath.Join(quiet.dir, ".new-x")
	for _, name := range []string{path + recordSuffix, stray, half} {
		if f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600); err != nil || f.Close() != nil || os.Chtimes(name, long, long) != nil {
			t.Fatal(err)
		}
	}
	for i := range maxRecords + 20 {
		agent := "Noisy"
		if i%40 == 0 {
			agent = "Quiet"
		}
		save(t, loud, owner(agent, fmt.Sprint(i)), session.Kept{})
	}
	all, err := All()
	if err != nil || len(all) != maxRecords {
		t.Errorf("%d are kept, %v", len(all), err)
	}
	count := map[string]int{}
	for _, r := range all {
		count[r.Owner.Name+" "+r.Folders[0]]++
	}
	if count["Codex /quiet"] != 1 || count["Quiet /loud"] != 6 {
		t.Errorf("kept: %v", count)
	}
	store(t)
	for _, gone := range []string{path + recordSuffix, stray, half} {
		if _, err := os.Lstat(gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	key := OpenKey("Codex", "/kettle", "one")
	if key == nil || key.Load() != (session.Proof{}) {
		t.Fatal("there is no new key")
	}
	if OpenKey("Codex", "/kettle", "one") != nil {
		t.Error("two have one key")
	}
	if err := key.Save(session.Proof{ID: "s", Secret: "hush"}); err != nil {
		t.Fatal(err)
	}
	key.Close()
	if got := OpenKey("Codex", "/kettle", "one").Load(); got.Secret != "hush" {
		t.Errorf("kept: %v", got)
	}
	for _, other := range [][3]string{{"Claude", "/kettle", "one"}, {"Codex", "/tea", "one"}, {"Codex", "/kettle", "two"}} {
		if got := OpenKey(other[0], other[1], other[2]).Load(); got != (session.Proof{}) {
			t.Errorf("%v has %v", other, got)
		}
	}
	if got := LoadKey("Codex", "/kettle", "one"); got.Secret != "hush" {
		t.Errorf("while somebody has it: %v", got)
	}
	t.Chdir(t.TempDir()) // which may hold anything
	if err := os.WriteFile(recordSuffix, []byte(`{"id": "s", "secret": "theirs"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if OpenKey("Codex", "/kettle", "a\nb") != nil || LoadKey("Codex", "/kettle", "a\nb") != (session.Proof{}) {
		t.Error("a name of two lines was taken")
	}
}
