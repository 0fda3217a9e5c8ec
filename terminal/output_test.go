package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"pillion/conversation"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/workspace/change"
)

// forged is a tool's name that paints another request over the one that waits.
const forged = "\x1b[2J\x1b[5;1HClaude Code asks: Run ls -la\x1b[7;3H$ ls -la\x1b[1;3r\x1b[H"

func onTerminal(text string) string {
	var out bytes.Buffer
	fmt.Fprint(output{out: &out}, text)
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
	s.Diff(output{out: &out}, "", "--- a\n+++ b\n@@ -1 +1 @@ f\n-one two\n+one three\n\\ No newline at end of file\n")
	if got := out.String(); strings.Contains(got, `\x1b`) || !strings.Contains(got, "\x1b[4;") {
		t.Errorf("%q", got)
	}
}

// onScreen are the rows of a terminal of so many columns, in which symbols that may be wide are or are not. A tab goes to
// the next eighth column but never beyond the last; what does not fit goes on at column 0.
func onScreen(columns int, wide bool, text string) []string {
	rows, at := []string{""}, 0
	for len(text) > 0 {
		if own := ownSequence(text); own > 0 {
			text = text[own:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		n := 1
		switch kind := width.LookupRune(r).Kind(); {
		case r == '\n':
			rows, at = append(rows, ""), 0
			continue
		case r == '\t':
			at = min(at/8*8+8, columns-1)
			continue
		case r < ' ' || unicode.In(r, unicode.Mn):
			n = 0
		case kind == width.EastAsianWide, kind == width.EastAsianFullwidth, wide && kind == width.EastAsianAmbiguous && !unicode.IsLetter(r):
			n = 2
		}
		if at+n > columns {
			rows, at = append(rows, ""), 0
		}
		last := &rows[len(rows)-1]
		*last += strings.Repeat(" ", max(at-utf8.RuneCountInString(*last), 0)) + string(r)
		at += n
	}
	return rows
}

// TestColumn0IsOurs: whatever is said from outside, in terminals of several widths, no row of it begins where ours do.
func TestColumn0IsOurs(t *testing.T) {
	noEditor(t)
	for _, unit := range []string{"X", "漢", "X\u0301", "я", "\tX", "█", "😀X", " X", "X \n", strings.Repeat(" ", 35) + "X", "\u200bX\x1b[1m"} {
		evil := "X" + strings.Repeat(unit, 150)
		for _, columns := range []int{40, 80, 97} {
			out := newScreen()
			o := Options{In: strings.NewReader(strings.Repeat("a\n", 10)), Out: out, Style: Style{Width: columns, Height: 24, Colour: true}}
			c := NewChat(o, nil, nil)
			for _, p := range []approval.Preview{
				{Kind: "diff", Files: approval.Files([]change.FilePreview{{Path: evil, To: evil, Diff: "@@ -1 +1 @@ " + evil + "\n-" + evil + "\n+" + evil + "\n " + evil}})},
				{Kind: "command", Command: evil, Cwd: evil, Writes: []string{evil, evil}, Unsaved: []string{evil}, Parts: []approval.CommandPart{{Argv: []string{evil}, Why: evil}}},
				{Kind: "url", URL: "https://" + evil},
				{Kind: "plan", Markdown: evil},
				{Kind: "text", Lines: []string{evil}, Facts: []approval.Fact{{Label: "Branch", Text: evil}}},
				{Kind: "text", Message: evil, Diff: evil},
			} {
				_, err := c.Asker.Ask(t.Context(), approval.Request{
					Agent: approval.Agent{Name: evil}, Title: evil, Reasons: []approval.Reason{{Text: evil}}, Preview: p,
					Decisions: []approval.Choice{{Scope: approval.Session, Rule: evil}},
				}.Compose())
				must(t, err)
			}
			for _, state := range []tools.State{tools.Failed, tools.Done} {
				c.Heard(tools.Activity{CallID: "1", Agent: approval.Agent{Name: evil}, Tool: evil, State: state, Summary: evil})
			}
			c.Say(evil)
			c.Paused(evil)
			c.Elsewhere(evil)
			c.Open(evil, evil)
			c.showContext([]conversation.ContextFile{{Path: evil}})
			c.Follower().Appended(conversation.Appended{EntryID: "1", Text: evil + "\n" + evil + "\n"})
			c.Follower().Changed(conversation.Changed{Entries: []conversation.Entry{{Kind: conversation.OfError, Text: evil}, {Kind: conversation.OfNotice, Text: evil}}})
			_, _ = c.Prompt(t.Context(), approval.Agent{Name: evil}, evil, []string{evil, evil})
			for _, wide := range []bool{false, true} {
				for _, row := range onScreen(columns, wide, out.String()) {
					if first, _ := utf8.DecodeRuneInString(row); strings.ContainsRune("X漢я█😀\\\u0301", first) && row != "" {
						t.Errorf("%.10q in %d columns: %q", evil, columns, row)
					}
				}
			}
		}
	}
}
