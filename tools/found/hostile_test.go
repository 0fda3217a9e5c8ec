package found

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
)

// TestAServerThatDoesNotRead holds nobody up for longer than a call may take.
func TestAServerThatDoesNotRead(t *testing.T) {
	r := newRig(t, over("s", "stops reading"))
	do := r.tool("s__do")
	arguments, err := json.Marshal(map[string]string{"text": strings.Repeat("x", 1<<20)})
	must(t, err)
	brief := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	for range 3 {
		if _, err := r.Call(brief(), do, arguments, 1); err != context.DeadlineExceeded { //nolint:errorlint // it is given as it is
			t.Errorf("the call: %v", err)
		}
	}
	r.Refresh()
	r.List(brief()) // comes back
}

// TestAListWithoutEnd is read as far as a list may go.
func TestAListWithoutEnd(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	r := newRig(t, over("s", "lists without end", count))
	names, notes := r.names()
	if len(names) > 0 || len(notes) == 0 || !strings.Contains(notes[len(notes)-1], "16 MiB") || lives(t, count) > 7 {
		t.Errorf("after %d pages: %v, %.300q", lives(t, count), names, notes)
	}
}

// TestListsStayShort: whatever programs declare, a list of all tools fits into a message.
func TestListsStayShort(t *testing.T) {
	properties := map[string]any{}
	for i := range 100 {
		properties[fmt.Sprint("p", i)] = map[string]any{"type": "string", "description": strings.Repeat("x", 900)}
	}
	one := collection{source: &Source{Kind: MCP, Alias: "s"}}
	for n := 0; one.add(declared{Name: fmt.Sprint("t", n), Schema: map[string]any{"type": "object", "properties": properties}}); n++ {
	}
	if n := len(one.out.tools); n < 5 || n > 12 || !strings.Contains(one.out.notes[0].Text, "1 MiB") {
		t.Errorf("of one program %d are listed, %v", n, one.out.notes)
	}
	var offers []offer
	for i := range 100 {
		offers = append(offers, offer{tools: slices.Clone(one.out.tools)})
		for n := range offers[i].tools {
			offers[i].tools[n].Name = fmt.Sprint("s", i, "__t", n)
		}
	}
	size := 0
	tools, notes := New(Options{}).merge(offers)
	for _, t := range tools {
		size += len(t.Schema)
	}
	if size > 16<<20 || len(tools) < 100 || len(notes) == 0 || !strings.Contains(notes[0].Text, "16 MiB") {
		t.Errorf("%d tools with %d bytes, %v", len(tools), size, notes)
	}
}

// TestNamesForTheShell: the name of a tool is a word on a command line.
func TestNamesForTheShell(t *testing.T) {
	r := newRig(t, Source{Kind: Command, Call: "echo", Line: `cat list.json`})
	list := []map[string]string{{"name": "fine_1.2-x"}}
	for _, bad := range []string{"a;touch broken", "a$(touch broken)", "a`touch broken`", "a b", "a&touch broken", "a>broken", "a\ntouch broken", "a'", `a"`, "a|b", "a\\"} {
		list = append(list, map[string]string{"name": bad})
	}
	text, err := json.Marshal(list)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(r.dir, "list.json"), text, 0o600))
	names, notes := r.names()
	for _, name := range names {
		if got, err := r.call(name, `{}`); err != nil || got.Parts[0].Text != name+"\n" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "broken")); err == nil {
		t.Error("a name was run")
	}
	if !slices.Equal(names, []string{"fine_1.2-x"}) || len(notes) != len(list)-1 {
		t.Errorf("listed: %v, %q", names, notes)
	}
}

// TestListsInLists are read one deep: whoever nests them deeper wants them read again and again.
func TestListsInLists(t *testing.T) {
	text := strings.Repeat(`[{"functionDeclarations":`, 2000) + `[{"name":"x"}]` + strings.Repeat("}]", 2000)
	if all, err := readDeclarations([]byte(text)); err != nil || len(all) != 1 || all[0].Name != "" {
		t.Errorf("read as %+v, %v", all, err)
	}
}

// TestAnotherServerBehindAName: what was approved for one is not done by another, however it
// declares itself.
func TestAnotherServerBehindAName(t *testing.T) {
	one, other := over("s", "well"), over("s", "well", "another")
	r := newRig(t, one)
	do := r.tool("s__do")
	other.Dir = r.dir
	r.Configure([]Source{other})
	if got, err := r.Call(r.ctx(), do, json.RawMessage(`{}`), 1000); fault.CodeOf(err) != fault.ConcurrentModification {
		t.Errorf("%+v, %v", got, err)
	}
	secret := Source{Kind: MCP, Alias: "s", URL: "https://example.org/mcp?key=1"}
	again := secret
	again.URL = "https://example.org/mcp?key=2"
	if a, b := offered(t, &secret, declared{Name: "x"}), offered(t, &again, declared{Name: "x"}); a.Definition != b.Definition {
		t.Error("a key in the address changes the definition")
	}
}

// offered is the tool that comes of a declaration.
func offered(t *testing.T, source *Source, d declared) Tool {
	t.Helper()
	c := collection{source: source}
	c.add(d)
	if len(c.out.tools) != 1 {
		t.Fatalf("refused: %v", c.out.notes)
	}
	return c.out.tools[0]
}

