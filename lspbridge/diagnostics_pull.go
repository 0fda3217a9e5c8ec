package lspbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"pillion/internal/wire"
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
