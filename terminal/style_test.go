package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/check"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/workspace/change"
	"pillion/workspace/diff"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		width int
		want  string
	}{
		{0, "* one two three four five six"},
		{100, "* one two three four five six"},
		{24, "* one two three four\n  five six"},
		{10, "* one two\n  three\n  four\n  five six"},
	} {
		if got := (Style{Width: test.width}).Wrap("* ", "  ", "one two three four five six"); got != test.want {
			t.Errorf("width %d: %q, want %q", test.width, got, test.want)
		}
	}
	check.Same(t, "a line break", (Style{Width: 40}).Wrap("", "  ", "one\ntwo"), "one\n  two")
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	must(t, err)
	defer f.Close()
	check.Same(t, "the style of a file", StyleOf(f), Style{})
}

// TestRevealTellsEscapesFromText: with colours, an escape that stands in the file
// differs from one that was made visible.
func TestRevealTellsEscapesFromText(t *testing.T) {
	s := Style{Colour: true}
	if got, want := s.reveal("+a\u202eb", s.Green), "\x1b[32m+a\x1b[0m\x1b[7;31m\\u202e\x1b[0m\x1b[32mb\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := s.reveal(`+a\u202eb`, s.Green), "\x1b[32m+a\\u202eb\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := s.reveal("a\xffb", s.Green), "\x1b[32ma\x1b[0m\x1b[7;31m"+fault.Escape("\xff")+"\x1b[0m\x1b[32mb\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDiffColours(t *testing.T) {
	s := Style{Colour: true}
	var out bytes.Buffer
	s.Diff(&out, "", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a line of the file\n+new\n same\n\\ No newline at end of file\n")
	want := "  \x1b[1mdiff --git a/x b/x\x1b[0m\n  \x1b[1m--- a/x\x1b[0m\n  \x1b[1m+++ b/x\x1b[0m\n  \x1b[36m@@ -1 +1 @@\x1b[0m\n" +
		"  \x1b[31m--- a line of the file\x1b[0m\n  \x1b[32m+new\x1b[0m\n   same\n  \x1b[2m\\ No newline at end of file\x1b[0m\n"
	if out.String() != want {
		t.Errorf("%q\nwant\n%q", out.String(), want)
	}
	out.Reset()
	s.Diff(&out, "", "")
	if out.Len() > 0 {
		t.Errorf("no diff is shown as %q", out.String())
	}
}

// TestWhatDiffersInALineIsUnderlined: where as many lines came as went, and have something
// in common.
func TestWhatDiffersInALineIsUnderlined(t *testing.T) {
	s := Style{Colour: true}
	for text, want := range map[string]string{
		"@@ -1 +1 @@\n-total := sum(a, b)\n+total := sum(a, c)":                        "\x1b[31m-total := sum(a, \x1b[0m\x1b[4;31mb\x1b[0m\x1b[31m)\x1b[0m|\x1b[32m+total := sum(a, \x1b[0m\x1b[4;32mc\x1b[0m\x1b[32m)\x1b[0m",
		"@@ -1 +1 @@\n-the same\n+the same \u202e":                                     "\x1b[31m-the same\x1b[0m|\x1b[32m+the same\x1b[0m\x1b[4;32m \x1b[0m\x1b[7;31m\\u202e\x1b[0m",
		"@@ -1 +1 @@\n-é ü\n+é ö":                                                      "\x1b[31m-é \x1b[0m\x1b[4;31mü\x1b[0m|\x1b[32m+é \x1b[0m\x1b[4;32mö\x1b[0m",
		"@@ -1 +1 @@\n-something\n+quite another text":                                 "\x1b[31m-something\x1b[0m|\x1b[32m+quite another text\x1b[0m",
		"@@ -1 +1,2 @@\n-total := 1\n+total := 2\n+more":                               "\x1b[31m-total := 1\x1b[0m|\x1b[32m+total := 2\x1b[0m|\x1b[32m+more\x1b[0m",
		"@@ -1 +1 @@\n-a\xff\n+a\xfe":                                                  "\x1b[31m-a\x1b[0m\x1b[7;31m" + fault.Escape("\xff") + "\x1b[0m|\x1b[32m+a\x1b[0m\x1b[7;31m" + fault.Escape("\xfe") + "\x1b[0m",
		"@@ -1 +1 @@\n-" + strings.Repeat("a", 600) + "\n+" + strings.Repeat("a", 601): "\x1b[31m-" + strings.Repeat("a", 600) + "\x1b[0m|\x1b[32m+" + strings.Repeat("a", 601) + "\x1b[0m",
	} {
		lines := s.rows(diff.Rows(text))[1:]
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "  ")
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%q is shown as\n%q, not\n%q", text, got, want)
		}
	}
}

