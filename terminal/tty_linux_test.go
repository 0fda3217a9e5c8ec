package terminal

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pillion/tools/approval"
)

// openTTY makes a terminal: what is written to keys is typed.
func openTTY(t *testing.T) (keys, tty *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keys.Close() })
	fd := int(keys.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 72}); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return keys, tty
}

func TestStyleOfATerminal(t *testing.T) {
	_, tty := openTTY(t)
	for _, test := range []struct {
		term, noColour string
		want           Style
	}{
		{"xterm", "", Style{Colour: true, Width: 72}},
		{"xterm", "1", Style{Width: 72}},
		{"dumb", "", Style{Width: 72}},
	} {
		t.Setenv("TERM", test.term)
		t.Setenv("NO_COLOR", test.noColour)
		if got := StyleOf(tty); got != test.want {
			t.Errorf("TERM=%s NO_COLOR=%s: %+v, want %+v", test.term, test.noColour, got, test.want)
		}
	}
}

// TestATerminalForgetsWhatWasTypedAhead: it was no answer to this question. The
// first line waits in the terminal, where it can be dropped; the second question
// finds one that was read already, because its predecessor had ended meanwhile.
func TestATerminalForgetsWhatWasTypedAhead(t *testing.T) {
	noEditor(t)
	keys, tty := openTTY(t)
	out := newScreen()
	a := NewAsker(Options{In: tty, Out: out})
	if _, err := keys.WriteString("a\n"); err != nil {
		t.Fatal(err)
	}
	done := start(t.Context(), a, editRequest)
	out.wait(t, prompt, 1)
	if _, err := keys.WriteString("c\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.answer.Decision != approval.Cancel {
		t.Errorf("a line typed before the question answered it: %+v, %v", got.answer, got.err)
	}
	a.in.reading = true
	a.in.lines <- line{text: "a\n"}
	done = start(t.Context(), a, editRequest)
	out.wait(t, prompt, 2)
	if _, err := keys.WriteString("c\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.answer.Decision != approval.Cancel {
		t.Errorf("a line read before the question answered it: %+v, %v", got.answer, got.err)
	}
	if strings.Contains(out.String(), ": a\n") {
		t.Errorf("a terminal echoes by itself:\n%s", out)
	}
}
