package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pillion/internal/testrig/check"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/workspace/change"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a page that is served, with a browser of bare hands.
type rig struct {
	*Page
	t       *testing.T
	out     bytes.Buffer // to be read when it has ended
	client  http.Client
	resumed int
	told    bool // it has a state, and comes back for the next
	stop    func()
}

func serve(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t}
	p, err := New(Options{Out: &r.out, Resume: func() []string { r.resumed++; return []string{"tester"} }})
	check.Must(t, err)
	r.Page = p
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	p.Open("/projects/kettle")
	go func() { ended <- p.Serve(ctx) }()
	r.stop = func() {
		cancel()
		for s := (state{}); r.told && !s.Ended; { // it asks until it hears of the end, between two questions or not
			answer, err := r.client.Get("http://" + r.host + "/" + r.token + "/state?after=" + strconv.Itoa(s.Version))
			if err == nil {
				err = errors.Join(json.NewDecoder(answer.Body).Decode(&s), answer.Body.Close())
			}
			if err != nil {
				t.Errorf("the browser does not hear of the end: %v", err)
				break
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.stop = func() {}
	}
	t.Cleanup(func() {
		r.stop()
		r.client.CloseIdleConnections()
	})
	return r
}

// send makes a request, with what change makes of it.
func (r *rig) send(method, path, body string, change func(*http.Request)) (status int, text string, h http.Header) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.host+path, strings.NewReader(body))
	check.Must(r.t, err)
	if method == http.MethodPost {
		q.Header.Set("Origin", "http://"+r.host)
		q.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(q)
	}
	answer, err := r.client.Do(q)
	check.Must(r.t, err)
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	check.Must(r.t, err)
	return answer.StatusCode, string(got), answer.Header
}

func (r *rig) get(name string) (int, string) {
	r.t.Helper()
	status, text, _ := r.send(http.MethodGet, "/"+r.token+"/"+name, "", nil)
	r.told = r.told || strings.HasPrefix(name, "state") && status == http.StatusOK
	return status, text
}

// post answers, and gives what was wrong with that.
func (r *rig) post(a answer) (int, string) {
	r.t.Helper()
	body, err := json.Marshal(a)
	check.Must(r.t, err)
	status, text, _ := r.send(http.MethodPost, "/"+r.token+"/answer", string(body), nil)
	return status, text
}

// sees waits for a state of the page.
func (r *rig) sees(what string, is func(state) bool) state {
	r.t.Helper()
	for version, deadline := -1, time.Now().Add(time.Minute); time.Now().Before(deadline); {
		_, text := r.get("state?after=" + strconv.Itoa(version))
		var s state
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			r.t.Fatal(err, text)
		}
		if is(s) {
			return s
		}
		version = s.Version
	}
	r.t.Fatalf("the page never shows %s", what)
	return state{}
}

type reply struct {
	answer approval.Answer
	err    error
}

var edit = (approval.Request{
	ApprovalID: "one", Digest: "d1", Title: "Edit a.txt", Agent: approval.Agent{Name: "tester"}, Reasons: []approval.Reason{{Code: "protected", Text: "it is a program"}},
	Preview: approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{{
		Path: "a.txt", Diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-<b>one\n+two\u200b\n", Additions: 1, Deletions: 1,
	}})},
	Decisions: []approval.Choice{
		{ID: approval.RejectID, Title: "Reject"},
		{ID: approval.ApproveID, Title: "Approve"},
		{ID: "session", Title: "Approve for this session", Scope: approval.Session, Rule: "edit_file(a.txt)"},
	},
}).Compose()

// ask puts a request on the page, and waits until it is there.
func (r *rig) ask(ctx context.Context, q approval.Request) <-chan reply {
	r.t.Helper()
	out := make(chan reply, 1)
	go func() {
		a, err := r.Ask(ctx, q)
		out <- reply{a, err}
	}()
	r.sees("the request", func(s state) bool { return len(s.Requests) == 1 })
	return out
}

