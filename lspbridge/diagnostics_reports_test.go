package lspbridge

import (
	"testing"
	"testing/synctest"
	"time"

	"pillion/workspace"
)

// TestReportsThatAreStillToCome of earlier texts, from a server that names no versions
// and waits for 500 ms: a story is what happens to one document, and old is how many
// there may be after it.
func TestReportsThatAreStillToCome(t *testing.T) {
	const ms = time.Millisecond
	var p workspace.Path
	type story struct {
		*reports
		texts uint64
		last  time.Time // when a text was sent
	}
	edit := func(s *story) {
		s.texts++
		s.last, _ = s.sent(p, int32(s.texts), s.texts)
	}
	save := func(s *story) { s.last, _ = s.expect(p) }
	read := func(s *story) { s.passed(p, s.last, time.Now()) }
	report := func(s *story) { s.publish(p, nil, "[]") }
	wait := func(d time.Duration) func(*story) { return func(*story) { <-time.After(d) } }
	for _, c := range []struct {
		name  string
		steps []func(*story)
		old   int
	}{
		{"the first", []func(*story){edit}, 0},
		{"one after a pause", []func(*story){edit, wait(600 * ms), report, edit}, 0},
		{"one soon after another", []func(*story){edit, wait(100 * ms), edit}, 1},
		{"which it read in time", []func(*story){edit, wait(100 * ms), edit, wait(10 * ms), read}, 0},
		{"which it read late", []func(*story){edit, wait(100 * ms), edit, wait(450 * ms), read}, 1},
		{"many", []func(*story){edit, wait(ms), edit, wait(ms), edit, wait(ms), read}, 0},
		{"the first is looked at", []func(*story){edit, wait(550 * ms), edit, read}, 1},
		{"and reported before it can have looked at the second", []func(*story){edit, wait(550 * ms), edit, read, wait(50 * ms), report}, 0},
		{"or later", []func(*story){edit, wait(550 * ms), edit, read, wait(550 * ms), report}, 1},
		{"closed and opened again", []func(*story){edit, wait(600 * ms), report, func(s *story) { s.closed(p) }, edit}, 1},
		{"saved, and changed at once", []func(*story){edit, wait(600 * ms), report, save, edit}, 1},
		{"saved in the same moment, which it looks at as one", []func(*story){edit, save, read, wait(600 * ms), report, edit}, 0},
		{"what was long ago never comes", []func(*story){edit, wait(mostLint + ms), edit}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &story{reports: newReports(500 * ms)}
				for _, step := range c.steps {
					step(s)
				}
				if got := s.evidenceLocked(s.of[p], Server{}).old; got != c.old {
					t.Errorf("%d of earlier texts may still come, want %d", got, c.old)
				}
			})
		})
	}
}

// TestWhatIsNeverReportedIsForgotten: a server that is told of changed files, and of which
// nobody asks anything, costs no more memory with each of them.
func TestWhatIsNeverReportedIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p workspace.Path
		r := newReports(0)
		r.sent(p, 1, 1)
		for range 1000 {
			<-time.After(time.Second)
			r.expectAll()
		}
		if n, most := len(r.of[p].unreported), int(mostLint/time.Second)+1; n > most {
			t.Errorf("%d are kept, want %d at most", n, most)
		}
	})
}
