package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"pillion/agents/internal/agenttest"
	"pillion/internal/testrig/check"
	"pillion/tools/approval"
)

// wirePeer is an agent that writes its lines by hand.
type wirePeer struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Scanner
}

// line is any message of the server.
type line struct {
	ID     json.RawMessage
	Method string
	Params struct{ ID json.RawMessage }
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func newWirePeer(t testing.TB, o Options) *wirePeer {
	t.Helper()
	in, out := serve(t, o)
	p := &wirePeer{t: t, in: in, out: bufio.NewScanner(out)}
	p.out.Buffer(nil, 64<<20)
	return p
}

func (p *wirePeer) sendf(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
}

// raw is the next line as it came.
func (p *wirePeer) raw() []byte {
	p.t.Helper()
	scanned := make(chan bool, 1)
	go func() { scanned <- p.out.Scan() }()
	if !agenttest.Wait(p.t, scanned, "a line") {
		p.t.Fatalf("the server has ended: %v", p.out.Err())
	}
	return p.out.Bytes()
}

func (p *wirePeer) next() line {
	p.t.Helper()
	var l line
	if err := json.Unmarshal(p.raw(), &l); err != nil {
		p.t.Fatalf("%v in %.200s", err, p.out.Bytes())
	}
	return l
}

func (p *wirePeer) wantError(id string, code int) {
	p.t.Helper()
	if l := p.next(); l.Error == nil || l.Error.Code != code || string(l.ID) != id {
		p.t.Errorf("got %+v, want the error %d for %s", l, code, id)
	}
}

func (p *wirePeer) wantResult(id, part string) {
	p.t.Helper()
	if l := p.next(); string(l.ID) != id || !strings.Contains(string(l.Result), part) {
		p.t.Errorf("got %s: %.300s %+v, want %s in the result of %s", l.ID, l.Result, l.Error, part, id)
	}
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

func (p *wirePeer) hello() {
	p.t.Helper()
	p.sendf(hello, "2025-06-18")
	p.wantResult("0", `"protocolVersion":"2025-06-18"`)
	p.sendf(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func TestLinesThatAreNoMessages(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	peer := newWirePeer(t, Options{Cwd: p.Dir, Alone: aloneIn(t, p)})
	peer.hello()
	for text, code := range map[string]int{
		`{`: -32700, `nonsense`: -32700, `[]`: -32600, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: -32600, `7`: -32600, `{}`: -32600,
	} {
		peer.sendf("%s", text)
		peer.wantError("null", code)
	}
	peer.sendf("\n\r\n") // nothing at all is no mistake
	peer.sendf(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}`)
	peer.wantResult(`"x"`, `"text":"hello\n(1 line, version `)
	peer.sendf(`{"jsonrpc":"2.0","id":2,"method":"no/such"}`)
	peer.wantError("2", -32601)
	peer.sendf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}`)
	peer.wantError("3", -32602)
	peer.sendf(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt","path":"b.txt"}}}`)
	peer.wantResult("4", "INVALID_ARGUMENTS") // a doubled key has come through as it was
}

func TestALineThatIsTooLong(t *testing.T) {
	home(t)
	peer := newWirePeer(t, Options{Cwd: t.TempDir()})
	peer.hello()
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(peer.in, io.MultiReader(
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`), io.LimitReader(zeros{}, maxLine), strings.NewReader("\"}}\n")))
		sent <- err
	}()
	peer.wantError("null", -32600)
	must(t, agenttest.Wait(t, sent, "the end of the line"))
	peer.sendf(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	peer.wantResult("2", "{}")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestBeforeTheHandshake(t *testing.T) {
	home(t)
	peer := newWirePeer(t, Options{Cwd: t.TempDir()})
	for i, method := range []string{"tools/list", "tools/call"} {
		peer.sendf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"name":"list_files"}}`, i, method)
		if l := peer.next(); l.Error == nil {
			t.Errorf("%s was answered: %s", method, l.Result)
		}
	}
	peer.hello()
}

func TestVersions(t *testing.T) {
	home(t)
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-11-25": "2025-11-25", "2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25",
	} {
		peer := newWirePeer(t, Options{Cwd: t.TempDir()})
		peer.sendf(hello, asked)
		peer.wantResult("0", fmt.Sprintf(`"protocolVersion":%q`, want))
	}
}

// A cancelled call is not answered, by whichever way it came, and a cancellation that comes late
// is passed by.
func TestCancelled(t *testing.T) {
	p := project(t, nil)
	editor(t, p)
	peer := newWirePeer(t, Options{Cwd: p.Dir})
	peer.hello()
	peer.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"n"}}}`)
	d := p.Human.Next(t)
	peer.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	peer.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	peer.sendf(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	peer.wantResult("2", "{}")

	early := newWirePeer(t, Options{Cwd: p.Dir})
	early.sendf(hello+"\n"+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"n"}}}`, "2025-06-18")
	early.wantResult("0", "serverInfo")
	d = p.Human.Next(t)
	early.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	early.sendf(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	early.wantResult("2", "{}")
}

