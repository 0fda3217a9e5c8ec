package found

import (
	"context"
	"encoding/base64"
	"encoding/json"
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
	"pillion/tools/process"
)

const patience = time.Minute

// rig is a set on servers that run.
type rig struct {
	*Set
	t       *testing.T
	dir     string
	changed chan struct{}
}

func newRig(t *testing.T, sources ...Source) *rig {
	t.Helper()
	return newRigOf(t, Options{leaving: 100 * time.Millisecond}, sources...)
}

// newPatientRig is for servers that end by themselves, which it waits to see.
func newPatientRig(t *testing.T, sources ...Source) *rig {
	t.Helper()
	return newRigOf(t, Options{leaving: 4 * patience}, sources...)
}

func newRigOf(t *testing.T, o Options, sources ...Source) *rig {
	t.Helper()
	runner, err := process.NewRunner()
	must(t, err)
	r := &rig{t: t, dir: t.TempDir(), changed: make(chan struct{}, 1)}
	o.Runner, o.Taken, o.backoff = runner, []string{"write_file", "git.push"}, time.Millisecond
	o.listing, o.ready = patience, patience
	o.LookPath = func(name string) (string, error) { return name, nil }
	o.Changed = func() {
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}
	r.Set = New(o)
	t.Cleanup(func() {
		r.Close()
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range sources {
		if sources[i].Dir == "" {
			sources[i].Dir = r.dir
		}
	}
	r.Configure(sources)
	return r
}

// over is a server that this binary plays.
func over(alias, kind string, args ...string) Source {
	return Source{Kind: MCP, Alias: alias, Args: append([]string{os.Args[0], "server", kind}, args...)}
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) names() (names, notes []string) {
	tools, said := r.List(r.ctx())
	for _, t := range tools {
		names = append(names, t.Name)
	}
	for _, n := range said {
		notes = append(notes, n.Source+": "+n.Text)
	}
	return names, notes
}

func (r *rig) tool(name string) Tool {
	r.t.Helper()
	t, ok, err := r.Find(r.ctx(), name)
	if !ok || err != nil {
		r.t.Fatalf("%s was not found: %v", name, err)
	}
	return t
}

func (r *rig) call(name, arguments string) (Result, error) {
	r.t.Helper()
	return r.Call(r.ctx(), r.tool(name), json.RawMessage(arguments), 1<<20)
}

func (r *rig) says(name, arguments, want string) {
	r.t.Helper()
	got, err := r.call(name, arguments)
	if err != nil || len(got.Parts) == 0 || got.Parts[0].Text != want {
		r.t.Errorf("%s gave %+v, %v, want %q", name, got, err, want)
	}
}

func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	end := time.After(patience)
	for !holds() {
		select {
		case <-r.changed:
		case <-time.After(20 * time.Millisecond):
		case <-end:
			r.t.Fatalf("never: %s", what)
		}
	}
}

func lives(t *testing.T, file string) int {
	text, err := os.ReadFile(file)
	must(t, err)
	return strings.Count(string(text), "life")
}

// TestAServer over its pipes and over HTTP gives the same.
func TestAServer(t *testing.T) {
	t.Setenv("MY_SECRET", "swordfish")
	web := httptest.NewServer(guarded(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return goodServer(t.Context()) }, nil)))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	for name, source := range map[string]Source{
		"pipes": over("s", "good"),
		"HTTP":  {Kind: MCP, Alias: "s", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer tok"}},
	} {
		t.Run(name, func(t *testing.T) {
			source.Env = map[string]string{"GIVEN": "yes"}
			r := newRig(t, source)
			names, notes := r.names()
			if !slices.Contains(names, "s__add") || !slices.Contains(names, "s__write_file") || len(notes) > 0 {
				t.Fatalf("found %v, %v", names, notes)
			}
			add := r.tool("s__add")
			if add.Description != "Adds two numbers." || add.Own != "add" || add.Check(map[string]any{"a": 1.0, "b": 2.0}) != nil || add.Check(map[string]any{"a": "1", "b": 2.0}) == nil || !add.Closed {
				t.Errorf("found %+v", add)
			}
			if claims := r.tool("s__write_file").Claims; len(claims) != 2 || claims[0] != "only reads" {
				t.Errorf("it claims %q", claims)
			}
			r.says("s__add", `{"a":1,"b":2}`, "3")
			r.says("s__structure", `{}`, `{"n":1}`)
			media, err := r.call("s__media", `{}`)
			if err != nil || len(media.Parts) != 5 || media.Parts[1].Type != "image" || media.Parts[1].Data != base64.StdEncoding.EncodeToString([]byte("png")) || media.Parts[2].MIMEType != "audio/wav" || media.Parts[3].Text != "inside" {
				t.Errorf("media: %+v, %v", media, err)
			}
			if failed, err := r.call("s__fails", `{}`); err != nil || !failed.Failed || failed.Parts[0].Text != "the disk is full" {
				t.Errorf("a failure: %+v, %v", failed, err)
			}
			if _, err := r.call("s__errs", `{}`); fault.CodeOf(err) != fault.ExecutionFailed || !strings.Contains(err.Error(), "no such thing") {
				t.Errorf("an error: %v", err)
			}
			if huge, err := r.call("s__huge", `{}`); err != nil || len(huge.Parts[0].Text) != 1<<20 || huge.Left != 1<<20 {
				t.Errorf("of a huge result %d bytes are left out, %v", huge.Left, err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			if _, err := r.Call(ctx, r.tool("s__slow"), json.RawMessage(`{}`), 1); err != context.DeadlineExceeded { //nolint:errorlint // it is given as it is
				t.Errorf("a slow tool: %v", err)
			}
			r.says("s__add", `{"a":2,"b":2}`, "4") // it is still well
			if env, err := r.call("s__env", `{}`); name == "pipes" && (err != nil || strings.Contains(env.Parts[0].Text, "swordfish") || !strings.Contains(env.Parts[0].Text, "GIVEN=yes")) {
				t.Errorf("it sees %+v, %v", env, err)
			}
		})
	}
}

// guarded wants the header of the settings.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer tok" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func TestAListThatChanges(t *testing.T) {
	r := newRig(t, over("s", "good"))
	add := r.tool("s__add")
	r.says("s__grow", `{}`, "grows")
	r.until("the new tool is listed", func() bool { names, _ := r.names(); return slices.Contains(names, "s__grown") })
	r.says("s__grown", `{}`, "new")
	r.says("s__turn", `{}`, "turned")
	r.until("the other definition is known", func() bool { return r.tool("s__add").Definition != add.Definition })
	if _, err := r.Call(r.ctx(), add, json.RawMessage(`{"a":1,"b":2}`), 1000); fault.CodeOf(err) != fault.ConcurrentModification {
		t.Errorf("the tool that it was: %v", err)
	}
}

func TestAListThatChangesAllTheTime(t *testing.T) {
	r := newRig(t, over("s", "changes all the time"))
	first := r.tool("s__now").Definition
	r.until("another", func() bool { return r.tool("s__now").Definition != first })
	r.says("s__now", `{}`, "done")
}

func TestServersThatFail(t *testing.T) {
	for kind, c := range map[string]struct {
		rig  func(*testing.T, ...Source) *rig
		want string
	}{
		"crashes on start":       {newPatientRig, "it ended with exit code 3; it printed: no module named so"},
		"lists nonsense":         {newRig, "cannot unmarshal"},
		"never ends its message": {newRig, "a message of more than"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			count := filepath.Join(t.TempDir(), "count")
			r := c.rig(t, over("s", kind, count), over("well", "well"))
			_, notes := r.names()
			if len(notes) != 1 || !strings.HasPrefix(notes[0], "s: the MCP server s could not be started: ") || !strings.Contains(notes[0], c.want) {
				t.Errorf("noted: %q", notes)
			}
			r.says("well__do", `{}`, "done")
			if _, found, err := r.Find(r.ctx(), "s__do"); found || fault.CodeOf(err) != fault.ExecutionFailed {
				t.Errorf("its tool: %v, %v", found, err)
			}
		})
	}
}

