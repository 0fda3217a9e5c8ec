package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pillion/internal/fault"
	"pillion/internal/testrig/check"
	"pillion/tools/approval"
	"pillion/workspace/change"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// screen is what a person sees. It can be waited for.
type screen struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
	more chan struct{}
}

func newScreen() *screen { return &screen{more: make(chan struct{}, 1)} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait waits until text is on the screen for the nth time.
func (s *screen) wait(t *testing.T, text string, n int) {
	t.Helper()
	deadline := time.After(time.Minute)
	for strings.Count(s.String(), text) < n {
		select {
		case <-s.more:
		case <-deadline:
			t.Fatalf("%q is not %d times on the screen:\n%s", text, n, s)
		}
	}
}

var editRequest = (approval.Request{
	ApprovalID: "1",
	Agent:      approval.Agent{Name: "sample-agent"},
	Title:      "Edit app.py",
	Reasons:    []approval.Reason{{Code: "class", Text: "this tool changes files"}},
	Digest:     "d1",
	Decisions: []approval.Choice{
		{ID: approval.RejectID, Scope: approval.Once},
		{ID: approval.ApproveID, Scope: approval.Once},
		{ID: "session-1", Scope: approval.Session, Rule: "edit_file(app.py)"},
	},
	Preview: approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{{
		Path: "app.py", Operation: change.Overwrite, Size: 4, Before: "old\n", After: "new\n", Additions: 1, Deletions: 1,
		Diff: "diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-old\n+new\n",
	}})},
}).Compose()

func noEditor(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "")
	t.Setenv("PATH", "")
}

// piped is an asker that reads its answers from a text.
func piped(answers string) (*Asker, *screen) {
	out := newScreen()
	return NewAsker(Options{In: strings.NewReader(answers), Out: out}), out
}

// sized is piped on a terminal of that size.
func sized(answers string, style Style) (*Asker, *screen) {
	out := newScreen()
	return NewAsker(Options{In: strings.NewReader(answers), Out: out, Style: style}), out
}

// shown asks, with answers from a text, and gives what was on the screen.
func shown(t *testing.T, r approval.Request, answers string) string {
	t.Helper()
	a, out := piped(answers)
	_, err := a.Ask(t.Context(), r)
	must(t, err)
	return out.String()
}

func TestAQuestionLooksLikeThis(t *testing.T) {
	noEditor(t)
	want := `
? sample-agent asks: Edit app.py

  app.py  +1  −1
  @@ -1 +1 @@
  -old
  +new

  a  approve
  s  approve, and for this session allow edit_file(app.py)
  r  reject; say why after it, if you like
  c  stop the agent: reject this, and pause it
Your answer (a s r c): a
`
	if got := shown(t, editRequest, "a\n"); got != want {
		t.Errorf("the question is\n%s\nwant\n%s", got, want)
	}
}

// TestRulesToChooseFrom: each has a letter of its own, and is shown as it will be kept.
func TestRulesToChooseFrom(t *testing.T) {
	noEditor(t)
	r := editRequest
	r.Decisions = append(slices.Clone(r.Decisions[:2]),
		approval.Choice{ID: "session", Scope: approval.Session, Rule: "run_command(go test ./a)"},
		approval.Choice{ID: "narrow", Scope: approval.Session, Rule: "run_command(go test *)"},
		approval.Choice{ID: "broad", Title: "Approve all edits for this session", Scope: approval.Session, Rule: "file_changes"},
		approval.Choice{ID: "workspace", Scope: approval.Workspace, Rule: "run_command(go test ./a)"},
	)
	for typed, want := range map[string]string{"s": "session", "s2": "narrow", "SESSION2": "narrow", "w": "workspace", "workspace": "workspace", "a": approval.ApproveID} {
		a, out := piped("w2\ns4\ns 2\n" + typed + "\n")
		answer, err := a.Ask(t.Context(), r)
		if err != nil || answer.Decision != approval.Approve || answer.DecisionID != want {
			t.Errorf("%s: %+v, %v", typed, answer, err)
		}
		check.Has(t, "the screen", out.String(),
			"  s  approve, and for this session allow run_command(go test ./a)\n", "  s2  approve, and for this session allow run_command(go test *)\n",
			"  w  approve, and in this folder from now on allow run_command(go test ./a)\n", "(a s s2 s3 w r c)",
			"  s3  approve all edits for this session: file_changes\n",
		)
	}
}

