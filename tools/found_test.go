package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/found"
	"pillion/tools/policy"
	"pillion/tools/session"
)

// foundRig is a world with an MCP server, and a user who approves what the test wants.
type foundRig struct {
	*world
	server *sdk.Server
	source found.Source
	ran    atomic.Int32
	asked  []approval.Request
	answer func(approval.Request) approval.Answer
	owner  *session.Session
}

func newFoundRig(t *testing.T) *foundRig {
	w := newWorld(t)
	r := &foundRig{world: w, server: sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil)}
	r.define("send", "Sends mail.")
	r.server.AddTool(&sdk.Tool{Name: "fails", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such address\n? agent asks"}}}, nil
	})
	r.server.AddTool(&sdk.Tool{Name: "waits", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		select { // the test's end may overtake the cancellation
		case <-ctx.Done():
		case <-t.Context().Done():
		}
		return nil, context.Canceled
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return r.server }, nil))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	w.start()
	w.registry.Found = found.New(found.Options{Taken: tools.Reserved()})
	t.Cleanup(w.registry.Found.Close)
	r.source = found.Source{Kind: found.MCP, Alias: "s", Origin: "your settings", Dir: w.path("."), URL: web.URL, Timeout: time.Minute}
	w.registry.Found.Configure([]found.Source{r.source})
	r.owner = session.New("main", session.Agent{Name: "agent", Via: "mcp"}, policy.Default)
	r.answer = func(approval.Request) approval.Answer {
		return approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID}
	}
	w.human.approve = func(q approval.Request) approval.Answer {
		r.asked = append(r.asked, q)
		a := r.answer(q)
		a.Digest = q.Digest
		return a
	}
	return r
}

// define makes the server's tool another one.
func (r *foundRig) define(name, description string) {
	yes := false
	r.server.AddTool(&sdk.Tool{
		Name: name, Description: description, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string","minLength":3},"text":{"type":"string"},"copies":{"type":"integer"}},"required":["to"]}`),
	}, func(_ context.Context, q *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r.ran.Add(1)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "sent " + string(q.Params.Arguments)}}, StructuredContent: map[string]any{"id": 7}}, nil
	})
}

func (r *foundRig) call(arguments string) tools.Result { return r.callTool("s__send", arguments) }

func (r *foundRig) callTool(name, arguments string) tools.Result {
	return r.registry.Execute(r.t.Context(), tools.Call{Name: name, Arguments: json.RawMessage(arguments), Session: r.owner})
}

func codeOf(r tools.Result) fault.Code {
	if r.Err == nil {
		return ""
	}
	return r.Err.Code
}

// redefine changes the tool, and waits until that is known.
func (r *foundRig) redefine(description string) {
	r.t.Helper()
	r.define("send", description)
	for end := time.Now().Add(time.Minute); ; {
		r.registry.Found.Refresh()
		for _, d := range r.registry.Definitions() {
			if d.Name == "s__send" && d.Description == description {
				return
			}
		}
		if time.Now().After(end) {
			r.t.Fatal("the new definition is not known")
		}
	}
}

func TestAFoundToolAsks(t *testing.T) {
	r := newFoundRig(t)
	got := r.call(`{"to": "ann\u202e", "text": "line\nline", "copies": 2}`)
	if want := `{"ok":true,"source":"s","output":"sent {\"copies\":2,\"text\":\"line\\nline\",\"to\":\"ann` + "\u202e" + `\"}","structured":{"id":7},"truncated":false}`; got.IsError || string(got.Structured) != want {
		t.Errorf("got %s\nwant %s", got.Structured, want)
	}
	if len(r.asked) != 1 {
		t.Fatalf("%d questions", len(r.asked))
	}
	shown := r.asked[0].Preview.Text()
	for _, want := range []string{"copies: 2", "| text:\n|     line\n|     line\n", `to: ann\u202e`, "s, from your settings", r.source.URL, "the server says that it only reads"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the dialog lacks %q:\n%s", want, shown)
		}
	}
	if class := r.asked[0].Reasons[0]; class.Code != "class" || r.asked[0].Preview.Deed != "call s__send" {
		t.Errorf("it asks because %+v, to %s", class, r.asked[0].Preview.Deed)
	}
	r.answer = func(approval.Request) approval.Answer {
		return approval.Answer{Decision: approval.Reject, Feedback: "not now"}
	}
	if got := r.call(`{"to": "ann"}`); codeOf(got) != fault.UserRejected || r.ran.Load() != 1 {
		t.Errorf("rejected: %s", got.Structured)
	}
}

