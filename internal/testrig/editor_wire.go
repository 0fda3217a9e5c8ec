package testrig

import (
	"context"
	"encoding/json"
	"net/url"
	"os"

	"pillion/internal/wire"
	"pillion/rpc"
	"pillion/workspace/document"
)

// handle is the editor's side of the wire.
func (e *Editor) handle(ctx context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
	params := append(json.RawMessage(nil), req.Params...)
	e.expect(req.Method)
	switch req.Method {
	case "approval/request":
		a := &Approval{Raw: params, Answer: make(chan any, 1), Ctx: ctx}
		if err := json.Unmarshal(params, &a.Params); err != nil {
			return nil, err
		}
		e.Approvals <- a
		return await(ctx, a.Answer)
	case "approval/changed":
		e.Changed <- params
	case "$/progress":
		e.Progress <- params
	case "approval/resolved":
		e.Resolved <- params
	case "prompt/user":
		p := &Prompt{Answer: make(chan string, 1)}
		if err := json.Unmarshal(params, p); err != nil {
			return nil, err
		}
		e.Prompts <- p
		action, err := await(ctx, p.Answer)
		return map[string]any{"action": action}, err
	case "plan/review":
		p := &Plan{Raw: params, Answer: make(chan any, 1)}
		e.Plans <- p
		return await(ctx, p.Answer)
	case "process/output":
		var o ProcessOutput
		if err := json.Unmarshal(params, &o); err != nil {
			return nil, err
		}
		if hear := e.onOutput.Load(); hear != nil {
			(*hear)(o)
		}
	case "window/showMessageRequest":
		return e.box(ctx, params)
	case "window/showMessage":
		e.Messages <- field(params, "message")
	case "settings/untrusted":
		var u Untrusted
		if err := json.Unmarshal(params, &u); err != nil {
			return nil, err
		}
		e.Untrusted <- u
	case "journal/changed":
		var j Journal
		if err := json.Unmarshal(params, &j); err != nil {
			return nil, err
		}
		select {
		case e.Journal <- j:
		default: // nobody looks
		}
	case "workspace/changed", "session/unusual", "workspace/tracking":
		map[string]chan json.RawMessage{"workspace/changed": e.Files, "session/unusual": e.Unusual, "workspace/tracking": e.Tracking}[req.Method] <- params
	case "window/showDocument":
		e.Shown <- field(params, "uri")
		return map[string]any{"success": true}, nil
	case "window/workDoneProgress/create":
		e.Created <- field(params, "token")
		return json.RawMessage("null"), nil
	case "document/edit":
		return e.edit(params)
	case "workspace/applyEdit":
		return e.applyEdit(params)
	case "client/registerCapability":
		return json.RawMessage("null"), nil
	default:
		if !req.Notification {
			return nil, wire.Errorf(wire.CodeMethodNotFound, "the fake editor has no %s", req.Method)
		}
	}
	return nil, nil
}

// expect holds what comes against the wire's catalogue: it must be in it, and for
// an editor such as this one.
func (e *Editor) expect(method string) {
	for _, m := range rpc.Catalogue() {
		if m.Name != method || m.FromEditor {
			continue
		}
		if m.For == rpc.Plugins && e.plain || m.For == rpc.Plain && !e.plain {
			e.t.Errorf("%s is not for this editor, says the wire's catalogue", method)
		}
		return
	}
	e.t.Errorf("the sidecar sent %s, which is not in the wire's catalogue", method)
}

func await[V any](ctx context.Context, ch <-chan V) (any, error) {
	defer wire.Waiting(ctx)()
	select {
	case v := <-ch:
		return v, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// edit is document/edit as a plugin does it.
func (e *Editor) edit(params json.RawMessage) (any, error) {
	if e.OnEdit != nil {
		return e.OnEdit(params)
	}
	var p struct {
		URI     string              `json:"uri"`
		Version int32               `json:"version"`
		Edits   []document.TextEdit `json:"edits"`
		Save    bool                `json:"save"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[p.URI]
	if b == nil || b.Version != p.Version {
		return map[string]any{"applied": false, "version": 0, "dirty": false, "reason": "another version"}, nil
	}
	e.change(p.URI, b, p.Edits, true)
	if p.Save {
		if e.Format != nil {
			b.Text = e.Format(b.Text)
			b.Version++
			e.Notify("textDocument/didChange", map[string]any{
				"textDocument": map[string]any{"uri": p.URI, "version": b.Version}, "contentChanges": []any{map[string]any{"text": b.Text}},
			})
		}
		e.save(p.URI, b)
	}
	return map[string]any{"applied": true, "version": b.Version, "dirty": b.Dirty}, nil
}

func (e *Editor) save(uri string, b *Buffer) {
	u, err := url.Parse(uri)
	must(e.t, err)
	must(e.t, os.WriteFile(u.Path, []byte(b.Text), 0o644))
	b.Dirty = false
	e.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": uri}})
	e.state(uri, b)
}
