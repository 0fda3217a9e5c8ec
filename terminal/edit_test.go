package terminal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pillion/internal/testrig/check"
	"pillion/tools/approval"
)

// withEditor has VISUAL be a shell script, under a path with blanks and with an
// argument of its own. The script gets the file as $file.
func withEditor(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the editors of these tests are shell scripts; the code that starts them is the same")
	}
	file := filepath.Join(t.TempDir(), "an editor")
	text := "#!/bin/sh\n[ \"$1\" = 'two words' ] || exit 9\nfile=$2\n" + script + "\n"
	must(t, os.WriteFile(file, []byte(text), 0o755))
	t.Setenv("VISUAL", fmt.Sprintf("'%s' \"two words\"", file))
	t.Setenv("EDITOR", "false")
}

func edited(t *testing.T, r approval.Request) (approval.Answer, string) {
	t.Helper()
	a, out := piped("e\nc\n")
	answer, err := a.Ask(t.Context(), r)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return answer, out.String()
}

func TestEditsAProposal(t *testing.T) {
	withEditor(t, `case "$file" in */app.py) ;; *) exit 8;; esac
[ "$(cat "$file")" = new ] || exit 7
printf 'newer\n' >"$file"`)
	answer, out := edited(t, editRequest)
	if answer.Decision != approval.Edit || answer.After["app.py"] != "newer\n" || answer.Digest != "d1" {
		t.Errorf("answer %+v\n%s", answer, out)
	}
	check.Has(t, "the question", out, `e  edit it first, in an editor`)
}

// TestAnEditThatIsNone leaves the question open; the c after it is what counts.
func TestAnEditThatIsNone(t *testing.T) {
	for script, says := range map[string]string{
		"true":                        "You left it as it was proposed; a approves it.",
		"exit 1":                      "did not finish (exit status 1), so nothing of it is taken.",
		`echo newer >"$file"; exit 1`: "did not finish (exit status 1), so nothing of it is taken.",
		`rm "$file"`:                  "The editor left no file",
		`printf '\377' >"$file"`:      "What the editor left is not UTF-8",
	} {
		t.Run(script, func(t *testing.T) {
			withEditor(t, script)
			answer, out := edited(t, editRequest)
			if answer.Decision != approval.Cancel || !strings.Contains(out, says) {
				t.Errorf("answer %+v, want %q\n%s", answer, says, out)
			}
		})
	}
}

// TestAnEditorMayEndTheLastLine: that alone is no edit.
func TestAnEditorMayEndTheLastLine(t *testing.T) {
	withEditor(t, `printf '\n' >>"$file"`)
	r := editRequest
	r.Preview.Files = append(r.Preview.Files[:0:0], r.Preview.Files...)
	r.Preview.Files[0].After = "no line end"
	if _, out := edited(t, r); !strings.Contains(out, "You left it as it was proposed") {
		t.Errorf("a line end of the editor's counts as an edit:\n%s", out)
	}
}

// TestEditsACommandAndAMessage: that of a commit under the name by which editors know what it is.
func TestEditsACommandAndAMessage(t *testing.T) {
	for _, c := range []struct {
		theirs       string
		preview      approval.Preview
		editor, mine string
		left         string
	}{
		{
			`{"command":"echo theirs","cwd":"sub"}`,
			approval.Preview{Kind: "command", Command: "echo theirs", Cwd: "sub"},
			`printf 'echo "mine"\n' >"$file"`, `{"command":"echo \"mine\"","cwd":"sub"}`, "You left no command; r rejects it.",
		},
		{
			`{"message":"theirs","files":["a"]}`,
			approval.Preview{Kind: "text", Markdown: "    theirs\n", Message: "theirs"},
			`grep -qx theirs "$file" && case "$file" in */COMMIT_EDITMSG) printf 'mine\n\nand why\n' >"$file";; esac`,
			`{"files":["a"],"message":"mine\n\nand why"}`, "You left no message; r rejects it.",
		},
	} {
		r := approval.Request{Digest: "d1", Arguments: json.RawMessage(c.theirs), Preview: c.preview}
		withEditor(t, c.editor)
		answer, out := edited(t, r)
		if got := string(answer.ModifiedArguments); answer.Decision != approval.Edit || got != c.mine {
			t.Errorf("answer %+v: %s, want %s\n%s", answer, got, c.mine, out)
		}
		for script, says := range map[string]string{"true": "a approves it", `: >"$file"`: c.left} {
			withEditor(t, script)
			if answer, out := edited(t, r); answer.Decision != approval.Cancel || !strings.Contains(out, says) {
				t.Errorf("%s: answer %+v\n%s", script, answer, out)
			}
		}
	}
}

func TestWhatIsOnlyReadCannotBeEdited(t *testing.T) {
	withEditor(t, "true")
	r := approval.Request{Preview: approval.Preview{Kind: "text", Markdown: "Read .env"}}
	check.Lacks(t, "the question", shown(t, r, "c\n"), "  e  ")
}

// TestTheEditorGetsEveryKey: nothing reads the terminal while an editor has it.
func TestTheEditorGetsEveryKey(t *testing.T) {
	withEditor(t, "true")
	in := &countedReader{text: strings.NewReader("e\nc\n")}
	a := NewAsker(Options{In: in, Out: newScreen()})
	line, err := a.in.read(t.Context(), nil)
	if err != nil || line != "e" {
		t.Fatalf("%q, %v", line, err)
	}
	if in.reads != 1 {
		t.Errorf("%d reads for one line: the next one competes with the editor", in.reads)
	}
}

// countedReader gives a line a read, as a terminal does.
type countedReader struct {
	text  *strings.Reader
	reads int
}

func (r *countedReader) Read(p []byte) (int, error) {
	r.reads++
	n := 0
	for n < len(p) {
		b, err := r.text.ReadByte()
		if err != nil {
			return n, err
		}
		p[n] = b
		n++
		if b == '\n' {
			break
		}
	}
	return n, nil
}

func TestAHugeProposalIsCutAndCanBeViewed(t *testing.T) {
	noEditor(t)
	t.Setenv("PAGER", "/bin/cat")
	r := editRequest
	r.Preview.Files = append(r.Preview.Files[:0:0], r.Preview.Files...)
	r.Preview.Files[0].Diff = "@@ -0,0 +1,500 @@\n" + strings.Repeat("+line\n", 499) + "+the last\n"
	a, out := piped("v\na\n")
	a.echo = false // a person's terminal
	if _, err := a.Ask(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	shown, viewed, _ := strings.Cut(out.String(), "Your answer")
	if !strings.Contains(shown, "! 382 more lines are not shown; type v to see all 502.") || strings.Contains(shown, "+the last") {
		t.Errorf("the question is not cut, or does not say so:\n%s", shown)
	}
	check.Has(t, "what v shows", viewed, "+the last")
}
