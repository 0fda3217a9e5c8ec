package testrig

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"strings"

	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/rpc"
	"pillion/workspace/document"
)

// handle is the editor's side of the wire.
func (e *Editor) handle(ctx context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
	params := append(json.RawMessage(nil), req.Params...)
	e.expect(req.Method)
	if req.Notification {
		return nil, e.notified(req.Method, params)
	}
	return e.asked(ctx, req.Method, params)
}

// asked answers as an editor does, and the user at it as the test says.
func (e *Editor) asked(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "approval/request":
		a := &Approval{Raw: params, Answer: make(chan any, 1), Ctx: ctx}
		if err := json.Unmarshal(params, &a.Params); err != nil {
			return nil, err
		}
		e.Approvals <- a
		return await(ctx, a.Answer)
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
	case "patch/review":
		r := &Review{Raw: params, Answer: make(chan any, 1), Ctx: ctx}
		e.Reviews <- r
		return await(ctx, r.Answer)
	case "window/showMessageRequest":
		return e.box(ctx, params)
	case "window/showDocument":
		e.Shown <- field(params, "uri")
		return map[string]any{"success": true}, nil
	case "window/workDoneProgress/create":
		e.Created <- field(params, "token")
		return json.RawMessage("null"), nil
	case "client/registerCapability":
		return json.RawMessage("null"), nil
	case "document/edit":
		return e.edit(params)
	case "workspace/applyEdit":
		return e.applyEdit(params)
	}
	if asked, ok := strings.CutPrefix(method, "editor/"); ok && e.answers != nil {
		return e.answers(ctx, asked, params)
	}
	return nil, wire.Errorf(wire.CodeMethodNotFound, "the fake editor has no %s", method)
}

// notified keeps what the sidecar says for the test.
func (e *Editor) notified(method string, params json.RawMessage) error {
	switch method {
	case "approval/changed":
		e.Changed <- params
	case "approval/resolved":
		e.Resolved <- params
	case "$/progress":
		e.Progress <- params
	case "workspace/changed":
		e.Files <- params
	case "workspace/tracking":
		e.Tracking <- params
	case "workspace/index":
		e.Index <- params
	case "session/unusual":
		e.Unusual <- params
	case "window/showMessage":
		e.Messages <- field(params, "message")
	case "window/logMessage":
		e.log(field(params, "message"))
	case "settings/untrusted":
		return decoded(params, func(u Untrusted) { e.Untrusted <- u })
	case "process/output":
		return decoded(params, func(o ProcessOutput) {
			if hear := e.onOutput.Load(); hear != nil {
				(*hear)(o)
			}
		})
	case "journal/changed":
		return decoded(params, func(j Journal) {
			select {
			case e.Journal <- j:
			default: // nobody looks
			}
		})
	default:
		if hear := e.onNotice.Load(); hear != nil {
			(*hear)(method, params)
		}
	}
	return nil
}

func decoded[V any](params json.RawMessage, hear func(V)) error {
	var v V
	if err := json.Unmarshal(params, &v); err != nil {
		return err
	}
	hear(v)
	return nil
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
	check.Must(e.t, err)
	check.Must(e.t, os.WriteFile(u.Path, []byte(b.Text), 0o644))
	b.Dirty = false
	e.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": uri}})
	e.state(uri, b)
}

// log keeps the first messages: most tests hear none of them.
func (e *Editor) log(message string) {
	select {
	case e.Logs <- message:
	default:
	}
}
