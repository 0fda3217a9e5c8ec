package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

// varies is what differs between two runs: times.
var varies = regexp.MustCompile(`"duration_ms":\d+|after \d+(?:\.\d+)?m?s`)

// TestDialects plays testdata/dialects: a line "> TOOL ARGUMENTS" is a call, and the line
// below the exact object that it gives. "< REASON" above rejects it. $BASE is the
// workspace's folder.
func TestDialects(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"coder", "qwen"} {
		t.Run(dialect, func(t *testing.T) {
			w := newWorld(t)
			w.write("app.py", "import os\nprint(os.sep)\nprint(1)\n")
			w.write("src/util.py", "x = 1\n")
			w.write("../home/.agents/skills/review/SKILL.md", "---\nname: review\ndescription: How to review.\n---\nLook twice.\n")
			w.do(`write pixel.png "\x89PNG\r\n\x1a\n"`)
			w.do("runner echo printf did:%s {objective}")
			w.start()
			w.session("main").SetDialect(dialect)
			file := "testdata/dialects/" + dialect + ".txt"
			text, err := os.ReadFile(file)
			w.must(err)
			var out strings.Builder
			called, decision := map[string]bool{}, approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID}
			for line := range strings.Lines(string(text)) {
				if reason, rejects := strings.CutPrefix(line, "< "); rejects {
					decision = approval.Answer{Decision: approval.Reject, Feedback: strings.TrimSpace(reason)}
				}
				name, isCall := strings.CutPrefix(line, "> ")
				if !strings.HasPrefix(line, "{") {
					out.WriteString(line)
				}
				if !isCall {
					continue
				}
				name, arguments, _ := strings.Cut(strings.TrimSpace(name), " ")
				called[name] = true
				given := decision
				w.human.approve = func(r approval.Request) approval.Answer {
					if tool := r.Tool; tools.DialectDefinitions("", []string{tool}) == nil {
						t.Errorf("%s is asked about as %s", name, tool)
					}
					return given
				}
				decision = approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID}
				r := w.ask(context.Background(), name, strings.ReplaceAll(arguments, "$BASE", w.path(".")))
				got := strings.ReplaceAll(varies.ReplaceAllString(string(r.Structured), "…"), w.path("."), "$BASE")
				got = strings.ReplaceAll(got, w.path("../home"), "$HOME")
				out.WriteString(got + "\n")
			}
			if *update {
				w.must(os.WriteFile(file, []byte(out.String()), 0o600))
			} else if out.String() != string(text) {
				t.Errorf("%s: got\n%s\nrun go test ./tools -run TestDialects -update, and read the difference", file, out.String())
			}
			for _, d := range tools.DialectDefinitions(dialect, nil) {
				if !called[d.Name] {
					t.Errorf("nobody calls %s", d.Name)
				}
			}
		})
	}
}

// What happened to the user's work is told in every dialect.
func TestADialectTellsOfTheUser(t *testing.T) {
	for dialect, calls := range map[string][3]string{
		"coder": {`read {"path": "a.txt"}`, `list {}`, `write {"path": "b.txt", "content": "agent\n"}`},
		"qwen":  {`read_file {"absolute_path": "$BASE/a.txt"}`, `list_directory {"path": "$BASE"}`, `write_file {"file_path": "$BASE/b.txt", "content": "agent\n"}`},
	} {
		w := newWorld(t)
		w.write("a.txt", "one\n")
		w.start()
		w.session("main").SetDialect(dialect)
		w.human.approve = func(r approval.Request) approval.Answer {
			return approval.Answer{Decision: approval.Edit, After: map[string]string{"b.txt": "user\n"}, Digest: r.Digest}
		}
		call := func(line string) string {
			name, arguments, _ := strings.Cut(strings.ReplaceAll(line, "$BASE", w.path(".")), " ")
			r := w.ask(t.Context(), name, arguments)
			if r.IsError {
				t.Errorf("%s: %s", line, r.Structured)
			}
			return r.Content[0].Text
		}
		call(calls[0])
		w.write("a.txt", "two\n")
		if text := call(calls[1]); !strings.Contains(text, "a.txt") || !strings.Contains(text, "changed") {
			t.Errorf("%s says %s", calls[1], text)
		}
		if text := call(calls[2]); !strings.Contains(text, "-agent") || !strings.Contains(text, "+user") {
			t.Errorf("%s says %s", calls[2], text)
		}
	}
}

// Google's agents take a result as a function response, too.
func TestAFunctionResponse(t *testing.T) {
	w := newWorld(t)
	w.write("a.txt", "one\n")
	w.start()
	w.session("main").SetDialect("qwen")
	r := w.registry.Execute(t.Context(), tools.Call{Name: "read_file", Arguments: json.RawMessage(`{"absolute_path": "` + w.path("a.txt") + `"}`), Session: w.session("main"), Wrapped: true})
	want := `{"llmContent":"one\n","returnDisplay":"a.txt, 1 line","functionResponse":{"name":"read_file","response":{"output":"one\n"}}}`
	if string(r.Structured) != want || len(r.Content) != 1 || r.Content[0].Text != "one\n" {
		t.Errorf("%s\nwant\n%s\nand content %+v", r.Structured, want, r.Content)
	}
}

// A call that could not be translated is shown as any other.
func TestACallThatNoDialectKnows(t *testing.T) {
	w := readyWorld(t)
	w.session("main").SetDialect("coder")
	for name, code := range map[string]fault.Code{"edit_file": fault.ToolNotFound, "read": fault.InvalidArguments} {
		call := tools.Call{Name: name, Arguments: json.RawMessage(`{"x": 1}`), Session: w.session("main")}
		if need := w.registry.ApprovalRequest(t.Context(), call); need.Error == nil || need.Error.Code != code {
			t.Errorf("%s would need %+v", name, need)
		}
	}
	need := w.registry.ApprovalRequest(t.Context(), tools.Call{Name: "write", Arguments: json.RawMessage(`{"path": "a", "content": "b"}`), Session: w.session("main")})
	if need.Verdict != "ask" || need.Preview == nil || need.Preview.Files[0].Path != "a" {
		t.Errorf("write would need %+v", need)
	}
}
