package lspbridge

import (
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
)

// openDocument is a document as a server was told it.
type openDocument struct {
	path    workspace.Path
	uri     string
	version int32 // counts from 1: there are servers that take 0 for none
	text    string
	used    time.Time
}

// bringUp has the server know p as the snapshot has it.
func (c *client) bringUp(s *document.Snapshot, p workspace.Path) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.bringUpLocked(s, p)
	return err
}

func (c *client) bringUpLocked(s *document.Snapshot, p workspace.Path) (*openDocument, error) {
	p = target(p)
	f, err := s.Read(p, "")
	if err != nil {
		return nil, err
	}
	d := c.docs[p]
	if d == nil {
		d = &openDocument{path: p, uri: p.URI(), version: 1, text: f.Text}
		if err := c.didOpen(d); err != nil {
			return nil, err
		}
		c.docs[p] = d
	} else if d.text != f.Text {
		d.version++
		d.text = f.Text
		if err := c.didChange(d); err != nil {
			return nil, err
		}
	}
	d.used = time.Now()
	return d, nil
}

func (c *client) didOpen(d *openDocument) error {
	c.server.reports.sent(d.path, d.version)
	return c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": d.uri, "languageId": languageOf(d.path, c.server.bridge.bufferOf(d.path)), "version": d.version, "text": d.text,
	}})
}

func (c *client) didChange(d *openDocument) error {
	c.server.reports.sent(d.path, d.version)
	return c.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": d.uri, "version": d.version},
		"contentChanges": []any{map[string]any{"text": d.text}},
	})
}

func (c *client) notify(method string, params any) error {
	return answered(c.server.ctx, c.server.spec, method, c.conn.Notify(method, params))
}
