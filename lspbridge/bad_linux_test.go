package lspbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"pillion/internal/wire"
)

func init() {
	programs["bad"] = playBad
	children = func() (found []string) {
		files, _ := filepath.Glob("/proc/[0-9]*/stat") //nolint:errcheck // the pattern is right
		for _, file := range files {
			stat, _ := os.ReadFile(file) //nolint:errcheck // it has just gone
			_, rest, _ := strings.Cut(string(stat), ") ")
			if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
				found = append(found, string(stat))
			}
		}
		return found
	}
}

// bad is a program of its own that plays a server which does what its script says, and
// else is a fake that is good. What is hovered over in line 1 sets off most badScripts.
type bad struct {
	fake
	life    int // how often it was started, with this time
	replies atomic.Int64

	opening sync.Mutex // guards open
	open    []string
}

// script is called with each message, first with "start". It says if it took it.
type script func(b *bad, ctx context.Context, method string, req *wire.Request) (result any, took bool)

// atHover is a script for line 1.
func atHover(do func(b *bad, ctx context.Context, req *wire.Request) any) script {
	return func(b *bad, ctx context.Context, method string, req *wire.Request) (any, bool) {
		if method != "textDocument/hover" || !strings.Contains(string(req.Params), `"line":1`) {
			return nil, false
		}
		return do(b, ctx, req), true
	}
}

// at is a script for one method.
func atMethod(name string, do func(b *bad)) script {
	return func(b *bad, _ context.Context, method string, _ *wire.Request) (any, bool) {
		if method == name {
			do(b)
		}
		return nil, false
	}
}

// firstLife has a script count once.
func firstLife(s script) script {
	return func(b *bad, ctx context.Context, method string, req *wire.Request) (any, bool) {
		if b.life > 1 {
			return nil, false
		}
		return s(b, ctx, method, req)
	}
}

func forever() {
	for { // without cgo an empty select is a deadlock
		time.Sleep(time.Hour)
	}
}

var badScripts = map[string]script{
	"good": func(*bad, context.Context, string, *wire.Request) (any, bool) { return nil, false },
	"crashes on start": atMethod("start", func(*bad) {
		fmt.Fprintln(os.Stderr, "some words\nno module named so")
		syscall.Exit(3)
	}),
	"crashes at a document": atMethod("textDocument/didOpen", func(b *bad) {
		if slices.Contains(b.documents(), "poison.py") {
			syscall.Exit(4)
		}
	}),
	"crashes when asked":  crashes,
	"hangs":               atHover(func(*bad, context.Context, *wire.Request) any { forever(); return nil }),
	"sends garbage first": atMethod("start", func(b *bad) { b.raw("Welcome to the server!\n\n") }),
	"hangs in shutdown":   atMethod("shutdown", func(*bad) { forever() }),
	"ignores shutdown":    ignores,
	"is stopped": atHover(func(*bad, context.Context, *wire.Request) any {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		forever() // the thread that sent the signal may run on for a moment
		return nil
	}),
	"closes its output": firstLife(atHover(func(*bad, context.Context, *wire.Request) any { os.Stdout.Close(); forever(); return nil })),
	"leaves children":   leaves,
	"answers late":      atHover(func(b *bad, ctx context.Context, _ *wire.Request) any { <-ctx.Done(); return b.state("late") }),
	"answers twice": atHover(func(b *bad, _ context.Context, req *wire.Request) any {
		b.frame(answerTo(req.ID, `null`))
		return b.state("second")
	}),
	"answers what nobody asked": atHover(func(b *bad, _ context.Context, _ *wire.Request) any {
		for i := range 1000 {
			b.frame(answerTo(fmt.Sprint(1000+i), `null`))
		}
		b.frame(answerTo(`"x"`, `null`) + " ")
		b.frame(answerTo(`null`, `null`))
		b.frame(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
		return b.state("asked")
	}),
	"sends garbage": firstLife(atHover(func(b *bad, _ context.Context, _ *wire.Request) any {
		b.raw("Traceback (most recent call last):\n  File \"x\"\n\n")
		forever()
		return nil
	})),
	"sends what is no message": atHover(func(b *bad, _ context.Context, req *wire.Request) any {
		for _, body := range []string{`nothing`, `[]`, `7`, `{}`, `{"method":7}`, "\xff\xfe", strings.Repeat("[", 10000)} {
			b.frame(body)
		}
		return b.state("all the same")
	}),
	"sends half a frame and ends": atHover(func(b *bad, _ context.Context, req *wire.Request) any {
		b.raw("Content-Length: 1000\r\n\r\n" + answerTo(req.ID, `null`))
		syscall.Exit(0)
		return nil
	}),
	"sends half a frame and hangs": firstLife(atHover(func(b *bad, _ context.Context, req *wire.Request) any {
		b.raw("Content-Length: 1000\r\n\r\n" + answerTo(req.ID, `null`))
		forever()
		return nil
	})),
	"sends 100 MB": atHover(func(b *bad, ctx context.Context, req *wire.Request) any {
		body := answerTo(req.ID, `"`+strings.Repeat("x", 1<<20)+`"`)
		b.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+99<<20, body))
		spaces := strings.Repeat(" ", 1<<20)
		for range 99 {
			b.raw(spaces)
		}
		<-ctx.Done()
		return nil
	}),
	"answers in another shape": atHover(func(*bad, context.Context, *wire.Request) any { return json.RawMessage(`{"contents":`) }),
	"floods": atHover(func(b *bad, _ context.Context, _ *wire.Request) any {
		b.flood(2000)
		return b.state("flooded")
	}),
	"floods without end": atHover(func(b *bad, _ context.Context, _ *wire.Request) any {
		go func() {
			for {
				b.flood(100)
			}
		}()
		return b.state("flooding")
	}),
	"floods stderr": atHover(func(b *bad, _ context.Context, _ *wire.Request) any {
		go func() {
			for {
				fmt.Fprintln(os.Stderr, strings.Repeat("trouble ", 1000))
			}
		}()
		return b.state("flooding")
	}),
	"asks without end": atHover(func(b *bad, _ context.Context, _ *wire.Request) any {
		const most = 3000
		for i := range most {
			b.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":{"items":[{}],"registrations":[{"id":"%[1]d","method":"x"}]}}`, i,
				[]string{"workspace/configuration", "client/registerCapability", "workspace/applyEdit", "unheard/of"}[i%4]))
		}
		for b.replies.Load() < most {
			runtime.Gosched()
		}
		return b.state("answered")
	}),
}

