package acp

import (
	"context"
	"encoding/json"
	"errors"
	"log"

	sdk "github.com/coder/acp-go-sdk"

	"pillion/internal/fault"
	"pillion/tools"
)

// handler answers one method.
type handler func(a *agent, ctx context.Context, params json.RawMessage) (any, error)

// handlers are all that a sub-agent can ask for.
var handlers = map[string]handler{
	sdk.ClientMethodFsReadTextFile:           asked((*agent).readFile),
	sdk.ClientMethodFsWriteTextFile:          asked((*agent).writeFile),
	sdk.ClientMethodSessionRequestPermission: asked((*agent).permit),
	sdk.ClientMethodTerminalCreate:           asked((*agent).createTerminal),
	sdk.ClientMethodTerminalOutput:           asked((*agent).terminalOutput),
	sdk.ClientMethodTerminalWaitForExit:      asked((*agent).awaitTerminal),
	sdk.ClientMethodTerminalKill:             asked((*agent).killTerminal),
	sdk.ClientMethodTerminalRelease:          asked((*agent).releaseTerminal),
}

func asked[P, R any](do func(*agent, context.Context, P) (R, error)) handler {
	return func(a *agent, ctx context.Context, params json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, sdk.NewInvalidParams(map[string]any{"error": err.Error()})
		}
		return do(a, ctx, p)
	}
}

// handle takes what the sub-agent sends. It is told of errors by their messages alone.
func (a *agent) handle(ctx context.Context, method string, params json.RawMessage) (any, *sdk.RequestError) {
	var of struct {
		SessionID sdk.SessionId `json:"sessionId"`
	}
	do, known := handlers[method]
	switch {
	case method != sdk.ClientMethodSessionUpdate && !known:
		return nil, sdk.NewMethodNotFound(method)
	case json.Unmarshal(params, &of) != nil || a.id.Load() != of.SessionID:
		return nil, sdk.NewInvalidParams(map[string]any{"error": "sessionId is not the session of this task"})
	case method == sdk.ClientMethodSessionUpdate:
		a.update(params)
		return nil, nil
	}
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	default:
		a.stop(errFlood)
		return nil, sdk.NewRequestCancelled(nil)
	}
	if a.ctx.Err() != nil {
		return nil, sdk.NewRequestCancelled(nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	got, err := do(a, ctx, params)
	if err != nil {
		return nil, failure(err)
	}
	return got, nil
}

// update is session/update. Of a kind that it does not know, the SDK makes an empty
// session_info_update.
func (a *agent) update(params json.RawMessage) {
	var p sdk.SessionNotification
	var as struct {
		Update struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	switch {
	case json.Unmarshal(params, &p) != nil || json.Unmarshal(params, &as) != nil:
	case p.Update.SessionInfoUpdate != nil && as.Update.Kind != "session_info_update":
		if a.said.isNew(as.Update.Kind) {
			log.Printf("sub-agent: updates of the kind %s are not known", fault.Quote(fault.Clip(as.Update.Kind, 100)))
		}
	default:
		a.said.update(p.Update)
	}
}

func failure(err error) *sdk.RequestError {
	var own *sdk.RequestError
	if errors.As(err, &own) {
		return own
	}
	f := fault.From(err)
	code := -32603
	switch f.Code {
	case fault.FileNotFound:
		code = resourceNotFound
	case fault.InvalidArguments, fault.InvalidPath, fault.PathOutsideWorkspace:
		code = -32602
	case fault.Cancelled:
		code = -32800
	}
	return &sdk.RequestError{Code: code, Message: f.Message, Data: map[string]any{"code": f.Code, "details": tools.ErrorText(f)}}
}

// call makes a call of the sub-agent's session through the one door.
func (a *agent) call(ctx context.Context, tool string, args, into any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	got := a.host.Registry.Execute(ctx, tools.Call{Name: tool, Arguments: raw, Session: a.session})
	if got.Err != nil {
		return got.Err
	}
	return json.Unmarshal(got.Structured, into)
}

// ask is call of a tool about which the user may be asked: no time passes meanwhile.
func (a *agent) ask(ctx context.Context, tool string, args, into any) error {
	defer a.clock.pause()()
	return a.call(ctx, tool, args, into)
}

func (a *agent) readFile(ctx context.Context, p sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	args := map[string]any{"path": a.host.Relative(p.Path)}
	first := 1
	if p.Line != nil && *p.Line > 0 {
		first = *p.Line
		args["start_line"] = first
	}
	if p.Limit != nil && *p.Limit > 0 {
		args["start_line"], args["end_line"] = first, first+*p.Limit-1
	}
	var got struct {
		Content string `json:"content"`
	}
	err := a.ask(ctx, "read_file", args, &got)
	if a.missingIsEmpty && fault.CodeOf(err) == fault.FileNotFound {
		err = nil
	}
	return sdk.ReadTextFileResponse{Content: got.Content}, err
}

func (a *agent) writeFile(ctx context.Context, p sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	if a.task.WritesItself && a.wrote.take(p.Path, p.Content) {
		return sdk.WriteTextFileResponse{}, nil
	}
	return sdk.WriteTextFileResponse{}, a.ask(ctx, "write_file", map[string]any{"path": a.host.Relative(p.Path), "content": p.Content}, &struct{}{})
}