func TestWhoGetsIn(t *testing.T) {
	r := serve(t)
	answers := r.ask(t.Context(), edit)
	if status, text, h := r.send(http.MethodGet, "/"+r.token+"/", "", nil); status != 200 || !strings.Contains(text, "page.js") {
		t.Errorf("the page itself: %d %s", status, text)
	} else {
		for name, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
			"Access-Control-Allow-Origin": "", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			check.Same(t, name, h.Get(name), want)
		}
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") {
				t.Errorf("the policy %q lacks %q", policy, part)
			}
		}
	}
	yes := `{"id":"one","digest":"d1","decision":"approve","decisionId":"approve"}`
	own, post := "/"+r.token+"/", "/"+r.token+"/answer"
	_, port, err := net.SplitHostPort(r.host)
	check.Must(t, err)
	for name, try := range map[string]struct {
		method, path string
		change       func(*http.Request)
	}{
		"no token":               {"GET", "/", nil},
		"another token":          {"GET", "/" + strings.Repeat("A", len(r.token)) + "/", nil},
		"a part of the token":    {"GET", "/" + r.token[:len(r.token)-1] + "/", nil},
		"the token with a case":  {"GET", "/" + strings.ToLower(r.token) + "/", nil},
		"no slash":               {"GET", "/" + r.token, nil},
		"the token in the query": {"GET", "/?" + r.token + "/", nil},
		"two slashes":            {"GET", "/" + own, nil},
		"no such file":           {"GET", own + "static/page.js", nil},
		"a way up":               {"GET", own + "../page.go", nil},
		"a name that leads here": {"GET", own, func(q *http.Request) { q.Host = "evil.example:" + port }},
		"localhost":              {"GET", own + "state", func(q *http.Request) { q.Host = "localhost:" + port }},
		"another port":           {"GET", own + "state", func(q *http.Request) { q.Host = "127.0.0.1" }},
		"an answer by address":   {"GET", post + "?id=one&decision=approve", nil},
		"an answer from outside": {"POST", post, func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }},
		"from another port":      {"POST", post, func(q *http.Request) { q.Header.Set("Origin", "http://127.0.0.1:1") }},
		"from a null origin":     {"POST", post, func(q *http.Request) { q.Header.Set("Origin", "null") }},
		"without an origin":      {"POST", post, func(q *http.Request) { q.Header.Del("Origin") }},
		"from a form":            {"POST", post, func(q *http.Request) { q.Header.Set("Content-Type", "text/plain") }},
		"without a type":         {"POST", post, func(q *http.Request) { q.Header.Del("Content-Type") }},
		"by another method":      {"PUT", post, nil},
		"a question beforehand":  {"OPTIONS", post, nil},
		"without the token":      {"POST", "/answer", nil},
		"a rebound answer":       {"POST", post, func(q *http.Request) { q.Host = "evil.example"; q.Header.Set("Origin", "http://evil.example") }},
		"resume from outside":    {"POST", own + "resume", func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }},
	} {
		if status, text, _ := r.send(try.method, try.path, yes, try.change); status != 404 || text != "" {
			t.Errorf("%s gets %d %q, want an empty 404", name, status, text)
		}
	}
	check.Nothing(t, "one of these answered", answers)
	if r.resumed > 0 {
		t.Error("one of these resumed an agent")
	}
	if status, text := r.post(answer{ID: "one", Digest: "d1", Decision: "approve", DecisionID: "approve"}); status != 204 {
		t.Fatalf("the page's own answer: %d %s", status, text)
	}
	if got := <-answers; got.err != nil || got.answer.Decision != approval.Approve || got.answer.Digest != "d1" {
		t.Errorf("got %+v", got)
	}
}

func TestTheTokenCannotBeGuessed(t *testing.T) {
	r, other := serve(t), serve(t)
	if len(r.token) < 26 || r.token == other.token || r.host == other.host { // base 32: 130 bits
		t.Errorf("the tokens are %q and %q", r.token, other.token)
	}
	if !strings.HasPrefix(r.Address(), "http://127.0.0.1:") {
		t.Errorf("the address is %s", r.Address())
	}
	r.stop()
	check.Has(t, "what was printed", r.out.String(), "  "+r.Address()+"\n")
	if conn, err := net.DialTimeout("tcp", r.host, time.Second); err == nil {
		conn.Close()
		t.Error("the port is still open")
	}
}

