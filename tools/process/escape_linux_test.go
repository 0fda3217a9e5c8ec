package process

import "testing"

// What docs/security.md says is closed is closed, and the trial can tell: without a sandbox
// it gets out by each way that a program of the user's has.
func TestTheWaysOut(t *testing.T) {
	t.Setenv("HOME", newPlace(t).outside)
	t.Setenv("XDG_CACHE_HOME", "")
	r := newRunner(t)
	everyLevel(t, r, func(t *testing.T, level Level) {
		w := r.Walls()
		w.Level = level
		got, err := r.tryEscapes(t.Context(), w)
		if err != nil || len(got) != len(ways) {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, e := range got {
			switch {
			case level == None && i < 8 && e.Closed:
				t.Errorf("nothing holds it, and yet it could not %s", e.Way)
			case level != None && e.Due && !e.Closed:
				t.Errorf("it could %s", e.Way)
			}
		}
	})
}

// What a filter takes away, programs of ordinary work do not miss.
func TestFilteredCommandsWork(t *testing.T) {
	p := newPlace(t)
	r := newRunner(t)
	everyLevel(t, r, func(t *testing.T, level Level) {
		got := run(t, r, p.spec(level, "set -e; (sleep 0 & wait); echo x | cat; git init -q repo; git -C repo log 2>&1 | head -1; python3 -c 'import threading, subprocess, socket; t = threading.Thread(target=print, args=[1]); t.start(); t.join(); subprocess.run([\"true\"], check=True); socket.socket(socket.AF_INET6)'; rm -rf repo"))
		if got.ExitCode != 0 {
			t.Errorf("%+v", got)
		}
	})
}
