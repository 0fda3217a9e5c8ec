package try

import (
	"bytes"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
	"pillion/terminal"
)

// The ride itself is taken in testdata/script/try.txtar, through a real server.

func result(text string, isError bool, structured map[string]any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: isError, StructuredContent: structured}
}

func failed(code fault.Code, details map[string]any) map[string]any {
	return map[string]any{"ok": false, "error": map[string]any{"code": code, "message": "why", "details": details}}
}

func TestAStepKeepsWhatBecameOfIt(t *testing.T) {
	for name, test := range map[string]struct {
		result *mcp.CallToolResult
		want   Step
		done   bool
		ends   bool
	}{
		"done":       {result("ok", false, map[string]any{"ok": true}), Step{}, true, false},
		"edited":     {result("ok", false, map[string]any{"ok": true, "edited_by_human": true}), Step{Edited: true}, true, false},
		"tests fail": {result("exit code 1", false, map[string]any{"ok": true, "exit_code": 1}), Step{ExitCode: 1}, false, false},
		"refused": {
			result("no", true, failed(fault.UserRejected, map[string]any{"feedback": "later"})),
			Step{Code: fault.UserRejected, Message: "why", Feedback: "later"},
			false, false,
		},
		"cancelled":  {result("no", true, failed(fault.Cancelled, nil)), Step{Code: fault.Cancelled, Message: "why"}, false, true},
		"unanswered": {result("no", true, failed(fault.ApprovalUnavailable, nil)), Step{Code: fault.ApprovalUnavailable, Message: "why"}, false, true},
		"bare":       {result("broken", true, nil), Step{Code: fault.ExecutionFailed, Message: "broken"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got Step
			got.read(test.result)
			if got != test.want || got.Done() != test.done || got.ends() != test.ends {
				t.Errorf("%+v, done %v, ends %v; want %+v, %v, %v", got, got.Done(), got.ends(), test.want, test.done, test.ends)
			}
		})
	}
}

// TestTheAgentClaimsNoMoreThanHappened.
func TestTheAgentClaimsNoMoreThanHappened(t *testing.T) {
	const claim = "All is mended."
	edit, tests := Step{Tool: "edit_file"}, Step{Tool: "run_command"}
	with := func(s Step, change func(*Step)) Step { change(&s); return s }
	refuse := func(s *Step) { s.Code = fault.UserRejected }
	for name, test := range map[string]struct {
		steps []Step
		says  string
	}{
		"as scripted":       {[]Step{edit, tests}, claim},
		"tests refused":     {[]Step{edit, with(tests, refuse)}, claim},
		"edit refused":      {[]Step{with(edit, refuse), tests}, "still shows 4:5"},
		"all refused":       {[]Step{with(edit, refuse), with(tests, refuse)}, "still shows 4:5"},
		"tests fail":        {[]Step{edit, with(tests, func(s *Step) { s.ExitCode = 1 })}, "do not pass"},
		"the user's, green": {[]Step{with(edit, func(s *Step) { s.Edited = true }), tests}, claim},
		"the user's, untested": {
			[]Step{with(edit, func(s *Step) { s.Edited = true }), with(tests, refuse)}, "nobody has tested it",
		},
	} {
		r := ride{outcome: Outcome{Steps: test.steps}}
		if got := r.conclusion(claim); !strings.Contains(got, test.says) {
			t.Errorf("%s: the agent says %q, want %q", name, got, test.says)
		}
	}
}

func TestWhatCameBackIsShownInPart(t *testing.T) {
	var out bytes.Buffer
	r := ride{Options: Options{Out: &out, Style: terminal.Style{Width: 30}}}
	r.show(Step{Tool: "read_file"}, "a\x1b[2J\n"+strings.Repeat("x", 100)+strings.Repeat("\nline", 30))
	text := out.String()
	if strings.Contains(text, "\x1b") || !strings.Contains(text, "    … and 14 more lines\n") || !strings.Contains(text, "    "+strings.Repeat("x", 25)+"…\n") {
		t.Errorf("%s", text)
	}
}
