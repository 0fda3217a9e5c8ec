package test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

const (
	overwrites = "printf 'agent\\n' > a.txt && rm b.txt && mkdir new && echo c > new/c.txt"
	waits      = "printf 'agent\\n' > a.txt; echo > ready; sleep 1000"
)

// ruled are settings with which agents run these lines unasked.
func ruled(lines ...string) testrig.Options {
	rules := []string{}
	for _, line := range lines {
		rules = append(rules, "run_command("+line+")")
	}
	return testrig.Options{Settings: object{"permissions": object{"allow": rules}}}
}

// TestACommandThatARuleAllowedIsPutBack: what it did, and nothing that you did before. The
// folders are watched all the while.
func TestACommandThatARuleAllowedIsPutBack(t *testing.T) {
	t.Parallel()
	e := spawn(t, ruled(overwrites, "true"))
	e.Write("a.txt", "yours\n")
	e.Write("b.txt", "yours\n")
	for n := range 3 {
		yours := fmt.Sprintf("yours %d\n", n)
		mustCall(t, e, "nothing", "run_command", object{"command": "true"})
		e.Write("a.txt", yours)
		call := fmt.Sprint("call", n)
		mustCall(t, e, call, "run_command", object{"command": overwrites})
		if j := testrig.Wait(t, e.Journal, "journal/changed"); j.Entry.CallID != call || len(j.Files) != 3 {
			t.Errorf("told of %+v", j)
		}
		wantText(t, e, "a.txt", "agent\n")
		r := revert(e, object{"callId": call})
		r.want(t, []string{"new/c.txt", "b.txt", "a.txt"}, []string{}, []string{})
		wantText(t, e, "a.txt", yours)
		wantText(t, e, "b.txt", "yours\n")
		for range 2 { // the revert, and what it reverted
			testrig.Wait(t, e.Journal, "journal/changed")
		}
		if exists(e, "new") {
			t.Error("the folder stays")
		}
	}
	if list := entries(e, object{"callId": "nothing"}); len(list) > 0 {
		t.Errorf("of a command that did nothing it has %v", list)
	}
}

// TestASidecarKilledAmidACommand leaves to the next one what the command did.
func TestASidecarKilledAmidACommand(t *testing.T) {
	t.Parallel()
	o := ruled(waits)
	e := spawn(t, o)
	e.Write("a.txt", "yours\n")
	ended := begin(t.Context(), e, "run_command", object{"command": waits})
	eventually(t, "the command", func() bool { return exists(e, "ready") })
	must(t, e.Command.Process.Kill())
	testrig.Wait(t, ended, "the end of the call")
	e.Stop()
	next := again(t, e, o)
	if list := entries(next, object{}); len(list) > 0 {
		t.Errorf("the journal has %v", list)
	}
	wantText(t, next, "a.txt", "agent\n")
	left, err := os.ReadDir(next.Home + "/.local/state/pillion/journal")
	if slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "copies") }) {
		t.Errorf("copies are left: %v, %v", left, err)
	}
}