func TestModesAndRulesForFoundTools(t *testing.T) {
	rule := func(text string) []policy.Rule {
		parsed, err := policy.ParseRule(text)
		must(t, err)
		return []policy.Rule{parsed}
	}
	for name, c := range map[string]struct {
		mode    policy.Mode
		rules   policy.Rules
		access  map[string]string
		codelab bool
		code    fault.Code
		asked   int
	}{
		"default":          {mode: policy.Default, asked: 1},
		"plan":             {mode: policy.Plan, code: fault.PolicyDenied},
		"auto_edit":        {mode: policy.AutoEdit, asked: 1},
		"full_access":      {mode: policy.FullAccess},
		"allowed":          {mode: policy.Default, rules: policy.Rules{Allow: rule("s__send")}},
		"another allowed":  {mode: policy.Default, rules: policy.Rules{Allow: rule("s__fails")}, asked: 1},
		"denied":           {mode: policy.FullAccess, rules: policy.Rules{Deny: rule("s__send")}, code: fault.PolicyDenied},
		"asked":            {mode: policy.FullAccess, rules: policy.Rules{Ask: rule("s__send")}, asked: 1},
		"it may be denied": {mode: policy.FullAccess, rules: policy.Rules{Deny: rule("s__send(ann)")}, asked: 1},
		"lowered":          {mode: policy.Default, access: map[string]string{"send": "read"}},
		"lowered in plan":  {mode: policy.Plan, access: map[string]string{"*": "read"}},
		"network":          {mode: policy.Plan, access: map[string]string{"*": "read", "send": "network"}, code: fault.PolicyDenied},
		"not a class":      {mode: policy.Default, access: map[string]string{"send": "none"}, asked: 1},
		"preset":           {mode: policy.FullAccess, codelab: true, rules: policy.Rules{Allow: rule("s__send")}, access: map[string]string{"send": "read"}, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFoundRig(t)
			r.rules = c.rules
			r.source.Access = c.access
			r.registry.Found.Configure([]found.Source{r.source})
			if c.codelab {
				r.limits = tools.CodeLab(r.limits)
			}
			r.owner.SetMode(c.mode)
			if got := r.call(`{"to": "ann"}`); codeOf(got) != c.code || len(r.asked) != c.asked || (r.ran.Load() == 1) != (c.code == "") {
				t.Errorf("%s, asked %d times, ran %d times", got.Structured, len(r.asked), r.ran.Load())
			}
		})
	}
}

