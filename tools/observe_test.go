package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// observed is a world whose journal has what commands change.
func observed(t *testing.T) *world {
	w := readyWorld(t)
	w.registry.Approvals = approval.NewQueue(yes{}, 0)
	store, err := journal.Open(filepath.Join(t.TempDir(), "journal"), journal.Options{})
	w.must(err)
	t.Cleanup(func() { w.must(store.Close()) })
	w.registry.Committer.Journal = &change.Journal{Store: store}
	w.registry.Committer.Observer = &change.Observer{
		List: w.registry.Files.List,
		Told: w.registry.Files.Told,
	}
	return w
}

// unkept runs a command, and gives what the journal does not have of it, and what was printed.
func (w *world) unkept(tool, callID string, arguments map[string]any) (said, printed string) {
	w.t.Helper()
	var last tools.Activity
	w.registry.Activity = func(a tools.Activity) { last = a }
	r := w.registry.Execute(w.t.Context(), tools.Call{Name: tool, CallID: callID, Arguments: w.json(arguments), Session: w.session("s")})
	if r.IsError {
		w.t.Errorf("%s: %v", arguments["command"], r.Err)
	}
	var out struct {
		NotInJournal   string `json:"not_in_journal"`
		Stdout, Output string
	}
	w.must(json.Unmarshal(r.Structured, &out))
	if said := out.NotInJournal; said != "" && (!strings.Contains(last.Summary, said) || !strings.Contains(r.Content[len(r.Content)-1].Text, said)) {
		w.t.Errorf("%q is not in %q, or not in %+v", said, last.Summary, r.Content)
	}
	return out.NotInJournal, out.Stdout + out.Output
}

func TestWhatACommandChangedIsReverted(t *testing.T) {
	w := observed(t)
	rule, err := policy.ParseRule("run_command(echo agent > a.txt)")
	w.must(err)
	for _, mode := range []policy.Mode{policy.Default, policy.AutoEdit, policy.FullAccess} { // the user approves it, a rule does, the mode does
		w.must(w.session("s").SetMode(mode))
		if mode == policy.AutoEdit {
			w.rules.Allow = append(w.rules.Allow, rule)
		}
		w.write("a.txt", "yours\n")
		if got, _ := w.unkept("run_command", string(mode), map[string]any{"command": "echo agent > a.txt"}); got != "" {
			t.Errorf("not in the journal: %s", got)
		}
		if w.holds("a.txt") != "agent\n" {
			t.Fatalf("it has not run: %q", w.holds("a.txt"))
		}
		_, err := w.registry.Committer.Revert(t.Context(), change.Selection{CallID: string(mode)}, journal.Origin{CallID: "revert"}, false)
		if w.must(err); w.holds("a.txt") != "yours\n" {
			t.Errorf("in mode %s it is %q after the revert", mode, w.holds("a.txt"))
		}
	}
}

func TestAProcessSaysThatTheJournalHasNotWhatItChanges(t *testing.T) {
	w := observed(t)
	fifo := w.path("end")
	w.must(makeFIFO(fifo))
	w.must(w.session("s").SetMode(policy.FullAccess))
	started := 0
	for _, tool := range []string{"run_command", "run_persistent"} {
		said, printed, id, limit := "", "", "", 0.25
		for ; printed == "" && limit < 100; limit *= 2 { // as long as it takes to get there
			started++
			id = fmt.Sprint(tool, started)
			more := map[string]any{"command": "echo agent > " + id + ".txt; echo up; read x < end"}
			if tool == "run_command" {
				more["background_after"] = limit
			} else {
				more["process_id"], more["ready_pattern"] = id, "up"
			}
			said, printed = w.unkept(tool, id, more)
		}
		if said != "what it changes from now on is not in the journal" {
			t.Errorf("of %s it says %q", tool, said)
		}
		_, err := w.registry.Committer.Revert(t.Context(), change.Selection{CallID: id}, journal.Origin{CallID: "revert"}, false)
		if w.must(err); w.holds(id+".txt") != "" {
			t.Errorf("what %s did until then is not reverted", tool)
		}
	}
	if got, _ := w.unkept("run_persistent", "ends", map[string]any{"process_id": "q", "command": "true", "ready_pattern": "never"}); got != "" {
		t.Errorf("of a process that has ended it says %q", got)
	}
	w.must(os.WriteFile(fifo, []byte(strings.Repeat("\n", started)), 0))
}