// TestServersOfEveryAge: one that passes over what it does not know, and one that knows the
// newest way of saying hello alone.
func TestServersOfEveryAge(t *testing.T) {
	for _, kind := range []string{"knows little", "knows the newest alone"} {
		r := newRig(t, over("s", kind))
		if names, notes := r.names(); len(notes) > 0 {
			t.Errorf("%s: %v, %q", kind, names, notes)
			continue
		}
		r.says("s__do", `{}`, "done")
	}
}

// TestNonsenseIsNoEnd: a server that answers one call badly runs on.
func TestNonsenseIsNoEnd(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	r := newRig(t, over("s", "answers nonsense", count))
	for range mostRestarts + 2 {
		if _, err := r.call("s__do", `{}`); !strings.Contains(fmt.Sprint(err), "answer") || strings.Contains(err.Error(), "ended") {
			t.Errorf("%v", err)
		}
	}
	if lives(t, count) != 1 {
		t.Errorf("it had %d lives", lives(t, count))
	}
}

// TestSecretsAreNotRepeated: not what a program prints as it ends, nor what HTTP says of an
// address.
func TestSecretsAreNotRepeated(t *testing.T) {
	program := over("s", "tells its secret")
	program.Env = map[string]string{"TOKEN": "swordfish"}
	sources := map[string]Source{"printed": program}
	for name, handler := range map[string]http.HandlerFunc{
		"not there": http.NotFound,
		"no JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "{")
		}, //nolint:errcheck // the client sees
		"text": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "swordfish") }, //nolint:errcheck // the client sees
		"error": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization")+r.URL.String(), 500)
		},
		"told back": tellBack,
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
		},
		"round": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		},
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		web := httptest.NewServer(handler)
		t.Cleanup(web.Close)
		sources[name] = Source{Kind: MCP, Alias: "s", URL: web.URL + "/swordfish/?key=swordfish", Headers: map[string]string{"Authorization": "Bearer swordfish"}}
	}
	sources["no host"] = Source{Kind: MCP, Alias: "s", URL: "http://127.0.0.1:1/?key=swordfish"}
	for name, source := range sources {
		r := newPatientRig(t, source)
		_, notes := r.names()
		if len(notes) != 1 || strings.Contains(notes[0], "swordfish") {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

// TestFailuresDoNotTellSecrets: what a tool says as it fails is read by more than its agent.
func TestFailuresDoNotTellSecrets(t *testing.T) {
	source := over("s", "fails with its secret")
	source.Env = map[string]string{"TOKEN": "swordfish"}
	r := newRig(t, source)
	if got, err := r.call("s__do", `{}`); err != nil || !got.Failed || got.Parts[0].Text != "bad token (hidden)" {
		t.Errorf("%+v, %v", got, err)
	}
}

// tellBack answers each request with an error that has its headers in it.
func tellBack(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID json.RawMessage `json:"id"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil || q.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, q.ID, r.Header.Get("Authorization")+" "+r.URL.String())
}

// TestHeadersStayEncrypted: they are not sent on where a redirect leaves TLS.
func TestHeadersStayEncrypted(t *testing.T) {
	s := newServer(Options{}, &Source{Kind: MCP, URL: "https://example.org/mcp"})
	request := func(url string) *http.Request {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
		must(t, err)
		return q
	}
	check := s.httpClient().CheckRedirect
	for url, fine := range map[string]bool{"https://example.org/other": true, "http://example.org/mcp": false, "https://example.org:8443/mcp": false, "https://example.com/mcp": false} {
		if err := check(request(url), []*http.Request{request("https://example.org/mcp")}); (err == nil) != fine {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestBodiesWithoutEnd are read as far as a message may go, whatever they claim to be.
func TestBodiesWithoutEnd(t *testing.T) {
	for name, status := range map[string]int{"text/event-stream": 400, "application/json": 400, "application/json; charset=utf-8": 200} {
		sent := make(chan int, 10)
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", name)
			w.WriteHeader(status)
			sent <- pour(w, strings.Repeat("x", 1<<20), 200<<20)
		}))
		t.Cleanup(web.Close)
		t.Cleanup(web.CloseClientConnections)
		r := newRig(t, Source{Kind: MCP, Alias: "s", URL: web.URL})
		if _, notes := r.names(); len(notes) != 1 {
			t.Errorf("%s: %q", name, notes)
		}
		if n := <-sent; n > 64<<20 {
			t.Errorf("%s: %d MiB were read", name, n>>20)
		}
	}
}

// pour writes blocks until the reader leaves, or so many bytes, and counts them.
func pour(w io.Writer, block string, most int) (n int) {
	for n < most {
		more, err := io.WriteString(w, block)
		if n += more; err != nil {
			break
		}
	}
	return n
}

// TestAStreamThatGoesOn after its answer is left.
func TestAStreamThatGoesOn(t *testing.T) {
	sent := make(chan int, 10)
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return goodServer(t.Context()) }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(text)))
		inner.ServeHTTP(w, r)
		if !strings.Contains(string(text), "tools/call") {
			return
		}
		sent <- pour(w, ":"+strings.Repeat("x", 1<<20)+"\n", 400<<20)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	r := newRig(t, Source{Kind: MCP, Alias: "s", URL: web.URL})
	r.says("s__add", `{"a":1,"b":2}`, "3")
	if n := <-sent; n > 64<<20 {
		t.Errorf("%d MiB were read", n>>20)
	}
}