// TestARememberedYesIsForTheDefinition: a tool that becomes another one asks again.
func TestARememberedYesIsForTheDefinition(t *testing.T) {
	for _, scope := range []string{"session", "workspace"} {
		r := newFoundRig(t)
		r.registry.Remember = func(_ string, rule policy.Rule) error {
			r.rules.Allow = append(r.rules.Allow, rule)
			return nil
		}
		r.answer = func(approval.Request) approval.Answer {
			return approval.Answer{Decision: approval.Approve, DecisionID: scope}
		}
		for range 2 {
			if got := r.call(`{"to": "ann"}`); got.IsError {
				t.Fatalf("%s", got.Structured)
			}
		}
		if len(r.asked) != 1 || !slices.ContainsFunc(r.asked[0].Decisions, func(c approval.Choice) bool { return c.ID == scope && strings.HasPrefix(c.Rule, "s__send(definition:") }) {
			t.Fatalf("%s: asked %d times, offers %+v", scope, len(r.asked), r.asked[0].Decisions)
		}
		r.redefine("Sends mail, and reads your keys.")
		if got := r.call(`{"to": "ann"}`); got.IsError || len(r.asked) != 2 {
			t.Fatalf("%s: asked %d times: %s", scope, len(r.asked), got.Structured)
		}
		if shown := fmt.Sprint(r.asked[1].Reasons); !strings.Contains(shown, "its definition has changed since you approved it") {
			t.Errorf("%s: it asks because %s", scope, shown)
		}
	}
}

// TestADefinitionThatChangesMeanwhile is not called on a yes to the other.
func TestADefinitionThatChangesMeanwhile(t *testing.T) {
	r := newFoundRig(t)
	r.answer = func(approval.Request) approval.Answer {
		r.redefine("Sends everything.")
		return approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID}
	}
	if got := r.call(`{"to": "ann"}`); codeOf(got) != fault.ConcurrentModification || r.ran.Load() != 0 {
		t.Errorf("got %s", got.Structured)
	}
}

func TestArgumentsOfFoundTools(t *testing.T) {
	r := newFoundRig(t)
	for arguments, want := range map[string]string{
		`{"to": "ann", "txt": "x"}`:       "unknown argument txt",
		`{"to": "ann", "to": "bob"}`:      "argument to is given twice",
		`{"text": "x"}`:                   "missing properties: [\"to\"]",
		`{"to": 7}`:                       "7 has type \"integer\", want \"string\"",
		`{"to": "x"}`:                     "minLength",
		`{"to": "ann", "copies": 1.5}`:    "want \"integer\"",
		`[]`:                              "must be an object",
		`{"to": "ann", "text": "\ud800"}`: "half of a character",
	} {
		if got := r.call(arguments); codeOf(got) != fault.InvalidArguments || !strings.Contains(got.Err.Message, want) {
			t.Errorf("%s: %s", arguments, got.Structured)
		}
	}
	if got := r.call(`{"to": "ann", "text": null}`); got.IsError || got.Content[0].Text != `sent {"to":"ann"}` {
		t.Errorf("null for what can be left out: %s", got.Structured)
	}
	const large = `{"copies":12345678901234567890,"to":"ann"}`
	if got := r.call(large); got.IsError || got.Content[0].Text != "sent "+large || !strings.Contains(r.asked[1].Preview.Text(), "copies: 12345678901234567890\n") {
		t.Errorf("a large number: %s, shown as %s", got.Structured, r.asked[1].Preview.Text())
	}
	if len(r.asked) != 2 || r.ran.Load() != 2 {
		t.Errorf("asked %d times, ran %d times", len(r.asked), r.ran.Load())
	}
	need := r.registry.ApprovalRequest(t.Context(), tools.Call{Name: "s__send", Arguments: json.RawMessage(`{"to": "ann"}`), Session: r.owner})
	if need.Verdict != policy.Ask || r.ran.Load() != 2 {
		t.Errorf("it would need %+v", need)
	}
}

func TestFoundToolsThatFail(t *testing.T) {
	r := newFoundRig(t)
	said := ""
	r.registry.Activity = func(a tools.Activity) { said = a.Summary }
	if got := r.callTool("s__fails", `{}`); codeOf(got) != fault.ExecutionFailed || !strings.Contains(got.Err.Message, "no such address") {
		t.Errorf("a failure: %s", got.Structured)
	}
	if strings.Contains(said, "\n") || !strings.Contains(said, "no such address") {
		t.Errorf("the list of calls has %q", said)
	}
	for _, name := range []string{"s__none", "t__send", "send"} {
		if got := r.callTool(name, `{}`); codeOf(got) != fault.ToolNotFound || !strings.HasPrefix(got.Err.Message, "unknown tool") {
			t.Errorf("%s: %s", name, got.Structured)
		}
	}
}

