package lspbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pillion/internal/wire"
	"pillion/workspace/document"
)

const pullMethod = "textDocument/diagnostic"

// pulls says if the server can be asked what is wrong.
func (c *client) pulls() bool {
	return c.offers.DiagnosticProvider.offered || c.watches.has(pullMethod) || c.server.spec.TypeScript
}

// pullAgain is how long to wait after a server gave up on a question because of a change.
const pullAgain = 50 * time.Millisecond

// pull asks what is wrong in a text, and notes the answer. Without one, what the server
// sends by itself has to do: there are servers that answer for some files alone.
func (c *client) pull(ctx context.Context, t syncedText) (answered bool) {
	for {
		had, wait, err := c.beginPull(ctx, t)
		if err != nil || wait == nil {
			return false
		}
		raw, err := wait()
		if err == nil {
			return c.pulledAnswer(t, had, raw)
		}
		if !changedMeanwhile(err) {
			var said *wire.Error
			if errors.As(err, &said) {
				c.server.note(pullMethod + ": " + said.Message)
			}
			return false
		}
		select {
		case <-time.After(pullAgain):
		case <-ctx.Done():
			return false
		}
	}
}

// beginPull asks, if the document still has that text. had is the answer that the
// server may refer to.
func (c *client) beginPull(ctx context.Context, t syncedText) (had *pulled, wait func() (json.RawMessage, error), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[t.path]
	if d == nil || d.sum != t.sum {
		return nil, nil, nil
	}
	if c.server.spec.TypeScript {
		wait, err = c.beginTypeScript(ctx, string(d.uri))
		return nil, wait, err
	}
	params := map[string]any{"textDocument": documentID{URI: string(d.uri)}}
	if id := c.offers.DiagnosticProvider.text("identifier"); id != "" {
		params["identifier"] = id
	}
	c.reports.mu.Lock()
	had = c.reports.getLocked(t.path).pulled
	c.reports.mu.Unlock()
	if had != nil && had.id != "" {
		params["previousResultId"] = had.id
	}
	answer, err := c.request(ctx, pullMethod, params)
	return had, func() (raw json.RawMessage, err error) {
		err = answer(&raw)
		return raw, err
	}, err
}

// pulledAnswer notes an answer, unless it cannot be read, or the document was changed
// while it was made.
func (c *client) pulledAnswer(t syncedText, had *pulled, raw json.RawMessage) (noted bool) {
	var a struct {
		Kind     string          `json:"kind"`
		ResultID string          `json:"resultId"`
		Items    json.RawMessage `json:"items"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return false
	}
	items := string(bytes.TrimSpace(a.Items))
	if a.Kind == "unchanged" && had != nil && had.id != "" {
		items = had.items
	}
	if _, err := decodeDiagnostics([]byte(items)); err != nil {
		return false
	}
	r := c.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(t.path)
	if !one.open || one.since != t.since {
		return false
	}
	one.outdated = one.outdated && r.notified.After(t.asked)
	one.pulled = &pulled{since: t.since, id: a.ResultID, published: published{at: time.Now(), items: items}}
	one.turn()
	return true
}

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
