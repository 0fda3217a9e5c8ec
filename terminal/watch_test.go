package terminal

import (
	"io"
	"strings"
	"testing"

	"pillion/internal/testrig/check"
	"pillion/tools"
	"pillion/tools/approval"
)

// TestLinesComeAfterTheQuestion: none stands between what is asked and the answer, and
// those of a long time are not all kept.
func TestLinesComeAfterTheQuestion(t *testing.T) {
	noEditor(t)
	in, keys := io.Pipe()
	t.Cleanup(func() { keys.Close() })
	out := newScreen()
	w := NewWatch(Options{In: in, Out: out, Style: Style{Width: 40}}, func() []string { return nil })
	say := func(call, summary string) {
		for _, state := range []tools.State{tools.Queued, tools.Running, tools.Done} {
			w.Heard(tools.Activity{CallID: call, Agent: approval.Agent{Name: "t"}, Tool: "read_file", State: state, Summary: summary})
		}
	}
	say("1", "before")
	out.wait(t, "t read_file: before", 1)
	done := start(t.Context(), w.Asker, editRequest)
	out.wait(t, prompt, 1)
	check.Has(t, "the screen", out.String(), "\a")
	shown := out.String()
	for range 2 * mostLines {
		say("2", "meanwhile,\nwith \x1b[2Jall that does not fit into a line")
	}
	w.Say("something to know")
	check.Same(t, "the screen between the question and its answer", out.String(), shown)
	if _, err := io.WriteString(keys, "a\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.answer.Decision != approval.Approve {
		t.Errorf("got %+v", got)
	}
	out.wait(t, "something to know", 1)
	_, after, _ := strings.Cut(out.String(), "meanwhile")
	if n := strings.Count(out.String(), "read_file: meanwhile, with "); n < mostLines/2 || n > mostLines || !strings.Contains(out.String(), "pillion log") || strings.Contains(after, "\x1b") {
		t.Errorf("%d lines came:\n%q", n, after)
	}
	for line := range strings.Lines(after) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 60 && !strings.Contains(line, "audit") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