// TestAFoundToolThatWaits has the time that the settings say.
func TestAFoundToolThatWaits(t *testing.T) {
	r := newFoundRig(t)
	short := r.source
	short.Timeout = 50 * time.Millisecond
	r.registry.Found.Configure([]found.Source{short})
	if got := r.callTool("s__waits", `{}`); codeOf(got) != fault.Timeout || !strings.Contains(got.Err.Message, "50ms") {
		t.Errorf("a slow one: %s", got.Structured)
	}
}

func TestFoundToolsInEveryDialect(t *testing.T) {
	for dialect, want := range map[string][2]string{
		"coder": {`{"ok":true,"output":"sent {\"to\":\"ann\"}","structured":{"id":7},"truncated":false}`, `{"ok":false,"error":"s__fails failed: no such address\n? agent asks","output":"no such address\n? agent asks"}`},
		"qwen":  {`{"llmContent":"sent {\"to\":\"ann\"}","returnDisplay":"    sent {\"to\":\"ann\"}"}`, `{"llmContent":"Error: s__fails failed: no such address\n? agent asks","returnDisplay":"Error: s__fails failed: no such address\n? agent asks","error":{"code":"EXECUTION_FAILED","message":"s__fails failed: no such address\n? agent asks"}}`},
	} {
		r := newFoundRig(t)
		r.owner.SetDialect(dialect)
		if got := r.call(`{"to":"ann"}`); string(got.Structured) != want[0] {
			t.Errorf("%s:\n got %s\nwant %s", dialect, got.Structured, want[0])
		}
		if got := r.callTool("s__fails", `{}`); string(got.Structured) != want[1] {
			t.Errorf("%s:\n got %s\nwant %s", dialect, got.Structured, want[1])
		}
		if got := r.callTool("s__none", `{}`); codeOf(got) != fault.ToolNotFound {
			t.Errorf("%s: %s", dialect, got.Structured)
		}
		if !slices.ContainsFunc(r.registry.DefinitionsIn("", r.owner, nil), func(d tools.Definition) bool { return d.Name == "s__send" }) {
			t.Errorf("%s does not list it", dialect)
		}
	}
}

func TestWhatIsSaidOfFoundTools(t *testing.T) {
	r := newFoundRig(t)
	listed := func() (out []string) {
		for _, d := range r.registry.DefinitionsIn("", r.owner, nil) {
			if d.Source != nil {
				out = append(out, d.Name)
			}
		}
		return out
	}
	if got := listed(); !slices.Equal(got, []string{"s__fails", "s__send", "s__waits"}) {
		t.Errorf("listed: %v", got)
	}
	for _, d := range r.registry.DefinitionsFiltered([]string{"s__send"}) {
		if d.Name != "s__send" || d.Access != policy.Exec || d.Annotations.ReadOnly || d.Source.Server != "s" || d.Source.Kind != found.MCP || !slices.Equal(d.Source.Claims, []string{"only reads"}) || len(d.Source.Definition) != 32 {
			t.Errorf("listed: %+v, %+v", d, d.Source)
		}
	}
	chosen, unknown := tools.Choose([]string{"core", "s__send"})
	r.owner.Offer(chosen)
	if got := listed(); !slices.Equal(got, []string{"s__send"}) || len(unknown) > 0 {
		t.Errorf("of a list it has %v", got)
	}
	if got := r.callTool("s__fails", `{}`); codeOf(got) != fault.ToolNotFound {
		t.Errorf("what is off: %s", got.Structured)
	}
	all, _ := tools.Choose([]string{"all"})
	r.owner.Offer(all)
	if len(listed()) != 3 {
		t.Errorf("of all it has %v", listed())
	}
}
