package lspbridge

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"pillion/internal/wire"
)

// fake is a server that answers as its test says, in this process.
type fake struct {
	offers  string                                               // its capabilities, as JSON
	answers map[string]func(params json.RawMessage) (any, error) // by method

	mu    sync.Mutex // guards all below
	holds string     // a method that is answered only when it is cancelled
	stuck string     // a method at which it reads no further
	got   []sent
	conn  *wire.Conn
	kill  func()
	runs  int
	ends  int
}

// sent is a message that the fake was sent.
type sent struct {
	method string
	params string
}

// serve has the rig's settings name a fake for files of Python.
func (r *rig) serve(offers string) *fake {
	f := &fake{offers: offers, answers: map[string]func(json.RawMessage) (any, error){}}
	r.fakes["fake"] = f
	r.settings.Servers = []Server{{Name: "fake", Command: []string{"fake"}, Languages: []string{"python"}}}
	return f
}

// answer has the fake answer a method with some JSON.
func (f *fake) answer(method, result string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[method] = func(json.RawMessage) (any, error) { return json.RawMessage(result), nil }
}

// set changes what it does.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) connection() *wire.Conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.conn
}

func (f *fake) spawn() (Child, error) {
	theirIn, in := io.Pipe() // which a synctest bubble can wait for
	out, theirOut := io.Pipe()
	done := make(chan struct{})
	conn := wire.NewConn(wire.Stdio(slow{theirIn, done}, theirOut), wire.Options{
		Handler: f.handle, Logf: func(string, ...any) {},
		Inline: func(method string) bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			return method == f.stuck
		},
	})
	kill := func() { _ = conn.Close() }
	go func() {
		<-conn.Done()
		f.mu.Lock()
		f.ends++
		f.mu.Unlock()
		close(done)
	}()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conn, f.kill = conn, kill
	f.runs++
	return Child{Stdin: in, Stdout: out, Done: done, Stderr: func() string { return "" }, Kill: kill}, nil
}

// slow takes a moment to read, so that in a bubble nothing is at the same time as its answer.
type slow struct {
	io.ReadCloser
	ended <-chan struct{}
}

func (s slow) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	select {
	case <-time.After(time.Millisecond):
	case <-s.ended:
	}
	return n, err
}

func (f *fake) handle(ctx context.Context, conn *wire.Conn, req *wire.Request) (any, error) {
	f.mu.Lock()
	f.got = append(f.got[max(0, len(f.got)-1000):], sent{req.Method, sorted(req.Params)})
	answer, holds, stuck := f.answers[req.Method], f.holds == req.Method, f.stuck == req.Method
	f.mu.Unlock()
	if stuck {
		<-ctx.Done() // it ends
	}
	if holds {
		<-ctx.Done()
		f.mu.Lock()
		f.got = append(f.got, sent{"cancelled", req.Method})
		f.mu.Unlock()
		return nil, ctx.Err()
	}
	switch {
	case answer != nil:
		return answer(req.Params)
	case req.Method == "initialize":
		return json.RawMessage(`{"capabilities":` + f.offers + `}`), nil
	case req.Method == "exit":
		go conn.Close()
	}
	return nil, nil
}

// sorted has the members of each object in the order of their names.
func sorted(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	out, _ := json.Marshal(value)
	return string(out)
}

// ask has the fake ask the bridge.
func (f *fake) ask(t testing.TB, method, params string) (string, error) {
	conn := f.connection()
	var result json.RawMessage
	err := conn.Call(t.Context(), method, json.RawMessage(params), &result)
	return string(result), err
}

// messages are those that the fake was sent whose methods begin so, as "method params".
func (f *fake) messages(prefix string) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.got {
		if strings.HasPrefix(m.method, prefix) {
			out = append(out, m.method+" "+m.params)
		}
	}
	return out
}

// running is how many of it run.
func (f *fake) running() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs - f.ends
}

// forget empties the list of messages.
func (f *fake) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = nil
}

const hovers = `{"hoverProvider":true,"textDocumentSync":{"openClose":true,"change":2,"save":{}}}`

// started has the server of a.py run.
func (r *rig) started() {
	r.Helper()
	_, _, err := r.bridge.Hover(r.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
	r.Must(err)
}

// TestWhatAServerAsks holds an answer to everything that a server may ask.
func TestWhatAServerAsks(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "x = 1\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		r.settings.Servers[0].Settings = []byte(`{"fake":{"lint":{"on":true}},"with.dots":7}`)
		r.started()
		root := r.path(".").URI()
		for _, c := range []struct{ method, params, want string }{
			{
				"workspace/configuration", `{"items":[{"section":"fake.lint.on"},{"section":"nothing"},{"section":"fake"},{},{"section":"with.dots"},{"section":"fake.lint.on.deeper"}]}`,
				`[true,null,{"lint":{"on":true}},{"fake":{"lint":{"on":true}},"with.dots":7},7,null]`,
			},
			{"window/workDoneProgress/create", `{"token":1}`, `null`},
			{"client/registerCapability", `{"registrations":[{"id":"1","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.py"}]}}]}`, `null`},
			{"client/unregisterCapability", `{"unregisterations":[{"id":"1","method":"workspace/didChangeWatchedFiles"}]}`, `null`},
			{"workspace/workspaceFolders", `{}`, `[{"name":"` + r.path(".").Base() + `","uri":"` + root + `"}]`},
			{"workspace/applyEdit", `{"edit":{}}`, `{"applied":false,"failureReason":"changes are made by those who ask for them"}`},
			{"window/showMessageRequest", `{"type":1,"message":"Really?","actions":[{"title":"Yes"}]}`, `null`},
			{"window/showDocument", `{"uri":"file:///etc/passwd"}`, `{"success":false}`},
			{"workspace/semanticTokens/refresh", `{}`, `null`},
		} {
			got, err := f.ask(t, c.method, c.params)
			if err != nil || sorted(json.RawMessage(got)) != sorted(json.RawMessage(c.want)) {
				t.Errorf("%s: %s, %v, want %s", c.method, got, err, c.want)
			}
		}
		_, err := f.ask(t, "fake/unheardOf", `{}`)
		if said, ok := err.(*wire.Error); !ok || said.Code != wire.CodeMethodNotFound { //nolint:errorlint // Call gives it as it is
			t.Errorf("an unknown request: %v", err)
		}
	})
}