// The agent goes away while the user is asked.
func TestTheEndOfInput(t *testing.T) {
	p := project(t, nil)
	editor(t, p)
	peer := newWirePeer(t, Options{Cwd: p.Dir, drainTime: time.Millisecond})
	peer.hello()
	peer.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"n"}}}`)
	d := p.Human.Next(t)
	peer.in.Close()
	p.Human.WantOutcome(t, d, approval.Withdrawn)
}

// The program is told to end while the user is asked and the agent reads nothing.
func TestTheEndOfTheContext(t *testing.T) {
	p := project(t, nil)
	editor(t, p)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, Options{In: in, Out: out, Cwd: p.Dir, Logf: t.Logf}) }()
	reader := bufio.NewReader(fromServer)
	fmt.Fprintf(toServer, hello+"\n", "2025-06-18")
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"n"}}}`)
	d := p.Human.Next(t)
	cancel()
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	if err := agenttest.Wait(t, ended, "the end of the server"); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

func TestUnknownDialect(t *testing.T) {
	if err := Serve(t.Context(), Options{Dialect: "klingon"}); err == nil {
		t.Error("an unknown dialect is served")
	}
}

// Who pipes a few lines in and closes wants to read the answers.
func TestLinesThatArePipedIn(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	for range 20 {
		peer := newWirePeer(t, Options{Cwd: p.Dir, Alone: aloneIn(t, p)})
		go func() {
			fmt.Fprintf(peer.in, hello+"\n", "2025-06-18")
			io.WriteString(peer.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}`+"\n"+
				`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
			peer.in.Close()
		}()
		got := map[string]string{}
		for range 3 {
			l := peer.next()
			got[string(l.ID)] = string(l.Result)
		}
		if !strings.Contains(got["0"], "serverInfo") || !strings.Contains(got["1"], "hello") || !strings.Contains(got["2"], "git_diff") {
			t.Fatalf("got %v", got)
		}
	}
}

func TestIDs(t *testing.T) {
	p := project(t, nil)
	editor(t, p)
	peer := newWirePeer(t, Options{Cwd: p.Dir})
	peer.hello()
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"n"}}}`
	peer.sendf(call, `"a\u002fb"`)
	d := p.Human.Next(t)
	peer.sendf(call, `"a/b"`)
	peer.wantError(`"a/b"`, -32600) // it runs already
	peer.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a/b"}}`)
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	for _, id := range []string{"{}", "[1]", "true"} {
		peer.sendf(call, id)
		peer.wantError("null", -32600)
	}
	peer.sendf(`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`)
	peer.wantError("5", -32602)
}

func TestResultsStayOnOneLine(t *testing.T) {
	var out strings.Builder
	s := newStdio(writeOnly{&out}, nil)
	one, two := s.begin(envelope{ID: []byte("1")}, nil), s.begin(envelope{ID: []byte("2")}, nil)
	s.reply(one, "result", []byte("{\n\"a\": 1}"))
	long := strings.Repeat("x", 100_000)
	s.reply(two, "result", []byte(`"`), []byte(long), []byte(`"`))
	want := `{"jsonrpc":"2.0","id":1,"result":{"a":1}}` + "\n" + `{"jsonrpc":"2.0","id":2,"result":"` + long + `"}` + "\n"
	check.Same(t, "what was written", out.String(), want)
}

type writeOnly struct{ io.Writer }

func (writeOnly) Read([]byte) (int, error) { return 0, io.EOF }
func (writeOnly) Close() error             { return nil }

// speaking starts a server that speaks this revision.
func speaking(t *testing.T, revision string, o Options) *wirePeer {
	t.Helper()
	peer := newWirePeer(t, o)
	peer.sendf(hello, revision)
	peer.wantResult("0", fmt.Sprintf(`"protocolVersion":%q`, revision))
	peer.sendf(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return peer
}

// answers reads an array of answers: which ids got what.
func (p *wirePeer) answers() map[string]string {
	p.t.Helper()
	var lines []json.RawMessage
	if err := json.Unmarshal(p.raw(), &lines); err != nil {
		p.t.Fatalf("%v in %.200s", err, p.out.Bytes())
	}
	got := map[string]string{}
	for _, text := range lines {
		var l line
		must(p.t, json.Unmarshal(text, &l))
		id := string(l.ID)
		for got[id] != "" {
			id += "'"
		}
		if got[id] = string(l.Result); l.Error != nil {
			got[id] = fmt.Sprint(l.Error.Code)
		}
	}
	return got
}

func TestBatches(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	editor(t, p)
	peer := speaking(t, "2025-03-26", Options{Cwd: p.Dir})
	const read = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}`
	const ask = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"n"}}}`
	peer.sendf("["+read+","+ask+`,{"jsonrpc":"2.0","method":"notifications/progress","params":{}},7,{"jsonrpc":"2.0","id":9,"result":{}},`+
		`{"jsonrpc":"2.0","id":3,"method":"ping"},`+read+`,[],{"jsonrpc":"2.0","id":4,"method":"initialize","params":{}},{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}}]`, `"one"`, "2", "2")
	d := p.Human.Next(t)
	peer.sendf(`{"jsonrpc":"2.0","id":10,"method":"ping"}`) // what comes later is not held up
	peer.wantResult("10", "{}")
	d.Answer(approval.Answer{Decision: approval.Approve})
	got := peer.answers()
	if len(got) != 8 || !strings.Contains(got[`"one"`], "hello") || got["3"] != "{}" || got["null"] != "-32600" || got["null'"] != "-32600" {
		t.Errorf("got %d: %v", len(got), got)
	}
	if got["2"] != "-32600" || !strings.Contains(got["2'"], "n.txt") { // the complaint about its id comes while the call waits
		t.Errorf("2 got %s, then %s", got["2"], got["2'"])
	}
	if got["4"] == "" || strings.HasPrefix(got["4"], "{") || got["5"] != "-32602" {
		t.Errorf("initialize and a call without a name got %v", got)
	}
	// A cancelled call is not among the answers; with no answer there is no array.
	peer.sendf("["+strings.Replace(ask, "n.txt", "m.txt", 1)+","+`{"jsonrpc":"2.0","id":12,"method":"ping"}]`, "11")
	d = p.Human.Next(t)
	peer.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":11}}`)
	if got := peer.answers(); len(got) != 1 || got["12"] != "{}" {
		t.Errorf("got %v", got)
	}
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	peer.sendf(`[{"jsonrpc":"2.0","method":"notifications/progress","params":{}}]`)
	peer.sendf("[" + strings.Repeat("7,", maxBatch) + "7]")
	peer.wantError("null", -32600)
	peer.sendf("[]")
	peer.wantError("null", -32600)
	peer.sendf("[7")
	peer.wantError("null", -32700)
}

