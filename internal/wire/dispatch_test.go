package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestNotificationsStayInOrderAndRequestsSeeThem(t *testing.T) {
	const rounds = 2000
	var version atomic.Int64
	var disorder atomic.Int64
	p := newPeer(t, Options{Queue: rounds, Handler: func(_ context.Context, _ *Conn, req *Request) (any, error) {
		n, _ := strconv.ParseInt(strings.Trim(string(req.Params), "[]"), 10, 64)
		if req.Notification {
			if !version.CompareAndSwap(n-1, n) {
				disorder.Add(1)
			}
			return nil, nil
		}
		if version.Load() < n {
			disorder.Add(1)
		}
		return version.Load(), nil
	}})
	go func() {
		for n := 1; n <= rounds; n++ {
			p.sendf(`{"jsonrpc":"2.0","method":"change","params":[%d]}`, n)
			p.sendf(`{"jsonrpc":"2.0","id":%d,"method":"read","params":[%d]}`, n, n)
		}
	}()
	seen := map[string]bool{}
	for range rounds {
		a := p.next()
		if a.Error != nil || seen[string(a.ID)] {
			t.Fatalf("got %s", a)
		}
		seen[string(a.ID)] = true
	}
	if disorder.Load() > 0 {
		t.Errorf("%d messages saw another order", disorder.Load())
	}
}

// gated answers when its gate opens or its context ends.
func gated(g *gate) Handler {
	return func(ctx context.Context, _ *Conn, req *Request) (any, error) {
		g.arrived <- req.ID
		select {
		case <-g.open:
			return "done", nil
		case <-ctx.Done():
			return nil, fmt.Errorf("stopped: %w", ctx.Err())
		}
	}
}

func TestCancel(t *testing.T) {
	g := newGate()
	p := newPeer(t, Options{Handler: gated(g), Workers: 2})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
	p.send(`{"jsonrpc":"2.0","id":"a\u0062","method":"slow"}`)
	for range 2 {
		wait(t, g.arrived, "a request to run")
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"queued"}`)
	p.send(`{"jsonrpc":"2.0","id":4,"method":"queued"}`)

	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}`)
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":[]}}`)
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest"}`)
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"1"}}`)

	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}`)
	p.wantError("3", CodeRequestCancelled)
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"ab"}}`)
	p.wantError(`"ab"`, CodeRequestCancelled)
	if got := wait(t, g.arrived, "the queued request"); got != "4" {
		t.Fatalf("request %s ran, want 4: a cancelled one must not", got)
	}
	g.release()
	for range 2 {
		if a := p.next(); a.Error != nil {
			t.Errorf("got %s", a)
		}
	}
	// A finished request is unknown, and its id is free again.
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"again"}`)
	p.wantResult("1", `"done"`)
}

// TestTheEndOfCancelledWork: a result counts, any error is a cancellation.
func TestTheEndOfCancelledWork(t *testing.T) {
	started := make(chan struct{})
	p := newPeer(t, Options{Handler: func(ctx context.Context, _ *Conn, req *Request) (any, error) {
		started <- struct{}{}
		<-ctx.Done()
		if req.Method == "run" {
			return nil, errors.New("signal: killed")
		}
		return "written all the same", nil
	}})
	for _, method := range []string{"write", "run"} {
		p.sendf(`{"jsonrpc":"2.0","id":1,"method":%q}`, method)
		<-started
		p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
		if method == "write" {
			p.wantResult("1", `"written all the same"`)
		} else {
			p.wantError("1", CodeRequestCancelled)
		}
	}
}

func TestWaitingRequestsRunInOrderAndAreBounded(t *testing.T) {
	g := newGate()
	p := newPeer(t, Options{Handler: gated(g), Workers: 1, Queue: 3})
	for id := 1; id <= 4; id++ {
		p.sendf(`{"jsonrpc":"2.0","id":%d,"method":"slow"}`, id)
	}
	p.send(`{"jsonrpc":"2.0","id":5,"method":"slow"}`)
	p.wantError("5", CodeBusy)
	g.release()
	for _, want := range []string{"1", "2", "3", "4"} {
		p.wantResult(want, `"done"`)
	}
	p.send(`{"jsonrpc":"2.0","id":5,"method":"slow"}`)
	p.wantResult("5", `"done"`)
}

func TestRequestsAreBoundedInBytes(t *testing.T) {
	g := newGate()
	p := newPeer(t, Options{Handler: gated(g), Workers: 1, Budget: &Budget{limit: 4000}})
	p.send(`{"jsonrpc":"2.0","id":0,"method":"slow"}`)
	params := `["` + strings.Repeat("x", 800) + `"]`
	for id := 1; id <= 5; id++ {
		p.sendf(`{"jsonrpc":"2.0","id":%d,"method":"slow","params":%s}`, id, params)
	}
	p.wantError("5", CodeBusy)
	g.release()
	for id := range 5 {
		p.wantResult(strconv.Itoa(id), `"done"`)
	}
}