func TestAnswers(t *testing.T) {
	noEditor(t)
	for name, test := range map[string]struct {
		typed string
		want  approval.Answer
	}{
		"letter":                  {"a\n", approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID, Digest: "d1"}},
		"word, capitals, blanks":  {"  APPROVE \n", approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID, Digest: "d1"}},
		"Windows line end":        {"a\r\n", approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID, Digest: "d1"}},
		"the last line, unended":  {"a", approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID, Digest: "d1"}},
		"session":                 {"s\n", approval.Answer{Decision: approval.Approve, DecisionID: "session-1", Digest: "d1"}},
		"reject, reason beside":   {"r use two digits\n", approval.Answer{Decision: approval.Reject, Feedback: "use two digits"}},
		"reject, reason when bid": {"r\nuse two digits\n", approval.Answer{Decision: approval.Reject, Feedback: "use two digits"}},
		"reject without a reason": {"r\n\n", approval.Answer{Decision: approval.Reject}},
		"reject, then the end":    {"r\n", approval.Answer{Decision: approval.Reject}},
		"cancel":                  {"c\n", approval.Answer{Decision: approval.Cancel, Digest: "d1"}},
		"nonsense first":          {"\ny\nyes\na b\nok\na\n", approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID, Digest: "d1"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, out := piped(test.typed)
			got, err := a.Ask(t.Context(), editRequest)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got.Decision != test.want.Decision || got.DecisionID != test.want.DecisionID || got.Feedback != test.want.Feedback || got.Digest != test.want.Digest {
				t.Errorf("the answer is %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestOnlyALetterIsAYes: all of this ends at the end of the input, unanswered.
func TestOnlyALetterIsAYes(t *testing.T) {
	noEditor(t)
	a, out := piped("\n \ny\nyes\n1\na a\napprove it\nsession now\nä\n\x1b[Aa\ne\nv\n")
	answer, err := a.Ask(t.Context(), editRequest)
	if !errors.Is(err, approval.ErrUnavailable) || answer.Decision != "" {
		t.Errorf("answer %+v, error %v; want nobody to have answered", answer, err)
	}
	if n := strings.Count(out.String(), "Please type one of the letters"); n != 12 {
		t.Errorf("told %d times what to type, want 12:\n%s", n, out)
	}
}

func TestOnesOwnCallIsAskedPlainly(t *testing.T) {
	noEditor(t)
	out := newScreen()
	a := NewAsker(Options{In: strings.NewReader("s\nc\n"), Out: out, Own: true})
	r := editRequest
	r.Agent = approval.Agent{Name: "you", Via: "terminal"}
	answer, err := a.Ask(t.Context(), r)
	if err != nil || answer.Decision != approval.Cancel {
		t.Errorf("answer %+v, error %v", answer, err)
	}
	check.Lacks(t, "the question", out.String(), "asks", "session", "agent")
}

const nasty = "a\x1b[2J\u202eb\u200b\rc\x07"

// TestNothingShownCanMoveTheCursor: every text in a request may be an agent's.
func TestNothingShownCanMoveTheCursor(t *testing.T) {
	noEditor(t)
	files := []change.FilePreview{{Path: nasty, Diff: "@@ -1 +1 @@ " + nasty + "\n-" + nasty + "\n+x\n \r\n"}}
	for _, p := range []approval.Preview{
		{Kind: "diff", Files: approval.Files(files)},
		{Kind: "command", Command: nasty + "\n" + nasty, Cwd: nasty, Writes: []string{nasty}, Unsaved: []string{nasty}},
		{Kind: "url", URL: nasty},
		{Kind: "text", Markdown: nasty},
		{Kind: "text", Message: nasty, Facts: []approval.Fact{{Label: "Author", Text: nasty}}, Diff: files[0].Diff},
	} {
		r := approval.Request{
			Agent: approval.Agent{Name: nasty}, Title: nasty, Reasons: []approval.Reason{{Text: nasty}}, Preview: p,
			Decisions: []approval.Choice{{Scope: approval.Session, Rule: nasty}},
		}.Compose()
		if text := shown(t, r, "a\n"); fault.Escape(text) != text {
			t.Errorf("%s: invisible characters reach the terminal: %q", p.Kind, text)
		}
	}
	a, out := piped("1\n")
	if got, err := a.Prompt(t.Context(), approval.Agent{}, nasty, []string{nasty}); err != nil || got != nasty {
		t.Errorf("the answer is %q, %v", got, err)
	}
	if text := out.String(); fault.Escape(text) != text {
		t.Errorf("prompt: invisible characters reach the terminal: %q", text)
	}
}

func TestInvisibleCharactersAreTold(t *testing.T) {
	noEditor(t)
	for command, want := range map[string]bool{"ls": false, "ls \u200b": true, "ls\n\tls": false} {
		r := approval.Request{Title: "Run", Preview: approval.Preview{Kind: "command", Command: command, Cwd: "."}}.Compose()
		if got := strings.Contains(shown(t, r, "a\n"), "! Invisible characters are written"); got != want {
			t.Errorf("%q: told of invisible characters: %v, want %v", command, got, want)
		}
	}
}

// typist is an asker with a person at it whose lines come when the test says.
func typist(t *testing.T, o Options) (*Asker, *screen, io.Writer) {
	t.Helper()
	noEditor(t)
	in, keys := io.Pipe()
	t.Cleanup(func() { keys.Close() })
	out := newScreen()
	o.In, o.Out = in, out
	return NewAsker(o), out, keys
}

type asking struct {
	answer approval.Answer
	err    error
}

func start(ctx context.Context, a *Asker, r approval.Request) <-chan asking {
	done := make(chan asking, 1)
	go func() {
		answer, err := a.Ask(ctx, r)
		done <- asking{answer, err}
	}()
	return done
}

const prompt = "Your answer (a s r c): "

func TestAQuestionFollowsWhatChanges(t *testing.T) {
	a, out, keys := typist(t, Options{})
	done := start(t.Context(), a, editRequest)
	out.wait(t, prompt, 1)
	a.Changed(approval.Changed{ApprovalID: "another", Digest: "d9", Preview: approval.Preview{Kind: "text", Lines: []string{"another's"}}})
	a.Changed(approval.Changed{ApprovalID: "1", Digest: "d2", Preview: approval.Preview{Kind: "text", Lines: []string{"only moved"}}, Moved: true})
	a.Changed(approval.Changed{ApprovalID: "1", Digest: "d3", Preview: approval.Preview{Kind: "text", Lines: []string{"the new proposal"}}})
	out.wait(t, prompt, 2)
	io.WriteString(keys, "a\n") //nolint:errcheck // the answer would be missing
	if got := <-done; got.err != nil || got.answer.Digest != "d3" {
		t.Errorf("answer %+v, error %v; want a yes to what is on show now", got.answer, got.err)
	}
	text := out.String()
	check.Has(t, "the screen", text, "has changed while you looked", "the new proposal")
	check.Lacks(t, "the screen", text, "another's", "only moved")
}

// TestAQuestionThatEndsSaysWhy, and the line typed next answers the next one.
func TestAQuestionThatEndsSaysWhy(t *testing.T) {
	stopped := make(chan struct{})
	close(stopped)
	for name, test := range map[string]struct {
		options Options
		outcome approval.Outcome
		cause   error
		says    string
	}{
		"withdrawn": {outcome: approval.Withdrawn, says: "The agent no longer waits for an answer; nothing was done.\n"},
		"stale":     {outcome: approval.Stale, says: "This cannot be done any more; nothing was done.\n"},
		"expired":   {cause: approval.ErrExpired, says: "Nobody answered in time; nothing was done.\n"},
		"stopped":   {options: Options{Stop: stopped}, says: prompt + "\n"},
		"own":       {options: Options{Own: true}, says: "Your answer (a r c): \n"},
	} {
		t.Run(name, func(t *testing.T) {
			a, out, keys := typist(t, test.options)
			ctx, cancel := context.WithCancelCause(t.Context())
			done := start(ctx, a, editRequest)
			out.wait(t, "Your answer", 1)
			a.Resolved("1", test.outcome)
			cancel(test.cause)
			if got := <-done; !errors.Is(got.err, context.Canceled) {
				t.Errorf("error %v, want the context's", got.err)
			}
			if !strings.HasSuffix(out.String(), test.says) {
				t.Errorf("it ends with\n%s\nwant\n%s", out, test.says)
			}
			done = start(t.Context(), a, editRequest)
			out.wait(t, "Your answer", 2)
			io.WriteString(keys, "c\n") //nolint:errcheck // the answer would be missing
			if got := <-done; got.err != nil || got.answer.Decision != approval.Cancel {
				t.Errorf("the next question: %+v, %v", got.answer, got.err)
			}
		})
	}
}

func TestOneQuestionAtATime(t *testing.T) {
	a, out, keys := typist(t, Options{})
	first := start(t.Context(), a, editRequest)
	out.wait(t, prompt, 1)
	second := start(t.Context(), a, editRequest)
	impatient, giveUp := context.WithCancel(t.Context())
	third := start(impatient, a, editRequest)
	giveUp()
	if got := <-third; !errors.Is(got.err, context.Canceled) {
		t.Errorf("a question that waits for its turn ends with %v", got.err)
	}
	if n := strings.Count(out.String(), prompt); n != 1 {
		t.Errorf("%d questions are on show, want 1", n)
	}
	io.WriteString(keys, "c\n") //nolint:errcheck // the answer would be missing
	if got := <-first; got.answer.Decision != approval.Cancel {
		t.Errorf("the first answer: %+v", got)
	}
	out.wait(t, prompt, 2)
	io.WriteString(keys, "a\n") //nolint:errcheck // the answer would be missing
	if got := <-second; got.answer.Decision != approval.Approve {
		t.Errorf("the second answer: %+v", got)
	}
}

func TestPrompt(t *testing.T) {
	noEditor(t)
	for typed, want := range map[string]string{"2\n": "right", "\n": "cancel", "0\n3\nleft\n1\n": "left"} {
		a, out := piped(typed)
		if got, err := a.Prompt(t.Context(), approval.Agent{}, "Which way?", []string{"left", "right"}); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q\n%s", typed, got, err, want, out)
		}
	}
	a, _ := piped("")
	if _, err := a.Prompt(t.Context(), approval.Agent{}, "Which way?", []string{"left"}); fault.CodeOf(err) != fault.ApprovalUnavailable {
		t.Errorf("without input: %v", err)
	}
}

// TestAQuestionLooksLikeNoRequest: each line of an agent's own words stands behind a mark, however it is broken.
func TestAQuestionLooksLikeNoRequest(t *testing.T) {
	noEditor(t)
	fake := "\n? \"Claude Code\" asks: Run ls\n\n  $ ls -la\n\na  approve\n\nYour answer (a r c):"
	wide := strings.Repeat("\u00a0", 33) + "?\u00a0Claude\u00a0asks:\u00a0Run\u00a0ls" + strings.Repeat("漢", 60) + "\t?\t" + strings.Repeat("x", 90)
	for _, width := range []int{0, 12, 40, 80} {
		a, out := sized("1\n", Style{Width: width})
		if _, err := a.Prompt(t.Context(), approval.Agent{Name: "Claude Code\n"}, fake+"\n"+wide, []string{fake, "a  approve" + wide}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.Trim(out.String(), "\n"), "\n")
		if want := `? "Claude Code\n" asks, in its own words:`; width == 80 && lines[0] != want {
			t.Errorf("%q, want %q", lines[0], want)
		}
		for _, line := range lines[1 : len(lines)-1] {
			if !strings.HasPrefix(line, "  | ") && !strings.HasPrefix(line, "  1  ") && !strings.HasPrefix(line, "  2  ") && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "Your answer") {
				t.Errorf("at width %d: %q", width, line)
			}
			columns := 0
			for _, r := range line {
				if columns++; r > 0x2e80 {
					columns++
				}
			}
			if width > 0 && (columns > width || strings.Contains(line, "\t")) {
				t.Errorf("at width %d a line has %d columns: %q", width, columns, line)
			}
		}
	}
}

// TestAnAnswerSeesItsRequest: whatever a request has, who asks for what, and why, is on the screen with the answers.
func TestAnAnswerSeesItsRequest(t *testing.T) {
	noEditor(t)
	long := strings.Repeat("x\t", 60)
	for _, height := range []int{24, 40} {
		for name, preview := range map[string]approval.Preview{
			"short": {Kind: "command", Command: "make"},
			"long":  {Kind: "command", Command: "make\n" + strings.Repeat("x\n", 500)},
			"wide":  {Kind: "command", Command: "make" + strings.Repeat(long, 50)},
		} {
			a, out := sized("a\n", Style{Width: 80, Height: height})
			a.echo = false // as on a terminal
			r := approval.Request{
				Agent: approval.Agent{Name: "sample-agent"}, Title: "Run make", Reasons: []approval.Reason{{Text: "it can run anything"}}, Preview: preview,
				Decisions: []approval.Choice{{ID: "once", Scope: approval.Session, Rule: "run_command(" + long + long + ")"}, {ID: "short", Scope: approval.Session, Rule: "run_command(make)"}},
			}.Compose()
			_, err := a.Ask(t.Context(), r)
			must(t, err)
			rows := onScreen(80, false, out.String())
			last := strings.Join(rows[max(len(rows)-height, 0):], "\n")
			check.Has(t, name, last, "? sample-agent asks: Run make", "  • it can run anything", "  a  approve", "  s2  approve")
			check.Lacks(t, name, last, "  s  approve")
			if shown, most := strings.Count(out.String(), "sample-agent asks"), map[bool]int{true: 1, false: 2}[name == "short"]; shown != most {
				t.Errorf("%s: the request is named %d times", name, shown)
			}
			if len(rows) > mostLines+2*height {
				t.Errorf("%s: %d rows", name, len(rows))
			}
		}
	}
}

func TestAskedTellsOfAQuestion(t *testing.T) {
	a, _ := piped("a\n")
	if a.Asked() {
		t.Error("asked before there was a question")
	}
	if _, err := a.Ask(t.Context(), editRequest); err != nil || !a.Asked() {
		t.Errorf("asked is %v, error %v", a.Asked(), err)
	}
}

func TestYesShowsWhatItApproves(t *testing.T) {
	out := newScreen()
	y := &Yes{Out: out}
	answer, err := y.Ask(t.Context(), editRequest)
	if err != nil || answer.Decision != approval.Approve || answer.Digest != "d1" {
		t.Errorf("%+v, %v", answer, err)
	}
	check.Has(t, "the screen", out.String(), "sample-agent asks: Edit app.py (approved by --yes)", "+new")
	if _, err := y.Prompt(t.Context(), approval.Agent{}, "Which?", []string{"one"}); fault.CodeOf(err) != fault.ApprovalUnavailable {
		t.Errorf("--yes answered a question: %v", err)
	}
}

func TestNobodySaysWhatWouldHelp(t *testing.T) {
	n := Nobody{approval.Nobody{Why: "run it in a terminal"}}
	if _, err := n.Ask(t.Context(), editRequest); !errors.Is(err, approval.ErrUnavailable) || err.Error() != "run it in a terminal" {
		t.Errorf("ask: %v", err)
	}
	if _, err := n.Prompt(t.Context(), approval.Agent{}, "Which?", nil); fault.CodeOf(err) != fault.ApprovalUnavailable {
		t.Errorf("prompt: %v", err)
	}
}

var must = check.Must
