package lspbridge

import (
	"context"
	"encoding/json"
	"fmt"

	"pillion/workspace/document"
)

// tsserverDiagnostics are the requests that make up what TypeScript finds in a file. They
// are answered when it is known, and in their turn.
var tsserverDiagnostics = []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"}

// tsDiagnostic is tsserver's. It counts lines and UTF-16 code units from 1.
type tsDiagnostic struct {
	Start    tsLocation      `json:"start"`
	End      tsLocation      `json:"end"`
	Text     string          `json:"text"`
	Code     json.RawMessage `json:"code"`
	Category string          `json:"category"`
	Source   string          `json:"source"`
}

type tsLocation struct {
	Line   uint32 `json:"line"`
	Offset uint32 `json:"offset"`
}

func (p tsLocation) ours() document.Position {
	return document.Position{Line: max(p.Line, 1) - 1, Character: max(p.Offset, 1) - 1}
}

// beginTypeScript asks the tsserver behind typescript-language-server. The answer is
// that of textDocument/diagnostic.
func (c *client) beginTypeScript(ctx context.Context, uri string) (func() (json.RawMessage, error), error) {
	var waits []func(any) error
	for _, command := range tsserverDiagnostics {
		wait, err := c.conn.Begin(ctx, "workspace/executeCommand", map[string]any{
			"command": "typescript.tsserverRequest", "arguments": []any{command, map[string]string{"file": uri}},
		})
		if err != nil {
			return nil, err
		}
		waits = append(waits, wait)
	}
	return func() (json.RawMessage, error) {
		items := []diagnostic{}
		for _, wait := range waits {
			var raw json.RawMessage
			if err := wait(&raw); err != nil {
				return nil, err
			}
			list, err := tsAnswer(raw)
			if err != nil {
				return nil, err
			}
			items = append(items, list...)
		}
		return json.Marshal(map[string]any{"kind": "full", "items": items})
	}, nil
}

// tsAnswer takes tsserver's response.
func tsAnswer(raw json.RawMessage) (out []diagnostic, err error) {
	var a struct {
		Success bool            `json:"success"`
		Body    *[]tsDiagnostic `json:"body"`
	}
	if err := json.Unmarshal(raw, &a); err != nil || !a.Success || a.Body == nil {
		return nil, fmt.Errorf("tsserver answered %s", clip(string(raw), 200))
	}
	for _, d := range *a.Body {
		one := diagnostic{Range: document.Range{Start: d.Start.ours(), End: d.End.ours()}, Severity: 1, Code: d.Code, Source: d.Source, Message: d.Text}
		switch d.Category {
		case "warning":
			one.Severity = 2
		case "message":
			one.Severity = 3
		case "suggestion":
			one.Severity = 4
		}
		if one.Source == "" {
			one.Source = "typescript"
		}
		out = append(out, one)
	}
	return out, nil
}
