package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// forged is a tool's name that paints another request over the one that waits.
const forged = "\x1b[2J\x1b[5;1HClaude Code asks: Run ls -la\x1b[7;3H$ ls -la\x1b[1;3r\x1b[H"

func onTerminal(text string) string {
	var out bytes.Buffer
	fmt.Fprint(output{&out}, text)
	return out.String()
}

func TestATerminalObeysOurStylesAlone(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":                          "plain\ttext\n",
		forged:                                   `\x1b[2J\x1b[5;1HClaude Code asks: Run ls -la\x1b[7;3H$ ls -la\x1b[1;3r\x1b[H`,
		"\x1b]0;title\a\x1b]52;c;cm0gLXJm\x1b\\": `\x1b]0;title\a\x1b]52;c;cm0gLXJm\x1b\`,
		"\u009b2J\x9b2J\x7f\r\b":                 `\u009b2J\ufffd2J\x7f\r\b`,
		"\u202egnp.exe\u2066\u200b\ufeff":        `\u202egnp.exe\u2066\u200b\ufeff`,
		"\x1b[8mhidden\x1b[38;5;0m":              `\x1b[8mhidden\x1b[38;5;0m`,
		"\x1b[\x1b[1mbold\x1b[0m\x1b":            `\x1b[` + "\x1b[1mbold\x1b[0m" + `\x1b`,
		"\x1b[1":                                 `\x1b[1`,
	} {
		if got := onTerminal(text); got != want {
			t.Errorf("%q:\n %q, want\n %q", text, got, want)
		}
	}
	for r := rune(0); r < 0x30000; r++ {
		if got := onTerminal(string(r)); got == string(r) && !unicode.IsGraphic(r) && r != '\n' && r != '\t' {
			t.Errorf("%U goes through", r)
		}
	}
}

func TestEachStyleIsPainted(t *testing.T) {
	s := Style{Colour: true}
	for _, text := range []string{s.Bold("a"), s.Red("a"), s.Green("a"), s.Yellow("a"), s.Cyan("a"), s.Dim("a"), s.reveal("a\u202e", s.Bold)} {
		if got := onTerminal(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	var out bytes.Buffer
	s.Diff(output{&out}, "", "--- a\n+++ b\n@@ -1 +1 @@ f\n-one two\n+one three\n\\ No newline at end of file\n")
	if got := out.String(); strings.Contains(got, `\x1b`) || !strings.Contains(got, "\x1b[4;") {
		t.Errorf("%q", got)
	}
}
