package acp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"pillion/internal/fault"
)

// terminals are the commands that a sub-agent started: processes of its session.
type terminals struct {
	mu     sync.Mutex // guards all below
	made   int
	limits map[string]int // how much output it wants, by name
}

// mostTerminals bounds those that are not released.
const mostTerminals = 64

// reserve makes a name.
func (t *terminals) reserve(limit *int) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.limits) >= mostTerminals {
		return "", fault.New(fault.RateLimited, "%d terminals are open; release one first", mostTerminals)
	}
	if t.limits == nil {
		t.limits = map[string]int{}
	}
	t.made++
	name := fmt.Sprintf("terminal-%d", t.made)
	t.limits[name] = 1 << 20
	if limit != nil && *limit >= 0 {
		t.limits[name] = min(*limit, 1<<20)
	}
	return name, nil
}

func (t *terminals) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.limits, name)
}

// limit is what reserve was told, if there is such a terminal.
func (t *terminals) limit(name string) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limit, open := t.limits[name]
	if !open {
		return 0, fault.New(fault.ProcessNotFound, "there is no terminal %s, or it was released", fault.Quote(fault.Clip(name, 100)))
	}
	return limit, nil
}

func (a *agent) createTerminal(ctx context.Context, p sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	name, err := a.terms.reserve(p.OutputByteLimit)
	if err != nil {
		return sdk.CreateTerminalResponse{}, err
	}
	args := map[string]any{"command": lineOf(p), "process_id": name}
	if p.Cwd != nil && *p.Cwd != "" {
		args["cwd"] = a.host.Relative(*p.Cwd)
	}
	if err := a.ask(ctx, "run_persistent", args, &struct{}{}); err != nil {
		a.terms.forget(name)
		return sdk.CreateTerminalResponse{}, err
	}
	return sdk.CreateTerminalResponse{TerminalId: name}, nil
}

// lineOf is a terminal's command as a line for /bin/sh. Without arguments the command is a
// line already: agents send what their model wrote.
func lineOf(p sdk.CreateTerminalRequest) string {
	var words []string
	for _, v := range p.Env {
		words = append(words, v.Name+"="+quoted(v.Value))
	}
	if len(p.Args) == 0 {
		return strings.Join(append(words, p.Command), " ")
	}
	words = append(words, quoted(p.Command))
	for _, arg := range p.Args {
		words = append(words, quoted(arg))
	}
	return strings.Join(words, " ")
}

// quoted is one word for a POSIX shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,@%+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// printed is the result of read_process.
type printed struct {
	Output    string `json:"output"`
	Running   bool   `json:"running"`
	ExitCode  *int   `json:"exit_code"`
	Truncated bool   `json:"truncated"`
}

func (a *agent) terminalOutput(ctx context.Context, p sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	var out sdk.TerminalOutputResponse
	limit, err := a.terms.limit(p.TerminalId)
	if err != nil {
		return out, err
	}
	var got printed
	if err := a.call(ctx, "read_process", map[string]any{"process_id": p.TerminalId}, &got); err != nil {
		return out, err
	}
	out.Output, out.Truncated = got.Output, got.Truncated || len(got.Output) > limit
	if over := len(out.Output) - limit; over > 0 {
		for over < len(out.Output) && !utf8.RuneStart(out.Output[over]) {
			over++
		}
		out.Output = out.Output[over:]
	}
	if !got.Running {
		out.ExitStatus = &sdk.TerminalExitStatus{ExitCode: got.ExitCode}
	}
	return out, nil
}

// beyond is an offset that no output reaches: whoever reads from there waits for the end.
const beyond = 1 << 52

func (a *agent) awaitTerminal(ctx context.Context, p sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	if _, err := a.terms.limit(p.TerminalId); err != nil {
		return sdk.WaitForTerminalExitResponse{}, err
	}
	for {
		var got printed
		err := a.call(ctx, "read_process", map[string]any{"process_id": p.TerminalId, "since": beyond, "wait_seconds": 30}, &got)
		if err != nil || !got.Running {
			return sdk.WaitForTerminalExitResponse{ExitCode: got.ExitCode}, err
		}
	}
}

func (a *agent) killTerminal(ctx context.Context, p sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	_, err := a.terms.limit(p.TerminalId)
	if err == nil {
		err = a.call(ctx, "kill_process", map[string]any{"process_id": p.TerminalId}, &struct{}{})
	}
	return sdk.KillTerminalResponse{}, err
}

func (a *agent) releaseTerminal(ctx context.Context, p sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	_, err := a.killTerminal(ctx, sdk.KillTerminalRequest{TerminalId: p.TerminalId})
	if err == nil {
		a.terms.forget(p.TerminalId)
	}
	return sdk.ReleaseTerminalResponse{}, err
}
