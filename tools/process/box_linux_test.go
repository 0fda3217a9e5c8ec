package process

import "testing"

// In a box, too, what is told to end may finish: the shell is told last, because the
// box falls with it.
func TestEndTerminatesFirstInABox(t *testing.T) {
	r := newRunner(t)
	if !r.Walls().Bubblewrap.Works {
		refuses(t, r, Bubblewrap)
		return
	}
	farewells(t, r, Bubblewrap, func(command string) Spec { return newPlace(t).spec(Bubblewrap, command) })
}