// TestAServerThatCrashes comes back five times in three minutes, and no more: at once, and a
// call does not fail for what happened before it.
func TestAServerThatCrashes(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	r := newPatientRig(t, over("s", "crashes at a call", count))
	do := r.tool("s__do")
	for life := 1; life <= mostRestarts+1; life++ {
		_, err := r.Call(r.ctx(), do, json.RawMessage(`{}`), 1000)
		if fault.CodeOf(err) != fault.ExecutionFailed || !strings.Contains(err.Error(), `it ended with exit code 7; it printed: boom\x1b[31m`) && !strings.Contains(err.Error(), `boom\u001b[31m`) || lives(t, count) != life {
			t.Fatalf("life %d of %d: %v", life, lives(t, count), err)
		}
	}
	_, err := r.Call(r.ctx(), do, json.RawMessage(`{}`), 1000)
	if fault.CodeOf(err) != fault.ExecutionFailed || !strings.Contains(err.Error(), "not started again before") || lives(t, count) != mostRestarts+1 {
		t.Errorf("after %d lives: %v", lives(t, count), err)
	}
	if names, notes := r.names(); !slices.Equal(names, []string{"s__do"}) || len(notes) != 1 {
		t.Errorf("what was known is %v, %v", names, notes)
	}
}

func TestAServerThatSaysNothing(t *testing.T) {
	r := newRig(t, over("s", "silent"), over("well", "well"))
	r.o.listing = 50 * time.Millisecond
	r.until("the other's tools are listed", func() bool { names, _ := r.names(); return len(names) > 0 })
	if _, notes := r.names(); len(notes) != 1 || !strings.Contains(notes[0], "not ready yet") {
		t.Errorf("%q", notes)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for kind, want := range map[string]string{"answers nonsense": "", "never ends its answer": "a message of more than"} {
		r := newRig(t, over("s", kind))
		if got, err := r.call("s__do", `{}`); fault.CodeOf(err) != fault.ExecutionFailed || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}

func TestNamesThatHide(t *testing.T) {
	r := newRig(t, over("s", "hides"))
	names, notes := r.names()
	if want := []string{"s__9lives", "s__a_b_c", "s__list_a11", "s__read", "s__said"}; !slices.Equal(names, want) {
		t.Errorf("listed: %v", names)
	}
	for _, want := range []string{`re\u0430d`, `rea\u200bd`, `rea\u202ed`, "READ is refused: its name can be taken for that of the tool s__read", "list_all", "a_b.c", "characters", "which models cannot write"} {
		if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("no note says %s: %q", want, notes)
		}
	}
	if said := r.tool("s__said").Description; said != "Plain text" {
		t.Errorf("it says %q", said)
	}
}

func TestMoreToolsThanAnybodyNeeds(t *testing.T) {
	r := newRig(t, over("s", "offers many"))
	if names, notes := r.names(); len(names) != mostTools || len(notes) != 1 {
		t.Errorf("%d are listed, %q", len(names), notes)
	}
}

// TestWithoutAnAlias: tools keep their names, and none can have that of a tool of ours.
func TestWithoutAnAlias(t *testing.T) {
	r := newRig(t, Source{Kind: MCP, Line: "'" + os.Args[0] + "' server good"})
	names, notes := r.names()
	if !slices.Contains(names, "add") || slices.Contains(names, "write_file") || len(notes) != 1 || !strings.Contains(notes[0], "Pillion's own tool write_file") {
		t.Errorf("found %v, %q", names, notes)
	}
	r.says("add", `{"a":1,"b":2}`, "3")
}

func TestACommand(t *testing.T) {
	list := `[{"name": "weather", "description": "Says the weather.", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}},
		{"function_declarations": [{"name": "fails", "parametersJsonSchema": {"type": "object"}}, {"name": "git_push"}]}]`
	r := newRig(t, Source{
		Kind: Command, Line: "echo noise >&2; cat list.json",
		Call: `sh -c 'if [ "$1" = fails ]; then echo half; echo "no luck" >&2; exit 4; fi; echo trouble >&2; echo "$1 $(cat)"' --`,
	})
	must(t, os.WriteFile(filepath.Join(r.dir, "list.json"), []byte(list), 0o600))
	names, notes := r.names()
	if !slices.Equal(names, []string{"fails", "weather"}) || len(notes) != 1 || !strings.Contains(notes[0], "git.push") {
		t.Fatalf("found %v, %q", names, notes)
	}
	weather := r.tool("weather")
	if weather.Check(map[string]any{"city": "Rome"}) != nil || weather.Check(map[string]any{}) == nil || string(weather.Schema) != `{"properties":{"city":{"type":"string"}},"required":["city"],"type":"object"}` {
		t.Errorf("found %+v: %s", weather, weather.Schema)
	}
	r.says("weather", `{"city":"Rome"}`, "weather {\"city\":\"Rome\"}\n")
	if got, err := r.call("fails", `{}`); err != nil || !got.Failed || *got.ExitCode != 4 || !strings.Contains(got.Parts[1].Text, "no luck") {
		t.Errorf("a failure: %+v, %v", got, err)
	}
	must(t, os.WriteFile(filepath.Join(r.dir, "list.json"), []byte(`[{"name": "other"}]`), 0o600))
	if names, _ := r.names(); len(names) != 2 {
		t.Errorf("before a refresh: %v", names)
	}
	r.Refresh()
	if names, _ := r.names(); !slices.Equal(names, []string{"other"}) {
		t.Errorf("after it: %v", names)
	}
	if other := r.tool("other"); other.Check(map[string]any{}) != nil || !other.Closed {
		t.Errorf("one without parameters: %+v", other)
	}
}

func TestCommandsThatPrintNoList(t *testing.T) {
	for line, want := range map[string]string{
		"echo '{}'":                           "it must be a JSON array",
		"echo '[]'; exit 1":                   "exit code 1",
		"yes 'a long line' | head -c 3000000": "more than 1 MiB",
	} {
		r := newRig(t, Source{Kind: Command, Line: line, Call: "true"})
		if names, notes := r.names(); len(names) > 0 || len(notes) != 1 || !strings.Contains(notes[0], want) {
			t.Errorf("%s: %v, %q", line, names, notes)
		}
	}
}

// TestConfigure ends what is gone, and leaves the rest running.
func TestConfigure(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	stays, goes := over("stays", "well", count), over("goes", "well")
	r := newRig(t, stays, goes)
	if names, _ := r.names(); !slices.Equal(names, []string{"goes__do", "stays__do"}) {
		t.Fatalf("found %v", names)
	}
	gone, _ := r.all()[1].(*server)
	child := gone.client.child
	stays.Dir = r.dir
	r.Configure([]Source{stays})
	select {
	case <-child.Done():
	case <-time.After(patience):
		t.Error("what is gone runs on")
	}
	if names, _ := r.names(); !slices.Equal(names, []string{"stays__do"}) || lives(t, count) != 1 {
		t.Errorf("found %v after %d lives", names, lives(t, count))
	}
}

// TestHeadersGoNowhereElse: not where a redirect leads.
func TestHeadersGoNowhereElse(t *testing.T) {
	stolen := make(chan string, 10)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen <- r.Header.Get("Authorization") }))
	defer thief.Close()
	web := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer web.Close()
	r := newRig(t, Source{Kind: MCP, Alias: "s", URL: web.URL + "/?key=swordfish", Headers: map[string]string{"Authorization": "Bearer tok"}})
	if _, notes := r.names(); len(notes) != 1 || strings.Contains(notes[0], "swordfish") || len(stolen) > 0 {
		t.Errorf("noted: %q, and %d requests went elsewhere", notes, len(stolen))
	}
}
