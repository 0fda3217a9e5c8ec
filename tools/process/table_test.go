//go:build unix

package process

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
)

// owner is a session; closing the channel ends it.
func owner(session string) (Owner, chan struct{}) {
	closed := make(chan struct{})
	return Owner{Session: session, Name: "agent", Closed: closed}, closed
}

func startNamed(t testing.TB, table *Table, o Owner, id, command string) *Named {
	t.Helper()
	p, err := table.Start(t.Context(), o, About{ID: id}, Spec{Command: command, Dir: t.TempDir(), KeepStdin: true, Keep: KeepJoined}, nil)
	must(t, err)
	return p
}

func TestNamesAreUniqueWhileTheyRun(t *testing.T) {
	table := NewTable(newRunner(t))
	one, _ := owner("one")
	two, _ := owner("two")
	first := startNamed(t, table, one, "server", "sleep 999")
	_, err := table.Start(t.Context(), one, About{ID: "server"}, Spec{Command: "true", Dir: "/"}, nil)
	if fault.CodeOf(err) != fault.InvalidArguments || !strings.Contains(err.Error(), "already has a running process") {
		t.Errorf("the same name again: %v", err)
	}
	other := startNamed(t, table, two, "server", "sleep 999") // another session's names are its own
	first.Kill()
	<-first.Done()
	again := startNamed(t, table, one, "server", "echo new; sleep 999")
	if got := table.List("one"); len(got) != 1 || got[0] != again {
		t.Errorf("listed %v", got)
	}
	if found, err := table.Find("two", "server"); err != nil || found != other {
		t.Errorf("the other session's: %v, %v", found, err)
	}
	_, err = table.Find("two", "sever")
	if fault.CodeOf(err) != fault.ProcessNotFound || !strings.Contains(fault.From(err).Hint, "server") {
		t.Errorf("an unknown name: %v, %+v", err, fault.From(err))
	}
	if len(table.List("")) != 2 {
		t.Errorf("all: %v", table.List(""))
	}
}

func TestProcessesEndWithTheirSession(t *testing.T) {
	table := NewTable(newRunner(t))
	one, end := owner("one")
	two, _ := owner("two")
	var ending []*Named
	for i := range 3 {
		ending = append(ending, startNamed(t, table, one, fmt.Sprint(i), "trap '' HUP; echo up; sleep 999"))
	}
	staying := startNamed(t, table, two, "0", "sleep 999")
	close(end)
	for _, p := range ending {
		ended(t, p.Process)
	}
	if !staying.Running() {
		t.Error("another session's process ended too")
	}
	if left := table.List("one"); len(left) != 0 {
		t.Errorf("the session is gone and has %d processes", len(left))
	}
	// What a session that is gone still starts ends at once.
	ended(t, startNamed(t, table, one, "late", "sleep 999").Process)
}

// enter puts a process into the table that no program runs for; end ends it.
func enter(table *Table, session, id string) (end func()) {
	p := &Process{begin: time.Now(), done: make(chan struct{})}
	table.enter(p, Owner{Session: session}, About{ID: id}, Spec{})
	return func() { close(p.done) }
}

func TestProcessesAreBounded(t *testing.T) {
	table := NewTable(newRunner(t))
	full := func(session string) bool {
		return fault.CodeOf(table.Taken(session, "more")) == fault.ExecutionFailed
	}
	var ends []func()
	for i := range maxRunningAll {
		session := fmt.Sprint(i / maxRunning)
		if full(session) {
			t.Errorf("process %d cannot start", i)
		}
		ends = append(ends, enter(table, session, fmt.Sprint(i)))
		if want := i%maxRunning == maxRunning-1; full(session) != want {
			t.Errorf("after process %d the session is full: %t", i, !want)
		}
	}
	if !full("another") {
		t.Error("all sessions together have no bound")
	}
	for _, end := range ends {
		end()
	}
	for i := range maxEnded + 3 {
		enter(table, "0", fmt.Sprintf("short %d", i))()
	}
	listed := table.List("0")
	if len(listed) > maxEnded+1 || listed[len(listed)-1].ID != fmt.Sprintf("short %d", maxEnded+2) || listed[0].ID == "0" {
		t.Errorf("%d are kept, the first is %s", len(listed), listed[0].ID)
	}
	for i := range maxEndedAll + 3 {
		enter(table, fmt.Sprint("s", i/10), fmt.Sprint("s", i))()
	}
	listed = table.List("")
	if len(listed) > maxEndedAll+1 || listed[0].ID == "0" || listed[len(listed)-1].ID != fmt.Sprint("s", maxEndedAll+2) {
		t.Errorf("%d are kept, from %s to %s", len(listed), listed[0].ID, listed[len(listed)-1].ID)
	}
}

func TestRunForHandsOver(t *testing.T) {
	table := NewTable(newRunner(t))
	one, _ := owner("one")
	heard := make(chan *Named, 1)
	defer table.Watch(func(p *Named) { heard <- p })()
	dir := t.TempDir()
	spec := Spec{Command: "echo first; until [ -e go ]; do sleep 0.02; done; echo second; exit 3", Dir: dir}
	soFar, next, kept, err := table.RunFor(t.Context(), 300*time.Millisecond, one, About{}, spec, nil)
	if err != nil || kept == nil || !strings.HasPrefix("first\n", soFar.Stdout) || next != int64(len(soFar.Stdout)) {
		t.Fatalf("%+v, %d, %v, %v", soFar, next, kept, err)
	}
	if p := <-heard; p != kept || kept.ID != "command-1" {
		t.Errorf("heard of %s", p.ID)
	}
	run(t, table.Runner, Spec{Command: "touch go", Dir: dir})
	if result, _ := ended(t, kept.Process); result.ExitCode != 3 {
		t.Errorf("%+v", result)
	}
	if text, _, _ := kept.Since(next); soFar.Stdout+text != "first\nsecond\n" {
		t.Errorf("until then %q, since then %q", soFar.Stdout, text)
	}
	// One that ends before is an ordinary answer, and no process.
	soFar, _, kept, err = table.RunFor(t.Context(), time.Minute, one, About{}, Spec{Command: "echo quick; exit 4", Dir: dir}, nil)
	if err != nil || kept != nil || soFar.ExitCode != 4 || soFar.Stdout != "quick\n" || len(table.List("one")) != 1 {
		t.Errorf("%+v, %v, %v", soFar, kept, err)
	}
	// A caller that gives up takes it along.
	ctx, cancel := context.WithCancel(t.Context())
	soFar, _, kept, err = table.RunFor(ctx, time.Minute, one, About{}, Spec{Command: "echo up; sleep 999", Dir: dir}, func(Stream, []byte) { cancel() })
	if err != context.Canceled || kept != nil || soFar.Stdout != "up\n" {
		t.Errorf("%+v, %v, %v", soFar, kept, err)
	}
}

func TestCheckName(t *testing.T) {
	for _, id := range []string{"a", "dev server", "Ω", strings.Repeat("x", maxName)} {
		if err := CheckName(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", " ", "a\nb", "a\x1b[2J", "\u202e", strings.Repeat("x", maxName+1)} {
		if fault.CodeOf(CheckName(id)) != fault.InvalidArguments {
			t.Errorf("%q passes", id)
		}
	}
}
