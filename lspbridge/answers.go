package lspbridge

import (
	"context"
	"encoding/json"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"pillion/internal/wire"
)

// handle is what a server may send: it runs on the goroutine that reads, in order.
func (c *client) handle(_ context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
	if req.Notification {
		c.notified(req)
		return nil, nil
	}
	answer, known := answers[req.Method]
	if !known {
		return nil, wire.Errorf(wire.CodeMethodNotFound, "there is no method %q", req.Method)
	}
	return answer(c, req.Params)
}

// answers are all that a server may ask of us. Each is there at once.
var answers = map[string]func(c *client, params json.RawMessage) (any, error){
	"workspace/configuration":        (*client).configuration,
	"workspace/workspaceFolders":     func(c *client, _ json.RawMessage) (any, error) { return c.server.folders(), nil },
	"window/workDoneProgress/create": nothing,
	"client/registerCapability":      (*client).register,
	"client/unregisterCapability":    (*client).unregister,
	"window/showMessageRequest":      nothing,
	"window/showDocument":            func(*client, json.RawMessage) (any, error) { return protocol.ShowDocumentResult{}, nil },
	"workspace/applyEdit": func(*client, json.RawMessage) (any, error) {
		return map[string]any{"applied": false, "failureReason": "changes are made by those who ask for them"}, nil
	},
	"workspace/diagnostic/refresh":     (*client).refresh,
	"workspace/semanticTokens/refresh": nothing,
	"workspace/codeLens/refresh":       nothing,
	"workspace/inlayHint/refresh":      nothing,
	"workspace/inlineValue/refresh":    nothing,
	"workspace/foldingRange/refresh":   nothing,
}

func nothing(*client, json.RawMessage) (any, error) { return nil, nil }

// notified takes a notification.
func (c *client) notified(req *wire.Request) {
	switch req.Method {
	case "textDocument/publishDiagnostics":
		c.published(req.Params)
	case "$/progress":
		c.progress(req.Params)
	case "window/logMessage", "window/showMessage":
		var m protocol.LogMessageParams
		if json.Unmarshal(req.Params, &m) == nil {
			c.server.note(m.Message)
		}
	}
}

// configuration answers item by item: null for a section that nothing is set in.
func (c *client) configuration(params json.RawMessage) (any, error) {
	defer c.askedOnce.Do(func() { close(c.configured) })
	var p protocol.ConfigurationParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "workspace/configuration: %v", err)
	}
	out := make([]json.RawMessage, len(p.Items))
	for i, item := range p.Items {
		name := ""
		if item.Section != nil {
			name = *item.Section
		}
		out[i] = section(c.server.spec.Settings, name)
	}
	return out, nil
}

// section is what stands under a dotted name, null if nothing does.
func section(settings json.RawMessage, name string) json.RawMessage {
	if settings == nil {
		settings = json.RawMessage("{}")
	}
	if name == "" {
		return settings
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(settings, &object) != nil {
		return json.RawMessage("null")
	}
	if value, ok := object[name]; ok { // also written with its dots
		return value
	}
	first, rest, more := strings.Cut(name, ".")
	value, ok := object[first]
	if !ok || !more {
		return json.RawMessage("null")
	}
	return section(value, rest)
}

// folders are all that a server has of the workspace: its root.
func (s *server) folders() []protocol.WorkspaceFolder {
	return []protocol.WorkspaceFolder{{URI: uri.URI(s.root.URI()), Name: s.root.Base()}}
}