// TestLineEndsShowWhereTheyDiffer: a file that is CRLF throughout is not littered.
func TestLineEndsShowWhereTheyDiffer(t *testing.T) {
	for text, want := range map[string]string{
		"@@ -1,2 +1,2 @@\r\n same\r\n-a\r\n+b\r\n": "  @@ -1,2 +1,2 @@\n   same\n  -a\n  +b",
		"@@ -1 +1 @@\n-a\n+a\r\n":                  "  @@ -1 +1 @@\n  -a\n  +a\\r",
		"@@ -1 +1 @@\n-a\r\n+a\n":                  "  @@ -1 +1 @@\n  -a\\r\n  +a",
	} {
		if got := strings.Join((Style{}).rows(diff.Rows(text)), "\n"); got != want {
			t.Errorf("%q is shown as\n%s\nwant\n%s", text, got, want)
		}
	}
}

func TestPreviewOfFiles(t *testing.T) {
	three := 3
	p := approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{
		{Path: "a b", Operation: change.Create, Size: 2, Additions: 1, Diff: "diff --git a/a b b/a b\nnew file mode 100644\n--- /dev/null\n+++ b/a b\n@@ -0,0 +1 @@\n+x\n"},
		{Path: "c", Operation: change.Overwrite, Deletions: 2, Dirty: true, Diff: "diff --git a/c b/c\n--- a/c\n+++ b/c\n@@ -1 +0,0 @@\n-y\n-y\n"},
		{Path: "d", Operation: change.Delete, Entries: &three, Diff: "d/x\nd/y/\n"},
		{Path: "e", To: "f", Operation: change.Move},
		{Path: "g", Operation: change.CreateDirectory},
	})}
	want := `  a b  new file, 2 bytes  +1
  @@ -0,0 +1 @@
  +x

  c  −2
  Unsaved changes  kept; the file stays unsaved
  @@ -1 +0,0 @@
  -y
  -y

  d  deleted, 3 files
  Contents      3 files
                d/x
                d/y/

  e  moved to f
  From          e
  To            f

  g  new folder
`
	var out bytes.Buffer
	Style{}.Preview(&out, approval.Request{Preview: p}.Compose().Preview)
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func TestPreviewOfACommand(t *testing.T) {
	want := "  $ cd x &&\n  > make >log\n  Folder        sub\n  Writes        log\n  Unsaved changes not included  a.go\n  Sandbox       none: the command has your own rights\n"
	var out bytes.Buffer
	p := approval.Preview{Kind: "command", Command: "cd x &&\nmake >log", Cwd: "sub", Sandbox: "none", Writes: []string{"log"}, Unsaved: []string{"a.go"}}
	Style{}.Preview(&out, approval.Request{Preview: p}.Compose().Preview)
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func TestShow(t *testing.T) {
	text := func(s string) []tools.Part { return []tools.Part{{Type: "text", Text: s}} }
	diff := &tools.Display{Kind: "diff"}
	for name, test := range map[string]struct {
		result      tools.Result
		style       Style
		brief       bool
		out, errors string
	}{
		"text to a pipe, exact":   {result: tools.Result{Content: text("a\x1bb")}, out: "a\x1bb"},
		"text to a terminal":      {result: tools.Result{Content: text("a\x1bb")}, style: Style{Width: 80}, out: "a\\x1bb\n"},
		"an empty text":           {result: tools.Result{Content: text("")}, style: Style{Width: 80}},
		"an error":                {result: tools.Result{Content: text("TIMEOUT: \x1b"), IsError: true}, errors: "TIMEOUT: \\x1b\n"},
		"an edit":                 {result: tools.Result{Content: text("Changed a.\n@@ -1 +1 @@\n-x\n+y\n"), Display: diff}, out: "✓ Changed a.\n  @@ -1 +1 @@\n  -x\n  +y\n"},
		"an edit that was shown":  {result: tools.Result{Content: text("Changed a.\n@@ -1 +1 @@\n-x\n+y\n"), Display: diff}, brief: true, out: "✓ Changed a.\n"},
		"an edit without a trace": {result: tools.Result{Content: text("a is as it was."), Display: diff}, out: "✓ a is as it was.\n"},
		"an image":                {result: tools.Result{Content: []tools.Part{{Type: "image", MIMEType: "image/png", Data: "AAAA"}}}, out: "(image/png, 3 bytes)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errors bytes.Buffer
			Show(&out, &errors, test.result, test.style, test.brief)
			if out.String() != test.out || errors.String() != test.errors {
				t.Errorf("out %q, want %q; errors %q, want %q", out.String(), test.out, errors.String(), test.errors)
			}
		})
	}
}
