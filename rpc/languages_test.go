package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"time"

	"pillion/conversation"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
)

// editorWith is an editor that has said hello, and how the sidecar asks its servers.
func editorWith(t *testing.T, capabilities string, answer wire.Handler) Languages {
	t.Helper()
	var ask Languages
	runner, err := process.NewRunner()
	check.Must(t, err)
	here, there := net.Pipe()
	ended := make(chan int)
	go func() {
		ended <- Serve(context.Background(), there, Options{Logf: t.Logf, Start: func(s Setup) (*Core, error) {
			ask = s.Languages
			return &Core{Registry: &tools.Registry{}, Processes: process.NewTable(runner), Conversations: &conversation.Set{}, Sessions: session.NewSet(policy.Default), Close: runner.Close}, nil
		}})
	}()
	conn := wire.NewConn(here, wire.Options{Handler: answer})
	t.Cleanup(func() {
		conn.Close() //nolint:errcheck // the sidecar may have gone first
		<-ended
	})
	hello := json.RawMessage(`{"processId":null,"rootUri":null,"capabilities":{"experimental":` + capabilities + `}}`)
	check.Must(t, conn.Call(t.Context(), "initialize", hello, nil))
	return ask
}

const features = `{"pillion":{"languageFeatures":true}}`

func TestOnlyEditorsThatSaySoAreAskedAboutCode(t *testing.T) {
	for _, capabilities := range []string{`{}`, `{"pillion":{}}`, `{"pillion":{"languageFeatures":false}}`} {
		if editorWith(t, capabilities, nil) != nil {
			t.Errorf("with %s the editor would be asked", capabilities)
		}
	}
	if editorWith(t, features, nil) == nil {
		t.Error("an editor with language features is not asked")
	}
}

func TestWhatTheEditorAnswersComesAsItIs(t *testing.T) {
	answers := map[string]string{
		"editor/definition":  `[{"uri":"file:///a.py","range":{}}]`,
		"editor/diagnostics": `{"result":[],"version":null}`,
		"editor/hover":       `null`,
		"editor/references":  `{"result":null,"version":3,"server":"pylsp"}`,
		"editor/symbols":     `[]`,
	}
	ask := editorWith(t, features, func(_ context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
		check.Same(t, req.Method+" came with", string(req.Params), `{"query":"kettle"}`)
		return json.RawMessage(answers[req.Method]), nil
	})
	for _, method := range []string{"definition", "diagnostics", "hover", "references", "symbols"} {
		var got json.RawMessage
		if err := ask(t.Context(), method, map[string]string{"query": "kettle"}, &got); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		check.Same(t, method, string(got), answers["editor/"+method])
	}
	if err := ask(t.Context(), "rename", nil, nil); err == nil {
		t.Error("what editors are not asked for was sent to one")
	}
}

func TestAnEditorThatDoesNotAnswerAboutCode(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan struct{})
	ask := editorWith(t, features, func(asked context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
		if req.Method == "editor/hover" {
			return nil, wire.Errorf(wire.CodeMethodNotFound, "no such method")
		}
		cancel() // whoever asks gives up while the editor thinks
		<-asked.Done()
		close(cancelled)
		return nil, asked.Err()
	})
	var result json.RawMessage
	var broken *wire.Error
	if err := ask(t.Context(), "hover", struct{}{}, &result); !errors.As(err, &broken) || broken.Code != wire.CodeMethodNotFound {
		t.Errorf("got %v, want the editor's own error", err)
	}
	if err := ask(ctx, "definition", struct{}{}, &result); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was given up", err)
	}
	select {
	case <-cancelled:
	case <-time.After(time.Minute):
		t.Error("the editor was not told that nobody waits any more")
	}
}