func TestBounds(t *testing.T) {
	r := serve(t)
	answers := r.ask(t.Context(), edit)
	if status, _ := r.post(answer{ID: "one", Digest: "d1", Decision: "reject", Feedback: strings.Repeat("x", maxBody)}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large answer gets %d", status)
	}
	for _, body := range []string{"", "null", "[]", "{", `{"id":1}`, `{"id":"one","digest":"d1","decision":"approve","decisionId":"approve","after":{}}`} {
		if status, _, _ := r.send(http.MethodPost, "/"+r.token+"/answer", body, nil); status < 400 {
			t.Errorf("%q gets %d", body, status)
		}
	}
	if status, _, _ := r.send(http.MethodGet, "/"+r.token+"/", "", func(q *http.Request) { q.Header.Set("X-Large", strings.Repeat("x", 2*maxHeader)) }); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a large header gets %d", status)
	}
	for name, a := range map[string]answer{
		"nothing":               {ID: "one", Digest: "d1"},
		"an edit":               {ID: "one", Digest: "d1", Decision: approval.Edit},
		"what is not on offer":  {ID: "one", Digest: "d1", Decision: approval.Approve, DecisionID: "workspace"},
		"a yes that is a no":    {ID: "one", Digest: "d1", Decision: approval.Approve, DecisionID: approval.RejectID},
		"a yes to nothing":      {ID: "one", Digest: "d1", Decision: approval.Approve},
		"a yes without digest":  {ID: "one", Decision: approval.Approve, DecisionID: approval.ApproveID},
		"another request":       {ID: "two", Digest: "d1", Decision: approval.Approve, DecisionID: approval.ApproveID},
		"an action, no answer":  {ID: "one", Digest: "d1", Action: "approve"},
		"what was shown before": {ID: "one", Digest: "d0", Decision: approval.Approve, DecisionID: approval.ApproveID},
	} {
		if status, text := r.post(a); status != http.StatusConflict || !strings.Contains(text, `"error"`) {
			t.Errorf("%s gets %d %s", name, status, text)
		}
	}
	check.Nothing(t, "one of these answered", answers)
	if status, _ := r.post(answer{ID: "one", Digest: "d1", Decision: approval.Reject, Feedback: "no"}); status != 204 {
		t.Fatal(status)
	}
	if got := <-answers; got.answer.Decision != approval.Reject || got.answer.Feedback != "no" {
		t.Errorf("got %+v", got)
	}
	if status, _ := r.post(answer{ID: "one", Digest: "d1", Decision: approval.Reject}); status != http.StatusConflict {
		t.Errorf("a second answer gets %d", status)
	}
}

func TestWhatIsShown(t *testing.T) {
	r := serve(t)
	answers := r.ask(t.Context(), edit)
	var v view
	if status, text := r.get("request?id=one"); status != 200 || json.Unmarshal([]byte(text), &v) != nil {
		t.Fatalf("%d %s", status, text)
	}
	if v.Who != "tester" || v.Title != "Edit a.txt" || len(v.Reasons) != 1 || len(v.Choices) != 2 || v.Choices[1].Rule != "edit_file(a.txt)" || len(v.Notices) != 1 || v.Changed {
		t.Errorf("shown is %+v", v)
	}
	rows := v.Files[0].Rows
	if len(rows) != 3 || !reflect.DeepEqual(rows[1], row{"del", []part{{"-<b>one", false}}}) || !reflect.DeepEqual(rows[2], row{"add", []part{{`+two\u200b`, false}}}) {
		t.Errorf("the rows are %+v", rows)
	}
	// Lines that only moved leave the answer as it is; others do not.
	r.Changed(approval.Changed{ApprovalID: "one", Digest: "d2", Preview: edit.Preview, Moved: true})
	r.Changed(approval.Changed{ApprovalID: "none", Digest: "d9"})
	s := r.sees("what moved", func(s state) bool { return s.Requests[0].Digest == "d2" })
	if len(s.Requests) != 1 {
		t.Errorf("open are %+v", s.Requests)
	}
	r.Changed(approval.Changed{ApprovalID: "one", Digest: "d3", Preview: edit.Preview})
	for _, old := range []string{"d1", "d2"} {
		if status, text := r.post(answer{ID: "one", Digest: old, Decision: approval.Approve, DecisionID: approval.ApproveID}); status != http.StatusConflict || !strings.Contains(text, "changed while you looked") {
			t.Errorf("a yes to what was shown before gets %d %s", status, text)
		}
	}
	if _, text := r.get("request?id=one"); !strings.Contains(text, `"changed":true`) {
		t.Errorf("it is not said that it changed: %s", text)
	}
	r.Changed(approval.Changed{ApprovalID: "one", Digest: "d4", Preview: edit.Preview, Moved: true})
	if status, text := r.post(answer{ID: "one", Digest: "d3", Decision: approval.Approve, DecisionID: "session"}); status != 204 {
		t.Errorf("a yes to lines that have moved since gets %d %s", status, text)
	}
	if got := <-answers; got.answer.DecisionID != "session" || got.answer.Digest != "d3" {
		t.Errorf("got %+v", got)
	}
}