func TestARequestWithAnIDInFlightIsRefused(t *testing.T) {
	g := newGate()
	p := newPeer(t, Options{Handler: gated(g), Workers: 1})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"queued"}`)
	for _, id := range []string{"1", "2"} {
		p.sendf(`{"jsonrpc":"2.0","id":%s,"method":"slow"}`, id)
		p.wantError(id, CodeInvalidRequest)
	}
	g.release()
	p.wantResult("1", `"done"`)
	p.wantResult("2", `"done"`)
}

func TestARequestAheadWaitsForNoPlace(t *testing.T) {
	g := newGate()
	p := newPeer(t, Options{Workers: 1, Queue: 1, Ahead: func(method string) bool { return method == "kill" }, Handler: func(ctx context.Context, c *Conn, req *Request) (any, error) {
		if req.Method == "kill" {
			return "killed", nil
		}
		return gated(g)(ctx, c, req)
	}})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"work"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"work"}`)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"kill"}`)
	p.wantResult("3", `"killed"`)
	g.release()
	p.wantResult("1", `"done"`)
	p.wantResult("2", `"done"`)
}

func TestInlineRequestsRunInOrderWithNotifications(t *testing.T) {
	var order []string // without a lock: the race detector would see two goroutines
	p := newPeer(t, Options{
		Inline: func(method string) bool { return method == "shutdown" },
		Handler: func(ctx context.Context, c *Conn, req *Request) (any, error) {
			order = append(order, req.Method)
			if req.Notification {
				return nil, nil
			}
			err := c.Call(ctx, "window/showMessageRequest", nil, nil)
			return err != nil, nil
		},
	})
	p.send(`{"jsonrpc":"2.0","method":"one"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`)
	p.send(`{"jsonrpc":"2.0","method":"two"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
	p.wantResult("1", "true")
	p.wantResult("2", "true")
	p.end.Close()
	wait(t, p.conn.Done(), "the end of the connection")
	if want := []string{"one", "shutdown", "two", "shutdown"}; !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
}

func TestACallToThePeerFreesItsPlace(t *testing.T) {
	server, client := connect(t, Options{
		Workers: 1,
		Handler: func(ctx context.Context, c *Conn, req *Request) (any, error) {
			if req.Method == "read" {
				return "text", nil
			}
			return "asked", c.Call(ctx, "ask", nil, nil)
		},
	}, Options{})
	_ = server
	asked, answer := make(chan struct{}), make(chan struct{})
	client.o.Handler = func(context.Context, *Conn, *Request) (any, error) {
		close(asked)
		<-answer
		return nil, nil
	}
	edited := make(chan error, 1)
	go func() { edited <- client.Call(context.Background(), "edit", nil, nil) }()
	wait(t, asked, "the question")
	must(t, client.Call(t.Context(), "read", nil, nil))
	close(answer)
	if err := wait(t, edited, "the answer"); err != nil {
		t.Error(err)
	}
}

func TestWaitingFreesItsPlaceOnce(t *testing.T) {
	g := newGate()
	var running, most atomic.Int32
	p := newPeer(t, Options{Workers: 2, Handler: func(ctx context.Context, _ *Conn, req *Request) (any, error) {
		if req.Method == "dialog" {
			resume := Waiting(ctx)
			again := Waiting(ctx)
			again()
			g.arrived <- req.ID
			<-g.open
			resume()
			resume()
			return "asked", nil
		}
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		return "read", nil
	}})
	for id := 1; id <= 5; id++ {
		p.sendf(`{"jsonrpc":"2.0","id":%d,"method":"dialog"}`, id)
	}
	for range 5 {
		wait(t, g.arrived, "a dialog")
	}
	for id := 10; id < 60; id++ {
		p.sendf(`{"jsonrpc":"2.0","id":%d,"method":"read"}`, id)
	}
	for range 50 {
		if a := p.next(); string(a.Result) != `"read"` {
			t.Fatalf("got %s", a)
		}
	}
	if most.Load() > 2 {
		t.Errorf("%d handlers ran at once, want at most 2", most.Load())
	}
	g.release()
	for range 5 {
		if a := p.next(); string(a.Result) != `"asked"` {
			t.Fatalf("got %s", a)
		}
	}
}

func TestAPanicInANotificationIsSurvived(t *testing.T) {
	logged := make(chan string, 1)
	p := newPeer(t, Options{
		Logf: func(format string, args ...any) { logged <- fmt.Sprintf(format, args...) },
		Handler: func(_ context.Context, _ *Conn, req *Request) (any, error) {
			if req.Notification {
				panic("on purpose")
			}
			return "alive", nil
		},
	})
	p.send(`{"jsonrpc":"2.0","method":"n"}`)
	if got := wait(t, logged, "a log line"); !strings.Contains(got, "on purpose") || !strings.Contains(got, "dispatch_test.go") {
		t.Errorf("logged %q, want the reason and the stack", got)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	if got := wait(t, logged, "a log line"); !strings.Contains(got, "internal error in n") {
		t.Errorf("logged %q", got)
	}
	p.wantResult("1", `"alive"`)
}

func TestManyCallsBothWaysAtOnce(t *testing.T) {
	relay := func(ctx context.Context, c *Conn, req *Request) (any, error) {
		if req.Method == "bounce" {
			var back Raw
			err := c.Call(ctx, "echo", req.Params, &back)
			return back, err
		}
		return Raw(req.Params), nil
	}
	a, b := connect(t, Options{Handler: relay, Workers: 4}, Options{Handler: relay, Workers: 4})
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			c := []*Conn{a, b}[i%2]
			want := fmt.Sprintf(`{"n":%d,"pad":"%s"}`, i, strings.Repeat("é", i*37))
			var got Raw
			if err := c.Call(context.Background(), "bounce", Raw(want), &got); err != nil {
				t.Error(err)
			}
			if string(got) != want {
				t.Errorf("call %d got %.80q", i, got)
			}
		})
	}
	group.Wait()
}
