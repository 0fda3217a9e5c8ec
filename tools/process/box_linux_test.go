package process

import (
	"strings"
	"testing"
)

// In a box, too, what is told to end may finish: the shell is told last, because the
// box falls with it.
func TestEndTerminatesFirstInABox(t *testing.T) {
	r := newRunner(t)
	if !r.Walls().Bubblewrap.Works {
		refuses(t, r, Bubblewrap)
		return
	}
	for name, c := range map[string]struct {
		command, want string
		code          int
	}{
		"the shell says good-bye":    {"trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.02; done", "up\nbye\n", 5},
		"nobody listens":             {"trap '' TERM; echo up; sleep 999; sleep 999", "up\n", 128 + 9},
		"a child saves its work":     {`sh -c 'trap "sleep 0.2; echo saved; exit" TERM; echo up; while :; do sleep 0.02; done' & wait`, "up\nsaved\n", 128 + 15},
		"a child that is waited for": {`sh -c 'trap "sleep 0.2; echo saved; exit 3" TERM; echo up; while :; do sleep 0.02; done'; echo went on`, "up\nsaved\n", 128 + 15},
	} {
		t.Run(name, func(t *testing.T) {
			spec := newPlace(t).spec(Bubblewrap, c.command)
			spec.Keep = KeepJoined
			p, err := r.Start(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			await(t, p, "up\n")
			p.End()
			result, text := ended(t, p)
			text = strings.ReplaceAll(text, "Terminated\n", "") // what a shell may say of its children
			if result.ExitCode != c.code || text != c.want || result.Sandbox != Bubblewrap {
				t.Errorf("exit code %d, printed %q; want %d, %q", result.ExitCode, text, c.code, c.want)
			}
		})
	}
}