var crashes = atHover(func(*bad, context.Context, *wire.Request) any {
	syscall.Exit(5)
	return nil
})

func ignores(b *bad, _ context.Context, method string, _ *wire.Request) (any, bool) {
	return nil, method == "shutdown" || method == "exit"
}

// leaves children that ignore what they can, and crashes.
func leaves(b *bad, ctx context.Context, method string, req *wire.Request) (any, bool) {
	switch method {
	case "start":
		for _, line := range []string{"trap '' TERM HUP INT; sleep 999; sleep 999", "setsid sleep 999 & sleep 999"} {
			if err := exec.Command("/bin/sh", "-c", line).Start(); err != nil {
				panic(err)
			}
		}
	case "exit":
		return nil, true
	}
	return crashes(b, ctx, method, req)
}

func answerTo(id, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// blocking are pipes that are written as any program does: until all is written.
type blocking struct {
	io.Reader
	io.Writer
}

func (blocking) Close() error { return nil }

// playBad is the program: its arguments are a script and a file that counts lives.
func playBad(args []string) int {
	count, err := os.OpenFile(args[1], os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return 1
	}
	_, _ = count.WriteString("x")
	info, err := count.Stat()
	if err != nil {
		return 1
	}
	b := &bad{life: int(info.Size()), fake: fake{offers: hovers, answers: map[string]func(json.RawMessage) (any, error){}}}
	play := badScripts[args[0]]
	play(b, context.Background(), "start", nil)
	conn := wire.NewConn(blocking{os.Stdin, os.Stdout}, wire.Options{
		Logf: func(string, ...any) { b.replies.Add(1) }, // of replies to what it did not ask itself
		Handler: func(ctx context.Context, conn *wire.Conn, req *wire.Request) (any, error) {
			b.note(req)
			if result, took := play(b, ctx, req.Method, req); took {
				return result, nil
			}
			switch req.Method {
			case "textDocument/hover":
				return b.state("well"), nil
			case "exit":
				syscall.Exit(0)
			}
			return b.handle(ctx, conn, req)
		},
	})
	<-conn.Done()
	return 0
}

// note keeps what is open.
func (b *bad) note(req *wire.Request) {
	var p struct {
		TextDocument struct{ URI string }
	}
	if req.Method != "textDocument/didOpen" || json.Unmarshal(req.Params, &p) != nil {
		return
	}
	b.opening.Lock()
	defer b.opening.Unlock()
	b.open = append(b.open, filepath.Base(p.TextDocument.URI))
}

func (b *bad) documents() []string {
	b.opening.Lock()
	defer b.opening.Unlock()
	return slices.Sorted(slices.Values(b.open))
}

// state is what it says of what is hovered over.
func (b *bad) state(how string) any {
	return map[string]string{"contents": fmt.Sprintf("%s in life %d with %s", how, b.life, strings.Join(b.documents(), " "))}
}

// raw writes what nobody looks after.
func (b *bad) raw(text string) { _, _ = io.WriteString(os.Stdout, text) }

func (b *bad) frame(body string) { b.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)) }

// flood sends so many of each notification that we keep anything of.
func (b *bad) flood(n int) {
	b.opening.Lock()
	defer b.opening.Unlock()
	long := strings.Repeat("so much ", 100)
	for i := range n {
		for method, params := range map[string]string{
			"textDocument/publishDiagnostics": fmt.Sprintf(`{"uri":"file://%s/%d.py","diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"%s"}]}`, mustWd(), i, long),
			"window/logMessage":               fmt.Sprintf(`{"type":1,"message":"%s"}`, long),
			"$/progress":                      fmt.Sprintf(`{"token":%d,"value":{"kind":"begin","title":"%s"}}`, i, long),
			"telemetry/event":                 `"` + long + `"`,
			"$/unheard/of":                    `[1]`,
		} {
			b.frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
		}
		b.frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file://%s/a.py","diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"%d %s"}]}}`, mustWd(), i, long))
	}
}

func mustWd() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}