func TestBatchesOfOtherRevisions(t *testing.T) {
	home(t)
	for _, revision := range []string{"2024-11-05", "2025-06-18", "2025-11-25"} {
		peer := speaking(t, revision, Options{Cwd: t.TempDir()})
		peer.sendf(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
		peer.wantError("null", -32600)
	}
	peer := newWirePeer(t, Options{Cwd: t.TempDir()})
	peer.sendf("["+hello+"]", "2025-03-26")
	peer.wantError("null", -32600)
}

// Nothing of a newer revision is in the answers to a client of an older one.
func TestRevisions(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	editor(t, p)
	since := map[string]string{ // what an answer may have, and from when on
		`"structuredContent":`: "2025-06-18", `"outputSchema":`: "2025-06-18", `"title":"Pillion"`: "2025-06-18", `"name":"read_file","title":`: "2025-06-18",
		`"annotations":`: "2025-03-26", `"message":"waiting`: "2025-03-26", `"ttlMs"`: newProtocol, `"resultType"`: newProtocol, `"_meta"`: newProtocol,
	}
	seen := map[string]bool{}
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		peer := newWirePeer(t, Options{Cwd: p.Dir, Structured: true})
		peer.sendf(hello, revision)
		peer.sendf(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		text := string(peer.raw())
		peer.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		text += string(peer.raw())
		peer.sendf(`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`)
		text += string(peer.raw())
		peer.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_command","arguments":{"command":"echo hi"},"_meta":{"progressToken":"t"}}}`)
		d := p.Human.Next(t)
		text += string(peer.raw())                                                         // a sign of life
		for revision >= revisionBatches && !strings.Contains(text, `"message":"waiting`) { // one that says so
			text += string(peer.raw())
		}
		d.Answer(approval.Answer{Decision: approval.Approve})
		for !strings.Contains(text, `"id":2`) {
			text += string(peer.raw())
		}
		for part, from := range since {
			has := strings.Contains(text, part)
			seen[part] = seen[part] || has
			if has && revision < from {
				t.Errorf("%s has %s, which is of %s", revision, part, from)
			}
		}
	}
	for part, from := range since {
		if from < newProtocol && !seen[part] {
			t.Errorf("no answer has %s, so this test shows nothing", part)
		}
	}
}

func TestAudioInTheOldestRevision(t *testing.T) {
	r := fitResult("2024-11-05", [][]byte{[]byte(`{"content":[{"type":"audio","data":"x","mimeType":"audio/wav"},{"type":"text","text":"\"type\":\"audio\""}],"structuredContent":{},"isError":true}`)})
	if got := string(r.Bytes()); strings.Contains(got, `"data"`) || strings.Contains(got, "structured") || !strings.Contains(got, `"text":"\"type\":\"audio\""`) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("got %s", got)
	}
}

func TestRequestKeys(t *testing.T) {
	for _, same := range [][]string{{`"a/b"`, `"a\u002fb"`}, {"1", "1.0", "1e0"}, {`"<"`, `"\u003c"`}} {
		for _, id := range same {
			check.Same(t, "the key of "+id, requestKey([]byte(id)), requestKey([]byte(same[0])))
		}
	}
	different := []string{"1", `"1"`, "2", `"a"`, `"A"`}
	keys := map[string]bool{}
	for _, id := range different {
		keys[requestKey([]byte(id))] = true
	}
	if len(keys) != len(different) {
		t.Errorf("%v have %d keys", different, len(keys))
	}
}
