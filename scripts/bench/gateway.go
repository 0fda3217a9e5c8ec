package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/coder/websocket"

	"pillion/internal/wire"
)

// throughCalls is a call that reads 100 bytes, by a gateway's WebSocket against the agents'
// socket, and how many such calls a second a gateway gets answered that does not wait.
type throughCalls struct {
	pair
	PerSecond float64 `json:"perSecond"`
}

const (
	gatewayRounds = 100
	roundCalls    = 20
	manyFrames    = 20_000
)

// gateway measures both ways into one sidecar, in turn, as an editor with a plugin runs it.
func gateway(program, folder string) (out throughCalls, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := os.WriteFile(filepath.Join(folder, "hundred.txt"), []byte(fmt.Sprintf("%099d\n", 0)), 0o600); err != nil {
		return out, err
	}
	editor, end, err := editorOf(ctx, program, folder)
	if err != nil {
		return out, err
	}
	defer end()
	socket, err := asAgent(ctx, editor)
	if err != nil {
		return out, err
	}
	defer socket.Close() //nolint:errcheck // it is over
	far, stop, err := asGateway(ctx, editor)
	if err != nil {
		return out, err
	}
	defer stop()
	id := 0
	frame := func() []byte {
		id++
		return fmt.Appendf(nil, `{"type":"tool_call","call_id":"%d","tool_name":"read_file","arguments":{"path":"hundred.txt"}}`, id)
	}
	for round := range gatewayRounds + gatewayRounds/5 {
		for range roundCalls {
			began := time.Now()
			if err := errors.Join(far.Write(ctx, websocket.MessageText, frame()), answered(ctx, far)); err != nil {
				return out, err
			}
			took := time.Since(began)
			began = time.Now()
			if err := socket.Call(ctx, "tools/call", map[string]any{"name": "read_file", "arguments": map[string]any{"path": "hundred.txt"}}, nil); err != nil {
				return out, err
			}
			if round >= gatewayRounds/5 { // after the warm-up
				out.Ours.add(took)
				out.Theirs.add(time.Since(began))
			}
		}
	}
	began := time.Now()
	sent := make(chan error, 1)
	go func() {
		for range manyFrames {
			if err := far.Write(ctx, websocket.MessageText, frame()); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for range manyFrames {
		if err := answered(ctx, far); err != nil {
			return out, err
		}
	}
	out.PerSecond = manyFrames / time.Since(began).Seconds()
	return out, <-sent
}

// answered waits for a call's result.
func answered(ctx context.Context, far *websocket.Conn) error {
	_, data, err := far.Read(ctx)
	if err != nil {
		return err
	}
	var f struct {
		Type   string          `json:"type"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(data, &f); err != nil || f.Type != "tool_result" || f.Result == nil {
		return fmt.Errorf("the gateway got %.300s: %w", data, err)
	}
	return nil
}

// editorOf starts a sidecar with an editor that takes every notification and makes nothing
// of it.
func editorOf(ctx context.Context, program, folder string) (*wire.Conn, func(), error) {
	cmd := exec.Command(program, "serve")
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	editor := wire.NewConn(wire.Stdio(from, in), wire.Options{Handler: func(context.Context, *wire.Conn, *wire.Request) (any, error) { return nil, nil }})
	end := func() {
		_ = editor.Close()
		_ = cmd.Wait()
	}
	err = editor.Call(ctx, "initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": "file://" + folder,
		"capabilities":          map[string]any{"experimental": map[string]any{"pillion": map[string]any{"approval": true}}},
		"initializationOptions": map[string]any{"limits": map[string]any{"readsPerMinute": 100_000_000}},
	}, nil)
	if err = errors.Join(err, editor.Notify("initialized", map[string]any{})); err != nil {
		end()
		return nil, nil, err
	}
	return editor, end, nil
}

// asAgent connects to the agents' socket.
func asAgent(ctx context.Context, editor *wire.Conn) (*wire.Conn, error) {
	var at struct{ Socket, Token string }
	if err := editor.Call(ctx, "relay/info", map[string]any{}, &at); err != nil {
		return nil, err
	}
	conn, err := net.Dial("unix", at.Socket)
	if err != nil {
		return nil, err
	}
	socket := wire.NewConn(conn, wire.Options{Handler: func(context.Context, *wire.Conn, *wire.Request) (any, error) { return nil, nil }})
	return socket, socket.Call(ctx, "agent/hello", map[string]any{"token": at.Token, "protocolVersion": 1, "agent": map[string]any{"name": "bench"}}, nil)
}

// asGateway is a gateway that the sidecar has connected to.
func asGateway(ctx context.Context, editor *wire.Conn) (*websocket.Conn, func(), error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	accepted := make(chan *websocket.Conn, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, err := websocket.Accept(w, r, nil); err == nil {
			accepted <- conn
			<-ctx.Done()
		}
	})}
	go func() { _ = server.Serve(listener) }()
	stop := func() { _ = server.Close() }
	if err := editor.Call(ctx, "gateway/connect", map[string]any{"url": "ws://" + listener.Addr().String(), "token": ""}, nil); err != nil {
		stop()
		return nil, nil, err
	}
	select {
	case conn := <-accepted:
		return conn, stop, nil
	case <-ctx.Done():
		stop()
		return nil, nil, ctx.Err()
	}
}
