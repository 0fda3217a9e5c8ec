package terminal

import (
	"io"
	"testing"
	"time"

	"pillion/internal/testrig/check"
	"pillion/internal/testrig/machine"
	"pillion/tools/approval"
)

func TestStyleOfATerminal(t *testing.T) {
	_, tty := machine.OpenTTY(t, 72)
	for _, test := range []struct {
		term, noColour string
		want           Style
	}{
		{"xterm", "", Style{Colour: true, Width: 72, Height: 50}},
		{"xterm", "1", Style{Width: 72, Height: 50}},
		{"dumb", "", Style{Width: 72, Height: 50}},
	} {
		t.Setenv("TERM", test.term)
		t.Setenv("NO_COLOR", test.noColour)
		if got := StyleOf(tty); got != test.want {
			t.Errorf("TERM=%s NO_COLOR=%s: %+v, want %+v", test.term, test.noColour, got, test.want)
		}
	}
}

// TestATerminalForgetsWhatWasTypedAhead: it was no answer to this question. One line waits in the terminal, as does one that
// is typed as the question appears; the second question finds one that was read already, because its predecessor had ended
// meanwhile.
func TestATerminalForgetsWhatWasTypedAhead(t *testing.T) {
	noEditor(t)
	keys, tty := machine.OpenTTY(t, 72)
	out := newScreen()
	a := NewAsker(Options{In: tty, Out: out})
	settled := make(chan time.Time, 1)
	a.settled = func() <-chan time.Time { return settled }
	typed := func(line string) {
		_, err := keys.WriteString(line)
		must(t, err)
		_, err = io.ReadFull(keys, make([]byte, len(line)+1)) // its echo: the terminal has it
		must(t, err)
	}
	typed("a\n")
	done := start(t.Context(), a, editRequest)
	out.wait(t, "pause it\n", 1)
	typed("a\n")
	settled <- time.Time{}
	out.wait(t, prompt, 1)
	typed("c\n")
	if got := <-done; got.answer.Decision != approval.Cancel {
		t.Errorf("a line typed before the question answered it: %+v, %v", got.answer, got.err)
	}
	a.in.reading = true
	a.in.lines <- line{text: "a\n"}
	close(settled)
	done = start(t.Context(), a, editRequest)
	out.wait(t, prompt, 2)
	typed("c\n")
	if got := <-done; got.answer.Decision != approval.Cancel {
		t.Errorf("a line read before the question answered it: %+v, %v", got.answer, got.err)
	}
	check.Lacks(t, "the screen", out.String(), ": a\n")
}