func TestACommandIsShownWhole(t *testing.T) {
	shown := func(p approval.Preview) view { return viewOf(approval.Request{Preview: p}.Compose()) }
	v := shown(approval.Preview{
		Kind: "command", Command: "make\nrm -rf \u202eout", Cwd: "src", Sandbox: "none", Parts: []approval.CommandPart{{Argv: []string{"rm", "-rf", "out"}, Why: "it deletes"}},
		Writes: []string{"log"}, Unsaved: []string{"a.txt"},
	})
	var facts []string
	for _, f := range v.Facts {
		facts = append(facts, f.String())
	}
	want := []string{"Folder: src", "Runs:\n- rm -rf out   (it deletes)", "Writes: log", "Unsaved changes not included: a.txt", "Sandbox: none: the command has your own rights"}
	if !v.Command || strings.Join(v.Lines, "\n") != "make\nrm -rf \\u202eout" || len(v.Notices) != 1 || !slices.Equal(facts, want) {
		t.Errorf("shown is %+v", v)
	}
	v = shown(approval.Preview{Kind: "text", Message: "Fix\n", Facts: []approval.Fact{{Code: "author", Label: "Author", Text: "a", Tone: approval.Warning}}, Diff: "@@ -1 +1 @@\n-a\n+b\n"})
	if !slices.Equal(v.Lines, []string{"Fix"}) || v.Facts[0].Tone != approval.Warning || len(v.Diff) != 3 {
		t.Errorf("shown is %+v", v)
	}
	if v = shown(approval.Preview{Kind: "url", URL: "https://example.com/\u200b"}); !slices.Equal(v.Lines, []string{`https://example.com/\u200b`}) {
		t.Errorf("shown is %+v", v)
	}
}

func TestQuestionsAndWhatHappens(t *testing.T) {
	r := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	withdrawn := r.ask(ctx, edit)
	cancel()
	if got := <-withdrawn; got.err == nil {
		t.Errorf("got %+v", got)
	}
	r.sees("that nobody waits", func(s state) bool {
		return len(s.Requests) == 0 && strings.Contains(s.Lines[len(s.Lines)-1].Text, "no longer waits")
	})
	chosen := make(chan string, 1)
	go func() {
		action, _ := r.Prompt(t.Context(), approval.Agent{Name: "tester\n"}, "Which?", []string{"a", "b"}) //nolint:errcheck // it is answered
		chosen <- action
	}()
	s := r.sees("the question", func(s state) bool { return len(s.Requests) == 1 })
	if _, text := r.get("request?id=" + s.Requests[0].ID); !strings.Contains(text, `"who":"\"tester\\n\""`) {
		t.Errorf("the question does not name who asks: %s", text)
	}
	if status, _ := r.post(answer{ID: s.Requests[0].ID, Digest: s.Requests[0].Digest, Action: "c"}); status != http.StatusConflict {
		t.Errorf("an answer that is none gets %d", status)
	}
	r.post(answer{ID: s.Requests[0].ID, Digest: s.Requests[0].Digest, Action: "b"})
	check.Same(t, "chosen", <-chosen, "b")
	for _, done := range []tools.State{tools.Queued, tools.Running, tools.Done} {
		r.Heard(tools.Activity{CallID: "c", Agent: approval.Agent{Name: "tester"}, Tool: "read_file", State: done, Summary: "a.txt,\n1 line"})
	}
	for range 2 * mostLines {
		r.Say("more")
	}
	r.Elsewhere("VS Code")
	answers := r.ask(t.Context(), edit)
	r.post(answer{ID: "one", Digest: "d1", Decision: approval.Cancel})
	<-answers
	s = r.sees("the pause", func(s state) bool { return len(s.Paused) == 1 })
	if s.Editor != "VS Code" || len(s.Lines) != mostLines {
		t.Errorf("shown is %+v", s)
	}
	if status, _, _ := r.send(http.MethodPost, "/"+r.token+"/resume", "{}", nil); status != 204 || r.resumed != 1 {
		t.Errorf("resume gets %d, %d times", status, r.resumed)
	}
	r.sees("that it goes on", func(s state) bool { return len(s.Paused) == 0 })
	r.stop()
}
